"""The intervals on the pages of what was measured are those of the results that the pages name."""

import json
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
RESULTS = sorted((DOCS / "results").glob("*/results.json"))
INTERVAL = re.compile(r"([+−]?\d+\.(\d+))\s+\[([+−]?\d+\.\d+),\s+([+−]?\d+\.\d+)\]")
PAGES = ("boundary", "index", "operator_properties", "patterns", "recognition", "saliency", "segmentation")


def intervals(content):
    """All (value, low, high) of a results file, also as b minus a."""
    if isinstance(content, list):
        return [one for part in content for one in intervals(part)]
    if not isinstance(content, dict):
        return []
    found = intervals(list(content.values()))
    value, low, high = content.get("value", content.get("gain")), content.get("low"), content.get("high")
    if value is None or low is None or high is None:
        return found
    return [*found, (value, low, high), (-value, -high, -low)]


@pytest.mark.parametrize("page", PAGES)
def test_every_interval_on_a_page_stands_in_its_results(page):
    text = (DOCS / "measured" / f"{page}.md").read_text()
    named = [path for path in RESULTS if page == "index" or f"results/{path.parent.name}" in text]
    found = [one for path in named for one in intervals(json.loads(path.read_text()))]
    units = {1, 100}  # fractions and points
    unknown = []
    for match in INTERVAL.finditer(text):
        value, digits, *ends = match.groups()
        said, slack = [float(part.replace("−", "-")) for part in (value, *ends)], 0.5000001 * 10 ** -len(digits)
        if not any(
            all(abs(u * a - b) <= slack for a, b in zip(ref, said, strict=True)) for u in units for ref in found
        ):
            unknown.append(match.group())
    assert INTERVAL.search(text)
    assert unknown == []
