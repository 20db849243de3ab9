import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from PIL import Image
from typer.testing import CliRunner

from berkeley_files import LABELS, write_truth
from imtorque.cli import app


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def evaluate(kind, folder, *options):
    return run("evaluate", kind, "--predictions", folder / "predictions", "--truth", folder / "truth", *options)


def boundary_map():
    image = np.zeros((60, 80), dtype=np.uint8)
    image[20, 10:70] = 255
    image[40, 10:70] = 100
    return image


@pytest.fixture
def boundaries(tmp_path):
    for person in ("p1", "p2"):
        (tmp_path / "truth" / person).mkdir(parents=True)
    (tmp_path / "predictions").mkdir()
    for name in ("a", "b"):
        Image.fromarray(boundary_map()).save(tmp_path / "predictions" / f"{name}.png")
        for person in ("p1", "p2"):
            Image.fromarray((boundary_map() == 255) * np.uint8(255)).save(tmp_path / "truth" / person / f"{name}.png")
    return tmp_path


@pytest.fixture
def regions(tmp_path):
    (tmp_path / "predictions").mkdir()
    write_truth(tmp_path / "truth" / "a.mat", [LABELS])
    Image.fromarray(LABELS.astype(np.uint8)).save(tmp_path / "predictions" / "a.png")
    return tmp_path


@pytest.fixture
def saliency(tmp_path):
    truth = tmp_path / "truth"
    (truth / "images").mkdir(parents=True)
    (tmp_path / "predictions").mkdir()
    y, x = np.mgrid[:30, :40]
    rows = []
    for name, (fy, fx) in {"a": (8, 30), "b": (20, 10)}.items():
        Image.fromarray(np.zeros((30, 40), np.uint8)).save(truth / "images" / f"{name}.png")
        np.save(tmp_path / "predictions" / f"{name}.npy", np.exp(-0.02 * ((y - fy) ** 2 + (x - fx) ** 2)))
        rows += [f"{name}.png,{fx},{fy}", f"{name}.png,{fx + 1},{fy}"]
    (truth / "images.csv").write_text("image,width,height\na.png,40,30\nb.png,40,30\n")
    (truth / "fixations.csv").write_text("image,x,y\n" + "\n".join(rows) + "\n")
    return tmp_path


def test_boundaries_print_one_json_object_and_nothing_else(boundaries):
    done = evaluate("boundaries", boundaries, "--thresholds", 9, "--json")
    assert done.exit_code == 0
    result = json.loads(done.stdout)
    assert set(result["ods"]) == set(result["ois"]) == {"f", "precision", "recall", "threshold"}
    assert_allclose(result["ods"]["f"], 1)
    assert result["images"] == 2
    assert [image["name"] for image in result["per_image"]] == ["a", "b"]
    assert len(result["curve"]["thresholds"]) == 9
    assert done.stdout.count("\n") == 1


def test_boundaries_write_a_table_and_an_image(boundaries):
    out = boundaries / "out"
    done = evaluate("boundaries", boundaries, "--thresholds", 9, "--out", out, "--matching", "cardinality")
    assert done.exit_code == 0
    assert done.stdout.startswith("| method | ODS F |")
    names = [".imtorque.evaluate.json", "precision_recall.png", "results.json", "table.md"]
    assert sorted(path.name for path in out.iterdir()) == names
    assert (out / "table.md").read_text() == done.stdout
    with Image.open(out / "precision_recall.png") as image:
        assert min(image.size) > 300


def test_a_baseline_is_compared_with_its_interval(boundaries):
    done = evaluate("boundaries", boundaries, "--thresholds", 9, "--json", "--baseline", boundaries / "predictions")
    result = json.loads(done.stdout)
    assert result["difference"] == {"value": 0, "low": 0, "high": 0}
    assert result["baseline"]["ods"] == result["ods"]


@pytest.mark.slow
def test_the_number_of_jobs_changes_nothing(boundaries):
    one, two = (evaluate("boundaries", boundaries, "--json", "--jobs", jobs).stdout for jobs in (1, 2))
    assert one == two


def test_regions_take_labels_and_print_their_numbers(regions):
    result = json.loads(evaluate("regions", regions, "--json").stdout)
    assert set(result["covering"]) >= {"ods", "ois", "best"}
    assert_allclose([result["covering"]["ods"], result["pri"]["ods"], result["pri"]["ois"]], 1)
    assert_allclose(result["voi"]["ods"], 0, atol=1e-12)
    assert "| covering | 1.0000 |" in evaluate("regions", regions).stdout


def test_masks_print_the_means(tmp_path):
    mask = np.zeros((40, 40), dtype=np.uint8)
    mask[10:30, 10:30] = 255
    for folder, values in (("truth", mask), ("predictions", mask | np.roll(mask, 10, axis=1))):
        (tmp_path / folder).mkdir()
        Image.fromarray(values).save(tmp_path / folder / "x.png")
    result = json.loads(evaluate("masks", tmp_path, "--json").stdout)
    assert_allclose(result["iou"], 2 / 3)
    assert result["images"] == 1


def test_saliency_stands_beside_the_centre_prior(saliency):
    result = json.loads(evaluate("saliency", saliency, "--json", "--sigma", 4).stdout)
    prior = result["centre_prior"]
    assert result["kl_divergence"] < prior["kl_divergence"]
    for name in ("f", "f_per_image", "auc_judd", "auc_borji", "auc_shuffled", "nss", "cc", "sim", "information_gain"):
        assert result[name] > prior[name], name
    assert result["f_beyond_centre_prior"]["low"] > 0
    assert "| centre prior |" in evaluate("saliency", saliency).stdout


def wrong_size(folder):
    Image.fromarray(boundary_map()[:50]).save(folder / "predictions" / "a.png")


def bad_truth(folder):
    (folder / "truth" / "p1" / "b.png").write_bytes(b"no image")


def colour(folder):
    Image.fromarray(np.dstack([boundary_map()] * 2 + [boundary_map() // 2])).save(folder / "predictions" / "b.png")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda folder: (folder / "predictions" / "a.png").unlink(), "got none for a"),
        (lambda folder: (folder / "truth" / "p1" / "c.png").symlink_to("a.png"), "got none for c"),
        (lambda folder: (folder / "predictions" / "c.png").symlink_to("a.png"), "got also c"),
        (wrong_size, "truth must have the prediction's shape (50, 80), got (60, 80)"),
        (bad_truth, "b.png: must be an image that can be read"),
        (colour, "must be a grey image, got colours"),
    ],
)
def test_what_is_wrong_is_named_in_one_line(boundaries, spoil, message):
    spoil(boundaries)
    done = evaluate("boundaries", boundaries, "--json", "--out", boundaries / "out")
    assert done.exit_code == 1
    assert done.stdout == ""
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (boundaries / "out").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--thresholds", 0), "thresholds must be at least 1, got 0"),
        (("--jobs", 0), "jobs must be at least 1, got 0"),
    ],
)
def test_wrong_options_are_refused(boundaries, options, message):
    done = evaluate("boundaries", boundaries, *options)
    assert done.exit_code == 1
    assert message in done.stderr


def test_an_unknown_matching_is_a_usage_error(boundaries):
    done = evaluate("boundaries", boundaries, "--matching", "greedy")
    assert done.exit_code == 2
    assert "'greedy' is not one of 'min_cost', 'cardinality'" in " ".join(done.stderr.replace("│", " ").split())


def test_a_saliency_map_of_another_size_is_named(saliency):
    np.save(saliency / "predictions" / "b.npy", np.ones((3, 3)))
    done = evaluate("saliency", saliency)
    assert done.exit_code == 1
    assert "b (" in done.stderr
    assert "the map must have the image's shape (30, 40), got (3, 3)" in done.stderr


def test_data_lists_every_set_with_its_licence(tmp_path):
    listed = json.loads(run("data", "--json", "--root", tmp_path).stdout)["data_sets"]
    assert {row["name"] for row in listed} >= {"bsds300", "bsds500", "caltech101", "osie", "mit1003"}
    assert all(row["licence"] and row["address"] and row["state"] == "absent" for row in listed)
    assert "| mit1003 |" in run("data", "--root", tmp_path).stdout
    assert run("data", "--root", tmp_path / "nowhere").exit_code == 1


def test_an_image_of_double_size_is_a_contour_map(regions):
    contours = np.zeros((9, 11), dtype=np.uint8)
    contours[:, 4] = 255  # between columns 1 and 2 of the image
    Image.fromarray(contours).save(regions / "predictions" / "a.png")
    covering = json.loads(evaluate("regions", regions, "--json", "--thresholds", 3).stdout)["covering"]
    assert_allclose([covering["ods"], covering["ois"], covering["best"]], 1)
    result = json.loads(evaluate("boundaries", regions, "--json", "--thresholds", 3, "--max-distance", 0.2).stdout)
    assert_allclose(result["ods"]["f"], 1)


OWN = {"edges": "edges --strengthen", "segment": "segment --count 3", "saliency": "saliency --method itti"}


@pytest.fixture(scope="module")
def own_outputs(tmp_path_factory):
    """Images, and what our own verbs write about them, all in one folder."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "images").mkdir()
    for k, name in enumerate(("a.png", "b.jpg")):
        pixels = np.zeros((60, 80), np.uint8)
        pixels[10 + k : 40, 15:60] = 200
        Image.fromarray(pixels).save(folder / "images" / name)
    for verb in OWN.values():
        done = run(*verb.split(), folder / "images", "--out", folder / "predictions", "--jobs", 1)
        assert done.exit_code == 0, done.output
    (folder / "truth").mkdir()
    for name, k in (("a", 0), ("b", 1)):
        outline = np.zeros((60, 80), np.uint8)
        outline[10 + k : 40, 15:60] = 255
        outline[11 + k : 39, 16:59] = 0
        Image.fromarray(outline).save(folder / "truth" / f"{name}.png")
    return folder


def test_boundaries_take_what_edges_and_segment_wrote(own_outputs):
    by_edges = json.loads(evaluate("boundaries", own_outputs, "--json", "--thresholds", 9).stdout)
    assert [image["name"] for image in by_edges["per_image"]] == ["a", "b"]
    assert by_edges["ods"]["f"] > 0.8
    for path in (own_outputs / "predictions").glob("*.edges.strengthened.npy"):
        path.rename(own_outputs / path.name)
    by_image = json.loads(evaluate("boundaries", own_outputs, "--json", "--thresholds", 9).stdout)
    assert by_image["ods"]["f"] > 0.8
    for path in (own_outputs / "predictions").glob("*.edges.strengthened.png"):
        path.rename(own_outputs / path.name)
    by_labels = json.loads(evaluate("boundaries", own_outputs, "--json", "--max-distance", 0.03).stdout)
    assert len(by_labels["curve"]["thresholds"]) == 1
    assert by_labels["ods"]["f"] > 0.8


def test_regions_take_the_labels_that_segment_wrote(own_outputs, tmp_path):
    (tmp_path / "truth").mkdir()
    for name, k in (("a", 0), ("b", 1)):
        labels = np.ones((60, 80), np.uint8)
        labels[10 + k : 40, 15:60] = 2
        Image.fromarray(labels).save(tmp_path / "truth" / f"{name}.png")
    done = run(
        "evaluate", "regions", "--json", "--predictions", own_outputs / "predictions", "--truth", tmp_path / "truth"
    )
    assert json.loads(done.stdout)["covering"]["ods"] > 0.9


def test_saliency_takes_the_maps_that_saliency_wrote(own_outputs, tmp_path):
    (tmp_path / "images").symlink_to(own_outputs / "images")
    (tmp_path / "images.csv").write_text("image,width,height\na.png,80,60\nb.jpg,80,60\n")
    (tmp_path / "fixations.csv").write_text("image,x,y\na.png,30,20\nb.jpg,31,22\n")
    done = run("evaluate", "saliency", "--json", "--predictions", own_outputs / "predictions", "--truth", tmp_path)
    assert json.loads(done.stdout)["images"] == 2
