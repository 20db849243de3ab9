"""A hook of MkDocs: tables of results are not searched, so that "count cells" leads to the guide on counting."""

from typing import Any


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Leave a page of results out of the search index."""
    if page.file.src_uri.startswith("results/"):
        page.meta["search"] = {"exclude": True}
    return markdown
