"""Images of many kinds, damaged ones, and how they are read while others do."""

import os
import subprocess
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image

from imtorque.files import decode_image, pixel_size, read_image, write_image
from waiting import until


@pytest.fixture
def grey():
    return np.add.outer(np.arange(6), np.arange(9)).astype(np.uint8) * 10


def frames(path, kind, count=3):
    rng = np.random.default_rng(0)
    pages = [Image.fromarray(rng.integers(0, 256, (9, 11), np.uint8)) for _ in range(count)]
    pages[0].save(path, kind, save_all=True, append_images=pages[1:])
    return pages


@pytest.mark.parametrize(("kind", "told"), [("GIF", "GIF of several"), ("WEBP", "WEBP of several"), ("PNG", "PNG of")])
def test_an_animation_is_refused_rather_than_cut_to_its_first_frame(tmp_path, kind, told):
    frames(tmp_path / "a", kind)
    with pytest.raises(ValueError, match=f"a: must hold one image, got a {told}.*; page=0, 1, ... reads one of them"):
        read_image(tmp_path / "a")


@pytest.mark.parametrize("kind", ["TIFF", "GIF", "PNG"])
def test_a_page_is_read_by_its_number(tmp_path, kind):
    pages = frames(tmp_path / "a", kind)
    for number, page in enumerate(pages):
        read = read_image(tmp_path / "a", number)
        assert_array_equal(read if read.ndim == 2 else read[:, :, 0], np.asarray(page))
    with pytest.raises(ValueError, match=r"a: page must be one of the file's.*, counted from 0, got 3"):
        read_image(tmp_path / "a", 3)
    with pytest.raises(ValueError, match="page must be at least 0, got -1"):
        read_image(tmp_path / "a", -1)


def test_the_only_page_may_be_named(tmp_path, grey):
    path = write_image(tmp_path / "a.png", grey)
    assert_array_equal(read_image(path, 0), grey)
    with pytest.raises(ValueError, match="page must be one of the file's"):
        read_image(path, 1)


@pytest.mark.filterwarnings("ignore")  # Pillow warns of some cuts before it fails
@pytest.mark.parametrize("kind", ["GIF", "TIFF"])
def test_a_file_of_several_frames_cut_anywhere_is_read_or_a_one_line_error(tmp_path, kind):
    frames(tmp_path / "whole", kind)
    whole = (tmp_path / "whole").read_bytes()
    told = set()
    for length in range(0, len(whole), 3):
        try:
            assert decode_image(whole[:length], name="cut").shape[:2] == (9, 11)
        except ValueError as error:
            told.add(str(error))
    assert len(told) > 1
    assert all(text.startswith("cut: must ") and "\n" not in text for text in told)


def test_a_page_without_dimensions_is_a_one_line_error(tmp_path, grey):
    Image.fromarray(grey).save(tmp_path / "a.tif")
    data = bytearray((tmp_path / "a.tif").read_bytes())
    first = int.from_bytes(data[4:8], "little")
    after = first + 2 + 12 * int.from_bytes(data[first : first + 2], "little")
    data[after : after + 4] = len(data).to_bytes(4, "little")
    (tmp_path / "a.tif").write_bytes(data + bytes(6))
    with pytest.raises(ValueError, match=r"^b\.tif: must hold one image, got a TIFF of 2 pages"):
        decode_image(bytes(data + bytes(6)), name="b.tif")
    with pytest.raises(ValueError, match=r"a\.tif: must be an image that can be read, got: a page without dimensions"):
        read_image(tmp_path / "a.tif", 1)


def test_postscript_named_as_an_image_starts_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("PIL.EpsImagePlugin.Ghostscript", lambda *_, **__: pytest.fail("Ghostscript was started"))
    text = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n"
    (tmp_path / "x.png").write_bytes(text)
    with pytest.raises(ValueError, match=r"x\.png: must be an image that can be read, got: no image format"):
        read_image(tmp_path / "x.png")


def test_a_compressed_tiff_above_pillows_limit_is_read(tmp_path, monkeypatch, grey):
    Image.fromarray(grey).save(tmp_path / "a.tif", compression="tiff_deflate")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 5)  # Pillow refuses what has twice as many, also when it decodes
    assert_array_equal(read_image(tmp_path / "a.tif"), grey)
    assert Image.MAX_IMAGE_PIXELS == 5


def test_a_process_forked_while_threads_read_can_read_too(tmp_path):
    path = write_image(tmp_path / "a.png", np.zeros((50, 50), np.uint8))
    limit, ended = Image.MAX_IMAGE_PIXELS, threading.Event()

    def read():
        while not ended.is_set():
            read_image(path)

    reading = [threading.Thread(target=read) for _ in range(4)]
    for thread in reading:
        thread.start()
    try:
        children = [_forked(path, limit) for _ in range(10)]
    finally:
        ended.set()
        for thread in reading:
            thread.join()
    assert [_status(child) for child in children] == [0] * 10


def test_the_first_image_imports_nothing_for_which_a_forked_process_would_wait(tmp_path, grey):
    paths = [str(tmp_path / f"a.{kind}") for kind in ("png", "jpg", "bmp", "webp", "gif", "ppm")]
    for path in paths:
        Image.fromarray(grey).save(path)
    program = (
        "import sys; from imtorque.files import read_image; known = set(sys.modules)\n"
        "for path in sys.argv[1:]: read_image(path)\n"
        "print(*sorted(set(sys.modules) - known))"
    )
    done = subprocess.run([sys.executable, "-c", program, *paths], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_the_first_objects_import_nothing_for_which_a_forked_process_would_wait():
    program = (
        "import sys; import numpy as np; import imtorque\n"
        "image = np.random.default_rng(0).random((60, 80)); known = set(sys.modules)\n"
        "imtorque.find_extrema(imtorque.detect_edges(image)), imtorque.find_blobs(image, sizes=(5, 9))\n"
        "print(*sorted(set(sys.modules) - known))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def _forked(path, limit):
    child = os.fork()
    if child == 0:
        good = limit == Image.MAX_IMAGE_PIXELS and read_image(path).shape == (50, 50)
        os._exit(0 if good else 1)
    return child


def _status(child):
    return until(lambda: (ended := os.waitpid(child, os.WNOHANG))[0] and ended)[1]


class FakeImage:
    """What of bioio's BioImage is used here, over an array (T, C, Z, Y, X)."""

    data = np.arange(2 * 3 * 1 * 4 * 5, dtype=np.uint16).reshape(2, 3, 1, 4, 5)
    dims = SimpleNamespace(order="TCZYX")
    shape = data.shape
    physical_pixel_sizes = SimpleNamespace(Z=None, Y=0.5, X=0.25)

    def __init__(self, path):
        self.path = path

    def get_image_dask_data(self, order, **numbers):
        assert order == "YX"
        return self.data[tuple(numbers[axis] for axis in "TCZ")]


@pytest.fixture(params=["a.czi", "b.LIF", "c.nd2"])
def microscopy(tmp_path, request):
    (tmp_path / request.param).touch()
    return tmp_path / request.param


def test_a_microscopes_file_is_read_by_bioio_plane_by_plane(monkeypatch, microscopy):
    monkeypatch.setitem(sys.modules, "bioio", SimpleNamespace(BioImage=FakeImage))
    assert_array_equal(read_image(microscopy, 1, 2), FakeImage.data[1, 2, 0])
    assert pixel_size(microscopy) == (0.5, 0.25)
    with pytest.raises(ValueError, match=r"must hold one image, got a (CZI|LIF|ND2) of 2 pages; page=0, 1, ... reads"):
        read_image(microscopy, channel=0)
    with pytest.raises(ValueError, match=r"must have one channel or be in colour, got 3 channels; channel=0, 1, ..."):
        read_image(microscopy, 0)


def test_a_microscopes_file_without_bioio_says_what_to_install(monkeypatch, microscopy):
    monkeypatch.setitem(sys.modules, "bioio", None)
    with pytest.raises(ValueError, match=r"must be read by bioio, .*: pip install bioio bioio-(czi|lif|nd2)$"):
        read_image(microscopy)


def test_a_microscopes_file_that_bioio_has_no_reader_for_says_what_to_install(monkeypatch, microscopy):
    class UnsupportedFileFormatError(Exception):
        pass

    def refuse(path):
        raise UnsupportedFileFormatError(f"{path}\nno plugins")

    monkeypatch.setitem(sys.modules, "bioio", SimpleNamespace(BioImage=refuse))
    with pytest.raises(
        ValueError, match=r"must be whole, and bioio must have a reader .*: pip install bioio-(czi|lif|nd2)$"
    ):
        read_image(microscopy)


class FakeParts(list):
    """What of astropy's HDUList is used here."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


@pytest.fixture
def fits_file(tmp_path):
    path = tmp_path / "sky.FITS"
    path.write_bytes(b"SIMPLE  =                    T")
    return path


def fake_fits(monkeypatch, *arrays):
    parts = FakeParts(SimpleNamespace(is_image=True, shape=a.shape, data=a) for a in arrays)
    monkeypatch.setitem(sys.modules, "astropy.io.fits", SimpleNamespace(open=lambda *_, **__: parts))


def test_a_fits_file_is_read_by_astropy_from_its_first_image(monkeypatch, fits_file):
    sky = np.arange(24, dtype=">i2").reshape(2, 3, 4)
    fake_fits(monkeypatch, np.zeros(0), sky)
    image = read_image(fits_file, page=1)
    assert_array_equal(image, sky[1])
    assert image.dtype == np.int16
    with pytest.raises(ValueError, match=r"sky\.FITS: must hold one image, got a FITS of 2 pages"):
        read_image(fits_file)


def test_a_fits_file_without_astropy_or_without_an_image_is_refused_in_one_line(monkeypatch, fits_file):
    fake_fits(monkeypatch, np.zeros(0))
    with pytest.raises(ValueError, match=r"sky\.FITS: must hold an image, got none"):
        read_image(fits_file)
    monkeypatch.setitem(sys.modules, "astropy.io.fits", None)
    with pytest.raises(ValueError, match=r"must be read by astropy, which is not installed: pip install astropy$"):
        read_image(fits_file)
