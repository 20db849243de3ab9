import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

import imtorque
import naive
from imtorque import (
    Extrema,
    TorqueVolume,
    _native,
    default_sizes,
    detect_edges,
    find_extrema,
    torque_volume,
    value_and_scale_maps,
)
from imtorque.core.extrema import suppress_overlaps
from imtorque.core.patches import patch_arrays
from imtorque.core.types import check_sizes
from imtorque.synthetic import scene
from strategies import edge_fields, exact_fields, named_patterns, patches, rectangle_lists, size_lists, uneven_fields

counts = st.one_of(st.none(), st.integers(0, 12))
signs = st.sampled_from([None, 1, -1])
rules = st.fixed_dictionaries(
    {"neighbourhood": st.sampled_from(["box", "cross"]), "end_scales": st.booleans(), "inside": st.booleans()}
)


def naive_extrema(tau, sizes, rule, count=None, sign=None):
    pairs = [np.broadcast_to(size, 2) // 2 for size in sizes]
    search = naive.find_cross_extrema if rule["neighbourhood"] == "cross" else naive.find_extrema
    return search(tau, count, sign, rule["end_scales"], pairs if rule["inside"] else None)


def assert_same(extrema, ref, sizes):
    sizes = np.asarray(sizes)
    assert_array_equal(extrema.y, [e[1] for e in ref])
    assert_array_equal(extrema.x, [e[2] for e in ref])
    assert_array_equal(extrema.value, [e[3] for e in ref])
    assert_array_equal(extrema.size, sizes[[e[0] for e in ref]] if ref else sizes[:0])


def assert_equal_extrema(comp, ref):
    for field in ("y", "x", "size", "value"):
        assert_array_equal(getattr(comp, field), getattr(ref, field))


# Few different values, so that plateaus and ties are common.
volumes = hnp.arrays(
    np.float32,
    st.tuples(st.integers(1, 4), st.integers(1, 9), st.integers(1, 9)),
    elements=st.integers(-3, 3).map(float),
)


@given(volumes, counts, signs, rules)
def test_extrema_of_a_volume_are_the_definition(tau, count, sign, rule):
    sizes = 2 * np.arange(len(tau)) + 3
    extrema = find_extrema(TorqueVolume(tau, sizes), count=count, sign=sign, **rule)
    assert_same(extrema, naive_extrema(tau, sizes, rule, count, sign), sizes)


@given(edge_fields(), size_lists, patches, counts, signs, rules)
def test_extrema_streamed_from_edges_are_those_of_the_volume(edges, sizes, patch, count, sign, rule):
    volume = torque_volume(edges, sizes, patch=patch)
    streamed = find_extrema(edges, sizes=sizes, patch=patch, count=count, sign=sign, **rule)
    assert_same(streamed, naive_extrema(volume.tau, sizes, rule, count, sign), sizes)


@given(exact_fields(), rectangle_lists, counts, rules)
def test_extrema_over_rectangles_are_the_definition(edges, sizes, count, rule):
    volume = torque_volume(edges, sizes)
    ref = naive_extrema(volume.tau, sizes, rule, count)
    assert_same(find_extrema(edges, sizes=sizes, count=count, **rule), ref, sizes)
    assert_same(find_extrema(volume, count=count, **rule), ref, sizes)


@pytest.mark.parametrize("patch", ["square", "disk"])
@pytest.mark.parametrize("count", [None, 40])
def test_crosses_in_a_large_image_are_those_of_the_volume(patch, count):
    image = np.tile(scene("shapes"), (1, 3))[:140] + 0.2 * np.random.default_rng(0).random((140, 723))
    edges = detect_edges(image)
    sizes = [*range(3, 30, 4), 61]
    rule = {"neighbourhood": "cross", "end_scales": False, "inside": True}
    stored = find_extrema(torque_volume(edges, sizes, patch=patch), count=count, **rule)
    assert len(stored) > 30
    assert_equal_extrema(find_extrema(edges, sizes=sizes, patch=patch, count=count, **rule), stored)


def test_the_neighbourhood_must_have_a_name():
    with pytest.raises(ValueError, match=r'^neighbourhood must be "box" or "cross", got \'ring\'$'):
        find_extrema(detect_edges(scene("shapes")), neighbourhood="ring")


@pytest.mark.parametrize("count", [None, 1, 50, 5000])
@pytest.mark.parametrize("sign", [None, 1, -1])
def test_large_images_stream_to_the_same_extrema(count, sign):
    image = np.tile(scene("shapes"), (2, 5)) + 0.2 * np.random.default_rng(0).random((322, 1205))
    edges = detect_edges(image)
    sizes = [*range(3, 60, 4), 101, 131]
    stored = find_extrema(torque_volume(edges, sizes), count=count, sign=sign)
    streamed = find_extrema(edges, sizes=sizes, count=count, sign=sign)
    assert_equal_extrema(streamed, stored)


@given(
    st.lists(
        st.tuples(st.integers(-20, 200), st.integers(0, 200), st.integers(0, 50), st.integers(-3, 3)), max_size=40
    ),
    st.floats(0, 1),
)
def test_overlap_suppression_is_the_definition(boxes, overlap):
    boxes = [b for b in boxes if b[3]]
    y, x, half, value = np.array(boxes or np.empty((0, 4), int)).T
    extrema = Extrema(y, x, 2 * half + 1, value.astype(float))
    ref = naive.suppress_overlaps(
        *(a.tolist() for a in (extrema.y, extrema.x, extrema.size, extrema.size, extrema.value)), overlap
    )
    kept = suppress_overlaps(extrema, overlap)
    assert_array_equal(np.stack([kept.y, kept.x, kept.size]), np.stack([extrema.y, extrema.x, extrema.size])[:, ref])


def test_count_holds_for_both_signs_together():
    edges = detect_edges(scene("shapes"))
    assert len(find_extrema(edges, sizes=range(3, 60, 2), count=7)) == 7


def test_an_image_without_edges_has_no_extrema():
    assert len(find_extrema(detect_edges(np.zeros((30, 40))), sizes=[5, 7])) == 0


def test_the_default_sizes_suit_the_smallest_image():
    assert imtorque.default_sizes((1, 1)).tolist() == [5]
    assert np.all(np.diff(imtorque.default_sizes((5000, 7000))) > 0)


def test_the_default_sizes_keep_to_the_ends_given():
    assert imtorque.default_sizes((161, 241), smallest=7, largest=13).tolist() == [7, 9, 11, 13]
    assert imtorque.default_sizes((161, 241), largest=999)[-1] > 900
    for smallest, largest in ((4, 9), (11, 9), (-1, 9)):
        with pytest.raises(ValueError, match="smallest must be odd and at most the largest size 9"):
            imtorque.default_sizes((161, 241), smallest=smallest, largest=largest)


def test_patches_may_lie_far_apart():
    far = 2**31 - 64
    extrema = Extrema([0, far, 0, -far], [0, far, 1, -far], [5, 5, 5, 1_000_001], [1.0, 0.5, 0.4, 0.3])
    assert suppress_overlaps(extrema).y.tolist() == [0, far, -far]


@given(
    st.lists(
        st.tuples(
            st.integers(-300, 300),
            st.integers(0, 5000),
            st.sampled_from([1, 3, 65, 129, 1001, 9999]),
            st.integers(1, 9),
        ),
        max_size=30,
    ),
    st.floats(0, 1),
)
def test_overlap_suppression_of_patches_of_very_different_sizes_is_the_definition(boxes, overlap):
    y, x, size, value = np.array(boxes or np.empty((0, 4), int)).T
    extrema = Extrema(y, x, size, value.astype(float))
    ref = naive.suppress_overlaps(
        *(a.tolist() for a in (extrema.y, extrema.x, extrema.size, extrema.size, extrema.value)), overlap
    )
    kept = suppress_overlaps(extrema, overlap)
    assert_array_equal(np.stack([kept.y, kept.x, kept.size]), np.stack([extrema.y, extrema.x, extrema.size])[:, ref])


def test_sizes_follow_from_the_image_where_none_are_given():
    edges = detect_edges(scene("shapes"))
    sizes = default_sizes(edges.shape)
    ref, comp = find_extrema(edges, sizes), find_extrema(edges)
    assert_array_equal([comp.y, comp.x, comp.size], [ref.y, ref.x, ref.size])
    assert_array_equal(value_and_scale_maps(edges)[1], value_and_scale_maps(edges, sizes)[1])


@pytest.fixture
def bounds_always():
    _native.force_bounded_search(True)
    yield
    _native.force_bounded_search(False)


@st.composite
def figures(draw):
    """Unit forces around squares, and some noise: extrema of many strengths, and equal ones."""
    height, width = draw(st.integers(8, 70)), draw(st.integers(8, 70))
    image = np.zeros((height, width))
    for _ in range(draw(st.integers(1, 6))):
        y, x, side = draw(st.integers(0, height - 1)), draw(st.integers(0, width - 1)), draw(st.integers(3, 20))
        image[y : y + side, x : x + side] += draw(st.sampled_from([1.0, -1.0]))
    if draw(st.booleans()):
        image += 0.3 * np.random.default_rng(draw(st.integers(0, 99))).random(image.shape)
    return detect_edges(image)


@pytest.mark.usefixtures("bounds_always")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(figures() | edge_fields() | exact_fields() | uneven_fields(), size_lists, st.integers(1, 12), signs, rules)
def test_extrema_found_by_bounds_are_the_definition(edges, sizes, count, sign, rule):
    volume = torque_volume(edges, sizes)
    bounded = find_extrema(edges, sizes=sizes, count=count, sign=sign, **rule)
    assert_same(bounded, naive_extrema(volume.tau, sizes, rule, count, sign), sizes)


@pytest.mark.usefixtures("bounds_always")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(figures(), st.sampled_from([1, 3, 40]), signs, rules, named_patterns, st.sampled_from([1.0, 2.0]))
def test_extrema_found_by_bounds_are_those_of_the_whole_search(edges, count, sign, rule, pattern, alpha):
    asked = {"sizes": range(3, 40, 2), "sign": sign, "pattern": pattern, "alpha": alpha, **rule}
    assert_equal_extrema(find_extrema(edges, count=count, **asked), find_extrema(edges, **asked)[:count])


@pytest.mark.parametrize("bounds", [True, False])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(figures() | edge_fields(), size_lists, patches, counts, signs, rules, st.floats(0, 1, width=32))
def test_a_threshold_leaves_out_just_what_is_weaker(bounds, edges, sizes, patch, count, sign, rule, threshold):
    asked = {"sizes": sizes, "patch": patch, "count": count, "sign": sign, **rule}
    _native.force_bounded_search(bounds)
    strong = find_extrema(edges, threshold=threshold, **asked)
    _native.force_bounded_search(False)
    every = find_extrema(edges, **asked)
    assert_equal_extrema(strong, every[np.abs(every.value) >= threshold])


@pytest.mark.parametrize("threshold", [-0.1, np.nan])
def test_a_threshold_below_zero_is_refused(threshold):
    with pytest.raises(ValueError, match=r"^threshold must not be negative, got (-0.1|nan)$"):
        find_extrema(detect_edges(scene("shapes")), threshold=threshold)


@pytest.mark.usefixtures("bounds_always")
@pytest.mark.parametrize("threads", [1, 7])
def test_extrema_found_by_bounds_in_a_large_image_are_those_of_the_volume(threads):
    image = np.tile(scene("shapes"), (2, 5)) + 0.2 * np.random.default_rng(0).random((322, 1205))
    edges = detect_edges(image)
    sizes = [*range(3, 60, 4), 101, 131, 201]
    stored = find_extrema(torque_volume(edges, sizes), count=60)
    imtorque.set_num_threads(threads)
    assert_equal_extrema(find_extrema(edges, sizes=sizes, count=60), stored)
    _native.allow_avx2(False)
    try:
        assert_equal_extrema(find_extrema(edges, sizes=sizes, count=60), stored)
    finally:
        _native.allow_avx2(True)


@pytest.mark.usefixtures("bounds_always")
def test_few_patches_are_computed_where_few_extrema_are_asked_for():
    image = np.zeros((600, 600))
    image[100:131, 100:131] = image[300:341, 400:441] = 1
    edges = detect_edges(image)
    patches = patch_arrays(edges, check_sizes(range(3, 92, 2)), "square", 2.0)
    visited = _native.extrema_of_field(edges.field, *patches, 1, 1, True, 0.0)[-1]
    assert visited < 0.1 * 45 * 600 * 600


@pytest.mark.usefixtures("bounds_always")
@pytest.mark.parametrize("count", [1, 10, 200])
def test_extrema_found_by_bounds_that_leave_nothing_out_are_those_of_the_volume(count):
    edges = detect_edges(np.random.default_rng(0).random((130, 201)))
    sizes = range(3, 50, 2)
    assert_equal_extrema(
        find_extrema(edges, sizes=sizes, count=count), find_extrema(torque_volume(edges, sizes), count=count)
    )


@pytest.mark.usefixtures("bounds_always")
def test_a_wrong_guess_of_how_strong_extrema_are_costs_no_extremum():
    # The guess sums forces over blocks of 4 x 4 pixels, which a square of 8 at this place fills unevenly.
    image = 0.02 * np.random.default_rng(1).random((60, 90))
    image[25:33, 25:33] += 1
    edges, sizes = detect_edges(image), [15]
    patches = patch_arrays(edges, check_sizes(sizes), "square", 2.0)
    visited = _native.extrema_of_field(edges.field, *patches, 0, 1, True, 0.0)[-1]
    assert visited == image.size  # bounds by two guesses found none that strong, and the whole map was computed
    assert_equal_extrema(find_extrema(edges, sizes=sizes, count=1), find_extrema(torque_volume(edges, sizes), count=1))


@pytest.mark.parametrize("sign", [1, -1])
def test_bounds_hold_where_moments_of_the_other_sign_tower_above_what_is_wanted(sign):
    fx, fy = np.zeros((2, 160, 160), np.float32)
    fy[120:140, 120:140] = 1
    fy[74, 84], fy[52, 51], fx[53, 64] = 5098801 / 2048, 7844305 / 2048, -1 / 2048  # nearly cancel where they meet
    edges = imtorque.Edges(sign * fx, sign * fy)
    asked = {"sign": sign, "count": 20, "threshold": 7.8e-6}
    whole = find_extrema(torque_volume(edges, [41]), **asked)
    assert len(whole) == 7
    assert_equal_extrema(find_extrema(edges, [41], **asked), whole)


@pytest.mark.usefixtures("bounds_always")
def test_bounds_hold_where_sums_pass_32_bits():
    rng = np.random.default_rng(0)
    fx = np.where(rng.random((60, 40)) < 0.3, 0.01, 0.0)
    fx[::4, ::5] = 60000.0 * rng.choice([-1, 1], fx[::4, ::5].shape)
    edges = imtorque.Edges(fx, np.zeros_like(fx))
    sizes = [3, 5, 7]
    stored = find_extrema(torque_volume(edges, sizes), count=20)
    assert_equal_extrema(find_extrema(edges, sizes, count=20), stored)
