import numpy as np
import pytest
from numpy.testing import assert_array_equal

from imtorque import Edges, Extrema, TorqueVolume, detect_edges, find_extrema, torque_volume
from imtorque.synthetic import scene


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
    with pytest.raises(ValueError, match="must hold the arrays tau and sizes, got"):
        TorqueVolume.load(tmp_path / "other.npz")


def test_everything_has_a_short_description(extrema):
    edges = detect_edges(scene("disc", (40, 60)))
    assert repr(edges).startswith("Edges(40 x 60, ")
    assert repr(torque_volume(edges, [3, 9])) == "TorqueVolume(40 x 60, 2 sizes)"
    assert repr(extrema) == "Extrema(3: 2 positive, 1 negative)"


def test_edges_take_lists_and_other_dtypes():
    edges = Edges([[1, 0], [0, 2]], np.zeros((2, 2), np.int16))
    assert edges.fx.dtype == edges.fy.dtype == np.float32
    assert len(find_extrema(edges, sizes=[3])) >= 1
