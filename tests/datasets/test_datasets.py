import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image
from scipy.io import savemat

from berkeley_files import LABELS, write_truth
from data_folder import data_folder
from imtorque import datasets


def write_image(path, array):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(array).save(path)


COLOUR = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)


@pytest.fixture
def berkeley(tmp_path):
    for split, name in (("train", "12"), ("val", "7"), ("test", "99")):
        write_image(tmp_path / "images" / split / f"{name}.png", COLOUR)
        write_truth(tmp_path / "groundTruth" / split / f"{name}.mat", [LABELS, LABELS * 0 + 1])
    return tmp_path


@pytest.fixture
def eye_tracking(tmp_path):
    write_image(tmp_path / "images" / "a.png", COLOUR)
    write_image(tmp_path / "images" / "b.png", COLOUR)
    (tmp_path / "images.csv").write_text("image,width,height\na.png,5,4\nb.png,5,4\n")
    (tmp_path / "fixations.csv").write_text("image,x,y\na.png,1.5,2\na.png,4.9,0\nb.png,0,0\n")
    return tmp_path


def test_bsds500_reads_images_and_annotators(berkeley):
    (image,) = datasets.bsds500(berkeley)
    assert image.name == "99"
    assert_array_equal(image.image(), COLOUR)
    first, second = image.annotations()
    assert_array_equal(first.segmentation, LABELS)
    assert first.boundaries.sum() == 4
    assert not second.boundaries.any()


def test_bsds500_is_found_below_the_unpacked_archive(berkeley, tmp_path_factory):
    root = tmp_path_factory.mktemp("archive")
    (root / "BSR" / "BSDS500").mkdir(parents=True)
    (root / "BSR" / "BSDS500" / "data").symlink_to(berkeley)
    assert [image.name for image in datasets.bsds500(root, "train")] == ["12"]


def test_bsds300_is_the_train_and_val_part_of_bsds500(berkeley):
    assert [image.name for image in datasets.bsds300(berkeley, "train")] == ["12"]
    assert [image.name for image in datasets.bsds300(berkeley, "test")] == ["7"]


def test_bsds300_reads_its_own_format(tmp_path):
    write_image(tmp_path / "images" / "test" / "3.png", COLOUR)
    for person in ("1102", "1105"):
        folder = tmp_path / "human" / "color" / person
        folder.mkdir(parents=True)
        runs = "".join(f"0 {row} 0 1\n1 {row} 2 4\n" for row in range(4))
        (folder / "3.seg").write_text(
            f"format ascii cr\nimage 3\nuser {person}\nwidth 5\nheight 4\nsegments 2\ndata\n{runs}"
        )
    (image,) = datasets.bsds300(tmp_path, "test")
    first, second = image.annotations()
    assert_array_equal(first.segmentation, LABELS)
    assert_array_equal(second.boundaries, np.arange(5) == [[1]] * 4)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"not a mat file", "must be a readable .mat file"),
        ({"other": 1}, "must hold the variable groundTruth, got other"),
        ({"groundTruth": np.zeros((1, 2))}, "Boundaries and Segmentation of each annotator"),
    ],
)
def test_a_wrong_ground_truth_is_named(tmp_path, content, message):
    path = tmp_path / "5.mat"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        savemat(path, content)
    with pytest.raises(ValueError, match=rf"5\.mat.*{message}"):
        datasets.read_annotations(path)


def test_a_missing_ground_truth_is_named(berkeley):
    (berkeley / "groundTruth" / "test" / "99.mat").unlink()
    with pytest.raises(ValueError, match="ground truth of every image, got none of 99"):
        datasets.bsds500(berkeley)


def test_a_truncated_image_is_named(berkeley):
    path = berkeley / "images" / "test" / "99.png"
    path.write_bytes(path.read_bytes()[:45])
    with pytest.raises(ValueError, match=r"99\.png: must be an image that can be read"):
        datasets.bsds500(berkeley)[0].image()


def test_caltech_outlines_are_moved_to_image_coordinates(tmp_path):
    write_image(tmp_path / "101_ObjectCategories" / "cup" / "image_0001.png", np.zeros((20, 30), np.uint8))
    write_image(tmp_path / "101_ObjectCategories" / "cup" / "image_0002.png", np.zeros((20, 30), np.uint8))
    folder = tmp_path / "Annotations" / "cup"
    folder.mkdir(parents=True)
    contour = np.array([[0.0, 10, 10, 0], [0, 0, 5, 5]])
    savemat(folder / "annotation_0001.mat", {"box_coord": [[4, 9, 6, 16]], "obj_contour": contour})
    first, second = datasets.caltech101(tmp_path, ["cup"])
    outline = first.outline()
    assert_array_equal(outline.x, [5, 15, 15, 5])
    assert_array_equal(outline.y, [3, 3, 8, 8])
    assert outline.mask((20, 30)).sum() == 11 * 6
    assert outline.boundary((20, 30)).sum() == 2 * 11 + 2 * 4
    with pytest.raises(ValueError, match="cup/image_0002 must have an outline, got none"):
        second.outline()
    with pytest.raises(ValueError, match=r"categories must be among the 1 of .*, got 'mug'"):
        datasets.caltech101(tmp_path, ["mug"])


def test_fixations_without_observers_are_read(eye_tracking):
    a, b = datasets.eye_tracking(eye_tracking)
    assert (a.name, a.shape, len(a.fixations()), len(b.fixations())) == ("a", (4, 5), 2, 1)
    fixations = a.fixations()
    assert_array_equal(fixations.x, [1.5, 4.5])  # just off the image: moved to its edge
    assert fixations.observer is fixations.order is fixations.duration is None


def test_fixations_with_observers_are_read(eye_tracking):
    table = "image,subject,order,x,y,duration_ms\na.png,s1,1,0,0,200\na.png,s2,1,1,1,150.5\nb.png,s1,2,3,3,90\n"
    (eye_tracking / "fixations.csv").write_text(table)
    fixations = datasets.eye_tracking(eye_tracking)[0].fixations()
    assert_array_equal(fixations.observer, ["s1", "s2"])
    assert_array_equal(fixations.order, [1, 1])
    assert_array_equal(fixations.duration, [200, 150.5])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("image,x\na.png,1\n", "columns image, x, y are needed, y missing"),
        ("image,x,y\nc.png,1,1\n", r"line 2 must name an image of images.csv, got c\.png"),
        ("image,x,y\na.png,1,9\n", r"a\.png: fixations must lie on the image, got 9 on a side of 4"),
        ("image,x,y\na.png,one,1\n", r"a\.png: could not convert"),
    ],
)
def test_wrong_fixations_are_named(eye_tracking, table, message):
    (eye_tracking / "fixations.csv").write_text(table)
    with pytest.raises(ValueError, match=message):
        datasets.eye_tracking(eye_tracking)


def test_mit1003_is_read_as_published(tmp_path):
    points = np.zeros((40, 50), dtype=np.uint8)
    points[[10, 20], [30, 5]] = 255
    for folder, name in (("ALLSTIMULI", "i1.jpeg"), ("ALLFIXATIONMAPS", "i1_fixPts.jpg")):
        (tmp_path / folder).mkdir()
        Image.fromarray(points).save(tmp_path / folder / name, quality=100)
    (image,) = datasets.mit1003(tmp_path)
    assert image.name == "i1"
    assert_array_equal(image.fixations().y, [10, 20])
    assert_array_equal(image.fixations().x, [30, 5])


def test_mask_folders_pair_by_name(tmp_path):
    mask = np.array([[0, 128, 255]], dtype=np.uint8)
    write_image(tmp_path / "images" / "horse.png", np.zeros((1, 3, 3), np.uint8))
    write_image(tmp_path / "masks" / "horse.png", mask)
    (image,) = datasets.mask_folder(tmp_path)
    assert_array_equal(image.mask(), mask)
    write_image(tmp_path / "masks" / "cow.png", mask)
    with pytest.raises(ValueError, match=r"one image for each mask of .*, got only one of the two for cow"):
        datasets.mask_folder(tmp_path)


def test_predictions_are_read_in_every_format(tmp_path):
    strength = np.arange(20, dtype=np.uint8).reshape(4, 5)
    write_image(tmp_path / "a.png", strength)
    np.save(tmp_path / "b.npy", strength / 255)
    np.save(tmp_path / "c.npy", np.stack([LABELS, LABELS]))
    savemat(tmp_path / "d.mat", {"ucm2": np.zeros((9, 11))})
    segs = np.empty((1, 2), dtype=object)
    segs[0, 0] = segs[0, 1] = LABELS
    savemat(tmp_path / "e.mat", {"segs": segs})
    a, b, c, d, e = (datasets.read_prediction(path) for path in datasets.find_predictions(tmp_path).values())
    assert_array_equal(a.map, strength)
    assert_array_equal(b.map, strength / 255)
    assert d.ucm.shape == (9, 11)
    assert len(c.segmentations) == len(e.segmentations) == 2


def test_an_array_that_promises_more_than_memory_is_refused(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((2, 2)))
    data = (tmp_path / "a.npy").read_bytes()
    (tmp_path / "a.npy").write_bytes(data.replace(b"(2, 2), }" + b" " * 24, b"(999999999999, 999999), }" + b" " * 8))
    with pytest.raises(ValueError, match=r"a\.npy: must be a readable \.npy array"):
        datasets.read_prediction(tmp_path / "a.npy")


def test_two_predictions_of_one_image_are_refused(tmp_path):
    write_image(tmp_path / "a.png", COLOUR[..., 0])
    np.save(tmp_path / "a.npy", COLOUR[..., 0])
    with pytest.raises(ValueError, match=r"one file per image, got a\.npy and a\.png"):
        datasets.find_predictions(tmp_path)


def test_truths_of_several_annotators_come_from_their_folders(tmp_path):
    for person, names in (("p1", "ab"), ("p2", "a")):
        for name in names:
            write_image(tmp_path / person / f"{name}.png", np.eye(4, dtype=np.uint8) * 255)
    truths = datasets.find_truths(tmp_path)
    assert [len(truths[name].boundaries((4, 4))) for name in "ab"] == [2, 1]
    write_image(tmp_path / "a.png", np.eye(4, dtype=np.uint8))
    with pytest.raises(ValueError, match=r"as files .* or as folders of .png, got both"):
        datasets.find_truths(tmp_path)


def test_the_sample_needs_no_plotting_library():
    code = "import sys, imtorque.datasets as d; print(d.sample('hopper').shape, 'matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "(600, 512, 3) False"
    with pytest.raises(ValueError, match=r"name must be one of .*hopper.*, got 'lena'"):
        datasets.sample("lena")


def test_holdings_say_what_is_there(berkeley):
    root = berkeley.parent / "root"
    root.mkdir()
    (root / "bsds500").symlink_to(berkeley)
    held = {holding.data_set.name: holding for holding in datasets.holdings(root)}
    assert (held["bsds500"].found, held["bsds500"].whole) == (3, False)
    assert (held["mit1003"].found, held["mit1003"].whole, held["mit1003"].problem) == (0, False, None)
    (berkeley / "groundTruth" / "val" / "7.mat").unlink()
    broken = {holding.data_set.name: holding for holding in datasets.holdings(root)}["bsds500"]
    assert "got none of 7" in broken.problem


@pytest.mark.slow
def test_real_data_sets_are_whole():
    root = data_folder("bsds500").parent
    held = {holding.data_set.name: holding for holding in datasets.holdings(root)}
    assert held["bsds300"].whole
    assert all(holding.problem is None for holding in held.values())
