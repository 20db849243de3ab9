"""Images in, names out."""

import glob
import json
import os
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image

from imtorque import detect_edges
from imtorque.core.resizing import shrink_image
from imtorque.files import (
    decode_image,
    encode_png,
    find_images,
    output_names,
    page_count,
    read_image,
    read_mask,
    write_array,
    write_image,
    write_text,
)


@pytest.fixture
def grey():
    return np.add.outer(np.arange(6), np.arange(9)).astype(np.uint8) * 10


@pytest.mark.parametrize("suffix", [".png", ".tiff"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_8_and_16_bit_grey_come_back_as_they_were(tmp_path, grey, suffix, dtype):
    pixels = grey.astype(dtype) * (257 if dtype == np.uint16 else 1)
    read = read_image(write_image(tmp_path / f"a{suffix}", pixels))
    assert read.dtype == dtype
    assert_array_equal(read, pixels)


def test_float_tiff_comes_back_as_it_was(tmp_path, grey):
    pixels = grey.astype(np.float32) / 7 - 3
    assert_array_equal(read_image(write_image(tmp_path / "a.tiff", pixels)), pixels)


@pytest.mark.parametrize("kind", ["png", "jpeg", "tiff", "webp", "bmp", "gif"])
@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "LA", "CMYK"])
def test_every_mode_gives_pixels_that_edges_can_be_detected_in(tmp_path, grey, kind, mode):
    try:
        Image.fromarray(grey).convert("RGB").convert(mode).save(tmp_path / f"a.{kind}")
    except (OSError, ValueError):
        pytest.skip("the format has no such mode")
    assert detect_edges(read_image(tmp_path / f"a.{kind}")).shape == grey.shape


def test_a_palette_is_looked_up(tmp_path):
    image = Image.new("P", (2, 1))
    image.putpalette([10, 20, 30, 200, 100, 50])
    image.putpixel((1, 0), 1)
    image.save(tmp_path / "a.png")
    assert_array_equal(read_image(tmp_path / "a.png"), [[[10, 20, 30], [200, 100, 50]]])


def test_a_clear_palette_colour_becomes_an_alpha_channel(tmp_path):
    Image.new("P", (2, 2)).save(tmp_path / "a.png", transparency=0)
    assert read_image(tmp_path / "a.png").shape == (2, 2, 4)


def test_an_image_taken_with_the_camera_turned_comes_upright(tmp_path, grey):
    exif = Image.Exif()
    exif[0x0112] = 6  # turn by 90 degrees clockwise
    Image.fromarray(grey).save(tmp_path / "a.png", exif=exif)
    assert_array_equal(read_image(tmp_path / "a.png"), np.rot90(grey, -1))


def test_one_pixel_is_an_image(tmp_path):
    assert_array_equal(read_image(write_image(tmp_path / "a.png", np.full((1, 1), 7, np.uint8))), [[7]])


@pytest.mark.slow
def test_a_hundred_megapixels_are_read_without_a_warning(tmp_path):
    Image.new("1", (10_000, 10_000)).save(tmp_path / "a.png")
    assert read_image(tmp_path / "a.png").shape == (10_000, 10_000)
    assert Image.MAX_IMAGE_PIXELS is not None


def test_an_image_beyond_the_limit_is_refused_before_it_is_decoded(tmp_path, monkeypatch):
    monkeypatch.setattr("imtorque.files.LARGEST_IMAGE", 10)
    write_image(tmp_path / "a.png", np.zeros((4, 3), np.uint8))
    with pytest.raises(ValueError, match=r"a\.png: must have at most 10 pixels, got 3 x 4"):
        read_image(tmp_path / "a.png")


@pytest.mark.parametrize("kind", ["png", "jpg", "tiff"])
def test_a_truncated_image_is_a_one_line_error_with_its_name(tmp_path, kind):
    whole = tmp_path / f"whole.{kind}"
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (64, 64), np.uint8)).save(whole)
    (tmp_path / f"cut.{kind}").write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    with pytest.raises(ValueError, match=rf"cut\.{kind}: must be an image that can be read") as caught:
        read_image(tmp_path / f"cut.{kind}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"hello", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"II*\x00\x08\x00\x00\x00"])
def test_what_is_no_image_is_a_one_line_error_with_its_name(tmp_path, content):
    (tmp_path / "notes.png").write_bytes(content)
    with pytest.raises(ValueError, match=r"notes\.png: must be an image that can be read"):
        read_image(tmp_path / "notes.png")


def test_missing_files_and_folders_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no\.png: no such file"):
        read_image("no.png")
    with pytest.raises(ValueError, match=r"must be an image that can be read, got: Is a directory"):
        read_image(tmp_path)


def test_a_stack_of_pages_is_refused_rather_than_cut_to_its_first(tmp_path):
    pages = [Image.new("L", (3, 3)) for _ in range(2)]
    pages[0].save(tmp_path / "a.tiff", save_all=True, append_images=pages[1:])
    with pytest.raises(ValueError, match="must hold one image, got a TIFF of 2 pages; page=0, 1"):
        read_image(tmp_path / "a.tiff")


@pytest.mark.parametrize("colour", [(), (3,), (4,)])
def test_an_image_goes_into_memory_and_comes_back(colour):
    pixels = np.random.default_rng(0).integers(0, 256, (5, 7, *colour), np.uint8)
    assert_array_equal(decode_image(encode_png(pixels), name="a.png"), pixels)


def test_bytes_that_are_no_image_or_too_large_a_one_are_refused_by_name():
    with pytest.raises(ValueError, match=r"^a\.png: must be an image that can be read, got: no image format"):
        decode_image(b"nothing", name="a.png")
    with pytest.raises(ValueError, match=r"^b\.png: must have at most 20 pixels, got 7 x 3"):
        decode_image(encode_png(np.zeros((3, 7), np.uint8)), name="b.png", most_pixels=20)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_a_shrunk_image_has_the_means_of_blocks(dtype):
    pixels = np.random.default_rng(0).integers(0, 200, (7, 10, 3)).astype(dtype)
    shrunk = shrink_image(pixels, 3)
    assert (shrunk.shape, shrunk.dtype) == ((2, 3, 3), dtype)
    for y, x in np.ndindex(2, 3):
        mean = pixels[3 * y : 3 * y + 3, 3 * x : 3 * x + 3].astype(float).mean(axis=(0, 1))
        assert_allclose(shrunk[y, x], mean if dtype == np.float32 else np.round(mean), rtol=1e-6)


@pytest.mark.parametrize("factor", [0, -1, 8])
def test_an_image_is_not_shrunk_to_nothing(factor):
    with pytest.raises(ValueError, match=rf"factor must be from 1 to the shorter side of \(7, 10\), got {factor}"):
        shrink_image(np.zeros((7, 10)), factor)


def test_a_mask_is_inside_where_it_is_neither_black_nor_clear(tmp_path):
    pixels = np.zeros((1, 3, 4), np.uint8)
    pixels[0, 1:, 0] = 255
    pixels[0, 1, 3] = 255
    assert_array_equal(read_mask(write_image(tmp_path / "a.png", pixels)), [[False, True, False]])
    assert_array_equal(read_mask(write_image(tmp_path / "b.png", np.uint8([[0, 1, 255]]))), [[False, True, True]])


@pytest.mark.parametrize("write", [write_array, write_image, write_text])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, write):
    target = tmp_path / "a.png"
    target.write_text("old")
    with pytest.raises((TypeError, ValueError, AttributeError)):
        write(target, np.array([object()]))
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_folders_and_patterns_find_images_in_order_and_once(tmp_path):
    for name in ("b.png", "a.JPG", "notes.txt", ".hidden.png", "deep/c.tif"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert [p.name for p in find_images([tmp_path])] == ["a.JPG", "b.png"]
    assert [p.name for p in find_images([tmp_path / "**/*", tmp_path])] == ["a.JPG", "b.png", "c.tif"]
    assert find_images([tmp_path / "missing.png"]) == [tmp_path / "missing.png"]


@pytest.mark.parametrize("pattern", ["", "**/*", "**", "**/*.png", "**/deep/**/*.png"])
def test_links_that_go_round_multiply_nothing(tmp_path, pattern):
    (tmp_path / "deep").mkdir()
    for name in ("m.png", "deep/n.png"):
        (tmp_path / name).touch()
    for link in ("a", "z", "deep/up"):  # two at a level would be followed 2^40 ways
        (tmp_path / link).symlink_to(tmp_path)
    for link in ("b.png", "zz.png"):
        (tmp_path / link).symlink_to("m.png")
    found = [path.relative_to(tmp_path).as_posix() for path in find_images([f"{tmp_path}/{pattern}"])]
    assert found == {"": ["m.png"], "**/deep/**/*.png": ["deep/n.png", "deep/up/m.png"]}.get(
        pattern, ["deep/n.png", "m.png"]
    )


def test_two_stars_match_what_they_do_for_others(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("m.png", "deep/n.png", "deep/er/o.png", ".hidden/p.png", "deep/.q.png"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).touch()
    for pattern in ("**", "**/*", "**/*.png", "d*/**/*.png", "deep/**", "**/er/*", "./**/n*", "**/**/o.png"):
        expected = sorted({name for name in glob.glob(pattern, recursive=True) if name.endswith(".png")})
        assert [os.path.normpath(p) for p in find_images([pattern])] == [os.path.normpath(name) for name in expected]


def test_a_name_with_brackets_is_a_file_before_it_is_a_pattern(tmp_path):
    (tmp_path / "a[1].png").touch()
    assert find_images([tmp_path / "a[1].png"]) == [tmp_path / "a[1].png"]


@pytest.mark.parametrize("argument", ["", "*.png"])
def test_a_folder_or_pattern_without_images_is_an_error(tmp_path, argument):
    with pytest.raises(ValueError, match="must hold or match at least one image"):
        find_images([tmp_path / argument])


def test_outputs_beside_their_inputs_are_not_taken_for_inputs(tmp_path):
    for name in ("a.png", "a.png.blobs.png", "b.jpg.png", "a.png.maps.value.png"):
        (tmp_path / name).touch()
    for verb in ("blobs", "maps"):
        (tmp_path / f"a.png.{verb}.json").write_text(json.dumps({"verb": verb, "outputs": []}))
    assert [p.name for p in find_images([tmp_path])] == ["a.png", "b.jpg.png"]


@pytest.mark.parametrize("content", ["", "[1]", "null", '{"verb": "maps"}', '{"verb": "x", "outputs": []}', "[" * 9999])
def test_an_image_beside_somebody_elses_json_is_an_image(tmp_path, content):
    (tmp_path / "a.png.maps.png").touch()
    (tmp_path / "a.png.maps.json").write_text(content)
    assert [p.name for p in find_images([tmp_path])] == ["a.png.maps.png"]


def test_links_to_nothing_and_pipes_are_found_and_reported_when_read(tmp_path):
    (tmp_path / "a.png").symlink_to("gone.png")
    os.mkfifo(tmp_path / "b.png")
    found = find_images([tmp_path])
    assert [p.name for p in found] == ["a.png", "b.png"]
    with pytest.raises(FileNotFoundError, match=r"a\.png: no such file"):
        read_image(found[0])
    with pytest.raises(
        ValueError, match=r"b\.png: must be an image that can be read, got: a pipe where a file must be"
    ):
        read_image(found[1])


def test_a_device_without_an_end_is_refused():
    with pytest.raises(ValueError, match="/dev/zero: must be an image that can be read, got: a device where a file"):
        read_image("/dev/zero")


def test_an_empty_name_is_not_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.png").touch()
    with pytest.raises(ValueError, match="an image must have a name, got an empty one"):
        find_images([""])


def test_long_names_are_cut_and_stay_apart():
    paths = [Path("é" * 110 + f"{end}.png") for end in "ab"] + [Path("x" * 200), Path("x" * 201)]
    names = output_names(paths)
    assert len(set(names)) == 4
    assert all(len(os.fsencode(name)) <= 200 for name in names)
    assert names[0].startswith("é" * 50)
    assert names[0].endswith(".png")
    assert names[2] == "x" * 200


def test_inputs_of_one_stem_or_one_name_do_not_collide():
    paths = [Path("x/a.png"), Path("x/a.jpg"), Path("y/a.png"), Path("x/y/a.png"), Path("a.png")]
    names = output_names(paths)
    assert names == ["a.png.x", "a.jpg", "a.png.y", "a.png.x%2Fy", "a.png"]
    assert all(name.startswith(path.name) for name, path in zip(names, paths, strict=True))


def test_an_unknown_suffix_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"must end in \.png, .* got '\.xyz'"):
        write_image(tmp_path / "a.xyz", np.zeros((2, 2), np.uint8))


def test_the_pages_of_a_stack_are_counted(tmp_path):
    pages = [Image.fromarray(np.full((8, 9), k, np.uint8)) for k in range(3)]
    pages[0].save(tmp_path / "a.tif", save_all=True, append_images=pages[1:])
    pages[0].save(tmp_path / "a.png")
    pages[0].save(tmp_path / "a.gif", save_all=True, append_images=pages[1:])
    assert [page_count(tmp_path / name) for name in ("a.tif", "a.png", "a.gif")] == [3, 1, 3]
