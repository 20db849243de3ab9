"""Regions: colour models, the graph of regions and its merging, and the whole from image to labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy import ndimage

import imtorque
from imtorque import Extrema, OrientedMap, segment_regions
from imtorque.segmentation import region_tree
from imtorque.segmentation.colour_models import COLOUR_BINS, colour_bins, model_costs, patch_models
from imtorque.segmentation.evidence import enlarged, gather_evidence, shrinking, shrunk
from imtorque.segmentation.region_graph import RegionGraph, connected_regions, merge_all
from imtorque.segmentation.region_merging import border_features, merge_regions, region_statistics
from imtorque.segmentation.regions import contrast_links, in_order, torque_patches

label_maps = hnp.arrays(np.int64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=9), elements=st.integers(0, 3))


def flag(height=60, width=90):
    """Three stripes of colour and a disc on them."""
    image = np.zeros((height, width, 3))
    image[:, : width // 3, 0], image[:, width // 3 : 2 * width // 3, 1], image[:, 2 * width // 3 :, 2] = 0.9, 0.7, 0.8
    y, x = np.ogrid[:height, :width]
    image[(y - height / 2) ** 2 + (x - width / 2) ** 2 < (height / 5) ** 2] = 1
    return image


def is_connected(mask):
    return ndimage.label(mask)[1] == 1


def test_regions_of_a_drawing_are_its_parts():
    image = flag()
    labels = segment_regions(image)
    assert labels.dtype == np.int32
    assert labels.max() == 3
    truth = in_order(np.unique(image.reshape(-1, 3), axis=0, return_inverse=True)[1].reshape(60, 90))
    assert (labels != truth).mean() < 0.02


def test_a_photograph_gets_connected_regions_numbered_in_order_the_same_every_time():
    image = imtorque.datasets.sample("hopper")[::3, ::3]
    labels = segment_regions(image)
    assert 5 < labels.max() < 60
    assert all(is_connected(labels == k) for k in range(labels.max() + 1))
    assert_array_equal(labels, in_order(labels))
    imtorque.set_num_threads(3)
    assert_array_equal(labels, segment_regions(image))


def test_the_number_of_regions_can_be_asked_for():
    image = imtorque.datasets.sample("hopper")[::3, ::3]
    for count in (1, 2, 5):
        assert segment_regions(image, count=count).max() + 1 == count
    assert segment_regions(flag(), count=1000).max() >= 3


def test_a_higher_threshold_leaves_fewer_regions():
    tree = region_tree(imtorque.datasets.sample("hopper")[::3, ::3])
    counts = [tree.cut(threshold).max() + 1 for threshold in (-9, -0.5, 0, 0.5, 9)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == len(tree.heights) + 1
    assert counts[-1] == 1
    assert_array_equal(tree.heights, np.maximum.accumulate(tree.heights))


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (40, 1), (2, 3), (7, 5)])
def test_small_images_have_regions_too(shape):
    rng = np.random.default_rng(0)
    labels = segment_regions(rng.random((*shape, 3)))
    assert labels.shape == shape
    assert labels.min() == 0


def test_an_image_without_edges_is_one_region():
    assert segment_regions(np.full((50, 60), 0.3)).max() == 0
    assert segment_regions(np.full((50, 60, 3), 90, np.uint8), count=4).max() == 0


def test_large_images_are_worked_on_small():
    image = np.kron(flag(), np.ones((12, 12, 1)))
    assert shrinking(image.shape) > 2
    labels = segment_regions(image)
    assert labels.shape == (720, 1080)
    assert labels.max() == 3


def test_patches_may_be_given():
    patches = Extrema(np.array([30, 30]), np.array([10, 80]), np.array([15, 15]), np.ones(2, np.float32))
    labels = segment_regions(flag(), patches=patches)
    assert labels[30, 5] != labels[30, 85]
    with pytest.raises(TypeError, match="patches must be Extrema"):
        segment_regions(flag(), patches=[(1, 2)])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"count": 0}, "count must be at least 1, got 0"),
        ({"count": 3, "threshold": 0.5}, "count and threshold must not both be given"),
        ({"smoothness": -1}, "smoothness must not be negative, got -1"),
        ({"smoothness": np.nan}, "smoothness must not be negative, got nan"),
        ({"models": 0}, "models must be at least 1, got 0"),
    ],
)
def test_impossible_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        segment_regions(flag(), **options)


@pytest.mark.parametrize("image", [np.zeros((0, 5)), np.full((5, 5), np.nan), np.zeros((5, 5, 2))])
def test_impossible_images_are_refused(image):
    with pytest.raises(ValueError, match="image must"):
        segment_regions(image)


def test_models_know_the_colours_of_their_patches():
    evidence = gather_evidence(flag())
    bins = colour_bins(evidence.lab)
    patches = Extrema(np.array([30, 30]), np.array([10, 80]), np.array([15, 15]), np.ones(2, np.float32))
    models = patch_models(bins, patches)
    assert_allclose(models.sum(axis=1), 1)
    assert models.shape == (3, COLOUR_BINS**3)  # two patches and the background
    costs = model_costs(models, bins)
    assert costs[0, 30, 10] < costs[1, 30, 10]
    assert costs[1, 30, 80] < costs[0, 30, 80]
    alike = Extrema(np.array([30, 20]), np.array([10, 10]), np.array([15, 15]), np.ones(2, np.float32))
    assert len(patch_models(bins, alike)) == 2  # the second patch says nothing new


def test_links_are_weak_across_edges():
    evidence = gather_evidence(flag())
    links = contrast_links(evidence, 10.0)
    assert links["right"][5].argmin() in (29, 30, 59, 60)
    assert links["right"].max() <= 10
    assert links["down_left"].max() <= 10 / np.sqrt(2)


def test_extrema_that_seed_regions_lie_on_them():
    evidence = gather_evidence(imtorque.synthetic.disc((101, 101), (50, 50), 20))
    first = torque_patches(evidence, 5)[:1]
    assert abs(first.y[0] - 50) < 3
    assert abs(first.x[0] - 50) < 3


@given(label_maps)
def test_the_graph_counts_areas_and_borders(labels):
    regions = connected_regions(labels, 0)
    strength = np.arange(labels.size, dtype=float).reshape(labels.shape)
    graph = RegionGraph(regions, np.ones((1, *labels.shape)), strength)
    assert_array_equal(graph.features[:, 0], np.bincount(regions.ravel()))
    for a in range(graph.count):
        for b in range(graph.count):
            total = length = 0
            for dy, dx in ((0, 1), (1, 0)):
                for y in range(labels.shape[0] - dy):
                    for x in range(labels.shape[1] - dx):
                        if {regions[y, x], regions[y + dy, x + dx]} == {a, b} and a != b:
                            total += max(strength[y, x], strength[y + dy, x + dx])
                            length += 1
            assert graph.borders[a].get(b, np.zeros(2)).tolist() == [total, length]


@given(label_maps, st.integers(0, 12))
def test_connected_regions_are_connected_of_one_label_and_large_enough(labels, smallest):
    parts = connected_regions(labels, 0)
    for k in range(parts.max() + 1):
        assert is_connected(parts == k)
        assert len(np.unique(labels[parts == k])) == 1
    regions = connected_regions(labels, smallest)
    assert_array_equal(np.unique(regions), np.arange(regions.max() + 1))
    if regions.max() > 0:
        assert np.bincount(regions.ravel()).min() >= smallest
    for k in range(regions.max() + 1):
        assert is_connected(regions == k)


@given(label_maps)
def test_merging_takes_the_least_unlike_neighbours_first(labels):
    regions = connected_regions(labels, 0)
    graph = RegionGraph(regions, np.stack([np.ones(labels.shape), labels.astype(float)]), np.zeros(labels.shape))

    def unlike(a, b, _):
        return abs(a[1] / a[0] - b[1] / b[0])

    tree = merge_all(regions, graph, unlike)
    assert len(tree.pairs) == regions.max()
    assert tree.cut(np.inf).max() == 0
    if len(tree.pairs):
        pairs = {frozenset((int(a), int(b))) for a, b in zip(*_neighbours(regions), strict=True)}
        gaps = {pair: abs(np.subtract(*(labels[regions == k][0] for k in pair))) for pair in pairs}
        assert tree.heights[0] == min(gaps.values())
        assert frozenset(tree.pairs[0].tolist()) in pairs
        assert tree.cut_to(2).max() == 1


def _neighbours(regions):
    ends = [(regions[:, :-1], regions[:, 1:]), (regions[:-1], regions[1:])]
    near, far = (np.concatenate([end[k].ravel() for end in ends]) for k in (0, 1))
    return near[near != far], far[near != far]


def test_what_tells_regions_apart():
    image = flag()
    evidence = gather_evidence(image)
    regions = in_order(np.unique(image.reshape(-1, 3), axis=0, return_inverse=True)[1].reshape(60, 90))
    graph = region_statistics(evidence, regions)
    edge, chi_squared, texture_step, lightness, extent = border_features(*graph.features[:2], graph.borders[0][1])
    assert edge > np.log(0.05)
    assert 0.3 < chi_squared <= 1
    assert texture_step >= 0
    assert lightness == pytest.approx(abs(evidence.lab[0][regions == 0].mean() - evidence.lab[0][regions == 1].mean()))
    assert extent == pytest.approx(np.log(graph.borders[0][1][1] / np.sqrt(min(graph.features[:2, 0]))))
    assert merge_regions(evidence, regions).cut_to(3).max() == 2


@given(hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=3, max_side=7), elements=st.floats(-1, 1)))
def test_shrinking_takes_the_mean_or_the_largest_of_squares(planes):
    padded = np.pad(
        planes, [(0, 0)] * (planes.ndim - 2) + [(0, -planes.shape[-2] % 2), (0, -planes.shape[-1] % 2)], "edge"
    )
    corners = [padded[..., a::2, b::2] for a in (0, 1) for b in (0, 1)]
    assert_allclose(shrunk(planes, 2, np.mean), np.mean(corners, axis=0), atol=1e-12)
    assert_array_equal(shrunk(planes, 2, np.max), np.max(corners, axis=0))


@given(label_maps, st.integers(1, 4))
def test_enlarging_repeats(labels, factor):
    large = enlarged(labels, factor, (labels.shape[0] * factor - factor + 1, labels.shape[1] * factor))
    assert_array_equal(large[::factor, ::factor], labels)


def test_regions_between_contours_of_any_map():
    strengths = np.zeros((8, 20, 30), np.float32)
    strengths[4, :, 15] = 0.9
    labels = segment_regions(np.zeros((20, 30)), method="ucm", boundaries=OrientedMap(strengths))
    assert labels.max() == 1
    assert labels[10, 3] != labels[10, 26]


def test_a_map_of_another_size_is_refused():
    with pytest.raises(ValueError, match=r"boundaries must have the image's size \(9, 9\), got \(5, 5\)"):
        segment_regions(np.zeros((9, 9)), method="ucm", boundaries=OrientedMap(np.zeros((8, 5, 5))))


def test_an_unknown_method_is_refused():
    with pytest.raises(ValueError, match='method must be "torque" or "ucm", got \'ncut\''):
        segment_regions(np.zeros((9, 9)), method="ncut")
