"""Recognition: the estimators as scikit-learn meets them, and by what must hold for any image."""

import io
import subprocess
import sys
from typing import get_args

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted

import imtorque
from drawn_classes import draw_image, use_small_blocks
from imtorque import Edges, Extrema, find_extrema, gradient_edges, synthetic, torque_map
from imtorque.recognition import (
    METHODS,
    Codebook,
    DenseSIFT,
    Descriptors,
    LinearSVM,
    LLCEncoder,
    MultiscaleTorque,
    SpatialPyramid,
    TorquePatches,
    WorkingImage,
    WorkingImages,
    features,
    multiscale_torque,
)
from imtorque.recognition.coding import pyramid_cells
from imtorque.recognition.linear_svm import inner_products, train_on_products
from imtorque.recognition.presets import BLOCKS, Method, joined, paper_block
from imtorque.recognition.sift import grid_starts
from imtorque.recognition.torque_patches import patch_sizes

TRANSFORMERS = [
    WorkingImages(),
    TorquePatches(),
    MultiscaleTorque(),
    DenseSIFT(),
    LLCEncoder(Codebook(8)),
    SpatialPyramid(),
]


def disc(shape=(60, 70), centre=(30, 30), radius=12):
    return synthetic.disc(shape, centre, radius)


def described(n=200, seed=0, length=12, shape=(40, 60)):
    rng = np.random.default_rng(seed)
    vectors = rng.random((n, length), dtype=np.float32)
    return Descriptors(vectors, rng.uniform(0, shape[0], n), rng.uniform(0, shape[1], n), shape)


# Estimators


@pytest.mark.parametrize("estimator", TRANSFORMERS, ids=lambda e: type(e).__name__)
def test_clone_and_set_params_keep_every_parameter(estimator):
    twin = clone(estimator)
    assert type(twin) is type(estimator)
    assert set(twin.get_params()) == set(estimator.get_params())
    first = next(iter(estimator.get_params(deep=False)))
    assert twin.set_params(**{first: estimator.get_params()[first]}) is twin


@pytest.mark.parametrize("estimator", [WorkingImages(), TorquePatches(), MultiscaleTorque(), DenseSIFT()])
def test_estimators_with_nothing_to_learn_count_as_fitted(estimator):
    check_is_fitted(estimator)
    assert estimator.fit([disc()]) is estimator


@pytest.mark.slow
@pytest.mark.parametrize("estimator", [Codebook(3), LinearSVM()], ids=lambda e: type(e).__name__)
def test_estimators_over_arrays_pass_scikit_learns_own_checks(estimator):
    failed = [check for check in check_estimator(estimator, on_fail=None, on_skip=None) if check["status"] == "failed"]
    assert failed == []


def test_a_pipeline_learns_predicts_and_survives_joblib(monkeypatch):
    use_small_blocks(monkeypatch)
    images = [draw_image(kind, seed) for kind in ("disc", "bar") for seed in range(4)]
    labels = ["disc"] * 4 + ["bar"] * 4
    pipeline = make_pipeline(features("sift+torque"), LinearSVM()).fit(images, labels)
    assert pipeline.predict(images).tolist() == labels
    stored = io.BytesIO()
    joblib.dump(pipeline, stored)
    stored.seek(0)
    again = joblib.load(stored)
    assert_array_equal(again.decision_function(images), pipeline.decision_function(images))


@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_a_transformer_to_rows_of_length_1(method, monkeypatch):
    use_small_blocks(monkeypatch)
    images = [draw_image("disc", 0), draw_image("ring", 1)]
    rows = features(method).fit_transform(images)
    assert rows.shape[0] == 2
    assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-4)


def test_the_squares_of_a_methods_weights_add_up_to_1():
    for weights in METHODS.values():
        assert sum(w**2 for w in weights.values()) == pytest.approx(1)
        assert set(weights) <= set(BLOCKS)
    assert joined((1, {"a": 1}), (2, {"b": 3, "c": 4})) == pytest.approx(
        {"a": 1 / 5**0.5, "b": 2 * 0.6 / 5**0.5, "c": 2 * 0.8 / 5**0.5}
    )
    with pytest.raises(ValueError, match="method must be one of sift, torque"):
        features("surf")


def test_the_methods_that_can_be_named_are_those_there_are():
    assert get_args(Method) == tuple(METHODS)


def test_importing_the_library_does_not_import_scikit_learn():
    code = "import sys, imtorque; print('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_without_scikit_learn_the_error_names_the_extra():
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "try:\n    import imtorque.recognition\nexcept ImportError as e:\n    print(e)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "pip install 'imtorque[learn]'" in told


# Patches and descriptors


def test_the_strongest_patch_of_a_disc_is_the_disc():
    patches = TorquePatches(count=1).detect(disc())
    assert (abs(patches.y[0] - 30), abs(patches.x[0] - 30)) <= (1, 1)
    assert 18 <= patches.size[0] <= 30


def test_signs_tell_bright_patches_from_dark_ones():
    bright, dark = (TorquePatches(sign=sign, count=1).detect(disc()) for sign in (1, -1))
    assert_array_equal(bright.y, [30])
    assert len(dark) == 0
    assert len(TorquePatches(sign=-1, count=1).detect(1 - disc())) == 1


def test_extrema_and_grid_come_together_and_small_patches_can_be_asked_for():
    image = draw_image("ring", 0)
    patches = TorquePatches(count=50, grid=(17, 25), step=8).detect(image)
    alone = TorquePatches(count=50).detect(image)
    assert len(patches) == len(alone) + 2 * 6 * 8
    assert_array_equal(patches.y[: len(alone)], alone.y)
    small = TorquePatches(count=50, most_pixels=9).detect(image)
    assert 0 < len(small) < len(alone)
    assert small.size.max() <= 9


def test_rectangles_are_found_beside_squares():
    image = np.zeros((60, 90))
    image[24:36, 20:68] = 1
    squares, both = (TorquePatches(aspects=aspects).detect(image) for aspects in ((1,), (1, 0.25, 4)))
    assert squares.size.ndim == 1
    assert len(both) > len(squares)
    height, width = both.size[0]
    assert (height % 2, width % 2) == (1, 1)
    assert width > 2 * height
    assert len(MultiscaleTorque().describe(both)) > len(MultiscaleTorque().describe(squares))


def test_rectangles_and_a_grid_of_squares_come_together():
    patches = TorquePatches(count=5, aspects=(1, 2), grid=(17,), step=8).detect(draw_image("ring", 0))
    assert_array_equal(patches.size[5:], np.full((48, 2), 17))


def test_only_the_strongest_of_all_windows_are_kept():
    assert len(TorquePatches(count=7, aspects=(0.5, 1, 2)).detect(draw_image("ring", 0))) == 7


def test_windows_and_neighbours_are_those_of_find_extrema():
    image = draw_image("ring", 0)
    box, cross, disk = (
        TorquePatches(count=None, threshold=0.0, **options).detect(image)
        for options in ({}, {"neighbourhood": "cross"}, {"patch": "disk"})
    )
    assert len(cross) > len(box)
    sizes = patch_sizes(disk.edges.shape, 0.5)
    assert_array_equal(disk.size, find_extrema(disk.edges, sizes=sizes, patch="disk").size)


@pytest.mark.parametrize("size", [5, 7, 9, 21, 41])
def test_regions_of_the_papers_descriptor_have_their_centres_in_the_patch(size):
    image = np.random.default_rng(0).random((2 * size + 9, 2 * size + 9))
    centre = len(image) // 2
    distances = paper_block(1)["describe"].distances
    edges, seen = gradient_edges(image), np.zeros(image.shape, np.float32)
    reach = size // 2 + 1  # of a region of 3 pixels whose centre lies in the patch
    seen[centre - reach : centre + reach + 1, centre - reach : centre + reach + 1] = 1
    patch = Extrema([centre], [centre], [size], [1.0])
    whole, cropped = (
        multiscale_torque(one, patch, regions=(0.01,), distances=distances)
        for one in (edges, Edges(edges.fx * seen, edges.fy * seen))
    )
    assert_allclose(whole, cropped, atol=1e-6)


def test_the_centre_of_a_descriptor_is_the_torque_map_there():
    image = draw_image("ring", 3)
    edges = gradient_edges(image)
    extrema = find_extrema(edges, sizes=[9, 17, 25], count=20)
    found = multiscale_torque(edges, extrema, regions=(1.0,), distances=(0.5,))
    for k in range(len(extrema)):
        assert found[k, 0] == pytest.approx(
            torque_map(edges, int(extrema.size[k]))[extrema.y[k], extrema.x[k]], abs=1e-6
        )


def test_an_aligned_descriptor_stays_when_the_image_is_turned():
    image = draw_image("bar", 1)[:48, :48].astype(float)
    point = Extrema([24], [24], [21], [1.0])
    turned = Extrema([23], [24], [21], [1.0])  # (y, x) goes to (47 - x, y)
    plain, aligned = (
        [multiscale_torque(gradient_edges(i), p, align=a)[0] for i, p in ((image, point), (np.rot90(image), turned))]
        for a in (False, True)
    )
    assert_allclose(aligned[0], aligned[1], atol=1e-5)
    assert not np.all(np.abs(plain[0] - plain[1]) < 1e-3)


def test_without_signs_a_negative_has_the_same_descriptors():
    image = disc()
    both = [MultiscaleTorque(signs=False).describe(TorquePatches(grid=(17,)).detect(i)) for i in (image, 1 - image)]
    assert_allclose(both[0].vectors, both[1].vectors, atol=1e-4)


def test_a_wider_window_is_the_descriptor_of_a_larger_patch():
    edges = gradient_edges(disc())
    assert_array_equal(
        multiscale_torque(edges, Extrema([30], [30], [15], [1.0]), window=1.4),
        multiscale_torque(edges, Extrema([30], [30], [21], [1.0])),
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"regions": ()}, "regions must be positive"),
        ({"distances": (0.1, -1)}, "distances must be positive"),
        ({"window": 0}, "window must be positive"),
    ],
)
def test_the_descriptor_refuses_layouts_that_are_none(options, message):
    with pytest.raises(ValueError, match=message):
        multiscale_torque(gradient_edges(disc()), Extrema([30], [30], [15], [1.0]), **options)


def test_a_rectangle_is_described_by_rectangles_of_its_shape():
    edges = gradient_edges(disc())
    found = multiscale_torque(edges, Extrema([30], [30], [[21, 11]], [1.0]), regions=(1.0,), distances=(1.0,))
    torque = torque_map(edges, (21, 11))
    assert_allclose(found[0, [0, 1, 3]], [torque[30, 30], torque[30, 41], torque[51, 30]], atol=1e-6)


def test_squares_may_be_given_as_rectangles():
    edges = gradient_edges(disc())
    square, pair = (Extrema([30, 20], [30, 28], size, [1.0, 1.0]) for size in ([15, 9], [[15, 15], [9, 9]]))
    assert_array_equal(multiscale_torque(edges, square, align=True), multiscale_torque(edges, pair, align=True))


def test_all_extrema_can_be_asked_for():
    image = draw_image("ring", 0)
    every = TorquePatches(count=None, threshold=0.0).detect(image)
    assert len(every) > len(TorquePatches(count=50, threshold=0.0).detect(image)) == 50


def test_colour_describes_what_grey_cannot_see():
    image = np.full((60, 70, 3), 0.5)
    cover = disc() > 0.5
    image[cover] = [0.9, 0.5 - 0.4 * 0.2126 / 0.7152, 0.5]  # as bright as the ground, but red
    detector = TorquePatches(count=1, grid=(25,), colour=True)
    assert len(MultiscaleTorque(least=0.3).describe(detector.detect(image))) > 0
    grey = np.repeat(disc()[:, :, None], 3, axis=2)
    assert len(MultiscaleTorque(least=0.3).describe(detector.detect(grey))) == 0
    assert_array_equal(WorkingImage(disc()).contrasts[0], np.zeros((60, 70), np.float32))


def test_patch_sizes_are_odd_and_end_at_a_part_of_the_shorter_side():
    sizes = patch_sizes((100, 200), 0.5)
    assert sizes[0] == 5
    assert np.all(sizes % 2 == 1)
    assert sizes[-1] <= 50
    assert patch_sizes((16, 16), 0.1).tolist() == [5]
    with pytest.raises(ValueError, match="largest must be positive"):
        patch_sizes((100, 100), 0)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (TorquePatches(force="magnetic"), 'force must be "gradient" or "unit"'),
        (TorquePatches(sign=2), r"sign must be \+1, -1 or None"),
        (TorquePatches(sigma=0), "sigma must be positive"),
        (TorquePatches(aspects=()), "aspects must be at least one, got none"),
        (TorquePatches(aspects=(0,)), "aspects must be from 1/16 to 16, got 0"),
        (TorquePatches(neighbourhood="star"), "neighbourhood must be"),
        (DenseSIFT(sizes=(10,)), "sizes must be multiples of 4"),
        (DenseSIFT(sizes=(100,)), "image must hold a patch of 100"),
        (DenseSIFT(step=0), "step must be at least 1"),
        (DenseSIFT(sigma=-1), "sigma must be positive"),
    ],
)
def test_parameters_without_sense_are_refused_when_used(estimator, message):
    with pytest.raises(ValueError, match=message):
        estimator.transform([disc()])


@pytest.mark.parametrize("estimator", [TorquePatches(), DenseSIFT()], ids=["torque", "sift"])
def test_images_that_are_none_are_refused(estimator):
    with pytest.raises(ValueError, match="at least 16 x 16 pixels to hold a patch, got 15 x 40"):
        estimator.transform([np.zeros((15, 40))])
    with pytest.raises(ValueError, match="images must be a list of arrays, got one array"):
        estimator.transform(disc())
    with pytest.raises(TypeError, match="image must be bool, integers or floats"):
        estimator.transform([np.zeros((30, 40), complex)])


def test_a_flat_image_has_no_patches_and_becomes_zeros():
    flat = np.full((40, 50), 0.5)
    for name in BLOCKS:
        block = BLOCKS[name]()
        encoder = LLCEncoder(Codebook(8, samples=200)).fit([described(length=198 if name == "colour" else 128)])
        found = [flat]
        for _, step in block.steps[:-2]:
            found = step.transform(found)
        assert len(found[0]) == 0
        codes = encoder.encode(
            Descriptors(np.zeros((0, encoder.codebook_.words_.shape[1]), np.float32), *([np.zeros(0)] * 2), (40, 50))
        )
        assert not SpatialPyramid().pool(codes).any()


# Dense SIFT


@given(st.integers(16, 90), st.sampled_from([4, 8, 16]), st.integers(1, 12))
def test_a_grid_lies_inside_and_leaves_less_than_a_step_over(length, size, step):
    starts = grid_starts(length, size, step)
    assert starts[0] >= 0
    assert starts[-1] + size <= length
    assert starts[0] + (length - size - starts[-1]) < step
    assert np.all(np.diff(starts) == step)


def test_sift_rows_have_length_1_and_no_share_far_above_the_clip():
    found = DenseSIFT(step=4).describe(draw_image("ring", 0))
    assert_allclose(np.linalg.norm(found.vectors, axis=1), 1, rtol=1e-5)
    assert found.vectors.min() >= 0
    assert found.vectors.max() < 0.9
    assert found.y.max() < 48
    assert found.x.max() < 64


def test_sift_of_a_turned_image_is_the_turned_sift():
    image = draw_image("bar", 2)[:48, :48].astype(float) / 255
    plain, turned = (DenseSIFT(sizes=(16,), step=16, least=0).describe(i).vectors for i in (image, np.rot90(image)))
    grid = plain.reshape(3, 3, 4, 4, 8)
    # A quarter turn against the clock: the patches and the cells turn, and every direction goes back by two.
    expected = np.roll(np.rot90(np.rot90(grid, axes=(0, 1)), axes=(2, 3)), -2, axis=4)
    assert_allclose(turned.reshape(3, 3, 4, 4, 8), expected, atol=2e-4)


# Coding


def test_words_are_means_of_their_descriptors():
    points, _ = make_blobs(300, 4, centers=6, cluster_std=0.05, random_state=0)
    book = Codebook(6, iterations=50).fit(points)
    for k, word in enumerate(book.words_):
        assert_allclose(word, points[book.labels_ == k].mean(axis=0), rtol=1e-3, atol=1e-4)
    assert_array_equal(book.predict(points), book.labels_)


def test_more_words_than_descriptors_are_refused():
    with pytest.raises(ValueError, match="at least the number of words"):
        Codebook(30).fit(np.zeros((20, 3)))


def test_codes_of_words_are_the_words_themselves():
    words = np.eye(12, dtype=np.float32)
    encoder = LLCEncoder(Codebook(12, samples=12), beta=1e-6).fit([Descriptors(words, *([np.zeros(12)] * 2), (9, 9))])
    codes = encoder.encode(Descriptors(words, *([np.zeros(12)] * 2), (9, 9)))
    assert len(codes) == 12
    assert_allclose(codes.weight[:, 0], 1, atol=1e-3)
    assert_allclose(codes.weight[:, 1:], 0, atol=1e-3)


@pytest.mark.parametrize(("options", "message"), [({"neighbours": 9}, "between 1 and 8"), ({"beta": 0}, "beta must")])
def test_codes_that_cannot_be_are_refused(options, message):
    encoder = LLCEncoder(Codebook(8, samples=100), **options).fit([described()])
    with pytest.raises(ValueError, match=message):
        encoder.transform([described()])


@given(st.lists(st.tuples(st.floats(0, 40), st.floats(0, 60)), min_size=1, max_size=20))
def test_every_point_lies_in_one_cell_of_each_level(points):
    y, x = np.array(points).T
    cells = pyramid_cells(y, x, (40, 60), (1, 2, 4))
    assert np.all(cells[:, 0] == 0)
    assert np.all((cells[:, 1] >= 1) & (cells[:, 1] < 5))
    assert np.all((cells[:, 2] >= 5) & (cells[:, 2] < 21))
    # A cell of the finest level lies in the one above it.
    row, column = (cells[:, 2] - 5) // 4, (cells[:, 2] - 5) % 4
    assert_array_equal(cells[:, 1] - 1, row // 2 * 2 + column // 2)


def test_pyramids_have_a_place_for_every_word_in_every_cell_and_length_1():
    encoder = LLCEncoder(Codebook(10, samples=200)).fit([described()])
    rows = SpatialPyramid().transform(encoder.transform([described(), described(seed=1)]))
    assert rows.shape == (2, 210)
    assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)
    with pytest.raises(ValueError, match="levels must be at least 1"):
        SpatialPyramid((0,)).transform(encoder.transform([described()]))


# Machines


@settings(max_examples=10)
@given(st.integers(0, 100))
def test_machines_decide_as_scikit_learns_linear_machines(seed):
    points, labels = make_blobs(60, 30, centers=5, cluster_std=4, random_state=seed)
    points = points / np.linalg.norm(points, axis=1, keepdims=True)
    ours = LinearSVM(10, tolerance=1e-4).fit(points, labels).decision_function(points)
    theirs = LinearSVC(C=10, tol=1e-8, max_iter=100_000).fit(points, labels).decision_function(points)
    assert_allclose(ours, theirs, atol=5e-3)


def test_inner_products_are_those_of_all_rows():
    rows = np.random.default_rng(0).random((7, 9000)).astype(np.float16)
    found = inner_products(rows)
    assert_allclose(found, rows.astype(np.float32) @ rows.astype(np.float32).T, rtol=1e-4)
    assert_array_equal(found, found.T)


def test_training_goes_on_from_where_it_is_told_to():
    points, labels = make_blobs(40, 8, centers=4, random_state=0)
    points = (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)
    products = points @ points.T
    solved = train_on_products(products, labels, 4, tolerance=1e-3)
    again = train_on_products(products, labels, 4, tolerance=1e-3, start=solved, passes=1)
    assert_allclose(again, solved, atol=1e-2)
    with pytest.raises(ValueError, match="cost must be positive"):
        train_on_products(products, labels, 4, cost=0)


def test_one_class_alone_is_refused():
    with pytest.raises(ValueError, match="at least 2 classes, got 1 class"):
        LinearSVM().fit(np.eye(3), ["a", "a", "a"])


def test_patches_know_the_field_they_were_found_in():
    patches = TorquePatches(count=3).detect(disc())
    assert isinstance(patches.edges, Edges)
    assert patches.described == (patches.edges,)
    assert isinstance(
        Pipeline([("p", TorquePatches(count=3)), ("d", MultiscaleTorque())]).transform([disc()])[0], Descriptors
    )
    assert imtorque.recognition.TorquePatches is TorquePatches
