"""What was asked of an image and what was found, beside its results: the same call goes on, another one is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from imtorque.io.atomic import write_text


def begin(out: Path, settings: dict[str, Any]) -> dict[str, Any] | None:
    """Note what is asked; refuse where it was something else before; return what was found where all is done."""
    given = json.loads(json.dumps(settings))
    noted = out / "settings.json"
    if noted.exists():
        kept = json.loads(noted.read_text(encoding="utf-8"))
        for name, now, then in _differences(given, kept):
            raise ValueError(f"{out}: {name} was {then} when this was begun, got {now}; give another folder")
    elif out.exists() and any(out.iterdir()):
        raise ValueError(f"{out}: must be an empty folder, or one that this began, got other files in it")
    out.mkdir(parents=True, exist_ok=True)
    write_text(noted, json.dumps(given, indent=1) + "\n")
    results = out / "results.json"
    found: dict[str, Any] | None = json.loads(results.read_text(encoding="utf-8")) if results.exists() else None
    return found


def end(out: Path, summary: dict[str, Any]) -> None:
    """Note that all is done, and what was found."""
    write_text(out / "results.json", json.dumps(summary, indent=1) + "\n")


def _differences(now: dict[str, Any], then: dict[str, Any], prefix: str = "") -> list[tuple[str, Any, Any]]:
    """Return the names of settings that differ, and both values."""
    found = []
    for name in [*now, *(set(then) - set(now))]:
        a, b = now.get(name), then.get(name)
        if isinstance(a, dict) and isinstance(b, dict):
            found += _differences(a, b, f"{prefix}{name}.")
        elif a != b:
            found.append((f"{prefix}{name}", a, b))
    return found
