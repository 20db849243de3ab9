"""CONTRIBUTING.md says what is so: its diffs apply, and what they add is offered at once."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import imtorque
import imtorque_reproduce

pytestmark = pytest.mark.slow  # a process and a copy of the package each
ROOT = Path(__file__).resolve().parents[1]
SECTION = re.compile(r"^### (.*?)$.*?^```diff\n(.*?)^```$", re.DOTALL | re.MULTILINE)
DIFFS = dict(SECTION.findall((ROOT / "CONTRIBUTING.md").read_text()))
OFFERED = {
    "Adding a saliency map": "run('saliency', 'sample:shapes', '--method', 'contrast')",
    "Adding a base detector": "run('edges', 'sample:shapes', '--detector', 'gradient')",
    "Adding a proposal kind": "imtorque.ObjectFinder([('difference',)]).fit([image] * 2, [boxes] * 2).predict(image)",
    "Adding a patch shape": "run('maps', 'sample:shapes', '--patch', 'frame', '--sizes', '5-9')",
    "Adding a verb": "run('coherence', 'sample:shapes', '--size', '9')",
    "Adding an experiment": "run('reproduce', 'discs', '--limit', '3')",
}
BEFORE = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in type(finder).__module__]
import imtorque
from imtorque.cli import app
from typer.testing import CliRunner
image = imtorque.synthetic.scene("shapes")
found = imtorque.find_blobs(image)
boxes = list(zip(found.top, found.left, found.bottom, found.right))
def run(*words):
    done = CliRunner().invoke(app, [*words, "--out", "."])
    assert done.exit_code == 0, done.output
"""


def applied(diff, root):
    """Change the files below a folder as a diff says, whose hunks have no line numbers."""
    for old, new, body in re.findall(
        r"^--- (\S+)\n\+\+\+ b/(?:reproduce/)?src/(\S+)\n(.*?)(?=^--- |\Z)", diff, re.DOTALL | re.MULTILINE
    ):
        path = root / new
        text = "" if old == "/dev/null" else path.read_text()
        for hunk in body.split("@@\n")[1:]:
            lines = hunk.splitlines()
            before = "".join(line[1:] + "\n" for line in lines if line[:1] != "+")
            after = "".join(line[1:] + "\n" for line in lines if line[:1] != "-")
            assert text.count(before) == 1 or not text, (new, before)
            text = text.replace(before, after, 1) if text else after
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


def test_there_is_a_diff_for_each_addition():
    assert set(DIFFS) == set(OFFERED)


@pytest.mark.parametrize("title", OFFERED)
def test_what_a_diff_adds_is_offered(title, tmp_path):
    for package in (imtorque, imtorque_reproduce):
        folder = Path(package.__file__).parent
        shutil.copytree(folder, tmp_path / folder.name, ignore=shutil.ignore_patterns("__pycache__"))
    applied(DIFFS[title], tmp_path)
    shutil.copy(imtorque._native.__file__, tmp_path / "imtorque")  # which an editable installation has elsewhere
    program = f"{BEFORE}\nassert imtorque.__file__.startswith({str(tmp_path)!r})\n{OFFERED[title]}\n"
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
