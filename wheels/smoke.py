"""Run the operator and its applications on drawn input, and compare the bits with those in digests.json.

Needs what `pip install imtorque` brings and nothing else, so that a wheel can be tried alone, on any processor. The
inputs are made of integers, and between them and a kernel stands no function that processors round differently.

    python wheels/smoke.py            # compare
    python wheels/smoke.py --write    # after a change that is meant: write digests.json
"""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from pathlib import Path

import numpy as np

import imtorque
from imtorque import _native, volumes

DIGESTS = Path(__file__).with_name("digests.json")
SIZES = np.arange(3, 40, 4)


def noise(*shape):
    """Return numbers from 0 to 255 without order, the same everywhere."""
    n = np.arange(int(np.prod(shape)), dtype=np.uint64)
    n = (n + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    n = (n ^ (n >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return ((n >> np.uint64(40)) % np.uint64(256)).astype(np.uint8).reshape(shape)


def image(height=96, width=120):
    """Return bright and dark discs on grey, with noise."""
    y, x = np.indices((height, width))
    drawn = np.full((height, width), 120)
    for cy, cx, radius, grey in [(25, 30, 14, 220), (60, 85, 20, 30), (70, 25, 9, 200), (20, 95, 7, 60)]:
        drawn[(y - cy) ** 2 + (x - cx) ** 2 <= radius**2] = grey
    return (drawn + noise(height, width) // 8).astype(np.uint8)


def edge_results():
    """Yield what the kernels of edges make of the image."""
    grey = image() / np.float32(255)
    for name, options in [("unit", {}), ("strength", {"force": "strength"}), ("sigma", {"sigma": 2.5})]:
        edges = imtorque.detect_edges(image(), **options)
        yield f"detect_edges {name}", (edges.fx, edges.fy)
    yield "smoothed_gradient", _native.smoothed_gradient(grey, 1.5)
    gx, gy = _native.smoothed_gradient(grey, 1.0)
    yield "suppress_non_maxima", _native.suppress_non_maxima(np.abs(gx) + np.abs(gy), gx, gy, 0.01)


def field():
    """Return edges whose forces are multiples of a sixteenth."""
    fx, fy = ((noise(2, 96, 120).astype(np.float32) - 128) / 16) * (noise(3, 96, 120)[2] < 40)
    return imtorque.Edges(fx, fy)


def torque_results():
    """Yield torque of every kind."""
    edges = field()
    for patch in ("square", "disk"):
        yield f"torque_volume {patch}", imtorque.torque_volume(edges, SIZES, patch=patch).tau
        yield f"value_and_scale_maps {patch}", imtorque.value_and_scale_maps(edges, SIZES, patch=patch)
        found = imtorque.find_extrema(edges, sizes=SIZES, patch=patch, count=50)
        yield f"find_extrema {patch}", (found.y, found.x, found.size, found.value)
        yield f"contribution_map {patch}", imtorque.contribution_map(edges, found, patch=patch)
        spectrum = imtorque.torque_spectrum(edges, (40, 50), SIZES, patch=patch)
        yield f"torque_spectrum {patch}", spectrum
        closure = imtorque.value_and_scale_maps(edges, SIZES[:4], patch=patch, polarity="free")
        yield f"closure {patch}", closure
    yield "torque_map of a rectangle", imtorque.torque_map(edges, (9, 21))
    yield "torque_coherence", imtorque.torque_coherence(edges, 15)
    yield "patch_moments", tuple(imtorque.patch_moments(edges, 11))
    yield "gradient_torque", imtorque.gradient_torque(image(), SIZES).tau
    yield "dense_contribution", imtorque.dense_contribution(edges, SIZES[:4])


def cut_results():
    """Yield minimum cuts."""
    weights = noise(6, 24, 30).astype(np.float64)
    mask, flow = imtorque.grid_max_flow(weights[0], weights[1], weights[2, :, 1:], weights[3, 1:])
    yield "grid_max_flow", (mask, np.float64(flow))
    labels, energy = imtorque.alpha_expansion(weights[:4], weights[4, :, 1:], weights[5, 1:])
    yield "alpha_expansion", (labels, np.float64(energy))
    seeds = np.zeros((24, 30), np.int32)
    seeds[3, 4], seeds[20, 25] = 1, 2
    yield "nearest_seeds", _native.nearest_seeds(weights[0] + 1, seeds)


def finding_results():
    """Yield what the kernels of finding make of the image."""
    inside = (image() > 150).astype(np.uint8)
    yield "extremal_regions", _native.extremal_regions(image(), 20, 4000, 0.3, 16)
    yield "distance_transform", _native.distance_transform(inside)
    yield "thin", _native.thin(inside)
    weight = noise(40).astype(np.float64)
    first, second = (noise(2, 60) % 40).astype(np.int32)
    first, second = first[first != second], second[first != second]
    yield "max_weight_set", _native.max_weight_set(weight, first, second, 1000)[0]


def volume_results():
    """Yield torque in three dimensions."""
    solid = noise(14, 20, 22).astype(np.float32)
    surfaces = volumes.gradient_surfaces(solid)
    yield "gradient_surfaces", (surfaces.gz, surfaces.gy, surfaces.gx)
    yield "volumes value_and_scale_maps", volumes.value_and_scale_maps(surfaces, [3, 5, 9])
    found = volumes.find_extrema(surfaces, sizes=[3, 5, 9], count=20)
    yield "volumes find_extrema", (found.z, found.y, found.x, found.value)
    yield "volumes gradient_torque", volumes.gradient_torque(solid, [3, 5])


def digest(arrays):
    """Return a checksum of arrays: types, shapes and bits."""
    total = hashlib.sha256()
    for array in arrays if isinstance(arrays, tuple) else (arrays,):
        array = np.ascontiguousarray(array)
        total.update(f"{array.dtype.str}{array.shape}".encode() + array.tobytes())
    return total.hexdigest()[:16]


def digests():
    """Return the checksum of each result by its name."""
    parts = (edge_results, torque_results, cut_results, finding_results, volume_results)
    return {name: digest(result) for part in parts for name, result in part()}


def check_applications():
    """Find and cut out the discs of the image."""
    blobs = imtorque.find_blobs(image(), sizes=(10, 50))
    assert 3 <= len(blobs) <= 5, blobs
    figure = imtorque.segment_figure(image(), (60, 85))
    assert 900 < figure.sum() < 1600, figure.sum()
    values = [imtorque.torque_saliency(image()).max(), imtorque.boundary_strength(image()).max()]
    assert all(0 < value <= 1 for value in values), values


def main():
    """Compare, or write."""
    found = digests()
    if "--write" in sys.argv:
        DIGESTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    expected = json.loads(DIGESTS.read_text(encoding="utf-8"))
    other = sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))
    check_applications()
    where = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    if other:
        sys.exit(f"{where}: other bits than in {DIGESTS.name}: {', '.join(other)}")
    print(f"{where}: imtorque {imtorque.__version__}, {len(found)} results with the same bits")


if __name__ == "__main__":
    main()
