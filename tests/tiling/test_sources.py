"""Images of all kinds are read in windows, with the pixels and the places that their files say."""

import pickle
from importlib.util import find_spec

import numpy as np
import pytest
import tifffile
import zarr
from numpy.testing import assert_allclose, assert_array_equal

from imtorque import files
from imtorque.core.resizing import shrink_image
from imtorque.tiling import open_image, process_image
from imtorque.tiling.grid import Box
from imtorque.tiling.source import ArraySource, ReducedSource

BOXES = [Box(0, 0, 1, 1), Box(5, 7, 40, 61), Box(33, 0, 70, 90), Box(69, 89, 70, 90)]


def drawn_image(*planes, dtype=np.uint8, shape=(70, 90)):
    return np.random.default_rng(1).integers(0, 250, (*shape, *planes)).astype(dtype)


def assert_reads(source, expected):
    source = pickle.loads(pickle.dumps(source))
    assert source.shape == expected.shape[:2]
    assert np.dtype(source.dtype) == expected.dtype
    assert source.samples == (expected.shape[2] if expected.ndim == 3 else 1)
    for box in BOXES:
        assert_array_equal(source.read(box), expected[box.slices])


TIFFS = {
    "strips": {"rowsperstrip": 16},
    "one strip": {},
    "tiles": {"tile": (32, 16)},
    "deflated tiles": {"tile": (32, 16), "compression": "zlib", "predictor": True},
    "BigTIFF": {"tile": (32, 32), "bigtiff": True},
    "big-endian strips": {"rowsperstrip": 7, "byteorder": ">"},
}


@pytest.mark.parametrize("kind", TIFFS)
@pytest.mark.parametrize(
    "image",
    [drawn_image(), drawn_image(3), drawn_image(dtype=np.uint16), drawn_image(dtype=np.float32)],
    ids=lambda i: str(i.dtype),
)
def test_windows_of_tiff_files(tmp_path, kind, image):
    path = tmp_path / "image.tif"
    if image.dtype.kind == "f" and "predictor" in TIFFS[kind]:
        pytest.skip("tifffile writes no such files without imagecodecs")
    tifffile.imwrite(path, image, photometric="rgb" if image.ndim == 3 else "minisblack", **TIFFS[kind])
    assert_reads(open_image(path), files.read_image(path))


def test_planes_that_lie_apart(tmp_path):
    path = tmp_path / "image.tif"
    tifffile.imwrite(path, drawn_image(3).transpose(2, 0, 1), photometric="rgb", planarconfig="separate", tile=(32, 32))
    assert_reads(open_image(path), drawn_image(3))
    assert_reads(open_image(path, channel=1), drawn_image(3)[:, :, 1])


def test_white_is_0_and_few_bits_mean_what_they_mean_in_memory(tmp_path):
    path = tmp_path / "image.tif"
    tifffile.imwrite(path, drawn_image(), photometric="miniswhite", tile=(16, 16))
    assert_reads(open_image(path), files.read_image(path))


def test_a_page_and_a_level_of_an_ome_tiff(tmp_path):
    path = tmp_path / "image.ome.tif"
    stack = np.stack([drawn_image(), drawn_image()[::-1]])
    metadata = {"axes": "ZYX", "PhysicalSizeX": 0.25, "PhysicalSizeY": 0.5}
    with tifffile.TiffWriter(path, ome=True) as writer:
        writer.write(stack, subifds=1, metadata=metadata, tile=(32, 32))
        writer.write(stack[:, ::2, ::2], subfiletype=1, tile=(32, 32))
    assert_reads(open_image(path, page=1), stack[1])
    assert open_image(path, page=1).affine.pixel_size == (0.5, 0.25)
    assert open_image(path, page=0, level=1).shape == (35, 45)
    with pytest.raises(ValueError, match=r"image.ome.tif: must hold one image, got a TIFF of 2 pages"):
        open_image(path)
    with pytest.raises(ValueError, match="level must be from 0 to 1, got 2"):
        open_image(path, page=0, level=2)


def test_a_level_of_a_page_in_a_stack_is_that_page(tmp_path):
    path = tmp_path / "image.ome.tif"
    stack = np.stack([drawn_image(), drawn_image()[::-1]])
    with tifffile.TiffWriter(path, ome=True) as writer:
        writer.write(stack, subifds=1, metadata={"axes": "ZYX"}, tile=(32, 32))
        writer.write(stack[:, ::2, ::2], subfiletype=1, tile=(32, 32))
    assert_array_equal(open_image(path, page=1, level=1).read(Box(0, 0, 35, 45)), stack[1, ::2, ::2])


def test_places_of_a_geotiff(tmp_path):
    path = tmp_path / "field.tif"
    scale = (33550, "d", 3, (2.0, 3.0, 0.0), True)
    tie = (33922, "d", 6, (0.0, 0.0, 0.0, 500000.0, 4200000.0, 0.0), True)
    keys = (34735, "H", 8, (1, 1, 0, 1, 3072, 0, 1, 32633), True)
    tifffile.imwrite(path, drawn_image(), tile=(32, 32), extratags=[scale, tie, keys])
    source = open_image(path)
    assert source.affine.unit == "EPSG:32633"
    y, x = source.affine.transform(np.array([0, 10]), np.array([0, 5]))
    assert_allclose(x, [500001.0, 500011.0])
    assert_allclose(y, [4200000.0 - 1.5, 4200000.0 - 31.5])


def test_numpy_files(tmp_path):
    np.save(tmp_path / "image.npy", drawn_image(3))
    assert_reads(open_image(tmp_path / "image.npy"), drawn_image(3))


@pytest.mark.parametrize("form", [2, 3])
def test_zarr_arrays(tmp_path, form):
    array = zarr.create_array(tmp_path / "a.zarr", shape=(70, 90, 3), chunks=(16, 32, 3), dtype="u1", zarr_format=form)
    array[:] = drawn_image(3)
    assert_reads(open_image(tmp_path / "a.zarr"), drawn_image(3))


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_ome_zarr(tmp_path, version):
    group = zarr.open_group(tmp_path / "o.zarr", mode="w", zarr_format=2 if version == "0.4" else 3)
    data = np.stack([drawn_image(), drawn_image()[::-1]]).astype(np.uint16)
    for level in (0, 1):
        part = data[:, :: 2**level, :: 2**level]
        array = group.create_array(str(level), shape=part.shape, chunks=(1, 16, 16), dtype="u2")
        array[:] = part
    axes = [{"name": "c", "type": "channel"}, *({"name": n, "type": "space", "unit": "micrometer"} for n in "yx")]
    levels = [
        {"path": str(k), "coordinateTransformations": [{"type": "scale", "scale": [1, 0.5 * 2**k, 0.25 * 2**k]}]}
        for k in (0, 1)
    ]
    image = {"axes": axes, "datasets": levels}
    group.attrs.update({"multiscales": [image]} if version == "0.4" else {"ome": {"multiscales": [image]}})
    assert_reads(open_image(tmp_path / "o.zarr", channel=1), data[1])
    assert open_image(tmp_path / "o.zarr", channel=1, level=1).shape == (35, 45)
    assert open_image(tmp_path / "o.zarr", channel=1, level=1).affine.pixel_size == (1.0, 0.5)
    with pytest.raises(ValueError, match=r"o.zarr: must have one channel or be in colour, got 2 channels"):
        open_image(tmp_path / "o.zarr")


def test_a_level_that_is_missing_is_named(tmp_path):
    group = zarr.open_group(tmp_path / "o.zarr", mode="w")
    group.attrs.update({"ome": {"multiscales": [{"axes": ["y", "x"], "datasets": [{"path": "0"}]}]}})
    with pytest.raises(ValueError, match=r"o.zarr: level 0 is missing, '0' is not in the group"):
        open_image(tmp_path / "o.zarr")


def test_three_channels_of_bytes_are_a_colour(tmp_path):
    group = zarr.open_group(tmp_path / "o.zarr", mode="w")
    group.create_array("0", shape=(3, 70, 90), chunks=(1, 16, 16), dtype="u1")[:] = drawn_image(3).transpose(2, 0, 1)
    group.attrs.update({"ome": {"multiscales": [{"axes": ["c", "y", "x"], "datasets": [{"path": "0"}]}]}})
    assert_reads(open_image(tmp_path / "o.zarr"), drawn_image(3))


@pytest.mark.parametrize("factor", [2, 7])
@pytest.mark.parametrize("image", [drawn_image(3), drawn_image(dtype=np.float32)], ids=lambda i: str(i.dtype))
def test_a_reduced_image_is_that_of_shrink_image(factor, image):
    small = shrink_image(image, factor)
    reduced = ReducedSource.of(ArraySource.of(image), factor)
    height, width = small.shape[:2]
    assert reduced.shape == (height, width)
    assert_array_equal(reduced.read(Box(0, 0, height, width)), small)
    assert_array_equal(reduced.read(Box(2, 3, height - 1, width)), small[2 : height - 1, 3:])


def test_a_file_that_is_cut_short_is_named(tmp_path):
    whole, cut = tmp_path / "whole.tif", tmp_path / "cut.tif"
    tifffile.imwrite(whole, drawn_image(), tile=(16, 16), compression="zlib")
    cut.write_bytes(whole.read_bytes()[:-1500])
    with pytest.raises((RuntimeError, ValueError), match="cut"):
        process_image(cut, tmp_path / "out", [5], jobs=1)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none.tif", "none.tif: there is no such file"),
        ("text.tif", "text.tif: must be a TIFF, got another file"),
        ("text.npy", "text.npy: must be a whole NumPy file"),
        ("folder", "folder: must be a zarr array or group"),
        ("slide.mrxs", "slide.mrxs: must be a TIFF, got another file"),
    ],
)
def test_what_is_no_image_is_refused_by_name(tmp_path, name, message):
    if name == "folder":
        (tmp_path / name).mkdir()
    elif name != "none.tif":
        (tmp_path / name).write_text("no image")
    with pytest.raises(ValueError, match=message):
        open_image(tmp_path / name)


@pytest.mark.skipif(find_spec("imagecodecs") is not None, reason="imagecodecs is installed")
def test_a_compression_that_needs_more_says_so(tmp_path):
    from PIL import Image

    Image.fromarray(drawn_image(3)).save(tmp_path / "a.tif", compression="jpeg")
    with pytest.raises(ValueError, match=r"a.tif: must have a compression that is known, got .*JPEG; pip install"):
        open_image(tmp_path / "a.tif")


def test_whole_slides_that_are_tiff(tmp_path):
    tifffile.imwrite(tmp_path / "a.svs", drawn_image(3), tile=(32, 32), photometric="rgb")
    assert_reads(open_image(tmp_path / "a.svs"), drawn_image(3))


def test_zarr_at_an_address():
    pytest.importorskip("fsspec")
    array = zarr.create_array("memory://a.zarr", shape=(70, 90), chunks=(16, 32), dtype="u1", overwrite=True)
    array[:] = drawn_image()
    source = open_image("memory://a.zarr")
    assert_array_equal(source.read(BOXES[1]), drawn_image()[BOXES[1].slices])


def test_a_chunk_that_changes_is_noticed(tmp_path):
    array = zarr.create_array(tmp_path / "a.zarr", shape=(70, 90), chunks=(16, 32), dtype="u1")
    array[:] = drawn_image()
    before = open_image(tmp_path / "a.zarr").fingerprint()
    assert open_image(tmp_path / "a.zarr").fingerprint() == before
    array[0, 0] = 7
    assert open_image(tmp_path / "a.zarr").fingerprint() != before
