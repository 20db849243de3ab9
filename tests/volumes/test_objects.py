"""Objects in volumes: which voxels belong to each, and what is measured on them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from imtorque.synthetic import nuclei_volume
from imtorque.volumes import find_blobs


def ellipsoid(shape, centre, halves, spacing=(1.0, 1.0, 1.0)):
    """1 inside, 0 outside; half axes in units of the spacing, the centre in voxels."""
    lines = [(n - c) * step for n, c, step in zip(np.indices(shape), centre, spacing, strict=True)]
    return (sum((line / half) ** 2 for line, half in zip(lines, halves, strict=True)) <= 1).astype(float)


@pytest.mark.parametrize("spacing", [(1.0, 1.0, 1.0), (2.0, 1.0, 1.0), (1.5, 0.5, 0.5)])
@pytest.mark.parametrize("sign", [1, -1])
def test_an_ellipsoid_has_its_measures(spacing, sign):
    step, halves = min(spacing), np.array([8.0, 7.0, 10.0])
    shape = tuple(int(n * step / side) for n, side in zip((44, 46, 48), spacing, strict=True))
    centre = np.array(shape) / 2 - 0.3
    volume = 5 + sign * 3 * ellipsoid(shape, centre, halves * step, spacing)
    (row,) = find_blobs(volume, sign=sign, spacing=spacing).to_dataframe().itertuples()
    assert_allclose([row.z, row.y, row.x], centre, atol=0.4)
    assert_allclose([row.major, row.middle, row.minor], 2 * np.sort(halves)[::-1], rtol=0.06)
    assert row.diameter == pytest.approx(2 * np.prod(halves) ** (1 / 3), rel=0.04)
    assert row.volume == pytest.approx(np.pi / 6 * row.diameter**3)
    assert row.contrast == pytest.approx(3 * sign, rel=0.01)
    assert row.intensity == pytest.approx(5 + 3 * sign, rel=0.1)
    assert row.snr == np.inf


def test_measures_are_those_of_the_labelled_voxels():
    measure = pytest.importorskip("skimage.measure")
    volume = nuclei_volume(3, shape=(30, 60, 60), count=10).volume
    found = find_blobs(volume)
    assert len(found) >= 8
    table = found.to_dict()
    for row, region in enumerate(measure.regionprops(found.labels, volume)):
        assert region.label == table["label"][row]
        assert_allclose([table[name][row] for name in "zyx"], region.centroid, rtol=1e-6)
        assert table["volume"][row] == region.area
        bounds = [int(table[name][row]) for name in ("front", "top", "left", "back", "bottom", "right")]
        assert tuple(bounds) == region.bbox
        assert table["intensity"][row] == pytest.approx(region.intensity_mean, rel=1e-5)
        # A voxel is a cube here, and a point there: a twelfth in each moment.
        moments = np.linalg.eigvalsh(np.asarray(region.inertia_tensor))
        along = np.sort(moments.sum() / 2 - moments) + 1 / 12
        axes = [table[name][row] for name in ("minor", "middle", "major")]
        assert_allclose(axes, 2 * np.sqrt(5 * along), rtol=1e-4)


@pytest.mark.parametrize(
    ("spacing", "shape", "share", "least"),
    [((1.0, 1.0, 1.0), (48, 96, 96), 0.9, 0.78), ((3.0, 1.0, 1.0), (16, 96, 96), 0.8, 0.76)],
)
def test_nuclei_are_outlined(spacing, shape, share, least):
    truth = nuclei_volume(7, shape=shape, count=40, spacing=spacing)
    found = find_blobs(truth.volume, spacing=spacing)
    joint = np.zeros((truth.labels.max() + 1, len(found) + 1))
    np.add.at(joint, (truth.labels.ravel(), found.labels.ravel()), 1)
    inside = joint[1:, 1:]
    union = joint[1:].sum(axis=1)[:, None] + joint[:, 1:].sum(axis=0) - inside
    best = (inside / union).max(axis=1)
    assert np.mean(best > 0.5) >= share
    assert best[best > 0.5].mean() >= least
    ratios = joint[:, 1:].sum(axis=0)[(inside / union).argmax(axis=1)] / joint[1:].sum(axis=1)
    assert np.median(ratios) == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("seed", range(4))
def test_a_range_of_diameters_is_hard_and_costs_nothing(seed):
    volume = nuclei_volume(seed, shape=(32, 64, 64), count=14).volume
    every = find_blobs(volume)
    smallest, largest = np.quantile(every.diameter, [0.2, 0.8])
    ranged = find_blobs(volume, sizes=(smallest, largest))
    assert ranged.diameter.min() >= smallest
    assert ranged.diameter.max() <= largest
    assert len(ranged) >= np.count_nonzero((every.diameter >= smallest) & (every.diameter <= largest))


def test_rows_chosen_keep_their_labels():
    found = find_blobs(nuclei_volume(5, shape=(30, 60, 60), count=9).volume)
    chosen = found[[4, 1]]
    assert_array_equal(chosen.value, found.value[[1, 4]])
    assert_array_equal(chosen.labels == 1, found.labels == 2)
    assert_array_equal(chosen.labels == 2, found.labels == 5)
    assert len(found[found.value > 2]) == found[[]].labels.max() == 0
    assert repr(found[:3]).splitlines()[0] == "VolumeBlobs(3: 3 bright, 0 dark)"


def test_nothing_is_found_in_nothing():
    found = find_blobs(np.zeros((6, 7, 8)))
    assert len(found) == 0
    assert found.labels.shape == (6, 7, 8)
    assert found.to_csv().startswith("z,y,x,diameter,volume,")


def test_objects_are_labels_in_napari():
    found = find_blobs(np.pad(np.ones((9, 9, 9)), 8), spacing=(2.0, 1.0, 1.0))
    data, arguments, kind = found.to_napari()
    assert (data.shape, kind, arguments["scale"]) == ((25, 25, 25), "labels", (2.0, 1.0, 1.0))
    assert arguments["features"]["index"].tolist() == [*range(1, len(found) + 1)]


@pytest.mark.parametrize("sizes", [(2, 9), (9, 5), (5.0, np.inf)])
def test_a_range_that_is_none_is_refused(sizes):
    with pytest.raises(ValueError, match=r"3 <= smallest <= largest"):
        find_blobs(np.zeros((9, 9, 9)), sizes=sizes)
