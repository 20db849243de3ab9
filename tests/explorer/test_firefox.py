"""The explorer's page in Firefox: its main states, a drag, a count. The rest is tested in Chromium.

Skipped where there is no Firefox, unless IMTORQUE_REQUIRE_BROWSER is set, as in CI: then that is a failure.
"""

import re

import numpy as np
import pytest

import imtorque
from explorer_browser import library_torque, need_browser
from explorer_client import file_bytes
from explorer_firefox import FIREFOX, firefox

STATES = (
    "#image=sample:hopper&layers=value.90,edges.60&tab=layers",
    "#image=sample:hopper&tab=extrema&tool=extrema&count=14&number=4",
    "#image=sample:hopper&tab=cut&tool=cut&clicks=200,60",
    "#image=sample:shapes&tab=settings&patch=disk&layers=scale.80",
    "#image=sample:overlap&present=1&y=99&x=101&size=81",
    "#image=sketch",
)


@pytest.fixture(scope="module")
def tab():
    need_browser(FIREFOX, "firefox", "firefox-esr")
    with firefox() as started:
        yield started
        assert started.complaints == []


def torque(tab):
    return float(tab.text("#torque").replace("−", "-"))


@pytest.mark.parametrize("state", STATES)
def test_the_main_states_are_shown(tab, address, state):
    tab.open(f"{address}/{state}")
    assert re.fullmatch(r"[+−]\d\.\d{4}", tab.text("#torque"))
    assert tab.evaluate("document.body.classList.contains('stale')") is False


def test_the_torque_of_a_patch_that_is_dragged_is_the_librarys(tab, address):
    tab.open(f"{address}/#image=sample:hole&y=80&x=120&size=41")
    tab.drag((80, 120), (60, 150))
    y, x = map(int, re.findall(r"\d+", tab.text("#place-out")))
    assert (y, x) == (60, 150)
    assert torque(tab) == library_torque(imtorque.datasets.sample("hole"), (60, 150, 41))
    tab.evaluate("document.getElementById('canvas').focus()")
    tab.press("+")
    assert tab.text("#size-out") != "41"


def test_objects_are_counted(tab, address, tmp_path):
    image = np.full((80, 110), 90, np.uint8)
    y, x = np.indices(image.shape)
    for row in (22, 58):
        for column in (20, 55, 90):
            image[np.hypot(y - row, x - column) <= 10] = 200
    (tmp_path / "discs.png").write_bytes(
        file_bytes(image + (np.random.default_rng(0).random(image.shape) < 0.5) * np.uint8(4))
    )
    tab.open(f"{address}/#tool=count&tab=count")
    tab.choose_file("#file", tmp_path / "discs.png")
    tab.wait("document.querySelector('#image').selectedOptions[0].text === 'discs.png'").wait()
    for row, column in ((22, 20), (58, 55), (22, 90)):
        tab.drag((row, column), (row, column + 10))
    assert tab.text("#count-number") == "6 objects"
    tab.drag((58, 90), (58, 90), button=2)
    assert tab.text("#count-number") == "5 objects"
