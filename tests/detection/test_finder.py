"""A finder learns from a few drawn images what to find; and what it learned is kept whole."""

import json
import weakref
from types import SimpleNamespace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from imtorque.detection import ObjectFinder, training
from imtorque.detection.annotations import read_annotations
from imtorque.detection.augmentation import augmented
from imtorque.detection.click_sizes import clicked_diameters
from imtorque.detection.feature_maps import ObjectSizes, feature_maps, light_ramp
from imtorque.detection.noise import noise_level
from imtorque.detection.pixel_classifier import classify_pixels
from imtorque.images import CheckedImage
from imtorque.synthetic import disc, paint, square

pytest.importorskip("sklearn")
SHAPE = (120, 140)
KINDS = [("torque", "threshold")]


def draw(seed):
    """Return an image of dark discs and dark squares in noise; the discs' boxes and their label image."""
    rng = np.random.default_rng(seed)
    image, labels = np.full(SHAPE, 0.8), np.zeros(SHAPE, np.int32)
    places = [(20 + 27 * row, 20 + 33 * column) for row in range(4) for column in range(4)]
    rng.shuffle(places)
    boxes = []
    for number, (y, x) in enumerate(places):
        centre = (y + rng.uniform(-3, 3), x + rng.uniform(-3, 3))
        size = rng.uniform(7.5, 10)
        if number % 2:
            image = paint(image, square(SHAPE, centre, 1.6 * size), 0.3)
            continue
        cover = disc(SHAPE, centre, size)
        image = paint(image, cover, 0.3)
        labels[cover > 0.5] = len(boxes) + 1
        rows, columns = np.nonzero(cover > 0.5)
        boxes.append([rows.min(), columns.min(), rows.max() + 1, columns.max() + 1])
    return image + rng.normal(0, 0.03, SHAPE), np.array(boxes, float), labels


IMAGES, BOXES, LABELS = zip(*[draw(seed) for seed in range(5)], strict=True)
NEW, NEW_BOXES, NEW_LABELS = draw(99)
MIDDLES = [(boxes[:, :2] + boxes[:, 2:] - 1) / 2 for boxes in BOXES]


@pytest.fixture(scope="module")
def finder():
    return ObjectFinder(KINDS).fit(IMAGES[:4], BOXES[:4])


def test_images_to_annotate_next_are_looked_at_one_after_the_other(finder, monkeypatch):
    made, seen = [], []
    monkeypatch.setattr(
        ObjectFinder,
        "scored_proposals",
        lambda self, image, own=ObjectFinder.scored_proposals: seen.append(len(made)) or own(self, image),
    )
    images = [IMAGES[0], NEW, np.full(SHAPE, 0.8)]
    order = finder.query(made.append(image) or image for image in images)
    assert seen == [1, 2, 3]
    assert_array_equal(order, finder.query(images))


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (3, 3)])
def test_an_image_smaller_than_a_working_pixel_has_no_objects(finder, shape):
    """Of objects of 214 pixels blocks of 6 x 6 pixels become one."""
    large = ObjectFinder([("threshold",)])
    large.__dict__.update(finder.__dict__)
    large._sizes = ObjectSizes(196, 214, 234)
    assert len(large.predict(np.random.default_rng(0).random(shape))) == 0


@pytest.mark.parametrize("objects", [[(0, 0)], [(0.0, 0, 1, 1)], [[7]]])
def test_an_image_of_one_pixel_is_refused_alone_and_taken_among_others(objects):
    tiny = np.zeros((1, 1))
    with pytest.raises(
        ValueError, match=r"must show something that may be an object|must be of proposals that the images"
    ):
        ObjectFinder(KINDS).fit([tiny], [np.array(objects)])
    with pytest.raises(ValueError, match=r"must show something|must be of proposals|must be found at the clicks"):
        ObjectFinder(KINDS).fit([tiny], [np.array(objects)], complete=False)


@pytest.mark.parametrize(
    ("dtype", "numbers"),
    [("int64", (2**31 + 5, 2**62)), ("uint64", (2**64 - 2, 2**64 - 1)), ("uint32", (2_000_000_000, 2**32 - 1))],
)
def test_labels_of_any_integer_are_those_of_small_ones(dtype, numbers):
    small = np.zeros((9, 12), np.int64)
    small[1:4, 2:6], small[5:8, 7:11] = 1, 2
    large = np.choose(small, [np.array(0, dtype), *(np.array(number, dtype) for number in numbers)])
    expected, found = (read_annotations(labels, small.shape) for labels in (small, large))
    assert large.dtype == dtype
    assert len(found) == 2
    assert_array_equal(found.boxes, expected.boxes)
    assert_array_equal(found.radii, expected.radii)
    assert len(read_annotations(np.where(small, -3, 0), small.shape)) == 0


def test_discs_are_told_from_squares_of_the_same_grey(finder):
    assert finder.score([NEW], [NEW_BOXES]) > 0.85


def test_cross_validation_says_what_new_images_bear_out(finder):
    setting = finder.best_params_
    assert setting.f1 > 0.8
    assert setting.count_error < 0.3 * setting.mean_count
    assert setting.mean_count == 8


def test_outlines_are_those_of_the_discs(finder):
    found = finder.predict(NEW)
    labels = found.labels
    painted, truth = labels > 0, NEW_LABELS > 0
    assert (painted & truth).sum() / (painted | truth).sum() > 0.75
    assert labels.max() == len(found)
    assert (np.diff(np.abs(found.value)) <= 0).all()
    assert ((found.score > 0) & (found.score <= 1)).all()
    assert_allclose(found.area, np.pi * found.diameter**2 / 4)


def test_no_two_found_objects_share_much(finder):
    found = finder.predict(NEW)
    assert found.area.sum() - (found.labels > 0).sum() < 0.2 * found.area.sum()


@pytest.mark.slow
@pytest.mark.parametrize("marks", [LABELS, MIDDLES])
def test_label_images_and_points_teach_as_well(marks):
    finder = ObjectFinder(KINDS).fit(IMAGES[:4], marks[:4])
    assert finder.score([NEW], [NEW_BOXES]) > 0.7


def test_a_few_clicks_in_one_image_find_the_rest():
    finder = ObjectFinder(KINDS).fit(IMAGES[:1], [MIDDLES[0][:4]], complete=False)
    found = finder.predict(IMAGES[0])
    centres = np.stack([found.y, found.x], axis=1)
    near = np.hypot(*(centres[:, None, i] - MIDDLES[0][None, :, i] for i in (0, 1))).min(axis=0)
    assert (near < 4).mean() > 0.7


def test_a_saved_finder_finds_the_same(finder, tmp_path):
    finder.save(tmp_path / "discs.finder")
    loaded = ObjectFinder.load(tmp_path / "discs.finder")
    first, second = finder.predict(NEW), loaded.predict(NEW)
    assert_array_equal(first.outline, second.outline)
    assert_array_equal(first.score, second.score)
    assert loaded.best_params_ == finder.best_params_


def test_the_saved_file_holds_arrays_and_text_alone(finder, tmp_path):
    finder.save(tmp_path / "discs.finder")
    with np.load(tmp_path / "discs.finder", allow_pickle=False) as file:
        assert json.loads(str(file["about"]))["format"] == 2
        assert all(file[name].dtype != object for name in file.files)


def test_a_file_that_is_no_finder_is_refused(tmp_path):
    (tmp_path / "no.finder").write_text("no")
    with pytest.raises(ValueError, match=r"must be a file that ObjectFinder\.save wrote"):
        ObjectFinder.load(tmp_path / "no.finder")


def test_an_image_without_anything_gives_nothing(finder):
    assert len(finder.predict(np.full(SHAPE, 0.5))) == 0


def test_the_finder_finds_the_same_at_any_number_of_grey_values_to_one(finder):
    assert_allclose(finder.predict(NEW * 1000).score, finder.predict(NEW).score, atol=0.05)


def tinted(image):
    """Return an image in which red is stronger than blue."""
    return np.stack([image, image, 0.8 * image], axis=-1)


def test_taught_in_grey_it_finds_in_colour(finder):
    assert abs(len(finder.predict(tinted(IMAGES[4]))) - len(finder.predict(IMAGES[4]))) <= 1


@pytest.mark.slow
def test_taught_in_colour_and_grey_it_finds_in_both():
    finder = ObjectFinder(KINDS).fit([tinted(IMAGES[0]), *IMAGES[1:4]], BOXES[:4])
    assert finder.score([IMAGES[4], tinted(IMAGES[4])], [BOXES[4], BOXES[4]]) > 0.9


def test_images_to_annotate_next_are_those_with_most_uncertain_objects(finder):
    empty, texture = np.full(SHAPE, 0.8), NEW + np.random.default_rng(0).normal(0, 0.2, SHAPE)
    order = finder.query([empty, texture])
    assert order[0] == 1


def test_what_cannot_be_learned_from_is_refused():
    with pytest.raises(ValueError, match="at least one object"):
        ObjectFinder(KINDS).fit(IMAGES[:1], [np.zeros((0, 4))])
    with pytest.raises(ValueError, match="every image must have its annotations"):
        ObjectFinder(KINDS).fit(IMAGES[:2], BOXES[:1])
    with pytest.raises(ValueError, match="kinds must be tuples"):
        ObjectFinder([("torques",)])
    with pytest.raises(ValueError, match="fit must be called first"):
        ObjectFinder().predict(NEW)


@pytest.mark.parametrize("objects", [np.zeros((2, 3)), np.zeros((3, 3), int)])
def test_marks_of_another_shape_are_refused(objects):
    with pytest.raises(ValueError, match="objects must be boxes"):
        read_annotations(objects, SHAPE)


def test_an_empty_box_is_refused():
    with pytest.raises(ValueError, match="y0 < y1"):
        read_annotations([[5, 5, 5, 9]], SHAPE)


def test_the_size_of_a_clicked_disc_is_its_diameter():
    image = paint(0.2, disc((101, 101), (50, 50), 15), 0.9)
    assert_allclose(clicked_diameters(image, np.array([[50.0, 50.0], [52.0, 49.0]])), 31, atol=5)


def test_the_size_of_clicked_discs_is_theirs_and_not_that_of_the_folds_they_lie_on():
    rng = np.random.default_rng(0)
    y, x = np.mgrid[:300, :300]
    image = 0.5 + 0.4 * np.sin(x / 19) * np.sin(y / 23) + rng.normal(0, 0.01, (300, 300))
    points = rng.uniform(30, 270, (12, 2)).round()
    for place in points:
        image -= 0.15 * disc(image.shape, tuple(place), 7)
    assert np.median(clicked_diameters(image, points)) == pytest.approx(15, abs=2)
    assert np.median(clicked_diameters(image, points[:3])) == pytest.approx(15, abs=2)


def test_pixel_scores_are_a_quadratic_form_of_the_planes():
    planes = feature_maps(IMAGES[0], ObjectSizes(12, 18, 22), coloured=False)
    pixels = np.concatenate([planes.stack, np.ones((1, *planes.shape), np.float32)]).reshape(len(planes.stack) + 1, -1)
    form = np.triu(np.random.default_rng(0).normal(0, 0.3, (len(pixels), len(pixels))))
    expected = (pixels * (form @ pixels)).sum(axis=0).clip(-1.5, 1.5)
    assert_allclose(classify_pixels(planes, form).ravel(), expected, atol=1e-4)


def test_negatives_must_be_points():
    with pytest.raises(ValueError, match=r"negatives must be points \(n, 2\), got \(1, 4\)"):
        read_annotations([[5, 5, 9, 9]], SHAPE, negatives=[[1, 2, 3, 4]])
    assert_array_equal(read_annotations([[5, 5, 9, 9]], SHAPE, negatives=[(1, 3)]).reduced(2).negatives, [[0.25, 1.25]])


def test_light_that_falls_across_the_image_changes_nothing(finder):
    across = np.linspace(0, 0.6, SHAPE[1]) + np.linspace(0.2, 0, SHAPE[0])[:, None]
    found, lit = finder.predict(NEW), finder.predict(CheckedImage(NEW + across, (0, 1)))
    assert len(found) == len(lit)
    assert_allclose(np.sort(lit.x), np.sort(found.x), atol=0.5)


@given(arrays(np.float64, st.tuples(st.integers(1, 9), st.integers(1, 9)), elements=st.floats(-100, 100)))
def test_the_light_ramp_is_the_plane_of_least_squares(grey):
    y, x = (side.ravel() for side in np.indices(grey.shape) - (np.array(grey.shape) - 1).reshape(2, 1, 1) / 2)
    slopes = np.linalg.lstsq(np.stack([y, x], axis=1), (grey - grey.mean()).ravel(), rcond=None)[0]
    assert_allclose(light_ramp(grey), (slopes @ [y, x]).reshape(grey.shape), atol=1e-9)


def test_light_on_an_even_image_is_none():
    assert not light_ramp(np.full((7, 5), 0.8, np.float32)).any()


def test_copies_of_training_images_differ_in_light_and_noise_and_are_repeatable():
    first, again, second = (augmented(IMAGES[0], number).grey() for number in (0, 0, 1))
    assert_array_equal(first, again)
    assert np.abs(first - second).mean() > 0.05
    assert noise_level(first) > 1.5 * noise_level(IMAGES[0].astype(np.float32))


def test_all_forms_of_an_image_are_in_one_fold():
    sizes = [3, 2, 4, 1]
    examples = [
        SimpleNamespace(number=number, table=SimpleNamespace(proposals=range(size)))
        for number, size in zip((0, 1, 0, 1), sizes, strict=True)
    ]
    folds, parts = training._groups(examples)
    assert parts == sizes
    assert_array_equal(folds, np.repeat([0, 1, 0, 1], sizes))


def test_a_finder_bears_noise_that_none_of_its_images_has(finder):
    noisy = NEW + np.random.default_rng(3).normal(0, 0.1, SHAPE)
    assert finder.score([noisy], [NEW_BOXES]) > 0.8


def test_the_least_score_can_be_set_whatever_it_was(finder):
    assert_array_equal(finder.with_threshold(0.0).with_threshold(0.7).best_params_.threshold, 0.7)
    same = finder.with_threshold(finder.best_params_.threshold)
    assert_array_equal(same.predict(NEW).score, finder.predict(NEW).score)


def test_few_objects_do_not_move_the_threshold_far():
    lowest, highest = min(training.SCORE_THRESHOLDS), max(training.SCORE_THRESHOLDS)
    for images in (1, 4):
        threshold = ObjectFinder([("threshold",)]).fit(IMAGES[:images], BOXES[:images]).best_params_.threshold
        objects = sum(map(len, BOXES[:images]))
        usual = training.usual_threshold(images, objects)
        reach = objects / (objects + training.PRIOR_OBJECTS)
        assert usual + reach * (lowest - usual) - 1e-9 <= threshold <= usual + reach * (highest - usual) + 1e-9


def test_a_lone_image_has_a_lower_threshold_the_fewer_objects_it_has():
    thresholds = [training.usual_threshold(1, objects) for objects in (0, 5, 50, 5000)]
    assert thresholds[0] == training.LONE_THRESHOLD
    assert thresholds == sorted(thresholds)
    assert thresholds[-1] < training.usual_threshold(2, 5) == training.USUAL_THRESHOLD


def test_feature_maps_of_training_images_are_held_one_at_a_time(monkeypatch):
    held = []

    def counted(*arguments):
        assert sum(maps() is not None for maps in held) <= 1  # that of the form before
        maps = feature_maps(*arguments)
        held.append(weakref.ref(maps))
        return maps

    monkeypatch.setattr("imtorque.detection.finder.feature_maps", counted)
    ObjectFinder(KINDS).fit(IMAGES[:3], BOXES[:3])
    assert len(held) == 12  # two forms of each image, twice
