"""Put the built site beside those of other versions: SITE/VERSION, a list of versions, and the newest at the front.

python docs/publish.py build/docs build/site
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import imtorque


def publish(built: Path, site: Path, version: str) -> None:
    """Add a version to the site, in place of one of the same name."""
    place = site / version
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(built, place)
    found = sorted((path.name for path in site.iterdir() if (path / "index.html").exists()), key=_order, reverse=True)
    listed = [{"version": name, "title": name, "aliases": ["latest"] if name == found[0] else []} for name in found]
    (site / "versions.json").write_text(json.dumps(listed, indent=1) + "\n")
    (site / "index.html").write_text(
        f'<!doctype html><meta http-equiv="refresh" content="0; url={found[0]}/index.html">\n'
    )


def _order(version: str) -> tuple[tuple[int, ...], bool]:
    """Order versions by their numbers, those under way before the finished ones."""
    numbers, _, rest = version.partition(".dev")
    return tuple(int(part) for part in numbers.split(".")), not rest


if __name__ == "__main__":
    publish(Path(sys.argv[1]), Path(sys.argv[2]), imtorque.__version__)
