"""Verbs and options of 0.2, which work with a warning until 0.4."""

import json
from importlib.metadata import entry_points
from pathlib import Path

import numpy as np
import pytest
from typer.main import get_command
from typer.testing import CliRunner

from imtorque import cli, synthetic
from imtorque.cli import app, deprecated
from imtorque.files import write_image


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_image("a.png", np.round(255 * synthetic.scene("disc", (60, 80))).astype(np.uint8))


def run(line, status=0):
    result = CliRunner().invoke(app, line.split())
    assert result.exit_code == status, result.output
    return result


def test_every_old_name_stands_for_a_verb_and_an_option_that_there_are():
    verbs = get_command(app).commands
    for verb in deprecated.VERBS.values():
        assert verb[0] in verbs
    for verb, options in deprecated.OPTIONS.items():
        known = {name for given in verbs[verb].params for name in (*given.opts, *given.secondary_opts)}
        assert set(options.values()) <= known
        assert not set(options) & known
    assert not set(deprecated.VERBS) & set(verbs)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("blobs a.png --sure 0.2 --count 2", "count a.png --min-score 0.2 --count 2", "blobs is now count"),
        ("count a.png --sure=0.2", "count a.png --min-score=0.2", "--sure is now --min-score"),
        ("fixate a.png --at 30,40", "segment a.png --at 30,40", "fixate is now segment"),
        ("owners a.png --rounds 1", "border-ownership a.png --rounds 1", "owners is now border-ownership"),
    ],
)
def test_an_old_name_does_what_the_new_one_does_and_says_so_in_one_line(old, new, told):
    before = run(f"{old} --json --out out")
    (warning,) = before.stderr.splitlines()
    assert told in warning
    assert warning.endswith("until 0.4")
    after = json.loads(run(f"{new} --json --out out").stdout)
    assert [image["status"] for image in after["images"]] == ["complete"]
    assert json.loads(before.stdout)["parameters"] == after["parameters"]


@pytest.mark.parametrize(
    ("given", "today"),
    [
        ("video v.mp4 --every 5", "track --no-link v.mp4 --every 5"),
        ("video v.mp4 --track --reach 2", "track --no-link v.mp4 --link --search-range 2"),
        ("teach a --objects=b.csv", "train-detector a --annotations=b.csv"),
        ("train photos", "train-classifier photos"),
        ("predict a.png -m b", "classify a.png -m b"),
        ("large a.tif", "tile a.tif"),
        ("segment a.png --objects 3", "segment a.png --objects 3"),
        ("blobs -- --sure", "count -- --sure"),
        ("data train", "data train"),
    ],
)
def test_old_arguments_by_the_names_of_today(given, today):
    assert deprecated.renamed(given.split())[0] == today.split()


def test_the_help_does_not_name_what_is_old():
    told = run("--help").stdout
    assert not any(f"│ {verb} " in told for verb in deprecated.VERBS)
    assert "--sure" not in run("count --help").stdout


def test_reproduce_says_how_it_is_installed(monkeypatch):
    monkeypatch.setattr(cli, "entry_points", lambda group: entry_points(group=f"{group}.hidden"))
    result = CliRunner().invoke(cli.command_line(), ["reproduce", "boundary", "--data", ".", "--limit", "3"])
    assert result.exit_code == 1
    (told,) = result.stderr.splitlines()
    assert told.startswith("imtorque: reproduce needs the experiments: pip install imtorque-reproduce")


def test_a_verb_of_another_distribution_that_cannot_be_imported_leaves_the_others(monkeypatch):
    class Broken:
        name = "reproduce"

        def load(self):
            raise ImportError("No module named 'imtorque.gone'")

    monkeypatch.setattr(cli, "entry_points", lambda group: [Broken()] if group == "imtorque.commands" else [])
    result = CliRunner().invoke(cli.command_line(), ["segment", "a.png", "--at", "30,40"])
    assert result.exit_code == 0, result.output
    assert Path("imtorque-out/a.png.segment.mask.png").exists()
