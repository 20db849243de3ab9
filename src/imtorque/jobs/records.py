"""What is done and what was begun: a small file for each task, in a folder that all who work on it see.

KEY.json is the record of a task that is done, with its value. KEY.begun says that a process began it; where there is
one and no record, that process is at work or has ended, and the task may be what ended it.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from imtorque.io.atomic import open_regular, write_text

LONGEST_KEY = 150  # bound: bytes of a file's name; file systems allow 255 in all


class Records:
    """The folder of the records; made where it is missing."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def path(self, key: str, suffix: str = ".json") -> Path:
        """Return where something about a task lies; never the same for two keys."""
        name = quote(key, safe=" ,=+@~")
        if len(name) > LONGEST_KEY:
            name = f"{name[:LONGEST_KEY]}~{hashlib.sha256(key.encode()).hexdigest()[:16]}"
        return self.folder / f"{name}{suffix}"

    def read(self, key: str) -> list[Any] | None:
        """Return the value of a task that is done, in a list of its own; None where it is not."""
        try:
            with open_regular(self.path(key)) as file:
                stored = json.load(file)
            return [stored["value"]] if stored["key"] == key else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, key: str, value: Any) -> Any:
        """Say that a task is done, and return its value as it will be read."""
        try:
            text = json.dumps({"key": key, "value": value})
        except TypeError as error:
            raise TypeError(f"what a task returns must be what JSON can hold, got {value!r:.80}: {error}") from None
        write_text(self.path(key), text + "\n")
        return json.loads(text)["value"]

    def begin(self, key: str) -> bool:
        """Say that a task is begun, and return whether nobody had begun it before."""
        try:
            os.close(os.open(self.path(key, ".begun"), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        except FileExistsError:
            return False
        return True

    def end(self, key: str) -> None:
        """Say that a task is not at work any more, and did not end its process."""
        self.path(key, ".begun").unlink(missing_ok=True)
