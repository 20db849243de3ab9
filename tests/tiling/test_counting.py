"""Counting in tiles: the objects that are found in memory, each once, whatever the seams."""

import csv
import json

import numpy as np
import pytest
from scipy.spatial import cKDTree
from typer.testing import CliRunner

from imtorque import ObjectFinder, find_blobs
from imtorque.cli import app
from imtorque.files import read_image, write_image
from imtorque.tiling import count_objects

SHAPE = (620, 700)


def cells(seed, shape=SHAPE):
    """Bright cells that hardly touch, on noise."""
    rng = np.random.default_rng(seed)
    image = 90 + rng.normal(0, 4, shape)
    y, x = np.indices(shape)
    centres = np.array([(v, u) for v in range(18, shape[0] - 16, 31) for u in range(18, shape[1] - 16, 31)], float)
    centres += rng.uniform(-4, 4, centres.shape)
    for v, u in centres:
        radius = rng.uniform(6, 10)
        window = np.s_[int(v) - 16 : int(v) + 17, int(u) - 16 : int(u) + 17]
        inside = np.hypot(y[window] - v, x[window] - u) <= radius
        image[window][inside] += 70
    return np.clip(image, 0, 255).astype(np.uint8), centres


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def places(rows):
    return np.array([[float(row["y"]), float(row["x"])] for row in rows])


def share_near(found, others, distance=2.0):
    return np.mean(cKDTree(others).query(found)[0] < distance)


@pytest.mark.parametrize("tile", [128, 200, 1024])
def test_objects_are_those_in_memory_each_once(tmp_path, tile):
    image, centres = cells(0)
    whole = find_blobs(image, sizes=(10, 24), sign=1)
    summary = count_objects(image, tmp_path / "out", sizes=(10, 24), sign=1, tile=tile, jobs=1)
    rows = rows_of(tmp_path / "out" / "objects.csv")
    found, known = places(rows), np.column_stack([whole.y, whole.x])
    assert summary.count == len(rows) == pytest.approx(len(whole), rel=0.01)
    assert share_near(found, known) >= 0.99
    assert share_near(known, found) >= 0.99
    assert share_near(centres, found) >= 0.95
    assert cKDTree(found).query(found, k=2)[0][:, 1].min() > 5  # no two of one object
    assert [row["number"] for row in rows] == [str(k + 1) for k in range(len(rows))]
    here = cKDTree(known).query(found)[1]
    assert np.median(np.abs([float(r["area"]) for r in rows] - whole.area[here]) / whole.area[here]) < 0.02


def test_sizes_sign_and_colour_are_chosen_for_the_whole_image(tmp_path):
    grey, centres = cells(1)
    dark = 255 - grey
    image = np.stack([dark, np.full_like(dark, 128), 255 - dark // 2], axis=2)  # of one luminance, nearly
    summary = count_objects(image, tmp_path / "out", tile=160, jobs=1)
    assert summary.plane != "grey"
    assert summary.sizes[0] < 14 < 18 < summary.sizes[1]
    assert share_near(centres, places(rows_of(tmp_path / "out" / "objects.csv"))) >= 0.95


def test_a_trained_finder_counts_in_tiles(tmp_path):
    pytest.importorskip("sklearn")
    training = [cells(seed, (200, 200)) for seed in (2, 3)]
    boxes = [np.column_stack([c - 9, c + 10]) for _, c in training]
    finder = ObjectFinder().fit([image for image, _ in training], boxes)
    finder.save(tmp_path / "cells.finder")
    image, centres = cells(4)
    summary = count_objects(image, tmp_path / "out", model=tmp_path / "cells.finder", tile=256, jobs=1)
    assert summary.sizes is None
    assert summary.doubtful_tiles == 0
    assert share_near(centres, places(rows_of(tmp_path / "out" / "objects.csv"))) >= 0.95
    assert summary.count <= 1.05 * len(centres)


def test_outlines_and_overview_are_written(tmp_path):
    image, _ = cells(5)
    summary = count_objects(image, tmp_path / "out", sizes=(10, 24), tile=256, jobs=1)
    collection = json.loads((tmp_path / "out" / "outlines.geojson").read_text())
    assert len(collection["features"]) == summary.count
    row = rows_of(tmp_path / "out" / "objects.csv")[7]
    feature = collection["features"][7]
    ring = np.array(feature["geometry"]["coordinates"][0])[:-1]
    assert ring.mean(axis=0) - 0.5 == pytest.approx([float(row["x"]), float(row["y"])], abs=1.0)
    assert feature["properties"]["measurements"]["diameter"] == pytest.approx(float(row["diameter"]), rel=1e-4)
    overview = read_image(tmp_path / "out" / "overview.png")
    assert overview.shape == (*SHAPE, 3)
    assert np.any(overview[:, :, 0] != overview[:, :, 2])


def test_the_same_call_goes_on_and_another_is_refused(tmp_path):
    image, _ = cells(6, (300, 300))
    path = tmp_path / "image.npy"
    np.save(path, image)
    seen = []

    def stopping(name, done, total):
        seen.append((name, done, total))
        if (name, done) == ("objects", 2):
            raise KeyboardInterrupt

    options = {"sizes": (10, 24), "sign": 1, "tile": 128, "jobs": 1}
    with pytest.raises(KeyboardInterrupt):
        count_objects(path, tmp_path / "out", **options, progress=stopping)
    summary = count_objects(path, tmp_path / "out", **options)
    assert summary.count == count_objects(image, tmp_path / "whole", **options).count
    assert count_objects(path, tmp_path / "out", **options) == summary  # all is there
    with pytest.raises(ValueError, match=r"overlap was 0\.4 when this was begun, got 0\.2"):
        count_objects(path, tmp_path / "out", **options, overlap=0.2)


def test_what_cannot_be_counted_is_refused(tmp_path):
    with pytest.raises(ValueError, match="sizes must be at most 128 in tiles of 256, got"):
        count_objects(np.zeros((9, 9), np.uint8), tmp_path / "out", sizes=(10, 200), tile=256)
    with pytest.raises(ValueError, match="sizes must be given where the image shows no objects"):
        count_objects(np.zeros((90, 90), np.uint8), tmp_path / "none", jobs=1)


def test_nothing_is_counted_in_nothing(tmp_path):
    summary = count_objects(np.zeros((90, 90), np.uint8), tmp_path / "out", sizes=(10, 20), jobs=1)
    assert (summary.count, summary.mean_diameter) == (0, None)
    assert rows_of(tmp_path / "out" / "objects.csv") == []
    assert json.loads((tmp_path / "out" / "outlines.geojson").read_text())["features"] == []


def test_the_verb_counts_in_tiles(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    image, centres = cells(7)
    write_image("slide.tif", image)
    arguments = ["count", "slide.tif", "--tile", "256", "--sizes", "10-24", "-o", "out", "--jobs", "1"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    rows = rows_of("out/slide.tif.count.tiles/objects.csv")
    assert f"slide.tif: {len(rows)} objects ({len(rows)} bright, 0 dark)" in result.stdout
    assert share_near(centres, places(rows)) >= 0.95
    again = CliRunner().invoke(app, arguments)
    assert again.stdout == result.stdout
    for named in ("*.tif", "."):  # patterns and folders, as for all verbs
        found = CliRunner().invoke(app, ["count", named, *arguments[2:]])
        assert "slide.tif: " in found.stdout
    assert CliRunner().invoke(app, ["count", "--tile", "256"]).exit_code == 2
    refused = CliRunner().invoke(app, [*arguments, "--preview"])
    assert refused.exit_code == 2
    assert "--preview" in refused.output
    missing = CliRunner().invoke(app, ["count", "no.tif", "--tile", "256", "-o", "out"])
    assert missing.exit_code == 1
    assert "no.tif" in missing.stderr
    assert "Traceback" not in missing.output
