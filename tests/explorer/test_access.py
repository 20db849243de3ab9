"""The page for everybody: axe finds nothing in any of its states, light or dark, large or small."""

import importlib.resources

import pytest

DESK, PHONE = {"width": 1280, "height": 720}, {"width": 390, "height": 844}
SIDE, PROJECTOR = {"width": 844, "height": 390}, {"width": 1024, "height": 768}
STATES = [
    ("#image=sample:hopper&layers=value.90,edges.60&tab=layers", DESK, "light"),
    ("#image=sample:hopper&layers=value.90&tab=layers", DESK, "dark"),
    ("#image=sample:shapes&tab=settings&patch=disk&low=0.02&high=0.1", DESK, "light"),
    ("#image=sample:hopper&tab=extrema&tool=extrema&number=4", DESK, "dark"),
    ("#image=sample:hopper&tab=cut&tool=cut&clicks=200,60", DESK, "light"),
    ("#image=sample:disc&tab=count&tool=count&annotations=80,120,60", DESK, "light"),
    ("#image=sample:disc&tab=count&tool=count", DESK, "dark"),
    ("#image=sample:overlap&tab=save", DESK, "dark"),
    ("#image=sketch", DESK, "light"),
    ("#image=sample:overlap&present=1", DESK, "light"),
    ("#image=sample:overlap&present=1", DESK, "dark"),
    ("#image=sample:shapes", PHONE, "light"),
    ("#image=sample:shapes&tab=extrema&tool=extrema", PHONE, "dark"),
    ("#image=sample:shapes&tab=settings&pattern=saddle", SIDE, "light"),
    ("#image=sample:disc&tab=count&tool=count&annotations=80,120,60", SIDE, "dark"),
    ("#image=sample:hopper&tab=extrema&tool=extrema&number=2", PROJECTOR, "light"),
    ("#image=sketch", PHONE, "dark"),
]
OPENED = {"help": "#help-open", "steps": "#play"}


def findings(tab):
    """What axe finds, one line each."""
    source = importlib.resources.files("axe_playwright_python") / "axe.min.js"
    tab.page.evaluate(source.read_text(encoding="utf-8"))
    found = tab.page.evaluate("axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)")
    return [f"{one['id']}: {node['target']} {node['failureSummary']}" for one in found for node in one["nodes"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_any_state(tab, scheme):
    pytest.importorskip("axe_playwright_python")
    tab.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    for state, size, colours in STATES:
        if colours == scheme:
            tab.page.set_viewport_size(size)
            tab.page.goto("about:blank")
            tab.open(state)
            assert findings(tab) == [], state
    tab.requests.clear()


@pytest.mark.parametrize("opened", OPENED)
def test_axe_finds_nothing_in_what_opens_over_the_page(tab, opened):
    pytest.importorskip("axe_playwright_python")
    tab.page.emulate_media(reduced_motion="reduce")
    tab.open("#image=sample:disc")
    tab.page.click(OPENED[opened])
    assert findings(tab.still()) == []
