"""The files that reported results were read from: names and checksums, so that others can tell whether theirs are."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from imtorque.io.atomic import open_regular

DIGITS = 12  # of a SHA-256: enough against accident; convention
FOLDER = Path(__file__).parent / "lists"
# The folder of each list below a folder of data sets, and which files of it are listed.
LISTS = {
    "caltech101": ("caltech101", ("101_ObjectCategories/*/*.jpg", "Annotations/*/*.mat")),
    "osie": ("eyetracking/osie", ("images/*",)),
    "sun_scenes": ("eyetracking/sun_scenes", ("images/*",)),
    "weizmann_horses": ("figure_ground/weizmann_horses", ("images/*", "masks/*")),
}


@dataclass(frozen=True)
class Comparison:
    """Counts of listed files that are the same, different and missing, and of files not listed."""

    name: str
    same: int
    other: int
    missing: int
    beside: int

    def __str__(self) -> str:
        """Return it in one line."""
        if not (self.other or self.missing or self.beside):
            return f"{self.name}: all {self.same} files are those of the list."
        total = self.same + self.other + self.missing
        return (
            f"{self.name}: of the {total} listed files {self.same} are the same, {self.other} have other bytes, "
            f"{self.missing} are missing; {self.beside} are not listed."
        )


def listed(name: str) -> dict[str, str]:
    """Return the files of a list, by their path below the set's folder, with the first digits of their SHA-256."""
    folders = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return {folder + file: digest for folder, files in folders.items() for file, digest in files.items()}


def list_text(found: Mapping[str, str]) -> str:
    """Return the content of a list: a line of JSON for each folder."""
    folders: dict[str, dict[str, str]] = {}
    for path, digest in found.items():
        folder, slash, file = path.rpartition("/")
        folders.setdefault(folder + slash, {})[file] = digest
    return "{" + ",\n".join(f"{json.dumps(folder)}: {json.dumps(files)}" for folder, files in folders.items()) + "}\n"


def compare_with_list(name: str, folder: Path) -> Comparison:
    """Compare the files of a folder with those listed."""
    expected, found = listed(name), digests(name, folder)
    both = expected.keys() & found.keys()
    same = sum(expected[path] == found[path] for path in both)
    return Comparison(name, same, len(both) - same, len(expected) - len(both), len(found) - len(both))


def digests(name: str, folder: Path) -> dict[str, str]:
    """Return the digests of a folder's files, as its list holds them."""
    paths = [path for pattern in LISTS[name][1] for path in sorted(folder.glob(pattern)) if path.is_file()]
    return {path.relative_to(folder).as_posix(): _digest(path) for path in paths}


def _digest(path: Path) -> str:
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:DIGITS]
