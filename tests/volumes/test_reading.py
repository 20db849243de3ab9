"""Volumes in files: stacks, zarr, NIfTI, and what they say of the size of their voxels."""

import gzip
import tracemalloc

import numpy as np
import pytest
import tifffile
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image

from imtorque.files import write_stack
from imtorque.volumes import read_volume, voxel_size

VOLUME = np.random.default_rng(0).integers(0, 60000, (5, 7, 9)).astype(np.uint16)
PHYSICAL = {f"PhysicalSize{axis}": size for axis, size in zip("XYZ", (0.3, 0.4, 0.9), strict=True)}
UNITS = {f"PhysicalSize{axis}Unit": "µm" for axis in "XYZ"}
SCALES = [{"type": "scale", "scale": [1, 1, 2.0, 0.5, 0.25]}]
AXES = [{"name": "t"}, {"name": "c"}, *({"name": name, "unit": "micrometer"} for name in "zyx")]


def plain(path):
    tifffile.imwrite(path, VOLUME)


def imagej(path):
    about = {"axes": "ZYX", "spacing": 0.9, "unit": "um"}
    tifffile.imwrite(path, VOLUME, imagej=True, resolution=(1 / 0.3, 1 / 0.4), metadata=about)


def ome(path):
    tifffile.imwrite(path, VOLUME, ome=True, metadata={"axes": "ZYX", **PHYSICAL, **UNITS})


def ours(path):
    write_stack(path, VOLUME)


def zarr_array(path):
    zarr = pytest.importorskip("zarr")
    zarr.open_array(path, mode="w", shape=VOLUME.shape, dtype=VOLUME.dtype)[:] = VOLUME


def ome_zarr(path):
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(path, mode="w")
    group.create_array("0", shape=(1, 1, *VOLUME.shape), dtype=VOLUME.dtype)[:] = VOLUME[None, None]
    levels = [{"path": "0", "coordinateTransformations": SCALES}]
    group.attrs["ome"] = {"multiscales": [{"axes": AXES, "datasets": levels}]}


def nifti(path):
    nibabel = pytest.importorskip("nibabel")
    image = nibabel.Nifti1Image(np.ascontiguousarray(VOLUME.T), np.diag([0.5, 0.25, 2.0, 1]))
    image.header.set_xyzt_units("mm")
    nibabel.save(image, path)


@pytest.mark.parametrize(
    ("name", "write", "size"),
    [
        ("plain.tif", plain, None),
        ("imagej.tif", imagej, (0.9, 0.4, 0.3)),
        ("a.ome.tif", ome, (0.9, 0.4, 0.3)),
        ("labels.tiff", ours, None),
        ("a.zarr", zarr_array, None),
        ("ome.zarr", ome_zarr, (2.0, 0.5, 0.25)),
        ("a.nii", nifti, (2000, 250, 500)),
        ("a.nii.gz", nifti, (2000, 250, 500)),
    ],
)
def test_a_volume_is_read_as_it_was_written(tmp_path, name, write, size):
    write(tmp_path / name)
    assert_array_equal(read_volume(tmp_path / name), VOLUME)
    told = voxel_size(tmp_path / name)
    if size is None:
        assert told is None
    else:
        assert_allclose(told, size, rtol=1e-5)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_slices_are_written_as_pages_however_few(tmp_path, depth):
    write_stack(tmp_path / "few.tiff", VOLUME[:depth])
    with tifffile.TiffFile(tmp_path / "few.tiff") as written:
        assert [page.shape for page in written.pages] == [VOLUME.shape[1:]] * depth
        assert_array_equal(written.asarray().reshape(depth, *VOLUME.shape[1:]), VOLUME[:depth])


def test_one_channel_of_several_is_read(tmp_path):
    both = np.stack([VOLUME, VOLUME + 1], axis=1)
    tifffile.imwrite(tmp_path / "c.tif", both, imagej=True, metadata={"axes": "ZCYX"})
    assert_array_equal(read_volume(tmp_path / "c.tif", 1), VOLUME + 1)
    with pytest.raises(ValueError, match="must have one channel or be in colour, got 2 channels; channel=0"):
        read_volume(tmp_path / "c.tif")


def times(path):
    tifffile.imwrite(path, np.stack([VOLUME, VOLUME]), imagej=True, metadata={"axes": "TZYX"})


def one_page(path):
    tifffile.imwrite(path, VOLUME[0])


def in_colour(path):
    tifffile.imwrite(path, np.zeros((3, 7, 9, 3), np.uint8), photometric="rgb")


def unlike(path):
    first, second = (Image.fromarray(page) for page in (VOLUME[0], VOLUME[1, 1:]))
    first.save(path, save_all=True, append_images=[second])


def no_depth(path):
    zarr = pytest.importorskip("zarr")
    zarr.open_array(path, mode="w", shape=(7, 9), dtype="u1")[:] = 1


def four_axes(path):
    nibabel = pytest.importorskip("nibabel")
    nibabel.save(nibabel.Nifti1Image(np.zeros((4, 5, 6, 2), np.float32), np.eye(4)), path)


@pytest.mark.parametrize(
    ("name", "write", "text"),
    [
        ("t.tif", times, "must hold one volume, got pages along T and Z"),
        ("one.tif", one_page, "must be a stack of several pages, got one"),
        ("rgb.tif", in_colour, "must be grey to be a volume, got pages in colour"),
        ("unlike.tif", unlike, "must have pages alike, got 7 x 9 of uint16 and, as page 1, 6 x 9 of uint16"),
        ("flat.zarr", no_depth, "must have an axis z to be a volume, got axes YX"),
        ("four.nii", four_axes, r"must hold one volume, got shape \(2, 6, 5, 4\)"),
        ("bad.nii", lambda path: path.write_bytes(b"no"), "bad.nii"),
    ],
)
def test_what_is_no_volume_is_refused_by_name(tmp_path, name, write, text):
    write(tmp_path / name)
    with pytest.raises((ValueError, OSError), match=text) as caught:
        read_volume(tmp_path / name)
    assert name in str(caught.value)


@pytest.mark.parametrize("packed", [False, True])
def test_a_nifti_that_cannot_hold_its_voxels_takes_no_memory_for_them(tmp_path, packed):
    nibabel = pytest.importorskip("nibabel")
    image = nibabel.Nifti1Image(np.zeros((3, 4, 5), np.int16), np.eye(4))
    whole = bytearray(image.to_bytes())
    whole[42:48] = np.array([1000, 1000, 1000], "<i2").tobytes()  # dim[1:4]
    path = tmp_path / ("huge.nii.gz" if packed else "huge.nii")
    path.write_bytes(gzip.compress(whole) if packed else whole)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"huge\.nii.*: must hold 2000000000 bytes of voxels, got at most"):
            read_volume(path)
        assert tracemalloc.get_traced_memory()[1] < 10**8
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("damaged", ["o.zarr/zarr.json", "o.zarr/0/zarr.json", "o.zarr/0/c/0/0/0/0/0"])
def test_a_damaged_zarr_is_refused_by_name(tmp_path, damaged):
    ome_zarr(tmp_path / "o.zarr")
    (tmp_path / damaged).write_bytes(b"{damaged")
    with pytest.raises(ValueError, match=r"o\.zarr: must be a zarr array or group, got: [^\n]*$"):
        read_volume(tmp_path / "o.zarr")
