"""A hook of mkdocs: the explorer that needs no server, on the front page, where `make page` has built it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

BUILT = Path(__file__).parents[1] / "build/page/explorer.html"
MARK = "<!-- explorer -->"
SHOWN = """\
<iframe src="explorer.html" title="The explorer, computing in this page" loading="lazy"
  style="width: 100%; height: 720px; border: 1px solid #8884; border-radius: 8px"></iframe>

Drag the patch; open an image of yours, which stays on your computer: all is computed in this page
(<a href="explorer.html">open it alone</a>, or save that page and use it without a network).
To cut out, count and compute saliency, [install](start/installing.md) the package."""


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the page where it is marked, if there is one."""
    return markdown.replace(MARK, SHOWN if BUILT.exists() else "")


def on_post_build(config: Any, **_: Any) -> None:
    """Copy it beside the front page."""
    if BUILT.exists():
        shutil.copy(BUILT, Path(config["site_dir"]) / "explorer.html")
