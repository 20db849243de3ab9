"""A browser, a server, and a tab for each test.

Skipped where there is no Chromium, unless IMTORQUE_REQUIRE_BROWSER is set, as in CI: then that is a failure.
"""

import pytest

from explorer_browser import ARGUMENTS, CHROMIUM, Tab, need_browser
from explorer_client import running
from imtorque.explorer.image_store import ImageStore
from waiting import GIVEN_UP


@pytest.fixture(scope="session")
def browser():
    need_browser(CHROMIUM, "chromium", "chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def store():
    return ImageStore()


@pytest.fixture(scope="module")
def address(store):
    with running(store=store) as where:
        yield where


@pytest.fixture
def tab(browser, address):
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    context.set_default_timeout(1000 * GIVEN_UP)
    opened = Tab(context.new_page(), address)
    yield opened
    context.close()
    assert opened.complaints == []
    assert all(url.startswith((address, "blob:", "data:")) for url in opened.requests)
