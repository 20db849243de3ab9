"""Data sets that are not as they should be: every error names the file or the folder, and what it must hold."""

import importlib.util

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image
from scipy.io import savemat

from berkeley_files import LABELS, write_truth
from imtorque import datasets
from imtorque.datasets.images import image_shape, read_array, read_grey

GREY = np.arange(20, dtype=np.uint8).reshape(4, 5)
COLOUR = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)


def write_image(path, array=GREY):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(array).save(path)
    return path


def write_seg(path, runs, header="width 5\nheight 4\n"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"format ascii cr\n{header}data\n{runs}")
    return path


# Berkeley


def test_bsds300_is_found_below_a_folder_of_its_name(tmp_path):
    write_image(tmp_path / "BSDS300" / "images" / "test" / "3.png")
    write_seg(tmp_path / "BSDS300" / "human" / "color" / "1" / "3.seg", "".join(f"0 {row} 0 4\n" for row in range(4)))
    (image,) = datasets.bsds300(tmp_path)
    assert_array_equal(image.annotations()[0].segmentation, np.ones((4, 5)))


def test_a_split_that_is_none_is_refused(tmp_path):
    with pytest.raises(ValueError, match="split must be 'train' or 'test', got 'val'"):
        datasets.bsds300(tmp_path, "val")


def test_an_image_that_nobody_segmented_is_named(tmp_path):
    write_image(tmp_path / "images" / "test" / "3.png")
    (tmp_path / "human" / "color").mkdir(parents=True)
    with pytest.raises(ValueError, match="must hold the segmentations of every image, got none of 3"):
        datasets.bsds300(tmp_path)


def test_a_folder_without_ground_truth_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"must hold images/ and groundTruth/, got neither there nor in data, BSDS500"):
        datasets.bsds500(tmp_path)


@pytest.mark.parametrize(
    ("runs", "header", "message"),
    [
        ("0 0 0 four\n", "width 5\nheight 4\n", "must be a readable .seg file: invalid literal"),
        ("0 0 0 4\n", "width 5\n", "must be a readable .seg file: 'height'"),
        ("0 9 0 4\n", "width 5\nheight 4\n", "must be a readable .seg file: index 9"),
        ("0 0 0 4\n", "width 5\nheight 4\n", "must label every pixel, got 15 without a label"),
    ],
)
def test_a_wrong_text_of_segments_is_named(tmp_path, runs, header, message):
    path = write_seg(tmp_path / "5.seg", runs, header)
    with pytest.raises(ValueError, match=rf"5\.seg {message}"):
        datasets.read_annotations(path)


@pytest.mark.parametrize("people", [[], [LABELS[None]]])
def test_a_ground_truth_must_have_maps_of_at_least_one_person(tmp_path, people):
    write_truth(tmp_path / "5.mat", people)
    with pytest.raises(ValueError, match=r"5\.mat must hold \(height, width\) maps of at least one annotator"):
        datasets.read_annotations(tmp_path / "5.mat")


# Caltech


def test_a_folder_without_categories_is_named(tmp_path):
    with pytest.raises(ValueError, match="must hold 101_ObjectCategories/, got nothing by that name"):
        datasets.caltech101(tmp_path)


def test_a_photograph_without_an_outline_can_be_read(tmp_path):
    write_image(tmp_path / "101_ObjectCategories" / "cup" / "image_0001.png", COLOUR)
    (image,) = datasets.caltech101(tmp_path)
    assert_array_equal(image.image(), COLOUR)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"obj_contour": np.zeros((2, 4))}, "must hold obj_contour and box_coord"),
        ({"obj_contour": np.zeros((2, 4)), "box_coord": [1, 2]}, "must hold obj_contour and box_coord"),
        ({"obj_contour": np.zeros((2, 2)), "box_coord": [1, 2, 3, 4]}, r"at least 3 points, got shape \(2, 2\)"),
        ({"obj_contour": np.full((2, 4), np.nan), "box_coord": [1, 2, 3, 4]}, "2 rows and at least 3 points"),
    ],
)
def test_a_wrong_outline_is_named(tmp_path, content, message):
    savemat(tmp_path / "annotation_0001.mat", content)
    with pytest.raises(ValueError, match=rf"annotation_0001\.mat .*{message}"):
        datasets.caltech.read_outline(tmp_path / "annotation_0001.mat")


# Eye tracking and masks


def test_the_images_of_eye_tracking_and_mask_folders_can_be_read(tmp_path):
    write_image(tmp_path / "images" / "a.png", COLOUR)
    write_image(tmp_path / "masks" / "a.png")
    (tmp_path / "images.csv").write_text("image,width,height\na.png,5,4\n")
    (tmp_path / "fixations.csv").write_text("image,x,y\na.png,1,2\n")
    assert_array_equal(datasets.eye_tracking(tmp_path)[0].image(), COLOUR)
    assert_array_equal(datasets.mask_folder(tmp_path)[0].image(), COLOUR)


def test_an_image_that_the_table_names_and_the_folder_lacks_is_named(tmp_path):
    (tmp_path / "images.csv").write_text("image,width,height\na.png,5,4\n")
    (tmp_path / "fixations.csv").write_text("image,x,y\na.png,1,2\n")
    with pytest.raises(ValueError, match=r"must hold every image of images\.csv, got no a\.png"):
        datasets.eye_tracking(tmp_path)


def test_a_stimulus_without_fixations_and_fixations_of_another_shape_are_named(tmp_path):
    write_image(tmp_path / "ALLSTIMULI" / "i1.jpeg")
    (tmp_path / "ALLFIXATIONMAPS").mkdir()
    with pytest.raises(ValueError, match=r"must hold the fixations of every stimulus, got no i1_fixPts\.jpg"):
        datasets.mit1003(tmp_path)
    write_image(tmp_path / "ALLFIXATIONMAPS" / "i1_fixPts.jpg", GREY.T.copy())
    with pytest.raises(ValueError, match=r"i1_fixPts\.jpg must have the stimulus's shape \(4, 5\), got \(5, 4\)"):
        datasets.mit1003(tmp_path)[0].fixations()


# Files


def test_an_image_without_a_header_is_named(tmp_path):
    (tmp_path / "a.png").write_bytes(b"no")
    with pytest.raises(ValueError, match=r"a\.png: must be an image that can be read"):
        image_shape(tmp_path / "a.png")
    assert image_shape(write_image(tmp_path / "b.png")) == (4, 5)


def test_colours_are_no_grey_but_three_equal_channels_are(tmp_path):
    with pytest.raises(ValueError, match=r"a\.png must be a grey image, got colours"):
        read_grey(write_image(tmp_path / "a.png", COLOUR))
    assert_array_equal(read_grey(write_image(tmp_path / "b.png", np.stack([GREY] * 3, axis=2))), GREY)


def test_an_array_that_is_none_is_named(tmp_path):
    (tmp_path / "a.npy").write_bytes(b"no")
    with pytest.raises(ValueError, match=r"a\.npy: must be a readable \.npy array"):
        read_array(tmp_path / "a.npy")
    np.save(tmp_path / "b.npy", np.array(["text"]))
    with pytest.raises(ValueError, match=r"b\.npy must hold one array of numbers"):
        read_array(tmp_path / "b.npy")


def test_a_file_in_the_place_of_a_folder_is_told_from_nothing(tmp_path):
    (tmp_path / "a").touch()
    with pytest.raises(ValueError, match="a must be a folder, got a file"):
        datasets.find_predictions(tmp_path / "a")
    with pytest.raises(ValueError, match="b must be a folder, got nothing"):
        datasets.find_predictions(tmp_path / "b")


# Predictions and truths


def test_a_folder_without_predictions_or_truths_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"must hold predictions \(\.png, .*\), got none"):
        datasets.find_predictions(tmp_path)
    with pytest.raises(ValueError, match=r"must hold ground truths as files .*, got neither"):
        datasets.find_truths(tmp_path)


def test_predictions_of_no_known_form_are_named(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(3))
    with pytest.raises(ValueError, match=r"a\.npy must hold a map \(2-D\) or a stack .*, got shape \(3,\)"):
        datasets.read_prediction(tmp_path / "a.npy")
    savemat(tmp_path / "b.mat", {"segs": np.array([["text"]], dtype=object)})
    with pytest.raises(ValueError, match=r"b\.mat must hold \(height, width\) label maps in segs"):
        datasets.read_prediction(tmp_path / "b.mat")
    savemat(tmp_path / "c.mat", {"other": 1})
    with pytest.raises(ValueError, match=r"c\.mat must hold the variable ucm2 or segs, got other"):
        datasets.read_prediction(tmp_path / "c.mat")


def test_an_outline_is_a_truth_drawn_at_the_shape_asked_for(tmp_path):
    contour = np.array([[0.0, 10, 10, 0], [0, 0, 5, 5]])
    savemat(tmp_path / "annotation_0001.mat", {"box_coord": [[4, 9, 6, 16]], "obj_contour": contour})
    truths = datasets.find_truths(tmp_path)
    assert list(truths) == ["image_0001"]
    (boundary,) = truths["image_0001"].boundaries((20, 30))
    assert boundary.shape == (20, 30)
    assert boundary.sum() == 2 * 11 + 2 * 4


# Pasted objects and samples


def test_pasted_objects_say_what_is_missing(tmp_path):
    with pytest.raises(ValueError, match="part must be one of dev, test, got 'val'"):
        datasets.small_objects(tmp_path, "val")
    write_image(tmp_path / "caltech101" / "101_ObjectCategories" / "cup" / "image_0001.png", COLOUR)
    with pytest.raises(ValueError, match=r"must hold Annotations/, got no outline"):
        datasets.small_objects(tmp_path)
    folder = tmp_path / "caltech101" / "Annotations" / "cup"
    folder.mkdir(parents=True)
    for k in (1, 2):
        write_image(tmp_path / "caltech101" / "101_ObjectCategories" / "cup" / f"image_000{k}.png", COLOUR)
        savemat(folder / f"annotation_000{k}.mat", {"box_coord": [1, 2, 1, 2], "obj_contour": np.ones((2, 3))})
        if k == 1:
            with pytest.raises(ValueError, match="must hold at least two outlines of each category"):
                datasets.small_objects(tmp_path)
    with pytest.raises(ValueError, match="must hold one of the folders bsds500, bsds300, BSDS500, BSDS300, got none"):
        datasets.small_objects(tmp_path)
    write_image(tmp_path / "bsds500" / "images" / "val" / "7.png", COLOUR)
    write_truth(tmp_path / "bsds500" / "groundTruth" / "val" / "7.mat", [LABELS])
    (pasted,) = datasets.small_objects(tmp_path, count=1)
    with pytest.raises(ValueError, match=r"annotation_0002\.mat must enclose some pixels, got none"):
        pasted.read()


def test_the_photograph_says_where_it_should_have_come_from(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ValueError, match="the sample 'hopper' must come with matplotlib, which is not installed"):
        datasets.sample("hopper")
