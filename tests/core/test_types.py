import copy
import pickle
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import naive
from imtorque import (
    Edges,
    Extrema,
    ForceStatistics,
    ObjectFinder,
    TorqueVolume,
    _native,
    dense_contribution,
    detect_edges,
    find_extrema,
    patch_moments,
    propose_objects,
    torque_coherence,
    torque_map,
    torque_volume,
    value_and_scale_maps,
)
from imtorque.synthetic import scene
from strategies import directed_fields, edge_fields, exact_fields, uneven_fields


@pytest.fixture
def extrema():
    return Extrema([1, 2, 3], [4, 5, 6], [7, 9, 11], [0.2, -0.9, 0.5])


def test_extrema_are_sorted_by_falling_strength(extrema):
    assert extrema.value.tolist() == [-0.9, 0.5, 0.2]
    assert extrema.y.tolist() == [2, 3, 1]
    assert extrema.radius.tolist() == [4.5, 5.5, 3.5]


def test_extrema_can_be_masked_sliced_and_counted(extrema):
    assert len(extrema) == 3
    assert extrema[extrema.value < 0].x.tolist() == [5]
    assert extrema[:2].size.tolist() == [9, 11]
    assert extrema[0].y.tolist() == [2]
    assert len(extrema[[]]) == 0
    assert len(extrema[:0]) == 0


def test_extrema_export_to_csv(extrema, tmp_path):
    text = extrema.to_csv(tmp_path / "out.csv")
    assert text == "y,x,size,torque\n2,5,9,-0.9\n3,6,11,0.5\n1,4,7,0.2\n"
    assert (tmp_path / "out.csv").read_text() == text
    assert [p.name for p in tmp_path.iterdir()] == ["out.csv"]
    rectangles = Extrema([1], [2], [[3, 5]], [0.5])
    assert rectangles.to_csv() == "y,x,height,width,torque\n1,2,3,5,0.5\n"
    assert (rectangles.height[0], rectangles.width[0]) == (3, 5)


@pytest.mark.parametrize(("given", "written"), [("vol.sigma1.4", "vol.sigma1.4.npz"), ("vol.npz", "vol.npz")])
def test_a_volume_keeps_the_name_it_is_saved_under(tmp_path, given, written):
    volume = TorqueVolume(np.zeros((1, 2, 3), np.float32), [3])
    assert volume.save(tmp_path / given) == tmp_path / written
    assert [path.name for path in tmp_path.iterdir()] == [written]


def test_a_volume_can_be_saved_and_loaded(tmp_path):
    volume = torque_volume(detect_edges(scene("disc", (40, 60))), [3, 9])
    path = volume.save(tmp_path / "volume")
    assert path.name == "volume.npz"
    again = TorqueVolume.load(path)
    assert_array_equal(again.tau, volume.tau)
    assert_array_equal(again.sizes, volume.sizes)
    assert [p.name for p in tmp_path.iterdir()] == ["volume.npz"]


def test_a_file_without_a_volume_is_refused(tmp_path):
    np.savez(tmp_path / "other.npz", something=1)
    with pytest.raises(ValueError, match="must be a torque volume that save wrote, got: no array tau"):
        TorqueVolume.load(tmp_path / "other.npz")


def test_everything_has_a_short_description(extrema):
    edges = detect_edges(scene("disc", (40, 60)))
    assert repr(edges).startswith("Edges(40 x 60, ")
    assert repr(torque_volume(edges, [3, 9])) == "TorqueVolume(40 x 60, 2 sizes)"
    assert repr(patch_moments(edges, 9)) == "Moments(40 x 60)"
    assert repr(ObjectFinder()) == "ObjectFinder(not trained)"
    trained = ObjectFinder.load(Path(__file__).parents[2] / "fuzz" / "trained.finder")
    assert repr(trained).startswith(f"ObjectFinder(by {', '.join(trained.best_params_.kinds)}; F1 ")
    assert repr(extrema).splitlines()[0] == "Extrema(3: 2 positive, 1 negative)"


def test_tables_show_their_first_rows():
    many = Extrema(np.arange(7), np.arange(7) * 100, np.full(7, 31), np.linspace(1, 0.4, 7))
    assert repr(many).splitlines() == [
        "Extrema(7: 7 positive, 0 negative)",
        "  y    x  size  torque",
        "  0    0    31       1",
        "  1  100    31     0.9",
        "  2  200    31     0.8",
        "  3  300    31     0.7",
        "  4  400    31     0.6",
        "  ... 2 more",
    ]
    assert repr(many[:0]) == "Extrema(0: 0 positive, 0 negative)"


def test_structures_are_arrays_where_one_is_asked_for(extrema):
    edges = detect_edges(scene("disc", (40, 60)))
    assert_array_equal(np.asarray(edges), np.stack([edges.fx, edges.fy]))
    volume = torque_volume(edges, [3, 9])
    assert np.asarray(volume) is volume.tau or np.shares_memory(np.asarray(volume), volume.tau)
    assert_array_equal(np.asarray(extrema)[:, 3], extrema.value)
    boxes = propose_objects(scene("disc", (40, 60)), 3)
    assert_array_equal(np.asarray(boxes), boxes.as_array())
    with pytest.raises(ValueError, match="by a copy only, got copy=False"):
        np.array(edges, copy=False)


class Elsewhere:
    """Stands for what is not in this memory, as a tensor on a card."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("can't convert a tensor of a card\nsee the manual")


class Lazy:
    """Stands for arrays that are computed when they are asked for."""

    def __array__(self, dtype=None, copy=None):
        return scene("disc", (40, 60))


def test_images_are_whatever_becomes_an_array_and_the_rest_is_refused_by_name():
    assert_array_equal(detect_edges(Lazy()).fx, detect_edges(scene("disc", (40, 60))).fx)
    with pytest.raises(TypeError, match=r"array in this machine's memory, got a \w+.Elsewhere: can't convert .* card$"):
        detect_edges(Elsewhere())


def test_edges_take_lists_and_other_dtypes():
    edges = Edges([[1, 0], [0, 2]], np.zeros((2, 2), np.int16))
    assert edges.fx.dtype == edges.fy.dtype == np.float32
    assert len(find_extrema(edges, sizes=[3])) >= 1


def test_a_volume_keeps_the_whole_name_it_is_saved_under(tmp_path):
    volume = TorqueVolume(np.zeros((1, 3, 4)), [3])
    assert volume.save(tmp_path / "vol.sigma1.4") == tmp_path / "vol.sigma1.4.npz"
    assert volume.save(tmp_path / "vol.npz") == tmp_path / "vol.npz"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["vol.npz", "vol.sigma1.4.npz"]


def test_the_largest_force_that_is_named_is_taken():
    force = np.zeros((3, 4))
    force[1, 2] = -1e30
    assert Edges(force, force).statistics.largest == np.float32(1e30)
    with pytest.raises(ValueError, match=r"within ±1e\+30"):
        Edges(np.nextafter(np.float32(force), -np.inf, dtype=np.float32), force)


def test_edges_do_not_follow_the_arrays_they_were_made_from():
    fx, fy = (np.random.default_rng(0).normal(size=(20, 30)).astype(np.float32) for _ in range(2))
    edges = Edges(fx, fy)
    kept, tau = edges.fx.copy(), torque_map(edges, 5)
    fx[:], fy[:] = np.nan, 1e9
    assert_array_equal(edges.fx, kept)
    assert_array_equal(torque_map(edges, 5), tau)


def remade(edges):
    yield edges
    yield pickle.loads(pickle.dumps(edges))
    yield copy.copy(edges)
    yield copy.deepcopy(edges)
    yield Edges(edges.fx, edges.fy, steps=edges.steps)


def test_edges_and_their_copies_are_read_only():
    for edges in remade(detect_edges(scene("disc", (40, 60)))):
        for force in (edges.fx, edges.fy):
            with pytest.raises(ValueError, match="read-only"):
                force[0, 0] = np.nan
            with pytest.raises(ValueError, match="WRITEABLE"):
                force.flags.writeable = True


def test_copies_of_a_part_are_rounded_as_the_part_is():
    part = Edges(*np.random.default_rng(0).normal(size=(2, 20, 30)), steps=64.0)
    for edges in remade(part):
        assert edges.steps == 64
        assert_array_equal(torque_map(edges, 5), torque_map(part, 5))


def test_a_pickle_with_other_forces_is_refused():
    make, (fx, fy, steps) = Edges(np.eye(4), np.eye(4)).__reduce__()
    with pytest.raises(ValueError, match="finite"):
        make(fx * np.nan, fy, steps)


any_field = edge_fields() | directed_fields() | exact_fields() | uneven_fields()


def cut(edges, rows, columns):
    """Cut a field into tiles, and yield their places and parts."""
    rows, columns = ([0, *sorted(set(cuts)), n] for cuts, n in zip((rows, columns), edges.shape, strict=True))
    for y, bottom in pairwise(rows):
        for x, right in pairwise(columns):
            if y < bottom and x < right:
                yield Edges(edges.fx[y:bottom, x:right], edges.fy[y:bottom, x:right]).statistics.at(y, x)


def draw_cuts(data, edges):
    return [data.draw(st.lists(st.integers(0, n), max_size=3)) for n in edges.shape]


@given(any_field, st.data())
def test_surveys_of_tiles_merge_to_the_survey_of_the_whole(edges, data):
    first, *others = cut(edges, *draw_cuts(data, edges))
    assert first.merge(*others) == edges.statistics
    assert first.merge(*others).steps == edges.steps


@given(any_field, st.data())
def test_a_tile_with_the_steps_of_the_whole_agrees_with_it_to_the_bit(edges, data):
    top, left = (data.draw(st.integers(0, n - 1)) for n in edges.shape)
    bottom, right = (data.draw(st.integers(a + 1, n)) for a, n in zip((top, left), edges.shape, strict=True))
    size = 2 * data.draw(st.integers(1, 3)) + 1
    first, *others = cut(edges, *draw_cuts(data, edges))
    tile = Edges(edges.fx[top:bottom, left:right], edges.fy[top:bottom, left:right], steps=first.merge(*others).steps)

    def assert_agree(function, halo):
        y, x = (a + halo if a else 0 for a in (top, left))
        yy, xx = (b - halo if b < n else n for b, n in zip((bottom, right), edges.shape, strict=True))
        if y < yy and x < xx:
            inner = function(tile)[..., y - top : yy - top, x - left : xx - left]
            assert_array_equal(inner, function(edges)[..., y:yy, x:xx])

    half = size // 2
    assert_agree(lambda e: torque_volume(e, [1, size]).tau, half)
    assert_agree(lambda e: torque_volume(e, [1, size], patch="disk").tau, half)
    assert_agree(lambda e: value_and_scale_maps(e, [1, size])[1], half)
    assert_agree(lambda e: torque_coherence(e, size), half)
    assert_agree(lambda e: dense_contribution(e, [1, size]), 2 * half)


def test_a_tile_on_its_own_would_round_otherwise():
    fx, fy = np.random.default_rng(0).normal(size=(2, 40, 40)) * (np.random.default_rng(1).random((40, 40)) < 0.2)
    fx[0, 0] = 1000
    assert Edges(fx[10:], fy[10:]).steps != Edges(fx, fy).steps


@given(st.integers(0, 10_000), st.sampled_from([(3, 5), (9, 64), (70, 65), (140, 20)]), st.sampled_from([1, 3]))
def test_a_survey_is_what_its_definition_finds_force_by_force(seed, shape, threads):
    # Rows of very different strength, so that the unit rises on the way; some forces on the grid of eight directions.
    rng = np.random.default_rng(seed)
    rows = 2.0 ** rng.integers(-20, 3, (shape[0], 1)) * rng.choice([1.0, 1 / 3], (shape[0], 1))
    fx, fy = (rng.integers(-2, 3, shape) * (rng.random(shape) < 0.3) * rows for _ in range(2))
    _native.set_num_threads(threads)
    edges = Edges(fx, fy)
    assert edges.field.statistics() == naive.force_statistics(edges.fx, edges.fy)


def test_surveys_that_overlap_do_not_merge():
    statistics = Edges(np.eye(4), np.eye(4)).statistics
    with pytest.raises(ValueError, match="must not overlap, got 32 pixels"):
        statistics.merge(statistics)


def test_a_survey_is_a_plain_value():
    statistics = Edges(np.eye(4), np.eye(4)).statistics
    assert pickle.loads(pickle.dumps(statistics)) == statistics
    assert isinstance(hash(statistics), int)
    assert statistics.at(3, 5).area == (3, 5, 7, 9)
    empty = Edges(np.zeros((4, 4)), np.zeros((4, 4))).statistics
    assert empty.merge(empty.at(4, 0)).steps == 1
    assert isinstance(empty, ForceStatistics)


@given(any_field)
def test_the_finest_steps_and_no_finer_ones_are_taken(edges):
    finest = 2.0 ** np.floor(np.log2(edges.statistics.finest_steps))
    torque_map(Edges(edges.fx, edges.fy, steps=finest), 5)
    if edges.mask.any() and finest < 2.0**112:
        with pytest.raises(ValueError, match=r"steps must be at most .* for exact sums"):
            Edges(edges.fx, edges.fy, steps=2 * finest)
