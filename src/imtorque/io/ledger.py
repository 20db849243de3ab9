"""Which files of a folder may be replaced: those that a record says were written, as they were written.

A record is a JSON file with the verb, its outputs with their checksums, and, until it has ended, the names it is
writing: so files of a run that was killed are known as well.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from imtorque.io.atomic import guarding, open_regular, write_text

Record = dict[str, Any]


class Ledger:
    """What one verb wrote into a folder, and may therefore replace.

    Parameters
    ----------
    record
        The file that says so.
    verb
        Whose record it must be.
    folder
        Where the outputs lie; that of the record by default. Files elsewhere are not judged.
    overwrite
        Whether all other files may be replaced as well.
    """

    def __init__(self, record: Path, verb: str, *, folder: Path | None = None, overwrite: bool = False) -> None:
        self.record, self.verb, self.overwrite = record, verb, overwrite
        self.folder = Path(os.path.abspath(record.parent if folder is None else folder))

    def read(self) -> Record | None:
        """Return the record; None where there is none, or somebody else's."""
        return read_record(self.record, self.verb)

    def check(self, *names: str) -> None:
        """Refuse to replace a file, or the record, that was not written so."""
        if self.overwrite:
            return
        stored = self.read()
        if stored is None and self.record.exists():
            self._refuse(self.record)
        for name in names:
            path = self.folder / name
            if self._exists(name) and not (stored is not None and _is_written(path, stored)):
                self._refuse(path)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Check and note every file that is written into the folder within the block."""
        try:
            with guarding(self._note):
                yield
        except BaseException:
            stored = self.read()
            if (
                stored is not None
                and not stored["outputs"]
                and not any(map(self._exists, _names(stored.get("writing"))))
            ):
                self.record.unlink()
            raise

    def end(self, outputs: Iterable[Path], about: Record | None = None) -> None:
        """Write the record of what the outputs are, and remove those of the run before that are none of this one."""
        earlier = self.read() or {"outputs": []}
        listed = [{"name": path.name, "sha256": sha256(path)} for path in outputs]
        full = {"verb": self.verb, **(about or {}), "outputs": listed}
        write_text(self.record, json.dumps(full, indent=1) + "\n")
        kept = {output["name"] for output in listed}
        for output in earlier["outputs"]:
            with suppress(OSError, ValueError, KeyError, TypeError):
                path = self.folder / output["name"]
                if path.name not in kept and path.parent == self.folder and is_as_written(path, earlier):
                    path.unlink()

    def _note(self, target: Path) -> None:
        path = Path(os.path.abspath(target))
        if path.parent != self.folder or path == Path(os.path.abspath(self.record)):
            return
        self.check(path.name)
        stored = self.read() or {}
        begun = list(dict.fromkeys([*_names(stored.get("writing")), path.name]))
        noted = {"verb": self.verb, "outputs": stored.get("outputs", []), "writing": begun}
        write_text(self.record, json.dumps(noted, indent=1) + "\n")

    def _exists(self, name: str) -> bool:
        return os.path.lexists(self.folder / name)

    def _refuse(self, path: Path) -> None:
        raise FileExistsError(
            f"{os.path.relpath(path)}: must be as imtorque {self.verb} wrote it to be replaced, got another file; "
            "move it, give another --out, or --overwrite"
        )


def read_record(path: Path, verb: str) -> Record | None:
    """Return the record of a verb; None where a file is none, or not there."""
    try:
        with open_regular(path) as file:
            content = json.load(file)
    except (OSError, ValueError, RecursionError):
        return None
    is_one = isinstance(content, dict) and content.get("verb") == verb and isinstance(content.get("outputs"), list)
    return content if is_one else None


def is_as_written(path: Path, stored: Record) -> bool:
    """Return whether a file is there as a record says it was written."""
    try:
        return sha256(path) in [output["sha256"] for output in stored["outputs"] if output["name"] == path.name]
    except (OSError, ValueError, KeyError, TypeError):
        return False


def checksum(paths: Iterable[Path], root: Path) -> str:
    """Return one SHA-256 for many files: of their names below `root` and their contents, in order of the names."""
    total = hashlib.sha256()
    for name, path in sorted((path.relative_to(root).as_posix(), path) for path in set(paths)):
        with open(path, "rb") as file:
            total.update(f"{name} {hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return total.hexdigest()


def sha256(path: Path) -> str:
    """Return the checksum of a file, or of all files of a folder."""
    if path.is_dir():
        return checksum((inner for inner in path.rglob("*") if inner.is_file()), path)
    try:
        with open_regular(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: no such file") from None


def _is_written(path: Path, stored: Record) -> bool:
    return path.name in _names(stored.get("writing")) or is_as_written(path, stored)


def _names(listed: Any) -> list[str]:
    return [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []
