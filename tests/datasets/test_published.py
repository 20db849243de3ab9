"""Tiny drawn stand-ins for published downloads become what the loaders read."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image
from scipy.io import savemat
from typer.testing import CliRunner

from imtorque import datasets
from imtorque.cli import app
from imtorque.datasets import lists, published

RNG = np.random.default_rng(0)
LARGE = RNG.integers(0, 255, (300, 400, 3), np.uint8)
CONTOUR = {"box_coord": [[3, 9, 4, 8]], "obj_contour": np.array([[0.0, 4, 4, 0], [0, 0, 5, 5]])}


def save(path, pixels):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)


def save_cells(path, cells):
    path.parent.mkdir(parents=True, exist_ok=True)
    savemat(path, {"fixations": cells})


def cells_of(items):
    cells = np.empty((len(items), 1), object)
    cells[:, 0] = items
    return cells


@pytest.fixture
def short_lists(monkeypatch):
    """Lists of what the stand-ins hold."""
    files = {
        "caltech101": ["101_ObjectCategories/airplanes/image_0001.jpg", "Annotations/airplanes/annotation_0001.mat"],
        "weizmann_horses": ["images/horse001.jpg", "masks/horse001.png"],
    }
    monkeypatch.setattr(published, "listed", lambda name: dict.fromkeys(files[name], ""))


def test_osie_is_read_by_the_names_in_its_table_and_reduced(tmp_path):
    for name in ("1001", "1002"):
        save(tmp_path / "osie" / "data" / "stimuli" / f"{name}.jpg", LARGE)
    people = [{"fix_x": [[1.0, 400.0]], "fix_y": [[1.0, 300.0]], "fix_duration": [[246.0, 136.0]]}]
    people.append({"fix_x": np.zeros((1, 0)), "fix_y": np.zeros((1, 0)), "fix_duration": np.zeros((1, 0))})
    other = [{"fix_x": [[200.5]], "fix_y": [[150.5]], "fix_duration": [[99.0]]}]
    rows = [{"img": "1002.jpg", "subjects": cells_of(people)}, {"img": "1001.jpg", "subjects": cells_of(other)}]
    save_cells(tmp_path / "osie" / "data" / "eye" / "fixations.mat", cells_of(rows))
    second, first = datasets.eye_tracking(published.prepare("osie", tmp_path / "osie", tmp_path / "root"))
    assert (second.name, first.name) == ("1002", "1001")
    assert first.image().shape == (150, 200, 3)
    assert_allclose(second.fixations().x, [-0.25, 199.25])  # centres of pixels of half the size
    assert_allclose(second.fixations().y, [-0.25, 149.25])
    assert_array_equal(second.fixations().duration, [246, 136])
    assert_array_equal(second.fixations().order, [1, 2])
    assert_allclose([first.fixations().y[0], first.fixations().x[0]], [74.5, 99.5])


def test_sun_has_a_row_of_cells_for_each_stimulus(tmp_path):
    source = tmp_path / "Scene"
    save(source / "data" / "stimuli" / "001.jpg", LARGE[:150, :200])
    cells = np.empty((1, 3), object)
    cells[0] = [np.array([[11, 21, 0.2, 0.134], [12, 22, 0.4, 0.2]]), np.zeros((0, 0)), np.array([[1, 2, 0.1, 0.3]])]
    save_cells(source / "data" / "tidy" / "fixations.mat", cells)
    (one,) = datasets.eye_tracking(published.prepare("sun", source, tmp_path))
    fixations = one.fixations()
    assert_array_equal([fixations.y, fixations.x], [[10, 11, 0], [20, 21, 1]])
    assert fixations.observer.tolist() == ["1", "1", "3"]
    assert_array_equal(fixations.duration, [134, 200, 300])


def test_mit1003_is_reduced_with_its_marks(tmp_path):
    save(tmp_path / "mit" / "ALLSTIMULI" / "i1.jpeg", LARGE)
    marks = np.zeros((300, 400), np.uint8)
    marks[8:16, 16:24] = 255  # a block, as JPEG's
    save(tmp_path / "mit" / "ALLFIXATIONMAPS" / "i1_fixPts.jpg", marks)
    (one,) = datasets.eye_tracking(published.prepare("mit1003", tmp_path / "mit", tmp_path))
    (full,) = datasets.mit1003(tmp_path / "mit")
    assert one.shape == full.reduced(150).shape == full.reduced(150).image().shape[:2] == (150, 200)
    assert_allclose([one.fixations().y.mean(), one.fixations().x.mean()], [5.5, 9.5], atol=0.01)
    assert_allclose(one.fixations().y, full.reduced(150).fixations().y, atol=0.01)
    assert full.reduced(300) is full


@pytest.mark.usefixtures("short_lists")
def test_caltech_s_listed_images_are_copied_with_outlines_under_one_name(tmp_path):
    source = tmp_path / "download"
    for k in (1, 2):
        save(source / "101_ObjectCategories" / "airplanes" / f"image_000{k}.jpg", LARGE)
    (source / "Annotations" / "Airplanes_Side_2").mkdir(parents=True)
    savemat(source / "Annotations" / "Airplanes_Side_2" / "annotation_0001.mat", CONTOUR)
    (one,) = datasets.caltech101(published.prepare("caltech101", source, tmp_path / "root"))
    original = source / "101_ObjectCategories" / "airplanes" / "image_0001.jpg"
    assert one.image_path.read_bytes() == original.read_bytes()
    assert_array_equal(one.outline().y, [2, 2, 7, 7])
    original.unlink()
    with pytest.raises(ValueError, match=r"must hold 101_ObjectCategories/airplanes/image_0001\.jpg, got none"):
        published.prepare("caltech101", source, tmp_path / "other")
    assert not list((tmp_path / "other").iterdir())  # nothing is left of what was begun


@pytest.mark.usefixtures("short_lists")
def test_horses_are_reduced_and_their_masks_have_two_values(tmp_path):
    save(tmp_path / "download" / "rgb" / "horse001.jpg", np.repeat(np.repeat(LARGE, 2, 0), 2, 1))
    mask = np.zeros((300, 400), np.uint8)  # of another size than its image, and of JPEG's values
    mask[:, :200] = 250
    save(tmp_path / "download" / "figure_ground" / "horse001.jpg", mask)
    (one,) = datasets.mask_folder(published.prepare("horses", tmp_path / "download", tmp_path))
    assert one.image().shape == (300, 400, 3)
    assert_array_equal(np.unique(one.mask()), [0, 255])
    assert_allclose((one.mask() == 255).mean(), 0.5, atol=0.01)


@pytest.mark.usefixtures("short_lists")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("cats", "NAME must be one of osie, sun, mit1003, caltech101, horses, got cats"),
        ("osie", "data/stimuli must be a folder, got nothing"),
        ("mit1003", "ALLSTIMULI must be a folder, got nothing"),
        ("horses", "must hold rgb/ and figure_ground/, got neither"),
    ],
)
def test_what_is_no_such_download_is_refused_in_one_line(name, message, tmp_path):
    (tmp_path / "empty").mkdir()
    line = ["data", "prepare", name, "--from", str(tmp_path / "empty"), "--root", str(tmp_path / "root")]
    done = CliRunner().invoke(app, line)
    assert done.exit_code == 1
    assert message in done.output.replace("\n", " ")


def test_what_is_there_already_stays(tmp_path):
    (tmp_path / "caltech101").mkdir()
    with pytest.raises(ValueError, match="caltech101 must not be there yet, got one"):
        published.prepare("caltech101", tmp_path, tmp_path)


def test_a_list_tells_which_files_are_others(tmp_path):
    first, second, third = list(lists.listed("weizmann_horses"))[:3]
    for name in (first, second, "images/more.jpg"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"other")
    compared = lists.compare_with_list("weizmann_horses", tmp_path)
    assert (compared.same, compared.other, compared.beside) == (0, 2, 1)
    assert str(compared).startswith("weizmann_horses: of the 394 listed files 0 are the same, 2 have other bytes, 392 ")
    assert third not in lists.digests("weizmann_horses", tmp_path)


@pytest.mark.parametrize("name", lists.LISTS)
def test_a_list_is_what_is_written_of_it(name):
    assert lists.list_text(lists.listed(name)) == (lists.FOLDER / f"{name}.json").read_text()


def test_the_verb_says_how_the_files_compare(tmp_path):
    save(tmp_path / "mit" / "data" / "stimuli" / "001.jpg", LARGE[:150, :200])
    cells = np.empty((1, 1), object)
    cells[0, 0] = np.array([[1.0, 2, 0.1, 0.3]])
    save_cells(tmp_path / "mit" / "data" / "tidy" / "fixations.mat", cells)
    line = ["data", "prepare", "sun", "--from", str(tmp_path / "mit"), "--root", str(tmp_path / "root")]
    done = CliRunner().invoke(app, line)
    assert done.exit_code == 0, done.output
    assert "sun_scenes: of the 500 listed files 0 are the same, 1 have other bytes, 499 are missing" in done.output
