"""Bad input gets an error that says what must hold and what was given; nothing crashes or hangs."""

import math

import numpy as np
import pytest

import imtorque as it
from imtorque.core.extrema import suppress_overlaps
from imtorque.synthetic import scene

IMAGE = scene("disc", (30, 40))
EDGES = it.detect_edges(IMAGE)
VOLUME = it.torque_volume(EDGES, [3, 5])
NONE = it.find_extrema(EDGES, sizes=[3], count=0)

CASES = {
    "empty image": (lambda: it.detect_edges(np.zeros((0, 5))), ValueError, "not empty, got shape"),
    "NaN image": (lambda: it.detect_edges(np.full((5, 5), np.nan)), ValueError, "must be finite"),
    "infinite image": (lambda: it.detect_edges(np.full((5, 5), np.inf)), ValueError, "must be finite"),
    "one dimension": (lambda: it.detect_edges(np.zeros(5)), ValueError, r"grey \(H, W\) or colour"),
    "four dimensions": (lambda: it.detect_edges(np.zeros((2, 5, 5, 3))), ValueError, r"got shape \(2, 5, 5, 3\)"),
    "two channels": (lambda: it.detect_edges(np.zeros((5, 5, 2))), ValueError, r"got shape \(5, 5, 2\)"),
    "complex image": (lambda: it.detect_edges(np.zeros((5, 5), complex)), TypeError, "got dtype complex"),
    "object image": (lambda: it.detect_edges(np.zeros((5, 5), object)), TypeError, "got dtype object"),
    "strings": (lambda: it.detect_edges(np.array([["a"]])), TypeError, "image must be"),
    "huge range": (lambda: it.detect_edges(np.array([[-1e300, 1e300]])), ValueError, "range of 1e30"),
    "sigma zero": (lambda: it.detect_edges(IMAGE, sigma=0), ValueError, "sigma must be positive.*got 0"),
    "sigma NaN": (lambda: it.detect_edges(IMAGE, sigma=math.nan), ValueError, "sigma must be positive"),
    "sigma huge": (lambda: it.detect_edges(IMAGE, sigma=1e9), ValueError, "at most 1000"),
    "low above high": (lambda: it.detect_edges(IMAGE, low=0.2, high=0.1), ValueError, "got low 0.2 and high 0.1"),
    "low negative": (lambda: it.detect_edges(IMAGE, low=-1), ValueError, "low must not be negative, got -1"),
    "quantile above 1": (
        lambda: it.detect_edges(IMAGE, low=0.2, high=7, use_quantiles=True),
        ValueError,
        r"quantile in \[0, 1\], got 7",
    ),
    "one quantile": (lambda: it.detect_edges(IMAGE, high=0.7, use_quantiles=True), ValueError, "both low and high"),
    "unknown force": (lambda: it.detect_edges(IMAGE, force="dark"), ValueError, "got 'dark'"),
    "seven directions": (lambda: it.detect_edges(IMAGE, directions=7), ValueError, "8 or None, got 7"),
    "scale zero": (lambda: it.detect_edges(IMAGE, strength_scale=0), ValueError, "strength_scale must be positive"),
    "fx, fy differ": (lambda: it.Edges(np.zeros((3, 4)), np.zeros((4, 3))), ValueError, "one shape, got"),
    "NaN force": (lambda: it.Edges(np.full((3, 4), np.nan), np.zeros((3, 4))), ValueError, "fx and fy must be finite"),
    "infinite force": (
        lambda: it.Edges(np.zeros((3, 4)), np.full((3, 4), np.inf)),
        ValueError,
        "fx and fy must be finite",
    ),
    "force too large": (lambda: it.Edges(np.full((3, 4), 1e35), np.zeros((3, 4))), ValueError, "within ±1e"),
    "complex force": (lambda: it.Edges(np.zeros((3, 4), complex), np.zeros((3, 4))), TypeError, "real numbers"),
    "flat force": (lambda: it.Edges(np.zeros(3), np.zeros(3)), ValueError, r"shape \(H, W\)"),
    "no edges": (lambda: it.torque_map(IMAGE, 5), TypeError, "must be Edges, .* got ndarray"),
    "even size": (lambda: it.torque_map(EDGES, 4), ValueError, r"odd .* got \[4\]"),
    "size zero": (lambda: it.torque_map(EDGES, 0), ValueError, r"between 1 and .* got \[0\]"),
    "negative size": (lambda: it.torque_map(EDGES, -3), ValueError, r"got \[-3\]"),
    "giant size": (lambda: it.torque_map(EDGES, 2**62 + 1), ValueError, "between 1 and"),
    "float size": (lambda: it.torque_map(EDGES, 3.0), TypeError, r"odd integers.* got \[3.0\]"),
    "unsorted sizes": (lambda: it.torque_volume(EDGES, [5, 3]), ValueError, r"increasing, got \[5, 3\]"),
    "repeated sizes": (lambda: it.torque_volume(EDGES, [3, 3]), ValueError, r"increasing, got \[3, 3\]"),
    "no sizes": (lambda: it.torque_volume(EDGES, []), ValueError, "list of odd integers"),
    "ragged sizes": (lambda: it.torque_volume(EDGES, [(3, 5), 3]), ValueError, "odd integers, or"),
    "triples": (lambda: it.torque_volume(EDGES, [(3, 5, 7)]), ValueError, "pairs, got"),
    "repeated rectangles": (lambda: it.torque_volume(EDGES, [(3, 5), (3, 5)]), ValueError, "not repeat"),
    "unsorted rectangles": (lambda: it.torque_volume(EDGES, [(9, 9), (3, 5)]), ValueError, "order of area"),
    "boolean sizes": (lambda: it.torque_volume(EDGES, [True]), TypeError, "odd integers"),
    "disk rectangle": (lambda: it.torque_map(EDGES, (3, 5), patch="disk"), ValueError, "a disk has one size"),
    "unknown patch": (lambda: it.torque_map(EDGES, 3, patch="star"), ValueError, "got 'star'"),
    "alpha NaN": (lambda: it.torque_map(EDGES, 3, alpha=math.nan), ValueError, "alpha must be"),
    "alpha text": (lambda: it.torque_map(EDGES, 3, alpha="2"), ValueError, "alpha must be"),
    "alpha that overflows": (
        lambda: it.torque_map(EDGES, 999_999, alpha=-10),
        ValueError,
        r"alpha must keep the torque of these sizes below 3e\+38, got alpha -10",
    ),
    "steps too fine": (
        lambda: it.Edges(EDGES.fx, EDGES.fy, steps=2.0**60),
        ValueError,
        "steps must be at most .* got 1",
    ),
    "steps zero": (lambda: it.Edges(EDGES.fx, EDGES.fy, steps=0), ValueError, "from 2.-100 to 2.112, .* got 0"),
    "steps NaN": (lambda: it.Edges(EDGES.fx, EDGES.fy, steps=math.nan), ValueError, "steps must be a float32 number"),
    "steps of no float32": (lambda: it.Edges(EDGES.fx, EDGES.fy, steps=0.1), ValueError, "steps must be a float32"),
    "overlaps far away": (
        lambda: suppress_overlaps(it.Extrema([0, 2**38 - 64], [0, 2**38 - 64], [1, 1], [1.0, 0.5])),
        ValueError,
        r"y and x must lie within ±2\^31 pixels, got 274877906880",
    ),
    "overlaps of nothing": (
        lambda: suppress_overlaps(it.Extrema([0], [0], [0], [1.0])),
        ValueError,
        "sizes must be between 1 and 1000001, got 0",
    ),
    "contribution far away": (
        lambda: it.contribution_map(EDGES, it.Extrema([2**62], [0], [3], [1.0])),
        ValueError,
        "must lie within",
    ),
    "contribution of rectangles as disks": (
        lambda: it.contribution_map(EDGES, it.find_extrema(EDGES, sizes=[(3, 9), (9, 5)]), patch="disk"),
        ValueError,
        r"a disk has one size, got \(height, width\) pairs",
    ),
    "out shape": (
        lambda: it.torque_volume(EDGES, [3], out=np.empty((2, 30, 40), np.float32)),
        ValueError,
        r"shape \(1, 30, 40\), got shape \(2, 30, 40\)",
    ),
    "out dtype": (
        lambda: it.torque_volume(EDGES, [3], out=np.empty((1, 30, 40))),
        TypeError,
        "float32 array, got float64",
    ),
    "out list": (lambda: it.torque_volume(EDGES, [3], out=[[0]]), TypeError, "float32 array, got list"),
    "out strided": (
        lambda: it.torque_volume(EDGES, [3], out=np.empty((1, 30, 80), np.float32)[:, :, ::2]),
        ValueError,
        "C-contiguous",
    ),
    "sizes twice": (lambda: it.value_and_scale_maps(VOLUME, [3]), ValueError, "left out with a TorqueVolume"),
    "extrema of an image": (lambda: it.find_extrema(IMAGE), TypeError, "source must be Edges or a TorqueVolume"),
    "extrema sizes twice": (lambda: it.find_extrema(VOLUME, sizes=[3]), ValueError, "left out"),
    "negative count": (lambda: it.find_extrema(VOLUME, count=-1), ValueError, "count must not be negative, got -1"),
    "fractional count": (lambda: it.find_extrema(VOLUME, count=1.5), TypeError, "integer"),
    "unknown sign": (lambda: it.find_extrema(VOLUME, sign=2), ValueError, r"\+1, -1 or None, got 2"),
    **{
        f"blobs: sigma {sigma}": (
            lambda sigma=sigma: it.find_blobs(IMAGE, sigma=sigma),
            ValueError,
            "sigma must be positive",
        )
        for sigma in (-1, 0, math.nan, math.inf, 1e5)
    },
    "blobs: NaN threshold": (lambda: it.find_blobs(IMAGE, threshold=math.nan), ValueError, "threshold must not"),
    "blobs: negative overlap": (lambda: it.find_blobs(IMAGE, overlap=-1), ValueError, "overlap must not"),
    "blobs: negative count": (lambda: it.find_blobs(IMAGE, count=-2), ValueError, "count must not"),
    "point outside": (lambda: it.torque_spectrum(EDGES, (30, 0), [3]), ValueError, r"got \(y, x\) = \(30, 0\)"),
    "smooth NaN": (lambda: it.smooth_volume(VOLUME, math.nan, 1), ValueError, "sigma_space must not"),
    "volume of wrong rank": (lambda: it.TorqueVolume(np.zeros((3, 4)), [3]), ValueError, r"\(S, H, W\)"),
    "volume without sizes": (lambda: it.TorqueVolume(np.zeros((2, 3, 4)), [3]), ValueError, "one entry per slice"),
    "extrema lengths": (lambda: it.Extrema([1], [1, 2], [3], [0.5]), ValueError, "1-D of one length"),
    "extrema NaN": (lambda: it.Extrema([1], [1], [3], [np.nan]), ValueError, "value must be finite"),
    "map negative": (lambda: it.edges_from_map(-IMAGE, image=IMAGE), ValueError, "not negative"),
    "map NaN": (lambda: it.edges_from_map(IMAGE * np.nan, image=IMAGE), ValueError, "with NaN or infinity"),
    "map without sides": (lambda: it.edges_from_map(IMAGE), ValueError, "image or an orientation"),
    "map of other size": (lambda: it.edges_from_map(IMAGE, image=IMAGE[1:]), ValueError, "one size, got"),
    "map complex": (lambda: it.edges_from_map(IMAGE + 0j, image=IMAGE), TypeError, "real numbers"),
    "map threshold": (lambda: it.edges_from_map(IMAGE, image=IMAGE, threshold=-1), ValueError, "threshold"),
    "map orientation": (lambda: it.edges_from_map(IMAGE, orientation=IMAGE[1:]), ValueError, "orientation must be"),
    "map force": (lambda: it.edges_from_map(IMAGE, image=IMAGE, force="x"), ValueError, "got 'x'"),
    "contribution sign": (lambda: it.contribution_map(EDGES, NONE, votes="plus"), ValueError, "got 'plus'"),
    "contribution weight": (lambda: it.contribution_map(EDGES, NONE, weight="x"), ValueError, "got 'x'"),
    "contribution patch": (lambda: it.contribution_map(EDGES, NONE, patch="x"), ValueError, "got 'x'"),
    "contribution of an image": (lambda: it.contribution_map(IMAGE, NONE), TypeError, "must be Edges"),
    "contribution to a list": (lambda: it.contribution_map(EDGES, [1]), TypeError, "must be Extrema"),
    "smooth an image": (lambda: it.smooth_volume(IMAGE, 1, 1), TypeError, "must be a TorqueVolume"),
    "threads zero": (lambda: it.set_num_threads(0), ValueError, "from 1 to 1024, got 0"),
    "threads text": (lambda: it.set_num_threads("2"), TypeError, "str"),
    "unknown scene": (lambda: scene("moon"), ValueError, "got 'moon'"),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_refused_with_a_reason(case):
    call, error, message = CASES[case]
    with pytest.raises(error, match=message):
        call()
