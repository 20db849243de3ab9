import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

import imtorque
import naive
from imtorque import (
    Extrema,
    TorqueVolume,
    default_sizes,
    detect_edges,
    find_extrema,
    torque_volume,
    value_and_scale_maps,
)
from imtorque.extrema import suppress_overlaps
from imtorque.synthetic import scene
from strategies import edge_fields, exact_fields, patches, rectangle_lists, size_lists

counts = st.one_of(st.none(), st.integers(0, 12))
signs = st.sampled_from([None, 1, -1])


def assert_same(extrema, ref, sizes):
    sizes = np.asarray(sizes)
    assert_array_equal(extrema.y, [e[1] for e in ref])
    assert_array_equal(extrema.x, [e[2] for e in ref])
    assert_array_equal(extrema.value, [e[3] for e in ref])
    assert_array_equal(extrema.size, sizes[[e[0] for e in ref]] if ref else sizes[:0])


# Few different values, so that plateaus and ties are common.
volumes = hnp.arrays(
    np.float32,
    st.tuples(st.integers(1, 4), st.integers(1, 9), st.integers(1, 9)),
    elements=st.integers(-3, 3).map(float),
)


@given(volumes, counts, signs, st.booleans())
def test_extrema_of_a_volume_are_the_definition(tau, count, sign, end_scales):
    sizes = 2 * np.arange(len(tau)) + 3
    extrema = find_extrema(TorqueVolume(tau, sizes), count=count, sign=sign, end_scales=end_scales)
    assert_same(extrema, naive.find_extrema(tau, count, sign, end_scales), sizes)


@given(edge_fields(), size_lists, patches, counts, signs, st.booleans())
def test_extrema_streamed_from_edges_are_those_of_the_volume(edges, sizes, patch, count, sign, end_scales):
    volume = torque_volume(edges, sizes, patch=patch)
    streamed = find_extrema(edges, sizes=sizes, patch=patch, count=count, sign=sign, end_scales=end_scales)
    assert_same(streamed, naive.find_extrema(volume.tau, count, sign, end_scales), sizes)


@given(exact_fields(), rectangle_lists, counts)
def test_extrema_over_rectangles_are_the_definition(edges, sizes, count):
    streamed = find_extrema(edges, sizes=sizes, count=count)
    assert_same(streamed, naive.find_extrema(torque_volume(edges, sizes).tau, count), sizes)


@pytest.mark.parametrize("count", [None, 1, 50, 5000])
@pytest.mark.parametrize("sign", [None, 1, -1])
def test_large_pictures_stream_to_the_same_extrema(count, sign):
    image = np.tile(scene("shapes"), (2, 5)) + 0.2 * np.random.default_rng(0).random((322, 1205))
    edges = detect_edges(image)
    sizes = [*range(3, 60, 4), 101, 131]
    stored = find_extrema(torque_volume(edges, sizes), count=count, sign=sign)
    streamed = find_extrema(edges, sizes=sizes, count=count, sign=sign)
    for field in ("y", "x", "size", "value"):
        assert_array_equal(getattr(streamed, field), getattr(stored, field))


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


def test_the_default_sizes_suit_the_smallest_picture():
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


def test_sizes_follow_from_the_picture_where_none_are_given():
    edges = detect_edges(scene("shapes"))
    sizes = default_sizes(edges.shape)
    ref, comp = find_extrema(edges, sizes), find_extrema(edges)
    assert_array_equal([comp.y, comp.x, comp.size], [ref.y, ref.x, ref.size])
    assert_array_equal(value_and_scale_maps(edges)[1], value_and_scale_maps(edges, sizes)[1])
