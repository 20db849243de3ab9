"""Every example runs, stays short, and has its image in the gallery."""

import importlib.util
from pathlib import Path

import pytest
from matplotlib import pyplot

pytestmark = pytest.mark.docs
ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))


@pytest.fixture(scope="module")
def gallery():
    spec = importlib.util.spec_from_file_location("render_gallery", ROOT / "docs" / "render_gallery.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_is_one_for_each_of_the_papers_first_ten_figures():
    assert {f"{k:02}" for k in range(1, 11)} <= {example.stem.split("_")[1] for example in EXAMPLES}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_runs_and_has_its_image_in_the_gallery(example, gallery):
    if gallery.needs_torch(example):
        pytest.importorskip("torch", reason="make test-torch runs it")
    figure = gallery.draw(example)
    figure.canvas.draw()
    assert all(axes.has_data() for axes in figure.axes)
    assert len(example.read_text().splitlines()) <= 60
    pyplot.close("all")
    stored = ROOT / "docs" / "gallery" / f"{example.stem}.png"
    assert 0 < stored.stat().st_size <= 200_000


def test_the_gallerys_page_is_up_to_date(gallery):
    assert (ROOT / "docs" / "start" / "gallery.md").read_text() == gallery.page()
