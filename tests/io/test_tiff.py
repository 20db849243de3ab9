"""TIFF files of all kinds: what they hold comes as it is, one page and channel at a time, or is refused by name."""

import io
import logging
import struct
import tracemalloc
import zlib
from importlib.util import find_spec

import numpy as np
import pytest
import tifffile
from numpy.testing import assert_array_equal
from PIL import Image

from imtorque.files import decode_image, image_shape, pixel_size, read_image
from imtorque.io import tiff_opening
from imtorque.io.tiff_opening import find_pages

INTEGERS = [f"{kind}{width}" for kind in "ui" for width in (1, 2, 4, 8)]
OME = {
    "axes": "TCYX",
    "PhysicalSizeX": 0.25,
    "PhysicalSizeXUnit": "µm",
    "PhysicalSizeY": 500,
    "PhysicalSizeYUnit": "nm",
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.tif"


@pytest.fixture
def reads(monkeypatch):
    """The number of bytes that each read of a TIFF file gave."""
    given, number, read = [], tiff_opening._number, tiff_opening._Bounded.read

    def noted_number(file, place, form):
        given.append(struct.calcsize(form))
        return number(file, place, form)

    def noted_read(file, size=-1):
        data = read(file, size)
        given.append(len(data))
        return data

    monkeypatch.setattr(tiff_opening, "_number", noted_number)
    monkeypatch.setattr(tiff_opening._Bounded, "read", noted_read)
    return given


def values(dtype, *shape):
    rng = np.random.default_rng(0)
    if np.dtype(dtype).kind == "f":
        return rng.normal(0, 100, shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


@pytest.mark.parametrize("byteorder", "<>")
@pytest.mark.parametrize("dtype", [*INTEGERS, "f2", "f4", "f8"])
def test_every_type_and_byte_order_comes_as_it_is(path, dtype, byteorder):
    pixels = values(dtype, 9, 14)
    tifffile.imwrite(path, pixels, byteorder=byteorder, photometric="minisblack")
    read = read_image(path)
    assert read.dtype == np.dtype(dtype)
    assert read.flags.writeable
    assert_array_equal(read, pixels)


@pytest.mark.parametrize("tile", [None, (16, 32)])
@pytest.mark.parametrize("predictor", [False, True])
@pytest.mark.parametrize("dtype", ["u1", "u2", "i4", "f4", "f8"])
@pytest.mark.parametrize("shape", [(37, 50), (37, 50, 3), (3, 37, 50)])
def test_strips_and_tiles_compressed_in_any_layout_come_as_they_are(path, dtype, shape, predictor, tile):
    if predictor and np.dtype(dtype).kind == "f":
        pytest.skip("tifffile writes no such files without imagecodecs")
    pixels = values(dtype, *shape)
    layout = {"photometric": "minisblack" if len(shape) == 2 else "rgb"}
    if shape[0] == 3:
        layout["planarconfig"] = "separate"
    options = {"tile": tile} if tile else {"rowsperstrip": 7}
    tifffile.imwrite(path, pixels, compression="deflate", predictor=predictor, bigtiff=True, **layout, **options)
    assert_array_equal(read_image(path), pixels.transpose(1, 2, 0) if shape[0] == 3 else pixels)


@pytest.mark.parametrize("compression", ["tiff_lzw", "packbits", "tiff_deflate", "lzma", "zstd"])
@pytest.mark.parametrize("kind", ["u1", "u2", "f4", "RGB"])
def test_what_libtiff_compressed_is_read_without_imagecodecs(path, compression, kind):
    pixels = values("u1", 31, 45, 3) if kind == "RGB" else values(kind, 31, 45)
    Image.fromarray(pixels).save(path, compression=compression)
    assert_array_equal(read_image(path), pixels)


@pytest.mark.parametrize("predictor", [1, 2])
def test_lzw_of_kinds_that_pillow_does_not_read_comes_as_it_is(path, predictor):
    pixels = values("u2", 20, 30, 3)
    steps = np.diff(pixels, axis=1, prepend=np.zeros((20, 1, 3), "u2")) if predictor == 2 else pixels
    data = _compressed(steps, "tiff_lzw")
    path.write_bytes(_tiff(data, 30, 20, 16, {259: 5, 262: 2, 277: 3, 317: predictor}))
    assert_array_equal(read_image(path), pixels)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_the_predictor_of_floats_is_undone(path, dtype):
    pixels = values(dtype, 20, 30)
    rows = pixels.astype(f">{dtype}").view("u1").reshape(20, 30, -1).transpose(0, 2, 1).reshape(20, -1)
    steps = np.diff(rows, axis=1, prepend=np.zeros((20, 1), "u1"))
    data = _compressed(steps, "tiff_deflate")
    path.write_bytes(_tiff(data, 30, 20, 8 * int(dtype[1]), {259: 8, 317: 3, 339: 3}))
    assert_array_equal(read_image(path), pixels)


def _compressed(stored, by_pillow):
    """Return the bytes of an array as Pillow compresses them, in one strip."""
    file = io.BytesIO()
    lines = np.ascontiguousarray(stored).view("u1").reshape(len(stored), -1)
    Image.fromarray(lines).save(file, "TIFF", compression=by_pillow, tiffinfo={278: len(stored)})
    file.seek(0)
    with tifffile.TiffFile(file) as written:
        page = written.pages[0]
        assert len(page.dataoffsets) == 1
        file.seek(page.dataoffsets[0])
        return file.read(page.databytecounts[0])


@pytest.mark.parametrize("bits", [2, 4])
def test_few_bits_a_pixel_are_spread_to_eight(path, bits):
    levels = np.arange(2**bits, dtype=np.uint8)
    digits = np.unpackbits(levels[:, None], axis=1)[:, 8 - bits :]
    path.write_bytes(_tiff(np.packbits(digits).tobytes(), 2**bits, 1, bits))
    assert_array_equal(read_image(path)[0], levels * (255 // (2**bits - 1)))


def test_twelve_bits_a_pixel_come_as_they_are(path):
    path.write_bytes(_tiff(bytes([0xAB, 0xCD, 0xEF]), 2, 1, 12))
    assert_array_equal(read_image(path), [[0xABC, 0xDEF]])


def _tiff(data, width, height, bits, more=None):
    """Return a TIFF file of one strip, its tags written out."""
    fields = {256: width, 257: height, 258: bits, 259: 1, 262: 1, 273: 8, 277: 1, 278: height, 279: len(data)}
    entries = [struct.pack("<HHII", tag, 4, 1, value) for tag, value in sorted((fields | (more or {})).items())]
    start = 8 + len(data) + len(data) % 2
    head = b"II*\0" + start.to_bytes(4, "little") + data + bytes(len(data) % 2)
    return head + len(entries).to_bytes(2, "little") + b"".join(entries) + bytes(4)


@pytest.mark.parametrize("compression", [None, "deflate"])
@pytest.mark.parametrize("dtype", [*INTEGERS, "f4", "f8"])
def test_white_as_0_is_turned_round_in_all_depths(path, dtype, compression):
    pixels = values(dtype, 5, 7)
    tifffile.imwrite(path, pixels, photometric="miniswhite", compression=compression)
    read = read_image(path)
    assert read.dtype == pixels.dtype
    if dtype[0] == "f":
        assert_array_equal(read, -pixels)
    else:
        limits = np.iinfo(dtype)
        assert_array_equal(read.astype(object), limits.max + limits.min - pixels.astype(object))


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_tiff_taken_with_the_camera_turned_comes_upright_as_a_png_does(path, orientation):
    pixels = values("u1", 5, 7)
    exif = Image.Exif()
    exif[274] = orientation
    Image.fromarray(pixels).save(path, exif=exif)
    Image.fromarray(pixels).save(path.with_suffix(".png"), exif=exif)
    expected = read_image(path.with_suffix(".png"))
    assert_array_equal(read_image(path), expected)
    assert image_shape(path) == expected.shape


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "LA", "CMYK", "YCbCr", "LAB"])
def test_every_mode_of_pillow_comes_as_pillow_reads_it(path, mode):
    if mode == "LAB":
        image = Image.frombytes("LAB", (17, 12), values("u1", 12, 17, 3).tobytes())
    else:
        image = Image.fromarray(values("u1", 12, 17, 4 if mode.endswith("A") else 3)).convert(mode)
    image.save(path)
    with Image.open(path) as again:
        kept = again if again.mode in ("1", "L", "RGB", "RGBA") else again.convert("RGBA" if mode == "LA" else "RGB")
        expected = np.asarray(kept)
    assert_array_equal(read_image(path), expected)


def test_colours_kept_multiplied_by_their_opacity_come_as_they_were(path):
    opacity = np.full((5, 6, 1), 128, np.uint8)
    dimmed = values("u1", 5, 6, 3) // 2
    tifffile.imwrite(path, np.concatenate([dimmed, opacity], axis=2), photometric="rgb", extrasamples=["assocalpha"])
    assert_array_equal(read_image(path)[:, :, :3], np.round(dimmed * (255 / 128)))
    assert_array_equal(read_image(path)[:, :, 3:], opacity)


@pytest.mark.parametrize("compression", ["jpeg", "group4"])
def test_compressions_of_images_are_left_to_pillow(path, compression):
    image = Image.fromarray(np.add.outer(np.arange(32), np.arange(40)).astype(np.uint8) * 3)
    image.convert("1" if compression == "group4" else "RGB").save(path, compression=compression)
    with Image.open(path) as again:
        assert_array_equal(read_image(path), np.asarray(again))


@pytest.mark.skipif(find_spec("imagecodecs") is not None, reason="imagecodecs knows it")
def test_a_compression_nobody_here_knows_is_refused_by_its_name(path):
    tifffile.imwrite(path, values("u2", 8, 8))
    with tifffile.TiffFile(path, mode="r+") as file:
        file.pages[0].tags[259].overwrite(34712)
    with pytest.raises(ValueError, match=r"a\.tif: must be compressed in a known way, got JPEG2000: pip install image"):
        read_image(path)


@pytest.mark.parametrize("options", [{}, {"imagej": True}, {"ome": True}, {"compression": "deflate"}])
def test_a_stack_is_read_page_by_page(path, options):
    stack = values("u2", 5, 30, 40)
    tifffile.imwrite(path, stack, photometric="minisblack", metadata={"axes": "ZYX"}, **options)
    for number in range(5):
        assert_array_equal(read_image(path, number), stack[number])
    with pytest.raises(ValueError, match=r"a\.tif: must hold one image, got a TIFF of 5 pages; page=0, 1, ... reads"):
        read_image(path)
    with pytest.raises(ValueError, match=r"a\.tif: page must be one of the file's 5, counted from 0, got 5"):
        read_image(path, 5)


@pytest.mark.parametrize(
    ("options", "axes"),
    [({"imagej": True}, "TZCYX"), ({"ome": True}, "TZCYX"), ({"ome": True}, "TCZYX"), ({"metadata": {}}, "CTYX")],
)
def test_pages_and_channels_are_counted_in_the_order_of_their_axes(path, options, axes):
    shape = tuple({"T": 2, "Z": 3, "C": 2, "Y": 8, "X": 9}[axis] for axis in axes)
    stack = values("u1", *shape)
    kept = {**options, "metadata": {"axes": axes}}
    tifffile.imwrite(path, stack, photometric="minisblack", **kept)
    channels_last = np.moveaxis(stack, axes.index("C"), -1).reshape(-1, 8, 9, 2)
    for page, channel in np.ndindex(len(channels_last), 2):
        assert_array_equal(read_image(path, page, channel), channels_last[page, :, :, channel])
        assert_array_equal(
            decode_image(path.read_bytes(), name="a", page=page, channel=channel), channels_last[page, :, :, channel]
        )
    with pytest.raises(
        ValueError, match=r"a\.tif: must have one channel or be in colour, got 2 channels; channel=0, 1"
    ):
        read_image(path, 0)
    with pytest.raises(ValueError, match=r"a\.tif: channel must be one of the file's 2, counted from 0, got 2"):
        read_image(path, 0, 2)


@pytest.mark.parametrize("planarconfig", ["contig", "separate"])
@pytest.mark.parametrize("samples", [2, 5])
def test_samples_that_are_no_colour_are_channels(path, samples, planarconfig):
    planes = values("u2", samples, 8, 9)
    stored = planes if planarconfig == "separate" else planes.transpose(1, 2, 0)
    tifffile.imwrite(path, stored, photometric="minisblack", planarconfig=planarconfig, metadata=None)
    for channel in range(samples):
        assert_array_equal(read_image(path, channel=channel), planes[channel])
    with pytest.raises(ValueError, match=f"must have one channel or be in colour, got {samples} channels"):
        read_image(path)


def test_a_channel_of_a_colour_image_is_read_by_its_number(tmp_path):
    pixels = values("u1", 6, 7, 3)
    tifffile.imwrite(tmp_path / "a.tif", pixels, photometric="rgb")
    Image.fromarray(pixels).save(tmp_path / "a.png")
    for name in ("a.tif", "a.png"):
        assert_array_equal(read_image(tmp_path / name, channel=1), pixels[:, :, 1])
        with pytest.raises(ValueError, match="channel must be one of the file's 3, counted from 0, got 3"):
            read_image(tmp_path / name, channel=3)
    with pytest.raises(ValueError, match="channel must be at least 0, got -1"):
        read_image(tmp_path / "a.tif", channel=-1)


def test_pages_of_several_sizes_are_counted_as_they_lie_in_the_file(path):
    pages = [values("u1", 10, 11), values("u2", 20, 21), values("u1", 10, 11)]
    with tifffile.TiffWriter(path) as file:
        for page in pages:
            file.write(page, metadata=None)
    for number, page in enumerate(pages):
        assert_array_equal(read_image(path, number), page)


def test_the_smaller_versions_in_a_pyramid_are_no_pages(path):
    pixels = values("u1", 64, 64)
    with tifffile.TiffWriter(path, byteorder=">") as file:
        file.write(pixels, metadata=None)
        file.write(pixels[::2, ::2], metadata=None, subfiletype=1)
    assert_array_equal(read_image(path), pixels)


def test_one_page_of_a_large_stack_is_read_without_the_others(path):
    tifffile.imwrite(path, np.zeros((40, 500, 500), np.uint16), compression="deflate", photometric="minisblack")
    tracemalloc.start()
    read_image(path, 20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6 * 500 * 500 * 2


def test_the_page_of_a_set_of_files_that_lies_in_this_one_is_its_page(path):
    tifffile.imwrite(path, values("u1", 8, 9), ome=True)
    told = tifffile.tiffcomment(path)
    more = '<TiffData FirstT="1" PlaneCount="1"><UUID FileName="b.tif">urn:uuid:2</UUID></TiffData></Pixels>'
    tifffile.tiffcomment(path, told.replace('SizeT="1"', 'SizeT="2"').replace("</Pixels>", more).encode())
    assert_array_equal(read_image(path), values("u1", 8, 9))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"ome": True, "metadata": OME}, (0.5, 0.25)),
        ({"ome": True}, None),
        ({"imagej": True, "resolution": (4, 2), "metadata": {"unit": "um"}}, (0.5, 0.25)),
        ({"imagej": True, "resolution": (4, 2), "metadata": {"unit": "\\u00B5m"}}, (0.5, 0.25)),
        ({"imagej": True, "resolution": (4, 2), "metadata": {"unit": "nm"}}, (0.0005, 0.00025)),
        ({"imagej": True, "resolution": (4, 2), "metadata": {"unit": "mm"}}, (500, 250)),
        ({"imagej": True, "resolution": (4, 2), "metadata": {"unit": "pixel"}}, None),
        ({"resolution": (40_000, 20_000), "resolutionunit": "CENTIMETER"}, (0.5, 0.25)),
        ({"resolution": (25_400, 25_400), "resolutionunit": "INCH"}, (1, 1)),
        ({"resolution": (300, 300), "resolutionunit": "INCH"}, None),
        ({"resolution": (2, 2), "resolutionunit": "NONE"}, None),
        ({}, None),
    ],
)
def test_pixel_sizes_are_read_where_a_file_says_them(path, options, expected):
    pixels = values("u2", 2, 2, 8, 9) if "axes" in options.get("metadata", {}) else values("u2", 8, 9)
    tifffile.imwrite(path, pixels, **options)
    found = pixel_size(path)
    assert found is None if expected is None else found == pytest.approx(expected)


def test_pixel_sizes_of_other_files_are_unknown(tmp_path):
    Image.new("L", (3, 3)).save(tmp_path / "a.png", dpi=(25400, 25400))
    assert pixel_size(tmp_path / "a.png") is None
    with pytest.raises(FileNotFoundError, match=r"b\.tif: no such file"):
        pixel_size(tmp_path / "b.tif")


@pytest.mark.slow
def test_twenty_thousand_pages_are_counted_by_two_reads_of_each(path, reads):
    page = b"\x00\x00"  # no tags
    starts = range(8, 8 + 20_000 * 6, 6)
    chain = b"".join(page + (start + 6).to_bytes(4, "little") for start in starts)
    path.write_bytes(b"II*\x00\x08\x00\x00\x00" + chain)
    with open(path, "rb") as file:
        assert len(find_pages(file)) == 20_000
    assert len(reads) == 2 * (20_000 + 1)
    with pytest.raises(ValueError, match=r"a\.tif: must "):
        read_image(path)
    assert len(reads) <= 10 * 20_000  # which goes through them three times, beside a few other reads


@pytest.mark.parametrize("length", [1, 150])
def test_pages_in_a_circle_are_refused(path, length):
    starts = [8 + 6 * k for k in range(length)]
    path.write_bytes(b"II*\x00" + b"".join(start.to_bytes(4, "little") + b"\0\0" for start in [*starts, 8]))
    with pytest.raises(ValueError, match=r"a\.tif: must be an image that can be read, got: a TIFF whose pages run in"):
        read_image(path)


def test_metadata_of_more_planes_than_there_can_be_are_refused_at_once(path):
    tifffile.imwrite(path, values("u1", 8, 9), ome=True)
    told = tifffile.tiffcomment(path).replace('SizeT="1"', 'SizeT="9999999999"')
    tifffile.tiffcomment(path, told.encode())
    with pytest.raises(ValueError, match="OME metadata of more planes than can be"):
        read_image(path)


def test_a_strip_that_swells_beyond_its_image_is_not_unpacked(path):
    path.write_bytes(_tiff(zlib.compress(bytes(10**8)), 10, 10, 8, {259: 8}))
    tracemalloc.start()
    assert_array_equal(read_image(path), np.zeros((10, 10)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10**7


def test_an_image_beyond_the_limit_is_refused_before_it_is_decoded(path):
    path.write_bytes(_tiff(b"", 2**15, 2**16, 8))
    with pytest.raises(ValueError, match=r"a\.tif: must have at most 1073741824 pixels, got 32768 x 65536"):
        read_image(path)
    path.write_bytes(_tiff(b"", 2**15, 2**15, 8))
    with pytest.raises(ValueError, match=r"a\.tif: must be an image that can be read, got: a TIFF cut short"):
        read_image(path)


@pytest.mark.filterwarnings("ignore")  # Pillow warns of some damage before it fails
@pytest.mark.parametrize(
    "options",
    [{}, {"imagej": True}, {"ome": True}, {"compression": "deflate", "predictor": True, "tile": (16, 16)}],
)
def test_a_damaged_tiff_is_read_or_a_one_line_error_and_nothing_is_logged(options, reads, capfd):
    file = io.BytesIO()
    tifffile.imwrite(file, values("u2", 2, 12, 13), photometric="minisblack", **options)
    whole = np.frombuffer(file.getvalue(), np.uint8)
    rng = np.random.default_rng(0)
    told = []
    for _ in range(150):
        data = whole[: rng.integers(8, len(whole) + 1)] if rng.random() < 0.3 else whole.copy()
        if len(data) == len(whole):
            data[rng.integers(4, min(len(data), 600), 3)] = rng.integers(0, 256, 3)
        reads.clear()
        try:
            decode_image(data.tobytes(), name="a", page=0, channel=0)
        except ValueError as error:
            told.append(str(error))
        assert len(reads) < 1000  # 15 of a whole file; none that a damaged count makes it go on for long
        assert sum(reads) < 200 * len(data)
    assert all(text.startswith("a: ") and "\n" not in text for text in told)
    assert capfd.readouterr().err == ""


def test_what_tifffile_logs_for_others_is_heard(path, caplog):
    tifffile.imwrite(path, values("u1", 4, 5))
    read_image(path)
    logging.getLogger("tifffile").error("heard")
    assert caplog.messages == ["heard"]
