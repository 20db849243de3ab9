"""`imtorque.explore` in notebooks: the page below the cell, and what is on it back in Python."""

import contextlib
import functools
import http.server
import re
import shutil
import subprocess
import sys
import threading
from importlib.util import find_spec

import httpx
import numpy as np
import pytest
from numpy.testing import assert_array_equal

import imtorque
from explorer_browser import IDLE, Tab, photograph
from imtorque.explorer import notebook
from waiting import GIVEN_UP, until

FIRST = """
import numpy as np, imtorque
image = np.load("image.npy")
page = imtorque.explore(image, height=600)
"""
SECOND = "print(page.clicks, int(page.mask.sum()), page.patch, len(page.extrema), page.objects)"


@contextlib.contextmanager
def kernel(folder):
    """A notebook's kernel that runs one cell after the other; gives what shows a cell's outputs."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    book = nbformat.v4.new_notebook()
    client = nbclient.NotebookClient(
        book, timeout=GIVEN_UP, kernel_name="python3", resources={"metadata": {"path": folder}}
    )

    def run(source):
        book.cells.append(nbformat.v4.new_code_cell(source))
        return client.execute_cell(book.cells[-1], len(book.cells) - 1)["outputs"]

    with client.setup_kernel():
        yield run


@contextlib.contextmanager
def site(folder):
    """The folder's pages, at localhost, as those of another server than the explorer's."""
    serve = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    serve.log_message = None
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://localhost:{server.server_address[1]}"
        server.shutdown()
        thread.join()


class Framed(Tab):
    """The explorer's page in a frame of another page."""

    def __init__(self, page, frame):
        super().__init__(page, "", frame)

    def click_at(self, y, x):
        """Click, and wait until Python has been told."""
        self.frame.wait_for_selector(IDLE)
        box = self.page.locator("iframe").bounding_box()
        left, top = self.on_screen(y, x)
        with self.page.expect_request_finished(
            lambda request: "/state?" in request.url and f"clicks={y}" in request.url
        ):
            self.page.mouse.click(box["x"] + left, box["y"] + top)


@pytest.mark.filterwarnings("ignore")  # of Jupyter's own
def test_a_notebook_shows_the_page_and_gets_clicks_mask_and_extrema(browser, tmp_path):
    image = photograph(160, 200)
    np.save(tmp_path / "image.npy", image)
    with kernel(str(tmp_path)) as run, site(tmp_path) as address:
        (shown,) = run(FIRST)
        html = shown["data"]["text/html"]
        assert re.search(r'height="600"', html)
        (tmp_path / "page.html").write_text(f"<!doctype html><title>Notebook</title>{html}")
        tab = browser.new_page(viewport={"width": 1280, "height": 720})
        tab.goto(f"{address}/page.html")
        framed = Framed(tab, tab.frames[1])
        framed.frame.wait_for_selector(IDLE)  # an image that is opened sets the tool
        framed.frame.check("[name=tool][value=cut]", force=True)
        framed.click_at(80, 100)
        (printed,) = run(SECOND)
        tab.close()
    mask = imtorque.segment_figure(image, (80, 100))
    assert printed["text"].startswith(f"[('new', 80, 100)] {mask.sum()} (80, 100, ")
    assert printed["text"].strip().endswith(" 12 None")


@pytest.fixture
def exploration(monkeypatch):
    """An exploration outside of a notebook, whose browser is a client without a page."""
    opened = []
    monkeypatch.setattr(notebook.webbrowser, "open", opened.append)
    shown = imtorque.explore("disc")
    assert opened == [shown.address]
    yield shown
    shown.close()


def send_state(shown, **query):
    with httpx.Client(base_url=shown.address, timeout=GIVEN_UP) as server:
        key = server.post("/api/images?start=0").json()["key"]
        assert server.post(f"/api/images/{key}/state", params=query).status_code == 204


def test_before_the_page_is_seen_there_is_the_image_with_the_usual_settings(exploration):
    image = imtorque.datasets.sample("disc")
    assert_array_equal(exploration.image, image)
    assert (exploration.patch, exploration.mask, exploration.objects, exploration.finder) == (None, None, None, None)
    assert len(exploration.extrema) > 0
    assert "detect_edges" in exploration.code
    assert repr(exploration) == f"Exploration('disc' at {exploration.address})"


def test_the_state_that_the_page_sends_is_that_of_python(exploration):
    send_state(exploration, sigma="2", y="80", x="120", size="31", count="3", annotations="80,120,60 -5,5")
    edges = imtorque.detect_edges(exploration.image, sigma=2.0)
    value, _ = imtorque.value_and_scale_maps(edges, imtorque.default_sizes(edges.shape))
    assert exploration.patch == (80, 120, 31)
    assert exploration.annotations == [(80, 120, 60, False), (5, 5, 0, True)]
    assert_array_equal(exploration.maps[0], value)
    assert len(exploration.extrema) <= 3


def test_names_of_version_0_2_warn(exploration):
    send_state(exploration, annotations="80,120,60")
    with pytest.warns(DeprecationWarning, match=r"Exploration.marks is now annotations"):
        assert exploration.marks == [(80, 120, 60, False)]
    with pytest.raises(AttributeError, match="no attribute 'picture'"):
        _ = exploration.picture


def test_without_the_token_of_its_address_nothing_is_answered(exploration):
    site, token = exploration.address.rstrip("/").rsplit("/", 1)
    assert httpx.get(f"{site}/api/start", timeout=GIVEN_UP).status_code == 403
    assert httpx.get(f"{site}/{token}/api/start", timeout=GIVEN_UP).status_code == 200


def test_only_notebooks_may_frame_the_page(exploration):
    policy = httpx.get(exploration.address, timeout=GIVEN_UP).headers["content-security-policy"]
    assert "frame-ancestors http://localhost:* http://127.0.0.1:* " in policy


def test_a_proxy_is_named_by_its_address(monkeypatch):
    monkeypatch.setattr(notebook.webbrowser, "open", lambda _: None)
    shown = imtorque.explore("disc", address="https://hub.example/user/me/proxy/8745/")
    try:
        token = shown.address.removeprefix("https://hub.example/user/me/proxy/8745/")
        local = f"http://127.0.0.1:{shown._server.servers[0].sockets[0].getsockname()[1]}/{token.rstrip('/')}"
        ours = {"host": "hub.example", "origin": "https://hub.example"}
        assert httpx.post(f"{local}/api/images?start=0", headers=ours, timeout=GIVEN_UP).status_code == 201
        passed_on = {"origin": "https://hub.example"}
        assert httpx.post(f"{local}/api/images?start=0", headers=passed_on, timeout=GIVEN_UP).status_code == 201
        foreign = {"origin": "https://other.example"}
        assert httpx.post(f"{local}/api/images?start=0", headers=foreign, timeout=GIVEN_UP).status_code == 403
        assert "https://hub.example;" in httpx.get(f"{local}/", timeout=GIVEN_UP).headers["content-security-policy"]
    finally:
        shown.close()


def answers(address):
    with contextlib.suppress(httpx.HTTPError):
        return httpx.get(address, timeout=GIVEN_UP).status_code == 200


@pytest.mark.slow
@pytest.mark.skipif(find_spec("jupyterlab") is None, reason="jupyterlab is not installed")
def test_the_page_stands_below_the_cell_in_jupyterlab(browser, tmp_path):
    nbformat = pytest.importorskip("nbformat")
    np.save(tmp_path / "image.npy", photograph(160, 200))
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(FIRST.strip()), nbformat.v4.new_code_cell(SECOND)])
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(book, tmp_path / "a.ipynb")
    command = [shutil.which("jupyter") or f"{sys.prefix}/bin/jupyter", "lab", "--no-browser", "--allow-root"]
    options = ["--IdentityProvider.token=", "--port=8955", "--ServerApp.root_dir=."]
    with subprocess.Popen([*command, *options], cwd=tmp_path, stderr=subprocess.DEVNULL) as lab:
        try:
            until(lambda: answers("http://localhost:8955/api"))
            tab = browser.new_page(viewport={"width": 1400, "height": 1300})
            tab.set_default_timeout(1000 * GIVEN_UP)
            tab.goto("http://localhost:8955/lab/tree/a.ipynb")
            tab.locator(".jp-Cell .cm-content").first.click()
            tab.keyboard.press("Shift+Enter")
            tab.wait_for_selector(".jp-OutputArea iframe")
            frame = next(frame for frame in tab.frames if "127.0.0.1" in frame.url)
            framed = Framed(tab, frame)
            frame.wait_for_selector(IDLE)
            frame.check("[name=tool][value=cut]", force=True)
            framed.click_at(80, 100)
            tab.locator(".jp-Cell .cm-content").nth(1).click()
            tab.keyboard.press("Shift+Enter")
            tab.locator(".jp-OutputArea-output", has_text="('new', 80, 100)").wait_for()
            tab.screenshot(path=str(tmp_path / "lab.png"))
            tab.close()
        finally:
            lab.terminate()
