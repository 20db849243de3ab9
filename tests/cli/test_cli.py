"""The command line as a new user meets it, with good input and bad."""

import csv
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image
from typer.testing import CliRunner

import imtorque
from imtorque import synthetic
from imtorque import synthetic as scenes
from imtorque.cli import app
from imtorque.files import read_image, write_image, write_text
from waiting import GIVEN_UP, group_is_gone, until

VERBS = ["demo", "maps", "count", "edges", "saliency"]
IMAGES = 10  # of a batch that is stopped on its way


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    """Every command runs in an empty folder."""
    monkeypatch.chdir(tmp_path)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs start with it ignored


@pytest.fixture
def shapes():
    pixels = np.round(synthetic.scene("shapes", (81, 121)) * 255).astype(np.uint8)
    return write_image("shapes.png", pixels)


def run(line, status=0):
    result = CliRunner().invoke(app, shlex.split(line))
    assert result.exit_code == status, result.output
    return result


def run_json(line, status=0):
    return json.loads(run(f"{line} --json", status).stdout)


def program(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "imtorque", *arguments], capture_output=True, text=True, check=False, **options
    )


def names(folder="imtorque-out"):
    return sorted(path.name for path in Path(folder).iterdir())


def test_importing_the_library_brings_neither_matplotlib_nor_typer():
    code = "import imtorque, sys; print([m for m in ('matplotlib', 'typer', 'rich', 'scipy') if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


@pytest.mark.slow
@pytest.mark.usefixtures("shapes")
def test_help_and_verbs_do_not_bring_matplotlib():
    code = (
        "import sys; from imtorque.cli import app; app(['count', 'shapes.png'], standalone_mode=False);"
        "print('matplotlib' in sys.modules)"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).split()[-1] == "False"


def test_version():
    assert run("--version").stdout == f"imtorque {imtorque.__version__}\n"


@pytest.mark.slow
def test_every_help_shows_an_example_that_works_as_typed():
    found = set()
    for verb in ("", *VERBS):
        text = run(f"{verb} --help").stdout
        examples = re.findall(r"imtorque (demo|(?:maps|count|edges|saliency) sample:\S+[^\n│]*)", text)
        assert examples, verb
        found |= {example.strip() for example in examples}
    for example in sorted(found - {"demo"}):  # that has a test of its own
        run(example)


@pytest.mark.slow
def test_demo_names_the_files_it_wrote():
    lines = run("demo --out here").stdout.splitlines()
    named = [line.strip() for line in lines[lines.index("Look at:") + 1 :]]
    assert sorted([".imtorque.demo.json", *(Path(name).name for name in named)]) == names("here")
    assert all(Path(name).stat().st_size > 0 for name in named)
    assert {Path(name).suffix for name in named} == {".png", ".csv"}


def test_demo_is_told_as_one_object_too(monkeypatch):
    def write(name, out):
        outputs = [write_text(out / f"{name}.demo.{suffix}", "") for suffix in ("png", "csv")]
        return {"sample": name, "outputs": [str(path) for path in outputs]}

    monkeypatch.setattr("imtorque.cli.demo._write_demo", write)
    assert [sample["sample"] for sample in run_json("demo --out here")["samples"]] == ["shapes", "hopper"]


def test_count_writes_a_table_an_overlay_labels_and_a_record(shapes):
    result = run("count shapes.png")
    assert result.stdout.startswith("shapes.png: ")
    files = [f"shapes.png.count.{end}" for end in ("csv", "json", "labels.tiff", "png")]
    assert names() == [".imtorque.count.json", "counts.csv", "objects.csv", *files]
    rows = list(csv.DictReader(io.StringIO(Path("imtorque-out/shapes.png.count.csv").read_text())))
    found = imtorque.find_blobs(read_image(shapes))
    assert [float(row["y"]) for row in rows] == pytest.approx(found.y.tolist(), rel=1e-5)
    assert [int(row["size"]) for row in rows] == found.size.tolist()
    assert [int(row["number"]) for row in rows] == list(range(1, len(found) + 1))
    labels = read_image("imtorque-out/shapes.png.count.labels.tiff")
    np.testing.assert_array_equal(labels, found.labels)


@pytest.mark.usefixtures("shapes")
def test_objects_of_one_sign_and_a_count():
    image = run_json("count shapes.png --sign dark --count 2 --no-overlay --no-labels")["images"][0]
    assert image["result"]["dark"] == image["result"]["count"] == 2
    assert [Path(path).name for path in image["outputs"]] == ["shapes.png.count.csv", "shapes.png.count.json"]


def test_objects_inside_a_mask(shapes):
    everything = imtorque.find_blobs(read_image(shapes))
    left = np.zeros((81, 121), np.uint8)
    left[:, :60] = 255
    write_image("mask.png", left)
    Path("masks").mkdir()
    write_image("masks/shapes.tiff", left)
    for mask in ("mask.png", "masks"):
        result = run_json(f"count shapes.png --mask {mask} --out {mask}-out")["images"][0]["result"]
        assert result["count"] == np.count_nonzero(everything.x < 60)
        assert all(found["x"] < 60 for found in result["objects"])
    assert_array_equal(read_image("mask.png-out/shapes.png.count.labels.tiff")[:, 60:], 0)
    write_image("mask.png", 255 - left)
    assert run_json("count shapes.png --mask mask.png --out mask.png-out")["images"][0]["status"] == "done"


def test_objects_of_a_depth_map_are_what_stands_in_front():
    scene = scenes.depth_scene(1)
    write_image("depth.png", np.rint(1000 * scene.depth).astype(np.uint16))
    result = run_json("count --depth depth.png")["images"][0]["result"]
    assert result["bright"] == len(scene.y)
    places = [(round(found["y"]), round(found["x"])) for found in result["objects"] if found["torque"] > 0]
    assert {int(scene.labels[place]) for place in places} == set(range(1, len(scene.y) + 1))


@pytest.mark.usefixtures("shapes")
def test_owners_of_borders_are_drawn_and_written():
    result = run_json("border-ownership shapes.png --model drawings")["images"][0]["result"]
    side = np.load("imtorque-out/shapes.png.border-ownership.npy")
    assert np.count_nonzero(side) == result["edge_pixels"]
    assert read_image("imtorque-out/shapes.png.border-ownership.png").shape == (81, 121, 3)


@pytest.mark.usefixtures("shapes")
def test_a_mask_of_another_size_is_an_error():
    write_image("mask.png", np.zeros((5, 5), np.uint8))
    assert (
        "mask must have the image's 81 x 121 pixels, got mask.png of 5 x 5"
        in run("count shapes.png --mask mask.png", 1).stderr
    )


def test_maps_as_images_and_numbers(shapes):
    run("maps shapes.png --sizes 3-31 --at 5,21 --arrays both")
    edges = imtorque.detect_edges(read_image(shapes))
    value, scale = imtorque.value_and_scale_maps(edges, range(3, 32, 2))
    for suffix in (".npy", ".tiff"):
        read = np.load if suffix == ".npy" else read_image
        assert_array_equal(read(f"imtorque-out/shapes.png.maps.value{suffix}"), value)
        assert_array_equal(read(f"imtorque-out/shapes.png.maps.scale{suffix}"), scale)
        assert_array_equal(read(f"imtorque-out/shapes.png.maps.size21{suffix}"), imtorque.torque_map(edges, 21))
    assert read_image("imtorque-out/shapes.png.maps.value.png").shape == (81, 121, 3)
    strongest = json.loads(Path("imtorque-out/shapes.png.maps.json").read_text())["result"]["strongest"]
    assert abs(strongest["torque"]) == np.abs(value).max()


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("--pattern saddle", {"pattern": "saddle"}),
        ("--pattern -30", {"pattern": np.radians(-30)}),
        ("--polarity free --patch disk", {"polarity": "free", "patch": "disk"}),
        ("--pattern star --polarity free", {"pattern": "star", "polarity": "free"}),
    ],
)
def test_maps_of_other_patterns_and_without_polarity(shapes, line, options):
    run(f"maps shapes.png --sizes 3-31 --at 21 --extrema 5 {line}")
    edges = imtorque.detect_edges(read_image(shapes))
    value, _ = imtorque.value_and_scale_maps(edges, range(3, 32, 2), **options)
    assert_array_equal(np.load("imtorque-out/shapes.png.maps.value.npy"), value)
    assert_array_equal(np.load("imtorque-out/shapes.png.maps.size21.npy"), imtorque.torque_map(edges, 21, **options))
    extrema = imtorque.find_extrema(edges, range(3, 32, 2), count=5, **options)
    assert Path("imtorque-out/shapes.png.maps.extrema.csv").read_text() == extrema.to_csv()


def test_an_image_without_edges_has_maps_and_no_torque():
    write_image("flat.png", np.full((20, 30), 9, np.uint8))
    assert run("maps flat.png").stdout == "flat.png: no torque anywhere\n"
    assert run("count flat.png").stdout == "flat.png: 0 objects (0 bright, 0 dark)\n"


@pytest.mark.usefixtures("shapes")
def test_strengthened_edges_as_images_and_numbers():
    (done,) = run_json("edges shapes.png --strengthen")["images"]
    after = np.load("imtorque-out/shapes.png.edges.strengthened.npy")
    assert_array_equal(read_image("imtorque-out/shapes.png.edges.strengthened.png"), np.round(after * 65535.0))
    before = read_image("imtorque-out/shapes.png.edges.png")
    assert before.dtype == np.uint8
    assert read_image("imtorque-out/shapes.png.edges.before_after.png").shape == (81, 242)
    assert done["result"]["edge_pixels"] == np.count_nonzero(after)
    assert run_json("edges shapes.png --strengthen")["images"][0]["status"] == "complete"


@pytest.mark.usefixtures("shapes")
def test_an_image_without_edges_has_none_that_are_strengthened():
    write_image("blank.png", np.zeros((9, 9), np.uint8))
    run("edges blank.png --strengthen --jobs 1")
    assert not np.load("imtorque-out/blank.png.edges.strengthened.npy").any()


def test_edges_as_an_image_and_numbers(shapes):
    run("edges shapes.png --sigma 2 --force strength")
    edges = imtorque.detect_edges(read_image(shapes), sigma=2, force="strength")
    assert_array_equal(np.load("imtorque-out/shapes.png.edges.npy"), [edges.fx, edges.fy])
    assert_array_equal(
        read_image("imtorque-out/shapes.png.edges.png") > 0, np.round(edges.strength * 255 / edges.strength.max()) > 0
    )


@pytest.mark.usefixtures("shapes")
def test_json_is_one_object_and_nothing_else():
    done = program("count", "shapes.png", "nothing.png", "--json", "--jobs", "1")
    report = json.loads(done.stdout)
    assert done.returncode == 1
    assert report["failed"] == 1
    assert [image["status"] for image in report["images"]] == ["done", "failed"]
    assert report["parameters"]["overlap"] == 0.4
    assert report["images"][0]["result"]["objects"][0]["number"] == 1


def test_json_is_whole_when_all_files_are_bad_or_the_batch_is_stopped(monkeypatch):
    assert run_json("count missing.png", 1)["failed"] == 1

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("imtorque.cli.runner.process", stop)
    report = run_json("count sample:disc", 130)
    assert report["stopped"]
    assert report["images"] == []


def test_bad_files_are_named_the_rest_is_done_and_the_status_is_1(shapes):
    Path("text.png").write_text("no image")
    Path("cut.png").write_bytes(shapes.read_bytes()[:300])
    Path("empty").mkdir()
    result = run("count text.png cut.png empty missing.png 'no*.jpg' sample:nobody shapes.png --jobs 1", 1)
    errors = [line for line in result.stderr.splitlines() if line.startswith("imtorque: ")]
    assert len(errors) == 6
    for name in ("text.png", "cut.png", "empty", "missing.png", "no*.jpg", "nobody"):
        assert sum(name in error for error in errors) == 1, name
    assert result.stdout.startswith("shapes.png: ")
    assert "1 of 7 images" in result.stderr


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("edges", "Missing argument"),
        ("nonsense", "No such command"),
        ("count shapes.png --sizes 4,8", "must be odd"),
        ("count shapes.png --sizes 9-5", "sizes must be"),
        ("count shapes.png --sizes big", "must be like 20-60 or 5-12um"),
        ("maps shapes.png --sizes big", "must be like 3-91"),
        ("count shapes.png --threshold -1", "greater than or equal to 0"),
        ("count shapes.png --jobs 0", "greater than or equal to 1"),
        ("count shapes.png --mask missing.png", "does not exist"),
        ("maps shapes.png --patch star", "not one of"),
        ("maps shapes.png --pattern sprial", "pattern must be one of circle, star, spiral, saddle"),
        ("maps shapes.png --pattern nan", "pattern must be a name or an angle"),
        ("maps shapes.png --polarity both", "not one of"),
    ],
)
@pytest.mark.usefixtures("shapes")
def test_wrong_options_are_usage_errors_with_status_2(line, reason):
    assert reason in " ".join(run(line, 2).stderr.replace("│", " ").split())
    assert not Path("imtorque-out").exists()


@pytest.mark.parametrize(
    "line", ["maps shapes.png --alpha nan", "edges shapes.png --sigma 0", "edges shapes.png --low 2 --high 1"]
)
@pytest.mark.usefixtures("shapes")
def test_values_the_library_refuses_are_one_line_errors(line):
    errors = run(line, 1).stderr.splitlines()
    assert errors[0].startswith("imtorque: shapes.png: ")
    assert "must" in errors[0]


@pytest.mark.usefixtures("shapes")
def test_an_output_folder_that_is_a_file_is_a_one_line_error():
    for line in ("count shapes.png", "count sample:disc", "demo"):
        assert run(f"{line} --out shapes.png", 1).stderr == "imtorque: shapes.png: File exists\n"


def test_unusual_images_go_through_every_verb(shapes):
    grey = read_image(shapes)
    Image.new("L", (1, 1)).save("pixel.png")
    write_image("deep.tiff", grey.astype(np.uint16) * 257)
    Image.fromarray(grey).convert("P").save("palette.png")
    Image.fromarray(grey).convert("RGBA").save("alpha.png")
    Image.fromarray(grey).save("photo.jpg")
    Path("in").mkdir()
    for verb in (*VERBS[1:-1], "saliency --method torque"):
        images = run_json(f"{verb} pixel.png deep.tiff palette.png alpha.png photo.jpg --jobs 1")["images"]
        assert [image["status"] for image in images] == ["done"] * 5


def test_two_inputs_of_one_stem_or_one_name_do_not_collide(shapes):
    for folder in ("one", "two"):
        Path(folder).mkdir()
        write_image(f"{folder}/a.png", read_image(shapes))
    write_image("one/a.jpg", read_image(shapes))
    run("count one two --no-overlay --no-labels --jobs 1")
    assert [name for name in names() if name.endswith(".count.csv")] == [
        "a.jpg.count.csv",
        "a.png.one.count.csv",
        "a.png.two.count.csv",
    ]


@pytest.mark.slow
def test_output_to_a_pipe_has_no_bar_and_no_colour(shapes):
    write_image("other.png", read_image(shapes))
    for environment in ({}, {"NO_COLOR": "1"}):
        done = program("count", "shapes.png", "other.png", "--jobs", "1", env={**os.environ, **environment})
        assert done.stdout.splitlines()[0].startswith("shapes.png: ")
        assert "\x1b" not in done.stdout + done.stderr
        assert "━" not in done.stdout + done.stderr


@pytest.mark.slow
def test_a_terminal_gets_a_bar_with_the_time_left_and_no_color_is_heeded(shapes):
    pty = pytest.importorskip("pty")
    for k in range(3):
        write_image(f"p{k}.png", read_image(shapes))
    for colour in ({}, {"NO_COLOR": "1"}):
        main, side = pty.openpty()
        environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"} | {
            "TERM": "xterm",
            **colour,
        }
        command = [sys.executable, "-m", "imtorque", "count", "p0.png", "p1.png", "p2.png", "--jobs", "1"]
        started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=side, env=environment, text=True)
        lines, _ = started.communicate(timeout=GIVEN_UP)
        os.close(side)
        shown = os.read(main, 100_000).decode()
        os.close(main)
        assert len(lines.splitlines()) == 3
        assert "3/3" in shown
        assert ("\x1b[38" in shown or "\x1b[3" in shown) == (not colour)


@pytest.mark.slow
def test_tab_completes_verbs_and_options():
    def complete(line):
        words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - (not line.endswith(" ")))}
        variables = {**os.environ, "_IMTORQUE_COMPLETE": "complete_bash", **words}
        return subprocess.run(
            [sys.executable, "-c", "from imtorque.cli import main; main()"],
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        ).stdout.split()

    assert complete("imtorque cou") == ["count"]
    assert set(complete("imtorque ")) >= set(VERBS)
    assert "--threshold" in complete("imtorque count --thr")


def records_of_images_that_are_done():
    """Return the records that do not say what is being written."""
    return [path for path in Path("out").glob("[!.]*.json") if "writing" not in json.loads(path.read_text())]


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_batch_stopped_by_ctrl_c_goes_on_with_nothing_lost_or_doubled(jobs):
    Path("in").mkdir()
    for k in range(IMAGES):
        write_image(f"in/{k:02}.png", np.random.default_rng(k).integers(0, 255, (241, 321), np.uint8))
    command = [sys.executable, "-m", "imtorque", "count", "in", "--out", "out", "--count", "50", "--jobs", jobs]
    # A session of its own stands for the terminal: Ctrl-C reaches every process in it.
    first = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    until(lambda: records_of_images_that_are_done() or first.poll() is not None)
    assert first.poll() is None
    os.killpg(first.pid, signal.SIGINT)
    lines, errors = first.communicate(timeout=GIVEN_UP)
    assert first.returncode == 130
    assert errors.splitlines()[-1].startswith("stopped after ")
    assert "Traceback" not in errors
    assert not list(Path("out").glob(".*.part"))
    complete = {path.name: path.stat().st_mtime_ns for path in records_of_images_that_are_done()}
    assert 0 < len(complete) < IMAGES
    assert len(lines.splitlines()) <= len(complete)

    report = json.loads(program(*command[3:], "--json").stdout)
    assert [image["status"] for image in report["images"]].count("complete") == len(complete)
    assert [Path(image["input"]).name for image in report["images"]] == [f"{k:02}.png" for k in range(IMAGES)]
    assert all(Path("out", name).stat().st_mtime_ns == written for name, written in complete.items())

    straight = run_json("count in --out straight --count 50 --jobs 1")
    assert names("out") == names("straight")
    for name in names("out"):
        if not name.endswith(".json"):
            assert Path("out", name).read_bytes() == Path("straight", name).read_bytes()
    assert [p["result"] for p in straight["images"]] == [p["result"] for p in report["images"]]


def test_one_damaged_file_of_any_kind_does_not_end_a_batch():
    Path("in").mkdir()
    frames = [Image.fromarray(np.full((9, 9), 50 * k, np.uint8)) for k in range(3)]
    frames[0].save("whole.gif", save_all=True, append_images=frames[1:])
    frames[0].save("whole.tif", save_all=True, append_images=frames[1:])
    for kind in ("gif", "tif"):
        whole = Path(f"whole.{kind}").read_bytes()
        for part in (0.3, 0.6, 0.8, 1):
            Path(f"in/{part}.{kind}").write_bytes(whole[: int(part * len(whole))])
    os.mkfifo("in/p.png")
    Path("in/q.png").symlink_to("gone.png")
    write_image("in/z.png", np.zeros((9, 9), np.uint8))
    report = run_json("edges in --jobs 1", status=1)
    assert len(report["images"]) == 11
    failed = {Path(p["input"]).name: p["error"] for p in report["images"] if p["status"] == "failed"}
    assert set(failed) >= {"1.gif", "1.tif", "p.png", "q.png"}
    assert "1.gif: must hold one image, got a GIF of several frames" in failed["1.gif"]
    assert failed["p.png"] == "in/p.png: a pipe where a file must be"
    assert failed["q.png"] == "in/q.png: no such file"
    assert report["images"][-1]["status"] == "done"


def test_an_empty_name_is_not_the_current_folder():
    write_image("a.png", np.zeros((9, 9), np.uint8))
    assert "an image must have a name, got an empty one" in run("edges ''", status=1).stderr
    assert not list(Path("imtorque-out").glob("*.json"))


@pytest.mark.parametrize("sizes", ["3-99999999999", "5,99999999999999999999999", "3-9999999999999999999999999"])
def test_sizes_beyond_all_bounds_are_refused_in_one_line(sizes):
    write_image("a.png", np.zeros((9, 9), np.uint8))
    assert "sizes must be odd" in run(f"maps a.png --sizes {sizes}", status=2).stderr


@pytest.mark.usefixtures("shapes")
def test_outputs_of_other_options_are_removed_unless_they_were_changed():
    out = Path("imtorque-out")
    run("count shapes.png")
    assert (out / "shapes.png.count.labels.tiff").exists()
    run("count shapes.png --no-labels --no-overlay --count 1")
    assert sorted(path.name for path in out.glob("shapes*")) == ["shapes.png.count.csv", "shapes.png.count.json"]
    run("maps shapes.png --extrema 5")
    table = out / "shapes.png.maps.extrema.csv"
    table.write_text("mine")
    run("maps shapes.png --pattern star")
    assert table.read_text() == "mine"


def test_an_image_whose_name_is_as_long_as_can_be_is_done_and_found_complete_again():
    name = "x" * 250 + ".png"
    write_image(name, np.zeros((9, 9), np.uint8))
    first = run_json(f"edges {name}")["images"][0]
    assert first["status"] == "done"
    assert all(Path(output).is_file() for output in first["outputs"])
    assert run_json(f"edges {name}")["images"][0]["status"] == "complete"


@pytest.mark.slow
def test_workers_end_when_the_program_is_killed():
    Path("in").mkdir()
    for k in range(20):
        write_image(f"in/{k:02}.png", np.random.default_rng(k).integers(0, 255, (321, 481), np.uint8))
    command = [sys.executable, "-m", "imtorque", "count", "in", "--out", "out", "--jobs", "2"]
    first = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    until(lambda: records_of_images_that_are_done() or first.poll() is not None)
    assert first.poll() is None
    first.kill()
    first.wait()
    until(lambda: group_is_gone(first.pid))


@pytest.mark.usefixtures("shapes")
def test_saliency_writes_an_overlay_a_map_an_array_and_fixations_in_order():
    for method in ("blend", "torque", "gbvs", "itti", "boolean", "signature", "mean"):
        report = run_json(f"saliency shapes.png --method {method} --fixations 4 --out {method}")
        result = report["images"][0]["result"]
        stems = [f"shapes.png.saliency{end}" for end in (".csv", ".json", ".map.png", ".npy", ".png")]
        assert names(method) == stems
        saliency = np.load(f"{method}/shapes.png.saliency.npy")
        assert saliency.shape == (81, 121)
        assert_allclose(read_image(f"{method}/shapes.png.saliency.map.png"), 255 * saliency, atol=0.501)
        assert [row["order"] for row in result["fixations"]] == [1, 2, 3, 4]
        first = result["fixations"][0]
        assert saliency[first["y"], first["x"]] == 1
        rows = list(csv.DictReader(io.StringIO(Path(method, "shapes.png.saliency.csv").read_text())))
        assert [int(row["x"]) for row in rows] == [row["x"] for row in result["fixations"]]
    assert "(as before)" in run("saliency shapes.png --method itti --fixations 4 --out itti").stdout


def test_saliency_of_a_constant_image_says_that_nothing_is_salient():
    write_image("grey.png", np.full((60, 80), 99, np.uint8))
    assert "nothing is salient" in run("saliency grey.png").stdout
    assert not np.load("imtorque-out/grey.png.saliency.npy").any()


def test_saliency_of_an_image_too_small_is_refused_in_one_line():
    write_image("small.png", np.zeros((10, 10), np.uint8))
    error = run("saliency small.png --method gbvs", status=1).stderr
    assert "small.png: image must have sides of at least 22 pixels for GBVS, got 10 x 10" in error


@pytest.mark.usefixtures("shapes")
def test_saliency_refuses_options_out_of_range():
    assert "--share" in run("saliency shapes.png --share 1.5", status=2).stderr
    assert "--method" in run("saliency shapes.png --method eyes", status=2).stderr
    assert "--fixations" in run("saliency shapes.png --fixations -1", status=2).stderr
