"""Every verb that writes, and everything that may go wrong around it.

Whatever happens, a file has its whole content or is not there, what the verb did not write stays as it is, what is
wrong is told in a line, status 0 means that all is done, and the same command given again does it. Each command runs in
a child of this process, which may then be given a full disk, closed streams, or be killed.
"""

import contextlib
import importlib
import os
import shutil
import signal
import sys
import traceback
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from drawn_classes import draw_classes, use_small_blocks
from imtorque import cli, synthetic
from imtorque.files import write_image

if not hasattr(os, "fork"):
    pytest.skip("needs fork()", allow_module_level=True)
resource = pytest.importorskip("resource")

IMAGES = ("-o", "out", "--jobs", "1")
VERBS = {  # after the name: what it reads, the rest of the command, what it needs
    "demo": (None, ("--out", "out"), ()),
    "maps": ("a.png", IMAGES, ()),
    "edges": ("a.png", IMAGES, ()),
    "border-ownership": ("a.png", IMAGES, ()),
    "saliency": ("a.png", IMAGES, ()),
    "segment": ("a.png", IMAGES, ()),
    "segment at": ("a.png", ("--at", "20,20", *IMAGES), ()),
    "count": ("a.png", IMAGES, ()),
    "count table": ("a.png", ("--table", "out/all.csv", "--jobs", "1"), ()),
    "count preview": ("a.png", ("--preview", *IMAGES), ()),
    "count tile": ("a.png", ("--tile", "64", "--sizes", "5-20", *IMAGES), ("zarr", "dask")),
    "count volume": ("a.tiff", ("--volume", "--sizes", "3-9", *IMAGES), ()),
    "track": ("a.tiff", IMAGES, ()),
    "tile": (
        "a.tiff",
        ("--out", "out", "--page", "0", "--sizes", "5,9", "--tile", "32", "--jobs", "1"),
        ("zarr", "dask"),
    ),
    "train-detector": ("a.png", ("--annotations", "a.csv", "-o", "out/a.finder"), ("sklearn",)),
    "train-classifier": (
        "classes",
        ("-o", "out/a.model", "--method", "torque", "--cache", "kept", "-j", "1"),
        ("sklearn",),
    ),
    "data": (None, ("prepare", "sun", "--from", "published", "--root", "out"), ()),
    "evaluate": (None, ("masks", "--predictions", "masks", "--truth", "masks", "--out", "out"), ()),
}
QUICK = ("maps", "count", "count table")
EACH = [verb if verb in QUICK else pytest.param(verb, marks=pytest.mark.slow) for verb in VERBS]
MANY = [verb for verb, (source, _, _) in VERBS.items() if source == "a.png" and verb != "train-detector"]
OTHERS = (
    "must be as imtorque",
    "must be such a model",
    "must be as it was written",
    "must be an empty folder, or one that this began",
    "must not be there yet",
)
STAGES = 8  # at most, at which each verb is killed
TIGHT = (40, 400, 4000)  # bytes that a file may have on the full disk


@pytest.fixture(autouse=True)
def given(tmp_path, monkeypatch):
    """A folder with what all verbs read, where every command runs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    use_small_blocks(monkeypatch)
    shapes = np.round(synthetic.scene("shapes", (41, 61)) * 255).astype(np.uint8)
    write_image("a.png", shapes)
    import tifffile

    tifffile.imwrite("a.tiff", np.stack([shapes, shapes[::-1], shapes]), photometric="minisblack")
    Path("a.csv").write_text("image,y,x\na.png,20,20\na.png,12,45\n")
    draw_classes(tmp_path / "classes", ("disc", "bar"), 3)
    Path("masks").mkdir()
    Path("published/data/tidy").mkdir(parents=True)
    Path("published/data/stimuli").mkdir()
    write_image("published/data/stimuli/001.png", shapes)
    cells = np.empty((1, 2), object)
    cells[0] = [np.array([[11, 21, 0.2, 0.134]]), np.zeros((0, 0))]
    savemat("published/data/tidy/fixations.mat", {"fixations": cells})
    write_image("masks/a.png", np.where(shapes > 99, 255, 0).astype(np.uint8))


@pytest.fixture(params=EACH)
def verb(request):
    for needed in VERBS[request.param][2]:
        pytest.importorskip(needed)
    return request.param


def command(verb, *sources):
    source, options, _ = VERBS[verb]
    return [verb.split()[0], *(sources or [source] if source else []), *options]


def begun(arguments, prepare=lambda: None):
    """Run a command in a child; return its number, and where it tells what."""
    for module in ("imtorque.tiling", "imtorque.volumes", "imtorque.recognition", "imtorque.detection.finder"):
        with contextlib.suppress(ImportError):
            importlib.import_module(module)
    read, write = os.pipe()
    child = os.fork()
    if child:
        os.close(write)
        return child, read
    status = 70
    try:
        os.close(read)
        for number, name in enumerate(("stdin", "stdout", "stderr")):
            os.dup2(write if number else os.open(os.devnull, os.O_RDONLY), number)
            setattr(sys, name, open(number, "w" if number else "r"))  # noqa: SIM115 - until the child ends
        signal.alarm(0)
        prepare()
        try:
            sys.argv = ["imtorque", *arguments]
            cli.main()
        except SystemExit as end:
            status = end.code or 0
        except BaseException:
            traceback.print_exc()
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    finally:
        os._exit(status)


def ended(started):
    """Wait for a command; return its status and what it told."""
    child, read = started
    with os.fdopen(read, errors="replace") as told:
        said = told.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said


def run(arguments, prepare=lambda: None):
    return ended(begun(arguments, prepare))


def outputs():
    """The content of all files that are there, less the caches of features."""
    found = {path: path.read_bytes() for path in Path("out").rglob("*") if path.is_file()}
    return {str(path): content for path, content in found.items() if ".parts" not in str(path)}


def anew():
    for folder in ("out", "kept"):
        shutil.rmtree(folder, ignore_errors=True)
    Path("out").mkdir()


def done(arguments):
    """Run a command that must do all; return what it wrote."""
    status, said = run(arguments)
    assert status == 0, said
    assert "Traceback" not in said
    return outputs()


def again(verb):
    """What is there after the same command, which a data set that is there already refuses."""
    if Path("out/eyetracking/sun_scenes").exists():
        assert "must not be there yet" in refused(*run(command(verb)))
        return outputs()
    return done(command(verb))


@pytest.fixture
def whole(verb):
    """What a verb writes where nothing is wrong."""
    anew()
    found = done(command(verb))
    anew()
    assert found
    return found


def refused(status, said):
    """Whether a command ended in one line, and says what is wrong."""
    assert "Traceback" not in said
    assert status == 1
    told = [line for line in said.splitlines() if line.startswith("imtorque: ")]
    assert 1 <= len(told) <= 2, said  # of the image, and of tables of all
    return said


def test_what_a_verb_did_not_write_is_kept(verb, whole):
    for path in whole:
        anew()
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text("mine")
        status, said = run(command(verb))
        assert Path(path).read_text() == "mine", path
        assert status == 1, (path, said)
        assert any(text in said for text in OTHERS), said
        refused(status, said)


def test_a_full_disk_leaves_what_is_whole_and_nothing_else(verb, whole):
    for limit in TIGHT:
        anew()
        status, said = run(command(verb), partial(resource.setrlimit, resource.RLIMIT_FSIZE, (limit, limit)))
        assert "Traceback" not in said, said
        assert (status == 0) == (outputs() == whole), said
        if status:
            assert "File too large" in refused(status, said)
        assert not list(Path("out").rglob("*.part"))
        if verb != "tile":  # whose stores are completed chunk by chunk, and are no results until it ends
            about_all = ("out/counts.csv", "out/objects.csv", "out/counts.html")  # of those images that could be done
            found = {p: c for p, c in outputs().items() if not p.endswith(".json") and p not in about_all}
            assert found.items() <= whole.items()
        assert again(verb) == whole


def test_a_folder_that_cannot_be_written_is_one_line(verb):
    anew()
    os.chmod("out", 0o555)
    try:
        if os.access("out", os.W_OK):
            pytest.skip("this user writes everywhere")
        said = refused(*run(command(verb)))
        assert "Permission denied" in said
        assert outputs() == {}
    finally:
        os.chmod("out", 0o755)


def test_a_file_where_the_folder_must_be_is_one_line(verb):
    Path("out").write_text("mine")
    refused(*run(command(verb)))
    assert Path("out").read_text() == "mine"


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (1, 2), (0, 1, 2)], ids=str)
def test_closed_streams_cost_nothing(verb, whole, closed):
    def close():
        for stream in closed:
            os.close(stream)
            setattr(sys, ("stdin", "stdout", "stderr")[stream], None)

    anew()
    status, said = run(command(verb), close)
    assert (status, "Traceback" in said) == (0, False), said
    assert outputs() == whole


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("full", [1, 2])
def test_streams_on_a_full_disk_cost_nothing(verb, whole, full):
    def fill():
        os.dup2(os.open("/dev/full", os.O_WRONLY), full)

    anew()
    status, said = run(command(verb), fill)
    assert "Traceback" not in said
    assert outputs() == whole, said
    assert status == 1 or (status, full) == (0, 2)  # where there was nothing to tell
    if full == 1:
        assert said.endswith("imtorque: No space left on device\n")


def writes(event, arguments):
    if event == "open":
        return isinstance(arguments[0], str) and "out" in arguments[0] and arguments[2] & (os.O_WRONLY | os.O_RDWR)
    return event in ("os.rename", "os.remove", "os.mkdir", "os.truncate")


def killed_at(stage):
    """Prepare a child that ends without warning as it goes to change the file system for so many times."""
    seen = 0

    def watch(event, arguments):
        nonlocal seen
        if writes(event, arguments):
            seen += 1
            if seen == stage:
                os.kill(os.getpid(), signal.SIGKILL)

    return lambda: sys.addaudithook(watch)


def stages_of(verb):
    """How many times a verb changes the file system."""
    count, told = 0, os.open("stages", os.O_RDWR | os.O_CREAT)

    def watch(event, arguments):
        nonlocal count
        if writes(event, arguments):
            count += 1
            os.pwrite(told, str(count).encode(), 0)

    assert run(command(verb), lambda: sys.addaudithook(watch))[0] == 0
    os.close(told)
    return int(Path("stages").read_text())


@pytest.mark.slow
def test_killed_at_any_stage_the_same_command_does_it(verb, whole):
    anew()
    count = stages_of(verb)
    for stage in np.unique([2, 3, *np.linspace(1, count, STAGES).astype(int)]).tolist():
        anew()
        status, _ = run(command(verb), killed_at(stage))
        assert status == -signal.SIGKILL, (stage, count)
        assert again(verb) == whole, (stage, count)


def test_two_runs_in_one_folder_do_no_harm(verb, whole):
    anew()
    both = [begun(command(verb)) for _ in range(2)]
    told = [ended(one) for one in both]
    assert all("Traceback" not in said for _, said in told), told
    assert 0 in [status for status, _ in told], told
    assert again(verb) == whole


ODD = [
    os.fsdecode(b"caf\xe9.png"),
    "new\nline.png",
    " blank .png",
    '"a",b;.png',
    "%2F.png",
    "[x]*?.png",
    "é😀.png",
    "l" * 190 + ".png",
]


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes on Linux")
@pytest.mark.parametrize(
    "verb", [verb if verb in QUICK else pytest.param(verb, marks=pytest.mark.slow) for verb in MANY]
)
def test_odd_names_and_links_that_go_round_cost_nothing(verb):
    Path("odd").mkdir()
    for name in ODD:
        shutil.copy("a.png", Path("odd", name))
    for link in ("odd/loop", "odd/again"):
        Path(link).symlink_to(".")
    Path("odd/z.png").symlink_to(ODD[0])
    status, said = run(command(verb, "odd/**/*.png"))
    assert (status, "Traceback" in said) == (0, False), said
    if verb == "count tile":
        assert said.count("results in") == len(list(Path("out").iterdir())) == len(ODD), said
        return
    assert f"{len(ODD)} of {len(ODD)} images written" in said
    status, said = run(command(verb, "odd"))
    assert said.count("(as before)") == len(ODD), said


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes on Linux")
@pytest.mark.slow
@pytest.mark.parametrize("verb", ["track", "tile", "count volume", "train-detector", "train-classifier"])
def test_the_one_input_may_have_any_name(verb):
    for needed in VERBS[verb][2]:
        pytest.importorskip(needed)
    source = Path(VERBS[verb][0])
    for name in ODD:
        odd = Path(name).with_suffix(source.suffix)
        (shutil.copytree if source.is_dir() else shutil.copy)(source, odd)
        if verb == "train-detector":
            Path("a.csv").write_text("y,x\n20,20\n12,45\n")
        anew()
        assert done(command(verb, str(odd))), name
