"""Teaching a finder and counting, from the command line."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest
import tifffile
from typer.testing import CliRunner

import imtorque
from imtorque.cli import app
from imtorque.cli.count_page import preview_page, why_look
from imtorque.cli.train_detector import Annotation, load_annotations, match_images
from imtorque.files import read_image, write_image

pytest.importorskip("sklearn")


def run(*arguments, status=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == status, result.output
    return result


def draw(seed, count=6, size=120):
    """A grey image of discs 17 to 23 pixels across with rims, their boxes, and small specks beside them."""
    rng = np.random.default_rng(seed)
    y, x = np.indices((size, size))
    image = 120 + rng.normal(0, 2, (size, size))
    places = [(20 + 40 * (k // 3) + rng.integers(0, 8), 20 + 40 * (k % 3) + rng.integers(0, 8)) for k in range(count)]
    boxes = []
    for cy, cx in places:
        radius = int(rng.integers(8, 12))
        image[(y - cy) ** 2 + (x - cx) ** 2 <= radius**2] += 70
        boxes.append((cy - radius, cx - radius, cy + radius + 1, cx + radius + 1))
    for _ in range(12):
        cy, cx = rng.integers(3, size - 3, 2)
        image[cy - 1 : cy + 2, cx - 1 : cx + 2] += 40
    return np.clip(image, 0, 255).astype(np.uint8), boxes


@pytest.fixture
def cells(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cells").mkdir()
    rows = []
    for k in range(5):
        image, boxes = draw(k)
        write_image(f"cells/{k}.png", image)
        rows += [f"{k}.png,{','.join(map(str, box))}" for box in boxes] if k < 4 else []
    (tmp_path / "annotations.csv").write_text("image,y0,x0,y1,x1\n" + "\n".join(rows) + "\n")
    return tmp_path


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
@pytest.mark.usefixtures("cells")
def test_a_finder_is_taught_and_counts():
    taught = run("train-detector", "cells", "--annotations", "annotations.csv", "--out", "cells.finder")
    assert "F1" in taught.output
    assert "annotate next: 4.png" in taught.output
    again = ("count", "cells/4.png", "--model", "cells.finder", "--pixel-size", "500nm", "--out", "out")
    run(*again)
    (summary,) = rows_of("out/counts.csv")
    assert (summary["image"], summary["count"], summary["pixel_size_um"]) == ("4.png", "6", "0.5")
    objects = rows_of("out/objects.csv")
    assert float(objects[0]["diameter_um"]) == pytest.approx(float(objects[0]["diameter"]) / 2, rel=1e-4)
    labels = read_image("out/4.png.count.labels.tiff")
    assert sorted(np.unique(labels)) == list(range(7))
    for row in objects:
        assert labels[round(float(row["y"])), round(float(row["x"]))] == int(row["number"])
    assert read_image("out/4.png.count.png").ndim == 3
    assert (
        "(as before)"
        in run("count", "cells/4.png", "--model", "cells.finder", "--pixel-size", "500nm", "--out", "out").output
    )


@pytest.mark.usefixtures("cells")
def test_sizes_alone_count_too_in_pixels_and_in_micrometres():
    run("count", "cells", "--sizes", "14-30", "--sign", "bright", "--out", "out")
    assert [row["count"] for row in rows_of("out/counts.csv")] == ["6"] * 5
    tifffile.imwrite("a.tif", draw(0)[0], imagej=True, resolution=(2, 2), metadata={"unit": "um"})
    run("count", "a.tif", "--sizes", "7-15um", "--sign", "bright", "--out", "out")
    *earlier, summary = rows_of("out/counts.csv")
    assert [row["image"] for row in earlier] == [f"{k}.png" for k in range(5)]
    assert len(rows_of("out/objects.csv")) == 36
    assert (summary["count"], summary["pixel_size_um"]) == ("6", "0.5")
    assert "needs a --pixel-size" in run("count", "cells/0.png", "--sizes", "7-15um", status=1).output


def test_both_signs_are_on_an_equal_footing_where_both_are_asked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    y, x = np.indices((200, 260))
    image = np.full((200, 260), 120, np.uint8)
    for k, (cy, cx) in enumerate([(50, 50), (50, 130), (50, 210), (140, 50), (140, 130), (140, 210)]):
        image[(y - cy) ** 2 + (x - cx) ** 2 <= 15**2] = 220 if k == 0 else 20
    write_image("a.png", image)
    for sizes in (("--sizes", "20-45"), ()):
        run("count", "a.png", *sizes, "--sign", "both", "--out", "both")
        contrasts = [float(row["contrast"]) for row in rows_of("both/a.png.count.csv")]
        assert (sum(c > 0 for c in contrasts), sum(c < 0 for c in contrasts)) == (1, 5), sizes


@pytest.mark.slow
def test_images_of_one_name_are_told_apart_in_the_tables(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("d1", "d2"):
        (tmp_path / folder).mkdir()
        write_image(f"{folder}/x.png", draw(0)[0])
    write_image("d1/y.png", draw(1)[0])
    run("count", "d1", "d2", "--sizes", "14-30", "--out", "out")
    assert sorted(row["image"] for row in rows_of("out/counts.csv")) == ["d1/x.png", "d2/x.png", "y.png"]
    assert {row["image"] for row in rows_of("out/objects.csv")} == {"d1/x.png", "d2/x.png", "y.png"}


@pytest.mark.parametrize("pixel", [(), ("--pixel-size", "0.5um")])
def test_a_table_without_objects_has_the_columns_of_one_with_some(tmp_path, monkeypatch, pixel):
    monkeypatch.chdir(tmp_path)
    write_image("full.png", draw(0)[0])
    write_image("empty.png", np.full((60, 60), 90, np.uint8))
    headers = []
    for name in ("full", "empty"):
        run("count", f"{name}.png", "--sizes", "14-30", *pixel, "--out", name)
        tables = [tmp_path / name / file for file in ("objects.csv", f"{name}.png.count.csv")]
        headers.append([table.read_text().splitlines()[0] for table in tables])
    assert len(rows_of("empty/objects.csv")) == 0 < len(rows_of("full/objects.csv"))
    assert headers[0] == headers[1]


def test_marks_are_read_from_tables_of_boxes_or_points_and_from_label_images(tmp_path):
    (tmp_path / "boxes.csv").write_text("image,y0,x0,y1,x1,kind\nfolder/a.png,1,2,3,4,x\n")
    (tmp_path / "points.csv").write_text("image,y,x\na.png,1,2\nb.png,3,4\n")
    (tmp_path / "labels").mkdir()
    write_image(tmp_path / "labels" / "a.png", np.eye(5, dtype=np.uint16))
    assert load_annotations(tmp_path / "boxes.csv")["folder/a.png"].objects.tolist() == [[1, 2, 3, 4]]
    assert {name: marked.objects.tolist() for name, marked in load_annotations(tmp_path / "points.csv").items()} == {
        "a.png": [[1, 2]],
        "b.png": [[3, 4]],
    }
    assert load_annotations(tmp_path / "labels")["a.png"].objects.shape == (5, 5)


@pytest.mark.parametrize(
    ("text", "image"),
    [
        ("index,axis-0,axis-1\n0,1.5,2\n1,3,4\n", ""),  # napari's points
        (" ,Label,Area,X,Y\n1,a.tif:0001-0002,0,2,1.5\n2,a.tif:0003,0,4,3\n", "a.tif"),  # Fiji's measurements
        ("Image;Y;X\r\na.tif;1,5;2\r\na.tif;3;4\r\n", "a.tif"),  # a spreadsheet where commas are decimal
        ("IMAGE\tY\tX\na.tif\t1.5\t2\na.tif\t3\t4\n", "a.tif"),
    ],
    ids=["napari", "Fiji", "semicolons", "tabs"],
)
def test_points_are_read_as_other_programs_save_them(tmp_path, text, image):
    (tmp_path / "a.csv").write_text(text, newline="")
    marks = load_annotations(tmp_path / "a.csv")
    assert {name: marked.objects.tolist() for name, marked in marks.items()} == {image: [[1.5, 2], [3, 4]]}
    assert [*match_images([Path("a.tif"), Path("b.tif")], {**marks}, tmp_path / "a.csv")] == [Path("a.tif")]


def test_a_table_without_names_is_of_the_only_image_or_refused():
    marks = {"": Annotation(np.zeros((1, 2)), np.zeros((0, 2)))}
    assert [*match_images([Path("b.tif")], marks, Path("points.csv"))] == [Path("b.tif")]
    with pytest.raises(ValueError, match="must have a column image, or the name of its image, got neither"):
        match_images([Path("b.tif"), Path("c.tif")], marks, Path("points.csv"))


@pytest.mark.parametrize(
    ("marked", "images", "found"),
    [
        ("a.png", "d/a.png d/a.jpg", "d/a.png"),
        ("a", "d/a.png d/b.png", "d/a.png"),
        ("a.tif", "d/a.png d/b.png", "d/a.png"),
        ("e/a.png", "d/a.png e/a.png", "e/a.png"),
        ("elsewhere/a.png", "d/a.png d/b.png", "d/a.png"),
    ],
)
def test_marks_belong_to_the_image_of_their_name(marked, images, found):
    marks = Annotation(np.zeros((1, 2)), np.zeros((0, 2)))
    paths = [Path(name) for name in images.split()]
    assert match_images(paths, {marked: marks}, Path("t.csv")) == {Path(found): marks}


def test_marks_come_in_the_order_of_the_images():
    marks = Annotation(np.zeros((1, 2)), np.zeros((0, 2)))
    paths = [Path("d/b.png"), Path("d/c.png"), Path("d/a.png")]
    assert list(match_images(paths, {"a": marks, "b": marks}, Path("t.csv"))) == [paths[0], paths[2]]


@pytest.mark.parametrize(
    ("marked", "images", "message"),
    [
        ("a.png", "d/a.png e/a.png", "t.csv: a.png must be the name of one image, got d/a.png and e/a.png"),
        ("a", "d/a.png d/a.jpg", "t.csv: a must be the name of one image, got d/a.png and d/a.jpg"),
        ("a a.png", "d/a.png", "t.csv: must annotate a.png under one name, got a second one, a.png"),
    ],
)
def test_marks_that_may_belong_to_two_images_are_refused(marked, images, message):
    marks = Annotation(np.zeros((1, 2)), np.zeros((0, 2)))
    with pytest.raises(ValueError, match=re.escape(message)):
        match_images([Path(name) for name in images.split()], dict.fromkeys(marked.split(), marks), Path("t.csv"))


def test_a_column_of_a_table_marks_what_is_no_object(tmp_path):
    (tmp_path / "boxes.csv").write_text("image,y0,x0,y1,x1,wrong\na.png,1,2,5,6,0\na.png,7,8,8,9,1\nb.png,3,3,4,4,1\n")
    marked = load_annotations(tmp_path / "boxes.csv")
    assert [marked[name].objects.tolist() for name in ("a.png", "b.png")] == [[[1, 2, 5, 6]], []]
    assert [marked[name].wrong.tolist() for name in ("a.png", "b.png")] == [[[7, 8]], [[3, 3]]]


def test_nothing_to_learn_from_is_told_in_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_image("black.png", np.zeros((60, 80), np.uint8))
    (tmp_path / "points.csv").write_text("image,y,x\nblack.png,30,30\n")
    told = run("train-detector", "black.png", "--annotations", "points.csv", "--out", "a.finder", status=1).output
    assert "the images must show something that may be an object, got none with a closed contour" in told


@pytest.mark.slow
@pytest.mark.usefixtures("cells")
def test_the_folder_of_a_finder_is_made():
    told = run(
        "train-detector", "cells/0.png", "--annotations", "annotations.csv", "--out", "new/deep/cells.finder"
    ).output
    assert "each quarter of the one image by the others" in told
    run("count", "cells/4.png", "--model", "new/deep/cells.finder", "--out", "out")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("image,y,x,wrong\na.png,1,2,maybe\n", "line 2 must hold numbers in y, x, and in wrong 0 or 1"),
        ("image,top,left\na.png,1,2\n", "must have the columns image,y0,x0,y1,x1 or image,y,x"),
        ("image,y,x\na.png,one,2\n", "line 2 must hold numbers in y, x"),
        ("image,y,x\nother.png,1,2\n", "must annotate the images given"),
        ("image,y,x\n1.png,3,9\n0.png,3000,4\n", "0.png: annotations must lie in the image, 120 rows by 120 columns"),
        ("image,y0,x0,y1,x1\n0.png,50,50,40,60\n", "0.png: boxes must have y0 < y1 and x0 < x1, got 50, 50, 40, 60"),
    ],
)
def test_a_table_without_sense_is_refused_in_one_line(cells, text, message):
    (cells / "bad.csv").write_text(text)
    result = run("train-detector", "cells", "--annotations", "bad.csv", "--out", "x.finder", status=1)
    assert message in " ".join(result.output.split())
    assert not (cells / "x.finder").exists()


@pytest.mark.parametrize(
    "options", [("--sizes", "60-20"), ("--sizes", "small"), ("--pixel-size", "0.3 parsec"), ("--pixel-size", "0um")]
)
def test_options_without_sense_are_refused(cells, options):
    assert "must be like" in run("count", cells / "cells", *options, status=2).output


def test_a_finder_takes_no_sizes(cells):
    (cells / "a.finder").write_text("")
    result = run("count", "cells", "--model", "a.finder", "--sizes", "3-5", status=2)
    assert "knows sizes, signs and scores itself" in " ".join(result.output.replace("│", " ").split())


def test_a_trained_detector_counts_inside_a_mask_and_the_strongest_alone(cells):
    run("train-detector", "cells/0.png", "--annotations", "annotations.csv", "--out", "cells.finder")
    mask = np.zeros((120, 120), np.uint8)
    mask[:, :60] = 255
    write_image("mask.png", mask)
    counted = ("count", "cells/4.png", "--model", "cells.finder")
    run(*counted, "--out", "all")
    run(*counted, "--mask", "mask.png", "--out", "left")
    run(*counted, "--count", "2", "--out", "two")
    everything = rows_of(cells / "all" / "objects.csv")
    left = rows_of("left/objects.csv")
    assert [row["y"] for row in left] == [row["y"] for row in everything if float(row["x"]) < 59.5]
    assert not read_image("left/4.png.count.labels.tiff")[:, 60:].any()
    assert rows_of("two/objects.csv") == everything[:2]


@pytest.mark.parametrize(
    ("option", "name"),
    [
        (("--threshold", "0.5"), "--threshold"),
        (("--min-score", "0"), "--min-score"),
        (("--overlap", "0.1"), "--overlap"),
        (("--sign", "dark"), "--sign"),
        (("--detector", "pb"), "--detector"),
        (("--depth",), "--depth"),
    ],
)
def test_a_finder_takes_nothing_that_it_has_learned(cells, option, name):
    (cells / "a.finder").write_text("")
    told = " ".join(run("count", "cells", "--model", "a.finder", *option, status=2).output.replace("│", " ").split())
    assert f"Invalid value for {name}: a model knows sizes, signs and scores itself" in told


@pytest.mark.usefixtures("cells")
def test_a_list_of_sizes_is_of_patch_sizes_and_a_range_of_diameters():
    run("count", "cells/0.png", "--sizes", "21,27", "--sign", "bright", "--out", "listed")
    run("count", "cells/0.png", "--sizes", "21-27", "--sign", "bright", "--out", "range")
    for folder, sizes in (("listed", [21, 27]), ("range", (21, 27))):
        found = imtorque.find_blobs(read_image("cells/0.png"), sizes=sizes, sign=1)
        assert [float(row["y"]) for row in rows_of(f"{folder}/objects.csv")] == pytest.approx(
            found.y.tolist(), rel=1e-5
        )


@pytest.mark.usefixtures("cells")
def test_the_size_taken_from_clicks_is_told_and_sizes_override_it():
    _, boxes = draw(0)
    rows = [f"0.png,{(y0 + y1 - 1) / 2},{(x0 + x1 - 1) / 2}" for y0, x0, y1, x1 in boxes]
    Path("points.csv").write_text("image,y,x\n" + "\n".join(rows) + "\n")
    command = ("train-detector", "cells/0.png", "--annotations", "points.csv", "--clicks", "--out", "a.finder")
    told = re.search(r"objects are taken as ([0-9.]+) px across; --sizes overrides that", run(*command).output)
    sides = [y1 - y0 for y0, _, y1, _ in boxes]
    assert float(told[1]) == pytest.approx(np.median(sides), rel=0.15)
    assert "taken as" not in run(*command, "--sizes", "12-30").output
    assert imtorque.ObjectFinder.load("a.finder").diameters[::2] == (12, 30)
    assert "sizes must be in pixels" in run(*command, "--sizes", "12-30um", status=2).output


def test_results_are_in_the_pixels_of_the_file_whatever_the_reduction(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small, boxes = draw(0)
    image = np.pad(small.repeat(4, axis=0).repeat(4, axis=1), ((0, 3), (0, 1)), mode="edge")
    write_image("a.png", image)
    plain, reduced = ({}, {})
    for folder, options, rows in (("plain", (), plain), ("reduced", ("--reduce", 4, "--rois", "geojson"), reduced)):
        run(
            "count",
            "a.png",
            "--sizes",
            "56-120",
            "--sign",
            "bright",
            "--pixel-size",
            "0.5um",
            *options,
            "--out",
            folder,
        )
        rows |= {(round(float(r["y"]) / 40), round(float(r["x"]) / 40)): r for r in rows_of(f"{folder}/objects.csv")}
    assert len(plain) == len(boxes)
    assert plain.keys() == reduced.keys()
    for place, row in plain.items():
        for name in ("y", "x", "diameter", "diameter_um", "major"):
            assert float(reduced[place][name]) == pytest.approx(float(row[name]), rel=0.04, abs=2)
    labels = read_image("reduced/a.png.count.labels.tiff")
    assert labels.shape == image.shape
    (summary,) = rows_of("reduced/counts.csv")
    assert (summary["height"], summary["width"], summary["pixel_size_um"]) == ("483", "481", "0.5")


def test_objects_are_counted_inside_the_dish_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    y, x = np.indices((300, 360))
    image = np.full((300, 360), 60, np.uint8)
    image[np.hypot(y - 150, x - 170) <= 135] = 160
    for cy, cx in [(100, 120), (150, 200), (200, 160), (20, 20), (280, 340)]:
        image[np.hypot(y - cy, x - cx) <= 8] = 230
    write_image("dish.png", image)
    write_image("plain.png", np.full((100, 100), 90, np.uint8))
    run("count", "dish.png", "--sizes", "10-25", "--inside", "circle", "--out", "out")
    assert [row["count"] for row in rows_of("out/counts.csv")] == ["3"]
    write_image("dot.png", np.full((3, 7), 90, np.uint8))
    for name in ("plain.png", "dot.png"):
        assert "must show one round dish" in run("count", name, "--inside", "circle", status=1).output


@pytest.mark.usefixtures("cells")
def test_a_range_of_sizes_is_suggested_where_none_was_given():
    told = re.search(r"most are (\d+) to (\d+) px: --sizes (\d+)-(\d+)", run("count", "cells/0.png").output)
    least, most, smallest, largest = (int(text) for text in told.groups())
    assert smallest < 15 <= least <= most <= 23 < largest
    assert "most are" not in run("count", "cells/0.png", "--sizes", "14-30", "--out", "given").output


@pytest.mark.usefixtures("cells")
def test_images_that_fail_now_keep_no_row_of_an_earlier_call():
    run("count", "cells/0.png", "cells/1.png", "--sizes", "14-30", "--out", "out")
    Path("cells/1.png").write_bytes(b"no image")
    run("count", "cells/1.png", "cells/2.png", "--sizes", "14-30", "--out", "out", status=1)
    assert [row["image"] for row in rows_of("out/counts.csv")] == ["0.png", "2.png"]


@pytest.mark.usefixtures("cells")
def test_a_preview_is_one_page_with_unusual_images_first():
    write_image("cells/empty.png", np.full((120, 120), 90, np.uint8))
    run("count", "cells", "--sizes", "14-30", "--preview", "--out", "out")
    page = Path("out/counts.html").read_text()
    assert page.count("<img") == 6
    assert not re.search(r'(src|href)="(?!data:)', page)
    assert "30 objects in 6 images" in page
    first, second = re.findall(r"<b>(.*?)</b>", page)[:2]
    assert (first, second) == ("empty.png", "0.png")
    assert "1 image to look at first" in page
    run("count", "cells/0.png", "--preview", "--no-overlay", status=2)
    Path("mine").mkdir()
    Path("mine/counts.html").write_text("mine")
    assert "another file" in run("count", "cells/0.png", "--preview", "--out", "mine", status=1).output


def test_a_result_unlike_the_others_is_to_be_looked_at():
    def result(count, diameter=20.0, score=0.9, **more):
        rows = [{"score": score, "diameter": diameter}] * count
        return {"objects": rows, "mean_diameter": diameter, **more}

    usual = [result(count) for count in (20, 22, 25, 18, 21)]
    assert why_look(usual[0], usual) == []
    odd = {"count": result(400), "mean diameter": result(20, diameter=80.0), "low scores": result(20, score=0.5)}
    odd |= {"torn": result(20, note="torn between two"), "lower scores than": result(20, warning="lower scores")}
    for word, one in odd.items():
        assert word in "; ".join(why_look(one, [*usual, one]))
    assert why_look(result(0), usual) == ["no objects"]


def test_an_image_unlike_the_annotated_ones_is_shown_before_all_others():
    page = preview_page(
        {"empty": {"objects": [], "note": "torn"}, "odd": {"objects": [], "warning": "lower scores"}}, {}
    )
    assert page.index("odd") < page.index("empty")
