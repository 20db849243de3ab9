"""Learned weights that ship with the library: JSON files in `imtorque/io/weights`, each with its provenance."""

from __future__ import annotations

import json
import re
from importlib import import_module, resources
from typing import Any

import_module("importlib.readers")  # which would be imported with the first file: a process forked meanwhile would wait
PROVENANCE = ("data", "split", "command", "version", "date")


def read_weights(name: str) -> dict[str, Any]:
    """Return the models of a weights file by name, such as "figure"."""
    models: dict[str, Any] = _read(name)["models"]
    return models


def read_provenance(name: str) -> dict[str, str]:
    """Return what a weights file was learned from: data, split, command, version and date."""
    provenance: dict[str, str] = _read(name)["provenance"]
    return provenance


def weights_text(models: dict[str, Any], provenance: dict[str, str]) -> str:
    """Return the text of a weights file; `provenance` must hold every key of `PROVENANCE`."""
    if missing := [key for key in PROVENANCE if key not in provenance]:
        raise ValueError(f"provenance must say {', '.join(PROVENANCE)}, got no {', '.join(missing)}")
    text = json.dumps({"provenance": provenance, "models": models}, indent=1) + "\n"
    return re.sub(r"\[[^][]*\]", lambda row: " ".join(row[0].split()).replace("[ ", "[").replace(" ]", "]"), text)


def _read(name: str) -> dict[str, Any]:
    text = resources.files("imtorque.io.weights").joinpath(f"{name}.json").read_text("utf-8")
    stored: dict[str, Any] = json.loads(text)
    return stored
