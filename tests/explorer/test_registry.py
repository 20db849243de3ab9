"""A base detector that is registered once is a choice of the command line, the server, the page and the recipes."""

import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from typer.testing import CliRunner

import imtorque
from explorer_client import client, unpack
from imtorque.cli import app
from imtorque.edges import DEFAULT_DETECTOR, DETECTORS, Detector, detect_edges, find_recipe

HELP = """
import imtorque
from imtorque.edges import DETECTORS, Detector
DETECTORS["flat"] = Detector("flat", "Flat", "No edges at all.", lambda image, options: None, (), (0, 1, 0))
from typer.testing import CliRunner
from imtorque.cli import app
print(CliRunner().invoke(app, ["edges", "--help"], env={"COLUMNS": "200"}).output)
"""


@dataclass(frozen=True)
class BlurOptions:
    """Options of a detector that nothing in the package knows."""

    blur: float = 4.0


def find_blurred(image, options):
    return detect_edges(image, sigma=options.blur, force="strength", strength_scale=0.1)


@pytest.fixture
def blurred(monkeypatch):
    detector = Detector(
        "blurred", "Blurred", "Canny after much smoothing.", find_blurred, BlurOptions(), (0.0, 1.0, 0.0)
    )
    monkeypatch.setitem(DETECTORS, "blurred", detector)
    return find_blurred(imtorque.datasets.sample("disc"), BlurOptions())


def test_the_default_detector_is_the_first():
    assert next(iter(DETECTORS)) == DEFAULT_DETECTOR


def test_a_new_detector_is_a_recipe(blurred):
    image = imtorque.datasets.sample("disc")
    assert_array_equal(find_recipe("blurred").edges(image).fx, blurred.fx)
    assert imtorque.boundary_strength(image, "blurred").any()


def test_the_command_line_offers_a_new_detector(blurred, tmp_path):
    arguments = ["edges", "sample:disc", "--out", str(tmp_path), "--jobs", "1", "--detector"]
    result = CliRunner().invoke(app, [*arguments, "blurred"])
    assert result.exit_code == 0, result.output
    (forces,) = (path for path in tmp_path.glob("*.npy") if "boundaries" not in path.name)
    assert_array_equal(np.load(forces), np.stack([blurred.fx, blurred.fy]))
    refused = CliRunner().invoke(app, [*arguments, "none"], env={"COLUMNS": "200"})
    assert "network, blurred, got 'none'" in refused.output


@pytest.mark.slow
def test_the_help_of_the_command_line_names_a_new_detector():
    shown = subprocess.run([sys.executable, "-c", HELP], capture_output=True, text=True, check=True).stdout
    assert "network|flat" in shown
    assert "flat: No edges at all." in shown


def test_the_server_offers_a_new_detector(blurred):
    with client() as server:
        offered = server.get("/api/start").json()["detectors"]
        key = server.post("/api/images?sample=disc").json()["key"]
        answer = server.get(f"/api/images/{key}/view", params={"detector": "blurred"})
    assert [one["name"] for one in offered] == list(DETECTORS)
    assert offered[-1] == {
        "name": "blurred",
        "title": "Blurred",
        "description": "Canny after much smoothing.",
        "needs": "",
        "has_settings": False,
    }
    assert_array_equal(unpack(answer.content)[1]["place"], np.flatnonzero(blurred.mask))


def test_the_page_offers_a_new_detector(blurred, tab):
    tab.open("#image=sample:disc&y=80&x=120&size=99&tab=settings")
    options = tab.page.locator("#detector option")
    assert options.evaluate_all("(all) => all.map(({ value }) => value)") == list(DETECTORS)
    assert options.last.inner_text() == "Blurred"
    tab.page.select_option("#detector", "blurred")
    expected = float(imtorque.torque_spectrum(blurred, (80, 120), [99])[0])
    assert expected != 0
    assert tab.wait().torque == pytest.approx(expected, abs=1e-4)
    assert tab.page.is_disabled("#sigma")


def test_a_name_that_is_not_registered_is_the_default_on_the_page(tab):
    tab.open("#image=sample:disc&tab=settings&detector=none")
    assert tab.page.input_value("#detector") == DEFAULT_DETECTOR
    assert tab.page.is_enabled("#sigma")
