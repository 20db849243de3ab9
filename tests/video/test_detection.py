"""What is found in a frame: closed contours above the noise, by the definition of openness."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import ndimage

import naive
from imtorque import Extrema, detect_edges, find_extrema, synthetic
from imtorque.core import extrema
from imtorque.core.moments import openness
from imtorque.synthetic import video_scene
from imtorque.video import FrameBlobs, FrameExtrema, detection
from strategies import edge_fields


@given(edge_fields(), st.data())
def test_openness_follows_its_definition(edges, data):
    places = st.tuples(st.integers(-3, 20), st.integers(-3, 20), st.integers(0, 9), st.integers(0, 9))
    y, x, up, left = (np.array(v) for v in zip(*data.draw(st.lists(places, min_size=1, max_size=5)), strict=True))
    places = Extrema(y, x, np.stack([2 * up + 1, 2 * left + 1], axis=1), np.ones(len(y)))
    fx, fy = (np.rint(np.float64(edges.steps) * force) / edges.steps for force in (edges.fx, edges.fy))  # as they count
    expected = [naive.openness(fx, fy, *place) for place in zip(y, x, 2 * up + 1, 2 * left + 1, strict=True)]
    found = openness(edges, places)
    turns = np.isfinite(expected) & (np.array(expected) < 1e3)  # beyond, rounding decides
    assert_allclose(found[turns], np.array(expected)[turns], rtol=1e-2, atol=1e-2)


def at(y, x, size):
    return Extrema(np.array([y]), np.array([x]), np.array([size]), np.ones(1))


def test_a_disc_is_closed_and_a_bar_is_open():
    disc = detect_edges(synthetic.disc((80, 80), (40, 40), 15))
    assert openness(disc, at(40, 40, 35))[0] < 0.05
    bar = np.zeros((80, 80))
    bar[:, 35:46] = 1
    assert openness(detect_edges(bar), at(40, 40, 13))[0] == pytest.approx(1, abs=0.02)


def test_a_bar_across_the_frame_is_no_thing_and_a_disc_beside_it_is():
    image = synthetic.paint(np.full((120, 160), 0.4), synthetic.disc((120, 160), (60, 50), 14), 0.9)
    image[:, 110:121] = 0.9
    found = FrameExtrema(sign=1)(image)
    assert [(int(found.y[0]), int(found.x[0]))] == [(60, 50)]
    assert len(found) == 1
    assert np.any(np.abs(find_extrema(detect_edges(image), sign=1, count=50).x - 115) < 3)


def test_nothing_is_found_in_noise():
    frame = np.random.default_rng(0).normal(128, 6, (160, 200)).clip(0, 255).astype(np.uint8)
    assert len(FrameExtrema()(frame)) == 0


@given(edge_fields(), st.lists(st.integers(0, 9), min_size=1, unique=True), st.integers(0, 12), st.data())
def test_expected_extrema_are_those_that_are_found(edges, halves, count, data):
    sizes = [2 * half + 1 for half in sorted(halves)]
    every = find_extrema(edges, sizes)
    strengths = [0.0, 0.1, 5.0, *np.abs(every.value).tolist()]
    threshold = data.draw(st.sampled_from(strengths))
    sign = data.draw(st.sampled_from([None, 1, -1]))
    expected = find_extrema(edges, sizes, sign=sign, count=count, threshold=threshold)
    found = extrema.expected_extrema(edges, sizes, sign=sign, count=count, threshold=threshold)
    for name in ("y", "x", "size", "value"):
        assert_array_equal(getattr(found, name), getattr(expected, name))


def many_things(count, seed):
    """Discs of falling contrast on a grid, with a bar through some."""
    rng = np.random.default_rng(seed)
    image = np.full((240, 320), 0.4)
    for k in range(count):
        centre = 16 + 30 * (k // 10) + rng.integers(-3, 4), 16 + 30 * (k % 10) + rng.integers(-3, 4)
        near = np.s_[centre[0] - 12 : centre[0] + 13, centre[1] - 12 : centre[1] + 13]
        image[near] = synthetic.paint(image[near], synthetic.disc((25, 25), (12, 12), 6 + k % 4), 1 - 0.004 * k)
    image[100:106] = 0.8
    return image


def test_what_is_found_does_not_depend_on_the_frames_before(monkeypatch):
    asked = {"find_extrema": [], "expected_extrema": []}
    for name, counts in asked.items():
        search = getattr(extrema, name)
        monkeypatch.setattr(
            detection,
            name,
            lambda *given, count, search=search, counts=counts, **more: (
                counts.append(count) or search(*given, count=count, **more)
            ),
        )
    find = FrameExtrema(sizes=(9, 13, 17, 21), count=12)
    frames = [many_things(count, seed) for seed, count in enumerate((60, 60, 12, 60, 3, 60, 60, 0, 60))]
    in_order = [find(frame) for frame in frames]
    assert min(asked["expected_extrema"]) < max(asked["find_extrema"])  # fewer, where they were enough before
    assert 1 < len(asked["find_extrema"]) < len(frames)  # where frames are unlike those before, all are looked for
    for frame, found in zip(frames, in_order, strict=True):
        alone = FrameExtrema(sizes=(9, 13, 17, 21), count=12)(frame)
        for name in ("y", "x", "size", "value"):
            assert_array_equal(getattr(found, name), getattr(alone, name))


def truth_found(found, y, x, size):
    """How many of the true places have one found near, and how many found have no true one near."""
    near = np.hypot(found.y[:, None] - y, found.x[:, None] - x) <= np.maximum(size / 4, 2)
    return int(near.any(axis=0).sum()), int((~near.any(axis=1)).sum())


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("noise", "share"), [(1, 0.99), (4, 0.97)])
def test_hundreds_of_faint_spots_are_found_by_their_sizes_alone(noise, share, turned):
    scene = synthetic.spot_scene(7, frames=1, noise=noise)
    frame = next(scene.frames())
    found = FrameExtrema(sizes=(5, 7, 9, 11))(255 - frame if turned else frame)
    right, wrong = truth_found(found, scene.y[0], scene.x[0], scene.size)
    assert right >= share * 550
    assert wrong <= 0.03 * 550


@pytest.mark.parametrize(
    "shown",
    [
        lambda frame, _rng: frame * 0.12,  # dark
        lambda frame, _rng: 128 + 0.12 * (frame - 128),  # of low contrast
        lambda frame, rng: 128 + 0.12 * (frame - 128) + rng.normal(0, 4, frame.shape),  # and noisy
        lambda frame, rng: frame + rng.normal(0, 25, frame.shape),
        lambda frame, rng: np.uint16(300 + 0.5 * frame + rng.normal(0, 3, frame.shape)),  # 10 bits
        lambda frame, rng: np.uint16(300 + 50 * frame + rng.normal(0, 100, frame.shape)),  # 14 bits
    ],
)
def test_dark_faint_noisy_and_deep_videos_are_as_good(shown):
    scene = video_scene(2, shape=(360, 640), frames=1, count=8, posts=0)
    frame = shown(next(scene.frames()).astype(float), np.random.default_rng(0))
    frame = frame if frame.dtype == np.uint16 else np.uint8(np.clip(np.rint(frame), 0, 255))
    right, wrong = truth_found(FrameExtrema(sizes=tuple(range(15, 72, 4)))(frame), scene.y[0], scene.x[0], scene.size)
    whole = int((scene.visible()[0] > 0.75).sum())
    assert right >= whole - 1
    assert wrong <= 2


def test_nothing_is_found_in_faint_noise_with_sizes_either():
    frame = np.random.default_rng(0).normal(128, 6, (160, 200)).clip(0, 255).astype(np.uint8)
    assert len(FrameExtrema(sizes=tuple(range(5, 40, 2)))(frame)) == 0


def test_what_lies_between_brighter_spots_is_no_dark_one_and_a_hole_and_a_dark_spot_are():
    shape = (120, 120)
    ring = [(60 + 15 * np.sin(a), 60 + 15 * np.cos(a)) for a in np.arange(4) * np.pi / 2]
    image = np.full(shape, 0.3)
    for centre in ring:
        image = synthetic.paint(image, synthetic.disc(shape, centre, 7), 0.9)
    assert not np.any(FrameExtrema(sizes=tuple(range(9, 42, 2)))(image).value < 0)
    image = synthetic.paint(np.full(shape, 0.3), synthetic.disc(shape, (40, 40), 20), 0.9)
    image = synthetic.paint(image, synthetic.disc(shape, (40, 40), 8), 0.6)
    image = synthetic.paint(image, synthetic.disc(shape, (90, 90), 8), 0.0)
    found = FrameExtrema(sizes=tuple(range(9, 52, 2)))(image)
    dark = {(int(y), int(x)) for y, x in zip(found.y[found.value < 0], found.x[found.value < 0], strict=True)}
    assert dark == {(40, 40), (90, 90)}


def test_without_sizes_the_strongest_are_found_and_with_them_all():
    assert FrameExtrema().limit == 50
    assert FrameExtrema(sizes=(5, 7)).limit is None
    assert FrameExtrema(sizes=(5, 7), count=3).limit == 3


@pytest.mark.parametrize("shape", [(1, 1), (3, 4), (9, 200)])
def test_frames_of_any_shape_are_taken(shape):
    assert len(FrameExtrema()(np.zeros(shape, np.uint8))) == 0


def test_blobs_come_with_their_diameters():
    image = synthetic.paint(np.full((100, 100), 0.4), synthetic.disc((100, 100), (50, 40), 13), 0.9)
    found = FrameBlobs(sizes=(15, 40))(image)
    assert found.size[0] == pytest.approx(26, abs=1.5)
    assert type(found) is Extrema


def test_blobs_of_any_size_are_found_beside_many_of_another():
    frame = np.full((300, 480), 0.5)
    places = [(60, 60), (60, 180), (60, 300), (200, 60), (200, 180), (200, 300)]
    for number, place in enumerate(places):
        frame = synthetic.paint(frame, synthetic.disc(frame.shape, place, 30), number % 2)
    frame = synthetic.paint(frame, synthetic.disc(frame.shape, (130, 420), 11), 0.2)
    noisy = frame + np.random.default_rng(0).normal(0, 0.02, frame.shape)
    found = FrameBlobs()(noisy)
    assert sorted(zip(np.rint(found.y), np.rint(found.x), strict=True)) == sorted([*places, (130, 420)])


@pytest.mark.slow
def test_shades_of_the_ground_are_no_blobs():
    scene = video_scene(5, shape=(540, 960), frames=1)
    frame = ndimage.gaussian_filter(next(iter(scene.frames())), 0.7)  # compression takes noise away, and leaves shades
    found, faint = FrameBlobs()(frame), FrameBlobs(contrast=0)(frame)
    assert len(found) == len(scene.size) < len(faint)
    near = np.hypot(found.y[:, None] - scene.y[0], found.x[:, None] - scene.x[0]) < 0.25 * scene.size
    assert near.any(axis=0).all()


@pytest.mark.parametrize("shape", [(1, 1), (3, 4), (9, 200)])
def test_blobs_are_looked_for_in_frames_of_any_shape(shape):
    assert len(FrameBlobs()(np.zeros(shape, np.uint8))) == 0
