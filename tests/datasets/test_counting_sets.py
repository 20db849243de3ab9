"""Sets of many small objects: read as they are laid out, split by the names of their files."""

import hashlib

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image

from imtorque.datasets.counting import counting_sets


def write_set(root, name, rows, columns, images=()):
    folder = root / name
    (folder / "images").mkdir(parents=True)
    names = {row.split(",")[0] for row in rows} | set(images)
    for image in names:
        Image.fromarray(np.zeros((20, 30), np.uint8)).save(folder / "images" / image)
    (folder / "objects.csv").write_text("\n".join([columns, *rows]) + "\n")
    return folder


def boxes_of(name, count, kind="cell"):
    return [f"{name},{i},{i},{i + 4},{i + 6},{kind}" for i in range(count)]


def test_the_eight_training_images_have_the_smallest_hashes_among_those_with_five_objects(tmp_path):
    names = [f"p{i}.png" for i in range(12)]
    rows = [row for i, name in enumerate(names) for row in boxes_of(name, 3 if i == 0 else 6)]
    write_set(tmp_path, "cells", rows, "image,y0,x0,y1,x1,kind")
    (found,) = counting_sets(tmp_path)
    expected = sorted(names[1:], key=lambda name: hashlib.sha256(name.encode()).hexdigest())[:8]
    assert [p.name for p in found.training] == expected
    assert {p.name for p in found.test} == set(names) - set(expected)


def test_boxes_are_read_and_platelets_set_aside(tmp_path):
    rows = [*boxes_of("a.png", 2), *boxes_of("a.png", 1, "Platelets")]
    write_set(tmp_path, "blood", rows, "image,y0,x0,y1,x1,kind")
    image = counting_sets(tmp_path)[0].test[0]
    assert_array_equal(image.boxes, [[0, 0, 4, 6], [1, 1, 5, 7]])
    assert_array_equal(image.points, [[1.5, 2.5], [2.5, 3.5]])
    assert_array_equal(image.ignored, [[0, 0, 4, 6]])
    assert image.has_boxes
    assert image.labels() is None


def test_points_are_read(tmp_path):
    write_set(tmp_path, "marrow", ["a.png,3.0,4.5"], "image,y,x")
    image = counting_sets(tmp_path)[0].test[0]
    assert_array_equal(image.points, [[3, 4.5]])
    assert not image.has_boxes


def test_kinds_of_microscopy_are_sets_of_their_own(tmp_path):
    rows = [*boxes_of("a.png", 1, "stained"), *boxes_of("b.png", 1, "grey")]
    write_set(tmp_path / "counting", "nuclei", rows, "image,y0,x0,y1,x1,kind")
    assert [part.name for part in counting_sets(tmp_path)] == ["nuclei-grey", "nuclei-stained"]


def test_label_images_keep_their_numbers(tmp_path):
    folder = write_set(tmp_path, "nuclei", boxes_of("a.png", 1), "image,y0,x0,y1,x1,kind")
    (folder / "labels").mkdir()
    labels = np.zeros((20, 30), np.uint16)
    labels[2:5, 2:5] = 300
    Image.fromarray(labels).save(folder / "labels" / "a.png")
    assert_array_equal(counting_sets(tmp_path)[0].test[0].labels(), labels)


def test_what_is_no_such_folder_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"must hold SET/objects\.csv"):
        counting_sets(tmp_path)
    folder = write_set(tmp_path, "cells", ["a.png,1"], "image,z")
    with pytest.raises(ValueError, match="must have the columns"):
        counting_sets(tmp_path)
    (folder / "objects.csv").write_text("image,y,x\nnone.png,1,2\n")
    with pytest.raises(ValueError, match="must name images"):
        counting_sets(tmp_path)
