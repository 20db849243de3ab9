"""The docs say what is so: their code runs, and what they name exists."""

import re
import shlex
from pathlib import Path

import matplotlib
import pytest
from matplotlib import pyplot
from typer.testing import CliRunner

import imtorque
from imtorque.cli import app

matplotlib.use("agg")
ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)


def test_the_tutorials_code_runs_from_top_to_bottom(capsys):
    exec(compile("\n".join(blocks("tutorial.md", "python")), "tutorial.md", "exec"), {})
    pyplot.close("all")
    assert capsys.readouterr().out.startswith("y,x,size,torque,")


def test_the_boundary_pages_code_runs():
    names = {}
    exec(compile("\n".join(blocks("boundary.md", "python")), "boundary.md", "exec"), names)
    assert 0.5 < names["boundary"].max() <= 1


def test_the_code_on_installing_runs():
    names = {}
    exec(compile("\n".join(blocks("installing.md", "python")), "installing.md", "exec"), names)
    assert names["text"].startswith('{"type": "FeatureCollection"')


def test_the_code_and_the_commands_on_patterns_run(tmp_path, monkeypatch):
    names = {}
    exec(compile("\n".join(blocks("patterns.md", "python")), "patterns.md", "exec"), names)
    assert len(names["closed"]) == len(names["spirals"]) == 10
    monkeypatch.chdir(tmp_path)
    for line in blocks("patterns.md", "sh")[0].splitlines():
        assert CliRunner().invoke(app, shlex.split(line)[1:]).exit_code == 0


def test_the_tutorials_commands_on_samples_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [line for block in blocks("tutorial.md", "sh") for line in block.splitlines() if "sample:" in line]
    assert len(lines) >= 2
    for line in lines:
        command = shlex.split(line.split(">")[0])
        assert CliRunner().invoke(app, command[1:]).exit_code == 0


@pytest.mark.parametrize(
    "page",
    [
        "paper_map.md",
        "explorer.md",
        "beyond.md",
        "boundary.md",
        "recognition.md",
        "conventions.md",
        "how_it_works.md",
        "patterns.md",
        "tutorial.md",
    ],
)
def test_the_files_and_functions_named_exist(page):
    text = (DOCS / page).read_text()
    names = set(re.findall(r"`([\w/]+)(?:\(.*?\))?`", text))
    for name in names:
        if name.rpartition("/")[2].startswith("test_"):
            assert (ROOT / "tests" / f"{name}.py").exists(), name
        elif name.startswith("plot_"):
            assert (ROOT / "examples" / f"{name}.py").exists(), name
    for path in re.findall(r"`((?:native|tests|benchmarks)/[\w./]+)`", text):
        assert (ROOT / path).exists(), path
    for module, name in re.findall(r"`(plotting|synthetic|evaluation|datasets|files|resizing)\.(\w+)", text):
        assert hasattr(getattr(imtorque, module), name), name


def test_the_paper_map_has_every_equation_figure_and_table():
    text = (DOCS / "paper_map.md").read_text()
    for title, count in (("Equations", 30), ("Figures", 19), ("Tables", 4)):
        rows = re.findall(r"^\| ([\d ,to]+) \|", text.split(f"## {title}")[1].split("## ")[0], re.MULTILINE)
        covered = set()
        for row in rows:
            first, _, last = row.partition(" to ")
            covered |= set(range(int(first), int(last) + 1)) if last else {int(part) for part in row.split(",")}
        assert covered == set(range(1, count + 1)), title


def test_the_api_page_has_every_public_name():
    text = (DOCS / "api.md").read_text()
    listed = set(re.findall(r"::: imtorque\.(\w+)", text))
    assert set(imtorque.__all__) <= listed
