"""The page without a server in browsers: from a plain file server, and in Chromium from file://.

Skipped where a browser, emscripten or esbuild is missing, unless IMTORQUE_REQUIRE_BROWSER is set.
"""

import functools
import http.server
import threading

import numpy as np
import pytest

import imtorque
from explorer_browser import ARGUMENTS, CHROMIUM, Tab, library_torque, need_browser
from explorer_client import file_bytes
from explorer_firefox import FIREFOX, firefox
from imtorque.datasets import sample
from imtorque.explorer.image_store import image_of_sample
from imtorque.explorer.python_code import python_code
from imtorque.explorer.settings import read_settings
from imtorque.images import shrink_image
from web_page import made

pytestmark = pytest.mark.browser

STATES = {
    "shapes": ("y=98&x=119&size=67", {}),
    "texture": ("y=80&x=120&size=41&patch=disk&sigma=2.5", {"patch": "disk", "sigma": 2.5}),
    "hopper": ("y=200&x=60&size=81&polarity=free&layers=value.90,edges.60", {"polarity": "free"}),
    "hole": (
        "y=80&x=120&size=61&pattern=star&force=strength&alpha=1",
        {"pattern": "star", "force": "strength", "alpha": 1},
    ),
}
# Counts workers that are ended, and keeps requests from them while `hold` is set.
WATCHED = """
window.ended = 0;
window.Worker = class extends Worker {
  terminate() { window.ended++; super.terminate(); }
  postMessage(message) { if (!(window.hold && message.request)) super.postMessage(message); }
};
"""


@pytest.fixture(scope="module")
def page():
    return made("build/page/explorer.html")


@pytest.fixture(scope="module")
def served(page):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=page.parent)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/explorer.html"
        server.shutdown()


@pytest.fixture(scope="module")
def browser():
    need_browser(CHROMIUM, "chromium", "chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium
        chromium.close()


class StaticTab(Tab):
    def open(self, state=""):
        self.page.goto("about:blank")
        self.page.goto(f"{self.address}{state}")
        self.page.wait_for_selector("body:not(.loading)")
        return self.wait()


@pytest.fixture(params=["file", "http"])
def tab(request, browser, page):
    address = page.as_uri() if request.param == "file" else request.getfixturevalue("served")
    context = browser.new_context(viewport={"width": 1280, "height": 720}, accept_downloads=True)
    context.add_init_script(WATCHED)
    opened = StaticTab(context.new_page(), address)
    yield opened
    context.close()
    assert opened.complaints == []
    assert all(url.startswith((address, "blob:", "about:")) for url in opened.requests)


@pytest.mark.parametrize("name", STATES)
def test_the_torque_of_a_patch_is_the_librarys(tab, name):
    state, options = STATES[name]
    tab.open(f"#image=sample:{name}&{state}")
    assert tab.torque == library_torque(image_of_sample(name).image, tab.place, **options)


@pytest.mark.parametrize("kind", ["grey", "colour", "large", "transparent"])
def test_an_image_of_the_users_is_read_as_by_the_library(tab, kind):
    rng = np.random.default_rng(3)
    image = np.kron(rng.integers(0, 256, (12, 15), np.uint8), np.ones((12, 12), np.uint8))
    if kind in ("colour", "transparent"):
        image = np.dstack([image, image[::-1], 255 - image[:, ::-1]])
    if kind == "large":
        image = np.kron(image, np.ones((6, 6), np.uint8)) + rng.integers(0, 9, (864, 1080), np.uint8) // 4
    shown = image
    if kind == "transparent":
        opaque = (np.indices(image.shape[:2])[0] > 70).astype(np.uint8) * np.uint8(255)
        shown, image = np.dstack([image, opaque]), np.where(opaque[:, :, None] > 0, image, np.uint8(255))
    tab.open().drop(file_bytes(shown), "mine.png")
    tab.page.wait_for_function("document.querySelector('#image').selectedOptions[0]?.text === 'mine.png'")
    tab.wait()
    worked_on = shrink_image(image, 2) if kind == "large" else image
    assert tab.torque == library_torque(worked_on, tab.place)


def test_what_the_browser_cannot_read_is_refused_with_the_command(tab):
    tab.open().drop(b"II*\0 no image", "cells.tif")
    tab.page.wait_for_selector("#toast.shown")
    assert "TIFF and others need the installed version: pip install" in tab.page.inner_text("#toast")


def test_a_slow_request_is_cancelled_by_ending_the_worker(tab):
    tab.open("#image=sample:shapes&y=98&x=119&size=67&tab=settings")
    tab.page.evaluate("window.hold = true")
    sigma = tab.page.locator("#sigma")
    put = "(slider, by) => { slider.value = Number(slider.value) + by; slider.dispatchEvent(new Event('input')); }"
    sigma.evaluate(put, 1)
    tab.page.evaluate("window.hold = false")
    sigma.evaluate(put, 1)
    tab.wait()
    assert tab.page.evaluate("window.ended") == 1
    tab.page.wait_for_function("location.hash.includes('sigma')")
    chosen = tab.page.evaluate("Number(new URLSearchParams(location.hash.slice(1)).get('sigma'))")
    assert tab.torque == library_torque(sample("shapes"), tab.place, sigma=chosen)


def test_files_and_code_are_the_librarys(tab, tmp_path):
    tab.open("#image=sample:shapes&y=98&x=119&size=67&tab=save")
    settings = read_settings({"y": "98", "x": "119", "size": "67", "count": "0", "nms": "1"})
    tab.shows("#code", python_code(image_of_sample("shapes"), settings))
    with tab.page.expect_download() as download:
        tab.page.click("a[aria-label='Value map as .npy']")
    assert download.value.suggested_filename == "shapes.value.npy"
    download.value.save_as(tmp_path / "value.npy")
    value, _ = imtorque.value_and_scale_maps(imtorque.detect_edges(sample("shapes")))
    np.testing.assert_array_equal(np.load(tmp_path / "value.npy"), value)
    with tab.page.expect_download() as download:
        tab.page.click("a[aria-label='Scale map as PNG']")
    assert download.value.suggested_filename == "shapes.scale.png"
    tab.page.click("a[aria-label='Saliency as PNG']")
    tab.page.wait_for_selector("#toast.shown")
    assert "Saliency needs the installed version" in tab.page.inner_text("#toast")


@pytest.mark.parametrize("tool", ["cut", "count"])
def test_tools_that_need_the_library_say_so(tab, tool):
    tab.open(f"#tab={tool}&tool={tool}")
    text = tab.page.inner_text(f"#panel-{tool}")
    assert text.endswith("needs the installed version: pip install 'imtorque[explore]', then imtorque explore.")


def test_the_sketch_is_computed_as_it_is_drawn(tab):
    tab.open("#image=sketch")
    closed = abs(tab.torque)
    tab.slide("gap", 60)
    assert 0 < abs(tab.torque) < closed


@pytest.fixture(scope="module")
def fox():
    need_browser(FIREFOX, "firefox", "firefox-esr")
    with firefox() as started:
        yield started
        assert started.complaints == []


@pytest.mark.parametrize("name", STATES)
def test_the_torque_in_firefox_is_the_librarys(fox, served, name):
    state, options = STATES[name]
    fox.open(f"{served}#image=sample:{name}&{state}").wait("!document.body.classList.contains('loading')").wait()
    place = tuple(int(part.partition("=")[2]) for part in state.split("&")[:3])
    torque = float(fox.text("#torque").replace("−", "-"))
    assert torque == library_torque(image_of_sample(name).image, place, **options)


def test_an_image_of_the_users_is_read_in_firefox(fox, served, tmp_path):
    image = np.kron(np.random.default_rng(4).integers(0, 256, (12, 15, 3), np.uint8), np.ones((9, 9, 1), np.uint8))
    (tmp_path / "mine.png").write_bytes(file_bytes(image))
    fox.open(served).wait("!document.body.classList.contains('loading')")
    fox.choose_file("#file", tmp_path / "mine.png")
    fox.wait("document.querySelector('#image').selectedOptions[0]?.text === 'mine.png'").wait()
    numbers = [int(fox.evaluate(f"document.querySelector('{part}').textContent.match(/\\d+/g)[{k}]"))
               for part, k in (("#place-out", 0), ("#place-out", 1), ("#size-out", 0))]  # fmt: skip
    assert float(fox.text("#torque").replace("−", "-")) == library_torque(image, tuple(numbers))
