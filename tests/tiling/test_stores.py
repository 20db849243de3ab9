"""What is written: arrays, pyramids, OME-NGFF, tables, and that the same call goes on where one ended."""

import json

import numpy as np
import pytest
import zarr
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

import imtorque
import naive
from imtorque import datasets
from imtorque.files import read_image, write_image
from imtorque.tiling import Source, large, maps, open_image, process_image
from imtorque.tiling.extrema import strongest_rows
from imtorque.tiling.source import ArraySource, scaled
from large_images import ALL, assert_same_rows, compare, read_table

SIZES = [5, 11]


def drawn_image(height=90, width=120):
    return np.ascontiguousarray(datasets.sample("hopper")[150 : 150 + height, 100 : 100 + width, 1])


@pytest.fixture
def smaller_pyramids(monkeypatch):
    monkeypatch.setattr(maps, "PYRAMID_TOP", 16)
    monkeypatch.setattr(maps, "CHUNK", 20)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@given(
    hnp.arrays(
        np.int32, st.tuples(st.integers(1, 2), st.integers(1, 7), st.integers(1, 7)), elements=st.integers(-3, 3)
    )
)
def test_a_level_keeps_the_strongest_of_four(dtype, values):
    values = values.astype(dtype)
    assert_array_equal(maps.strongest(values), naive.strongest_of_four(values))


@pytest.mark.slow
@pytest.mark.parametrize("tile", [64, 45])
@pytest.mark.usefixtures("smaller_pyramids")
def test_pyramids_are_the_same_whatever_the_tiles(tmp_path, tile):
    process_image(drawn_image(), tmp_path / "out", SIZES, tile=tile, jobs=1)
    stored = zarr.open_group(tmp_path / "out" / "maps.zarr", mode="r")
    levels = [image["datasets"] for image in stored.attrs["ome"]["multiscales"]]
    assert [[level["path"] for level in levels[0]]] == [["value", *(f"pyramid/{k}/value" for k in (1, 2, 3))]]
    for image in levels:
        below = stored[image[0]["path"]][:]
        for level in image[1:]:
            expected = naive.strongest_of_four(below.reshape(-1, *below.shape[-2:]))
            below = stored[level["path"]][:]
            assert_array_equal(below.reshape(expected.shape), expected)


def test_the_store_says_where_pixels_lie(tmp_path):
    source = ArraySource.of(drawn_image(), scaled((0.5, 0.25), "micrometer"))
    process_image(source, tmp_path / "out", SIZES, tile=64, jobs=1)
    image = zarr.open_group(tmp_path / "out" / "maps.zarr", mode="r").attrs["ome"]["multiscales"][2]
    assert image["name"] == "edges"
    assert [axis["name"] for axis in image["axes"]] == ["c", "y", "x"]
    assert image["axes"][1]["unit"] == "micrometer"
    assert image["datasets"][0]["coordinateTransformations"][0]["scale"] == [1.0, 0.5, 0.25]
    rows = read_table(tmp_path / "out" / "blobs.csv")
    assert_allclose(rows["world_y"], 0.5 * rows["y"])
    assert_allclose(rows["world_x"], 0.25 * rows["x"])


def test_tables_can_be_parquet(tmp_path):
    process_image(drawn_image(), tmp_path / "out", SIZES, ["extrema"], tile=64, jobs=1, table="parquet")
    process_image(drawn_image(), tmp_path / "csv", SIZES, ["extrema"], tile=64, jobs=1)
    columns, texts = read_table(tmp_path / "out" / "extrema.parquet"), read_table(tmp_path / "csv" / "extrema.csv")
    for name, column in columns.items():
        assert_array_equal(texts[name].astype(column.dtype), column)
    assert not (tmp_path / "out" / "maps.zarr" / "value").exists()


@pytest.mark.parametrize("neighbourhood", ["box", "cross"])
def test_extrema_by_another_rule_are_those_in_memory(tmp_path, neighbourhood):
    rule = {"neighbourhood": neighbourhood, "end_scales": False, "inside": True}
    sizes = [5, 9, 13, 17]
    process_image(drawn_image(), tmp_path / "out", sizes, ["extrema"], tile=64, jobs=1, **rule)
    found = imtorque.find_extrema(imtorque.detect_edges(drawn_image()), sizes, **rule)
    assert len(found) > 10
    assert_same_rows(tmp_path / "out" / "extrema.csv", found)


def test_blobs_have_one_rule(tmp_path):
    with pytest.raises(ValueError, match="outputs must not have blobs with another neighbourhood"):
        process_image(drawn_image(), tmp_path / "out", SIZES, ["blobs"], jobs=1, inside=True)


def test_the_strongest_extrema_are_the_first_of_all(tmp_path):
    asked = {"outputs": ["extrema", "blobs"], "tile": 64, "jobs": 1}
    process_image(drawn_image(), tmp_path / "out", SIZES, count=20, **asked)
    assert len(read_table(tmp_path / "out" / "blobs.csv")["y"]) > 0
    edges = imtorque.detect_edges(drawn_image())
    assert_same_rows(tmp_path / "out" / "extrema.csv", imtorque.find_extrema(edges, SIZES, count=20))


@given(st.lists(st.integers(0, 6), max_size=30), st.integers(0, 8), st.sampled_from([2.0, np.inf]))
def test_no_row_that_may_be_among_the_strongest_is_left_out(values, count, least):
    rows = np.zeros((len(values), 5), np.int32)
    rows[:, 0] = np.array(values, np.float32).view(np.int32)
    different = sorted(set(values), reverse=True)[:count]
    kept = strongest_rows(rows, count, least)[:, 0].copy().view(np.float32)
    assert kept.tolist() == [v for v in values if v in different or v >= least]


def test_there_is_a_table_of_extrema_where_some_are_asked_for(tmp_path):
    found = process_image(drawn_image(), tmp_path / "out", SIZES, tile=64, jobs=1)
    assert found.extrema is None
    assert not (tmp_path / "out" / "extrema.csv").exists()
    process_image(drawn_image(), tmp_path / "some", SIZES, tile=64, jobs=1, least=0.2)
    strong = imtorque.find_extrema(imtorque.detect_edges(drawn_image()), SIZES, threshold=0.2)
    assert len(strong) > 5
    assert_same_rows(tmp_path / "some" / "extrema.csv", strong)
    with pytest.raises(ValueError, match="least must be finite and not negative, got -1"):
        process_image(drawn_image(), tmp_path / "no", SIZES, least=-1)


@pytest.mark.parametrize("suffix", [".png", ".jpg"])
def test_png_and_jpeg_are_sources(tmp_path, suffix):
    path = tmp_path / f"image{suffix}"
    write_image(path, drawn_image())
    process_image(path, tmp_path / "out", SIZES, tile=64, jobs=2, count=20)
    edges = imtorque.detect_edges(read_image(path))
    assert_same_rows(tmp_path / "out" / "extrema.csv", imtorque.find_extrema(edges, SIZES, count=20))
    with pytest.raises(ValueError, match="level and page must be left out"):
        open_image(path, level=1)


def test_blobs_of_the_whole_image_are_refused_by_name(tmp_path):
    message = r"blobs are those of find_blobs\(\.\.\., method=.paper.\) here.* got 'contours'"
    with pytest.raises(ValueError, match=message):
        process_image(np.eye(30), tmp_path / "out", [3, 5], outputs=("blobs",), recipe="contours")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("recipe", ["pb", "gpb", "ucm", "sketch-tokens", "network"])
def test_a_detector_that_needs_the_whole_image_is_refused_before_the_first_pass(tmp_path, recipe):
    message = f"recipe must be one of canny, canny-2 for strengthened edges in tiles, got '{recipe}'"
    with pytest.raises(ValueError, match=message):
        process_image(drawn_image(), tmp_path / "out", SIZES, ["value", "strengthened"], tile=64, jobs=1, recipe=recipe)
    assert not (tmp_path / "out").exists()


def test_blobs_are_those_of_the_papers_recipe(tmp_path):
    sizes = list(range(5, 32, 4))
    process_image(drawn_image(), tmp_path / "out", sizes, ["blobs"], tile=64, jobs=1)
    rows = read_table(tmp_path / "out" / "blobs.csv")
    blobs = imtorque.find_blobs(drawn_image(), sizes=sizes, method="paper")
    assert len(blobs) > 3
    assert_array_equal(rows["size"], blobs.size)
    assert_array_equal(rows["torque"].astype(np.float32), blobs.value.astype(np.float32))
    assert_allclose(rows["y"], blobs.y, atol=1e-6)
    assert_allclose(rows["x"], blobs.x, atol=1e-6)


def test_only_what_is_asked_for_is_written(tmp_path):
    found = process_image(drawn_image(), tmp_path / "out", SIZES, ["edges"], tile=64, jobs=1)
    assert found.extrema is None
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["maps.zarr", "results.json", "settings.json"]


class StoppingSource(ArraySource):
    """A source that fails after some windows, as a disk or a person may."""

    left = 10**9

    def read(self, box):
        if type(self).left == 0:
            raise OSError("the disk is gone")
        type(self).left -= 1
        return super().read(box)


@pytest.mark.parametrize("windows", [4, 8])
def test_the_same_call_goes_on_where_one_ended(tmp_path, windows):
    image, asked = drawn_image(), {"outputs": ALL, "tile": 48, "jobs": 1}
    source = StoppingSource.of(image)
    StoppingSource.left = windows
    with pytest.raises((RuntimeError, OSError), match="the disk is gone"):
        process_image(source, tmp_path / "out", SIZES, **asked)
    StoppingSource.left = 10**9
    process_image(source, tmp_path / "out", SIZES, **asked)
    compare(tmp_path / "out", image, SIZES)
    assert 10**9 - StoppingSource.left == 3 + 6 - (windows - 3)  # what had been done was not done again


@pytest.mark.parametrize("step", ["candidates", "lines-30", "tiles-12-4096"])
def test_a_run_that_is_stopped_goes_on(tmp_path, step):
    image = drawn_image()

    def stop(name, done, _):
        if (name, done) == (step, 3):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        process_image(image, tmp_path / "out", SIZES, ALL, tile=48, jobs=1, progress=stop)
    process_image(image, tmp_path / "out", SIZES, ALL, tile=48, jobs=1)
    compare(tmp_path / "out", image, SIZES)


def test_what_is_done_is_not_done_again(tmp_path, monkeypatch):
    first = process_image(drawn_image(), tmp_path / "out", SIZES, tile=64, jobs=1)
    monkeypatch.setattr(large, "find_tone", None)
    assert process_image(drawn_image(), tmp_path / "out", SIZES, tile=64, jobs=1) == first


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tile": 65}, "tile was 64 when this was begun, got 65"),
        ({"sizes": [5]}, r"torque.sizes was \[5, 11\] when this was begun, got \[5\]"),
        ({"source": drawn_image() + 1}, "source.sha256 was .* when this was begun, got"),
        ({"low": 0.1}, "edges.low was None when this was begun, got 0.1"),
    ],
)
def test_a_changed_setting_is_refused_by_name(tmp_path, change, message):
    asked = {"source": drawn_image(), "out": tmp_path / "out", "sizes": SIZES, "tile": 64, "jobs": 1}
    process_image(**asked)
    with pytest.raises(ValueError, match=message):
        process_image(**{**asked, **change})


def test_a_folder_of_other_things_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(ValueError, match="must be an empty folder, or one that this began"):
        process_image(drawn_image(), tmp_path, SIZES, jobs=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"outputs": ["torque"]}, "outputs must be some of value, .*, got torque"),
        ({"outputs": []}, "outputs must be some of .* got none"),
        ({"tile": 0}, "tile must be from 1 to 16384 pixels, got 0"),
        ({"sizes": [(3, 5)]}, "sizes must be sides of squares or disks"),
        ({"force": "strength"}, "strength_scale must be given"),
        ({"table": "xlsx"}, 'table must be "csv" or "parquet"'),
        ({"count": -1}, "count must not be negative, got -1"),
        ({"low": 0.3, "high": 0.1}, "low must not exceed high"),
    ],
)
def test_bad_requests_are_one_line(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        process_image(drawn_image(), tmp_path / "out", **{"sizes": SIZES, "jobs": 1, **options})
    assert not (tmp_path / "out").exists()


def test_not_a_number_is_refused_by_its_tile(tmp_path):
    image = drawn_image().astype(np.float32)
    image[80, 100] = np.nan
    with pytest.raises(RuntimeError, match=r"00001-00001: ValueError: image must be finite|00001-00001: image must be"):
        process_image(image, tmp_path / "out", SIZES, tile=64, jobs=1)


@pytest.mark.slow
def test_processes_of_this_machine_do_the_same(tmp_path):
    told = []
    found = process_image(
        drawn_image(), tmp_path / "out", SIZES, ALL, tile=64, jobs=2, progress=lambda *state: told.append(state)
    )
    compare(tmp_path / "out", drawn_image(), SIZES)
    assert told[-1][1:] == (4, 4)
    assert json.loads((tmp_path / "out" / "results.json").read_text())["blobs"] == found.blobs
    assert isinstance(ArraySource.of(drawn_image()), Source)
