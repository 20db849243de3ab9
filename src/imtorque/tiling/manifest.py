"""What was asked of an image and what was found, beside its results: the same call goes on, another one is refused."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from imtorque.io.atomic import remove_leftovers, write_text
from imtorque.io.ledger import sha256
from imtorque.tiling.job import forget_work

ZARR_PARTIAL = re.compile(r".+\.[0-9a-f]{32}\.partial")  # format: what zarr writes to before it renames


def begin(out: Path, settings: dict[str, Any]) -> dict[str, Any] | None:
    """Note what is asked; refuse where it was something else before.

    Where all is done, return what was found; where a result of that is gone, forget it, so that all are made again.
    """
    given = json.loads(json.dumps(settings))
    noted = out / "settings.json"
    if out.is_dir():
        remove_leftovers(out)
    if noted.exists():
        for name, now, then in _differences(given, _read(noted)):
            raise ValueError(f"{out}: {name} was {then} when this was begun, got {now}; give another folder")
    elif out.exists() and any(out.iterdir()):
        raise ValueError(f"{out}: must be an empty folder, or one that this began, got other files in it")
    out.mkdir(parents=True, exist_ok=True)
    write_text(noted, json.dumps(given, indent=1) + "\n")
    results = out / "results.json"
    if not results.exists():
        return None
    found = _read(results)
    forget_work(out)  # which a run that was killed just before its end left
    files = _files(out)
    wrong = {name.partition("/")[0] for name, held in found.pop("files", {}).items() if files.get(name) != held}
    for name in sorted(wrong):
        if (out / name).exists():
            raise ValueError(
                f"{out / name}: must be as it was written, got it changed; remove it to have it made again"
            )
    if not wrong:
        return found
    results.unlink()
    return None


def end(out: Path, summary: dict[str, Any]) -> None:
    """Note that all is done, what was found, and what files hold it; remove chunks that a killed run had begun."""
    for path in out.glob("maps.zarr/**/*.partial"):
        if ZARR_PARTIAL.fullmatch(path.name):
            path.unlink(missing_ok=True)
    write_text(out / "results.json", json.dumps({**summary, "files": _files(out)}, indent=1) + "\n")


def _files(out: Path) -> dict[str, Any]:
    """Return the checksum of each file, and how many there are, of how many bytes, in each folder of the maps."""
    found: dict[str, Any] = {}
    for path in out.iterdir():
        if path.name not in ("settings.json", "results.json", "work") and not path.name.startswith("."):
            if path.is_dir():
                for folder, _, names in os.walk(path):
                    sizes = [os.stat(os.path.join(folder, name)).st_size for name in names]
                    found[Path(folder).relative_to(out).as_posix()] = [len(sizes), sum(sizes)]
            else:
                found[path.name] = sha256(path)
    return found


def _read(path: Path) -> dict[str, Any]:
    """Return what one of these files holds."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise ValueError(f"{path}: must be as imtorque tile wrote it, got another file; give another folder")
    return content


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
