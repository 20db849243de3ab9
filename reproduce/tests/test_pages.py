"""The intervals on the pages of what was measured are those of the results that the pages name."""

import json
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
RESULTS = DOCS / "results"
INTERVAL = re.compile(r"([+−]?\d+\.\d+) \[([+−]?\d+\.\d+), ([+−]?\d+\.\d+)\]")
PAGES = ("boundary", "index", "operator_properties", "patterns", "recognition", "saliency", "segmentation")


def intervals(content):
    """All (value, low, high) of a results file, also as b minus a."""
    if isinstance(content, list):
        return [one for part in content for one in intervals(part)]
    if not isinstance(content, dict):
        return []
    found = [one for path in named for one in intervals(json.loads(path.read_text()))]
    said = [[float(part.replace("−", "-")) for part in match] for match in INTERVAL.findall(text)]
    assert said
    places = [len(match[0].split(".")[1]) for match in INTERVAL.findall(text)]
    unknown = [
        one
        for one, digits in zip(said, places, strict=True)
        if not any(
            all(abs(unit * a - b) <= 0.5000001 * 10**-digits for a, b in zip(ref, one, strict=True))
            for unit in (1, 100)
            for ref in found
        )
    ]
    assert unknown == []
