"""Experiments on rendered scenes: the form of their results, and that they need no data."""

import json

from typer.testing import CliRunner

from imtorque.cli import app


def run(*arguments, status=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == status, result.output
    return result


def test_hidden_objects_needs_no_data_and_reports_every_row(tmp_path):
    run("reproduce", "hidden-objects", "--limit", 2, "--jobs", 1, "--out", tmp_path)
    content = json.loads((tmp_path / "results.json").read_text())
    found = {row["method"]: row["found"] for row in content["rows"]}
    assert found["depth@depth"] >= 0.95 > 0.4 > found["photograph@depth"]
    assert found["flow@motion"] >= 0.95 > 0.4 > found["photograph@motion"]
    assert content["images"] == 4
