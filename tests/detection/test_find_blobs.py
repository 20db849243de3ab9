"""What finding promises: the same objects whatever the magnification, margin, contrast, light and noise."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from skimage.data import coins
from skimage.transform import rescale

from detection.scenes import capsule, discs, ellipse, lattice, missed_and_extra, scattered
from imtorque import Edges, Extrema, detect_edges, find_blobs

SHAPE = (240, 260)
CENTRES = lattice(SHAPE, 60)


@pytest.fixture(scope="module")
def scene():
    """Bright discs of 21 pixels on grey, with a little noise."""
    noise = np.random.default_rng(2).normal(0, 0.02, SHAPE)
    return 0.3 + 0.4 * discs(SHAPE, CENTRES, 21) + noise


@pytest.mark.parametrize("factor", [0.5, 1, 2, 3, 4])
def test_coins_are_counted_at_any_magnification(factor):
    image = rescale(coins() / 255, factor, order=1, mode="edge", anti_aliasing=factor < 1)
    blobs = find_blobs(image, sizes=(30 * factor, 80 * factor))
    assert (len(blobs), np.sum(blobs.value > 0)) == (24, 24)


@pytest.mark.parametrize("margin", [0, 100, 400])
def test_coins_are_counted_with_any_margin(margin):
    image = np.pad(coins(), margin, constant_values=90)
    blobs = find_blobs(image, sizes=(30, 80))
    assert (len(blobs), np.sum(blobs.value > 0)) == (24, 24)


@pytest.mark.parametrize("sizes", [None, (30, 80)])
def test_coins_are_counted_in_much_noise(sizes):
    image = coins() / 255 + np.random.default_rng(0).normal(0, 0.4, coins().shape)
    assert len(find_blobs(image, sizes=sizes)) == 24


@pytest.mark.slow
def test_a_mosaic_of_coins_keeps_them_all():
    blobs = find_blobs(np.tile(coins(), (6, 6)), sizes=(30, 80))
    assert 855 <= len(blobs) <= 873


@pytest.mark.parametrize(
    "change",
    [
        lambda p: 0.1 * p,
        lambda p: 10 * p,
        lambda p: -3 + p,
        lambda p: p + np.linspace(0, 1, p.shape[1]),
        lambda p: np.clip(255 * p, 0, 255).astype(np.uint8),
        lambda p: np.clip(4095 * p, 0, 65535).astype(np.uint16),
        lambda p: p.astype(np.float32),
        lambda p: p[::-1, ::-1],
    ],
    ids=["contrast 0.1", "contrast 10", "offset", "ramp", "uint8", "12 bit in uint16", "float32", "turned"],
)
def test_discs_are_found_whatever_the_light_and_the_dtype(scene, change):
    blobs = find_blobs(change(scene))
    if change(scene)[0, 0] == scene[-1, -1]:
        blobs = find_blobs(change(scene)[::-1, ::-1])
    assert missed_and_extra(blobs, CENTRES, 21) == (0, 0)
    assert_allclose(blobs.diameter, 21, atol=1.5)


@pytest.mark.parametrize("factor", [0.5, 2, 4])
def test_default_sizes_follow_the_magnification(scene, factor):
    part = scene[:120, :180]  # six of the discs
    blobs = find_blobs(rescale(part, factor, order=1, mode="edge", anti_aliasing=factor < 1))
    assert len(blobs) == 6
    assert_allclose(blobs.diameter / factor, 21, atol=1.5)


@pytest.mark.parametrize("sizes", [None, (5, 9), (10, 40), (40, 120)])
@pytest.mark.parametrize("level", [0.001, 5, 300])
def test_white_noise_holds_nothing(sizes, level):
    assert len(find_blobs(np.random.default_rng(4).normal(100, level, (400, 400)), sizes=sizes)) == 0


@pytest.mark.parametrize(("contrast", "most_missed"), [(12, 0), (5, 0), (3, 2)])
@pytest.mark.parametrize("diameter", [9, 15, 31])
def test_discs_in_noise_are_found_and_nothing_else(contrast, most_missed, diameter):
    shape = (300, 300)
    centres = lattice(shape, 75)
    image = np.random.default_rng(3).normal(0, 1, shape) + contrast * discs(shape, centres, diameter)
    known = (0.6 * diameter, 1.6 * diameter)
    for sizes in [known] if (contrast, diameter) == (3, 9) else [known, None]:  # so small and faint: sizes are needed
        missed, extra = missed_and_extra(find_blobs(image, sizes=sizes), centres, diameter)
        assert missed <= most_missed
        assert extra == 0


@pytest.mark.parametrize("sizes", [None, (14, 32)])
def test_unlike_objects_are_found_in_noise_above_half_their_contrast(sizes):
    rng = np.random.default_rng(1)

    def draw(shape, centre, turn):
        return rng.uniform(0.5, 1) * ellipse(shape, centre, (12, rng.uniform(8, 12)), turn)

    image, centres = scattered((360, 380), 40, draw, 14)
    found = find_blobs(image + np.random.default_rng(2).normal(0, 0.66, image.shape), sizes=sizes)
    assert missed_and_extra(found, centres, 20) == (0, 0)


@pytest.mark.parametrize("aspect", [1.5, 2, 3, 4])
@pytest.mark.parametrize("degrees", [0, 30, 77, 135])
def test_an_ellipse_is_one_thing_with_its_axes(aspect, degrees):
    turn = np.deg2rad(degrees)
    image = ellipse((150, 160), (74.6, 81.3), (11 * aspect, 11), turn)
    blobs = find_blobs(image)
    assert len(blobs) == 1
    assert_allclose((blobs.y[0], blobs.x[0]), (74.6, 81.3), atol=0.6)
    assert_allclose((blobs.major[0], blobs.minor[0]), (22 * aspect, 22), rtol=0.08)
    assert abs(np.sin(blobs.orientation[0] - turn)) < 0.06


@pytest.mark.parametrize(
    ("draw", "count", "long", "short"),
    [
        (lambda shape, centre, turn: capsule(shape, centre, 12.5, 6.5, turn), 40, 19, 6.5),  # like grains of rice
        (lambda shape, centre, turn: capsule(shape, centre, 21.6, 5.4, turn), 20, 27, 5.4),  # like nanorods
        (lambda shape, centre, turn: ellipse(shape, centre, (36, 6), turn), 12, 36, 6),
    ],
    ids=["grains 3:1", "rods 5:1", "ellipses 6:1"],
)
def test_long_things_in_a_crowd_are_each_found_whole(draw, count, long, short):
    image, centres = scattered((360, 380), count, draw, long)
    blobs = find_blobs(0.2 + 0.5 * image + np.random.default_rng(0).normal(0, 0.03, image.shape))
    assert missed_and_extra(blobs, centres, short) == (0, 0)
    assert_allclose(blobs.major / blobs.minor, long / short, rtol=0.15)


def test_a_thing_in_a_thing_of_clearly_different_size_is_kept():
    image = 0.5 * ellipse((120, 120), (60, 60), (40, 40)) + 0.5 * ellipse((120, 120), (55, 66), (9, 9))
    blobs = find_blobs(image, sizes=(12, 100))
    assert_allclose(sorted(blobs.diameter), [18, 80], rtol=0.05)
    assert blobs.labels[55, 66] != blobs.labels[80, 60] > 0


def test_gaps_between_things_are_no_things():
    centres = [(y, x) for y in range(20, 130, 22) for x in range(20, 130, 22)]
    blobs = find_blobs(discs((140, 140), centres, 21), sizes=(14, 32), sign=0)
    assert missed_and_extra(blobs, centres, 21) == (0, 0)


def test_a_bright_thing_and_a_dark_one_are_both_found():
    image = 0.5 + 0.5 * ellipse((80, 160), (40, 40), (15, 15)) - 0.5 * ellipse((80, 160), (40, 115), (15, 15))
    assert sorted(np.sign(find_blobs(image).value)) == [-1, 1]
    assert find_blobs(image, sign=-1).x.tolist() == pytest.approx([115], abs=0.3)


@pytest.mark.parametrize("sizes", [None, (14, 32)])
def test_as_many_dark_things_of_four_fifths_of_the_contrast_are_found_beside_bright_ones(sizes):
    shape, centres = (300, 300), [(y, x) for y in range(30, 300, 48) for x in range(30, 300, 48)]
    image = discs(shape, centres[::2], 22) - 0.8 * discs(shape, centres[1::2], 22)
    blobs = find_blobs(image + np.random.default_rng(0).normal(0, 0.03, shape), sizes=sizes)
    assert missed_and_extra(blobs, centres, 22) == (0, 0)


def test_a_few_dark_things_among_many_bright_ones_must_be_asked_for(scene):
    image = scene.copy()
    image[100:116, 88:104] -= 0.4
    assert np.all(find_blobs(image).value > 0)
    assert np.sum(find_blobs(image, sign=0).value < 0) == 1


@pytest.mark.parametrize("sign", [1, -1])
def test_things_cut_by_the_rim_are_found(sign):
    image = 0.5 + sign * 0.4 * discs((100, 140), [(2, 30), (60, 138), (55, 70)], 31)
    blobs = find_blobs(image)
    assert len(blobs) == 3
    assert np.all(np.sign(blobs.value) == sign)


def test_a_range_is_a_tuple_and_a_list_is_sizes(scene):
    assert len(find_blobs(scene, sizes=(15, 30))) == len(CENTRES)
    assert len(find_blobs(scene, sizes=[19, 21, 23, 25])) == len(CENTRES)
    assert len(find_blobs(scene, sizes=(50, 120))) == 0


def test_edges_serve_as_an_image_does(scene):
    blobs = find_blobs(detect_edges(scene, sigma=2, low=0.03, high=0.06), sizes=(15, 30))
    assert missed_and_extra(blobs, CENTRES, 21) == (0, 0)
    assert np.all(np.isnan(blobs.contrast))


def test_the_papers_form_is_a_recipe():
    image = np.zeros((60, 60))
    image[20:41, 15:36] = 1
    blobs = find_blobs(image, method="paper", count=1)
    assert_allclose((blobs.y[0], blobs.x[0], blobs.size[0]), (30, 25, 23), atol=2)
    assert blobs.value[0] > 0.7


def test_the_mask_says_where_to_look(scene):
    left = np.zeros(SHAPE, bool)
    left[:, :130] = True
    assert len(find_blobs(scene, mask=left)) == sum(x < 130 for _, x in CENTRES)


@pytest.mark.parametrize(
    "image",
    [
        np.zeros((50, 60)),
        np.tile(np.linspace(0, 1, 120), (100, 1)),
        np.tile(0.5 + 0.5 * np.sin(np.arange(160) / 3), (120, 1)),
    ],
    ids=["flat", "gradient", "stripes"],
)
def test_images_without_things_have_none(image):
    assert len(find_blobs(image)) == 0


def test_a_checkerboard_is_its_fields():
    y, x = np.indices((120, 120)) // 20
    blobs = find_blobs((y + x) % 2 * 1.0, sizes=(14, 30))
    assert np.all(np.abs(blobs.diameter - 22.6) < 3)


def test_small_images_are_no_error():
    for shape in ((1, 1), (3, 40), (7, 7)):
        assert isinstance(find_blobs(np.random.default_rng(0).random(shape)), Extrema)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sizes": (9, 5)}, "smallest <= largest"),
        ({"sign": 2}, "sign must be"),
        ({"ring": 1}, "ring must be"),
        ({"method": "x"}, "method must be"),
        ({"contrast": -1}, "contrast must not"),
        ({"mask": np.ones((3, 3), bool)}, "mask must be"),
        ({"patch": "x"}, "patch must be"),
    ],
)
def test_what_cannot_be_meant_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        find_blobs(np.random.default_rng(0).random((40, 40)), **arguments)


def test_things_and_labels_do_not_depend_on_the_number_of_threads(scene):
    import imtorque

    before = imtorque.get_num_threads()
    try:
        imtorque.set_num_threads(1)
        one = find_blobs(scene)
        imtorque.set_num_threads(3)
        three = find_blobs(scene)
    finally:
        imtorque.set_num_threads(before)
    assert one.to_csv() == three.to_csv()
    assert_array_equal(one.labels, three.labels)


def test_no_edges_give_no_things():
    assert len(find_blobs(Edges(np.zeros((30, 30)), np.zeros((30, 30))))) == 0
