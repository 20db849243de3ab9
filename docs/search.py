"""A hook of MkDocs: tables of results are not searched, and what is measured comes after the guide to it.

So "count cells" leads to the guide on counting.
"""

from typing import Any

MEASURED_BOOST = 0.5  # of what pages of measurements score in a search; untuned


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Leave a page of results out of the search index, and let what is measured come later."""
    if page.file.src_uri.startswith("results/"):
        page.meta["search"] = {"exclude": True}
    elif page.file.src_uri.startswith("measured/"):
        page.meta["search"] = {"boost": MEASURED_BOOST}
    return markdown
