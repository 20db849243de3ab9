"""ARCHITECTURE.md says what is so: its rooms are those of the package, and its walks those of the calls."""

import re
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import imtorque
from imtorque.recognition import Recogniser
from imtorque.synthetic import scene

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path(imtorque.__file__).parent
TEXT = (ROOT / "ARCHITECTURE.md").read_text()
MODEL = ROOT / "tests" / "recognition" / "models" / "format-1.model"


def grey_image():
    return np.round(255 * scene("shapes", (96, 128))).astype(np.uint8)


def recognise():
    recogniser = Recogniser.load(MODEL)
    return lambda image: recogniser.recognise(np.dstack([image] * 3))


WALKS = {
    "Extrema": lambda: lambda image: imtorque.find_extrema(imtorque.detect_edges(image)),
    "Strengthened edges": lambda: imtorque.boundary_strength,
    "A mask": lambda: lambda image: imtorque.segment_figure(image, (48, 64)),
    "A class": recognise,
    "Counting": lambda: lambda image: imtorque.find_blobs(image, sizes=(10, 40)),
}


def modules():
    """The package's modules by the files they are in."""
    wrappers = (
        "deprecation.py",
        "caching.py",
    )  # let pass what they wrap
    paths = [path for path in PACKAGE.rglob("*.py") if path.name not in wrappers]
    return {
        str(path): re.sub(r"\.__init__$", "", ".".join(path.relative_to(PACKAGE).with_suffix("").parts))
        for path in paths
    }


def entered(call, *arguments):
    """The modules of the package that a call enters, in the order of the first time."""
    names, found = modules(), {}

    def follow(frame, event, _):
        if event == "call" and frame.f_code.co_name != "<module>" and frame.f_code.co_filename in names:
            found.setdefault(names[frame.f_code.co_filename])

    call(*arguments)  # what is loaded or kept at the first call is no part of the walk
    before = sys.getprofile()
    sys.setprofile(follow)
    try:
        call(*arguments)
    finally:
        sys.setprofile(before)
    return list(found)


def walk(name):
    """The modules that a walk of the page names, in order."""
    story = TEXT.split(f". **{name}** ")[1].split("\n\n")[0]
    story = re.split(r"\n\d\. ", story.split("): ", 1)[1])[0]
    known = set(modules().values())
    named = [re.sub(r"\.[A-Z]\w*$", "", code) for code in re.findall(r"`([\w.]+)`", story)]
    assert set(named) <= known, set(named) - known
    return named


@pytest.mark.parametrize("name", WALKS)
def test_a_walk_is_that_of_the_calls(name):
    assert walk(name) == entered(WALKS[name](), grey_image())


def test_there_are_no_other_walks():
    section = TEXT.split("\n## Five walks\n")[1].split("\n## ")[0]
    assert re.findall(r"^\d\. \*\*(.*?)\*\*", section, re.MULTILINE) == list(WALKS)


def test_the_rooms_are_those_of_the_package_in_the_order_of_imports():
    rooms = re.findall(r"^\| `(\w+)(?:\.py)?` \|", TEXT, re.MULTILINE)
    here = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    here -= {"__init__", "__main__"}
    assert set(rooms) == here
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in settings if contract.get("containers") == ["imtorque"])
    height = {name: -k for k, layer in enumerate(layers) for name in re.findall(r"\w+", layer)}
    assert [height[room] for room in rooms] == sorted(height[room] for room in rooms)


def test_the_files_that_are_named_exist():
    for path in re.findall(r"`((?:native|tests|wheels|plugins|src)/[\w./-]+)`", TEXT):
        assert (ROOT / path).exists(), path
