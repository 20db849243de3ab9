"""The one form in which experiments are asked for and answered: results.json, table.md and plots.

    {"experiment", "command", "version", "commit", "data", "data_sha256", "split", "images", "settings",
     "rows": [{"method": name, METRIC: number, ...}, ...],
     "differences": [{"a": name, "b": name, "metric": METRIC, "value": a minus b, "low", "high"}, ...],
     "readings": [{"choice": text, "kind": "stated", "open" or "changed", METRIC: number, ...}, ...],
     "notes": [text, ...]}

`readings` is the ablation of `imtorque_reproduce.ablation`. All scores are fractions; low and high are the 95 % paired
bootstrap interval.
"""

import json
import shlex
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

from imtorque.files import checksum as checksum  # experiments have all that they need from here
from imtorque.files import write_bytes, write_text

Row = Mapping[str, Any]
FOLDERS = ("images", "masks")  # settings that name a folder of this computer
SIGNED = ("value", "gain", "low", "high")  # begin the names of differences
ABLATION = (
    "Ablation of readings. The first is the one in the table, the nearest to the paper's words and then to its "
    "numbers; each other one changes one choice. *stated*: the paper says so; *open*: it leaves the choice open; "
    "*changed*: it says otherwise. gain: over the same base without torque, with its 95 % interval."
)


class Interval(Protocol):
    """A difference with its interval, as `imtorque.evaluation.Difference` has it."""

    @property
    def value(self) -> float: ...  # noqa: D102
    @property
    def low(self) -> float: ...  # noqa: D102
    @property
    def high(self) -> float: ...  # noqa: D102


def current_commit() -> str | None:
    """Return the commit of the checkout this code runs from, marked where files differ from it; None outside of one."""
    words = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        found = subprocess.run(words, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return found.stdout.strip() or None


def provenance(*, data: str, split: str, command: str) -> dict[str, str]:
    """Return the provenance of weights learned now, as `imtorque.io.weights.weights_text` takes it."""
    return {
        "data": data,
        "split": split,
        "command": command,
        "version": version("imtorque"),
        "date": datetime.now(UTC).date().isoformat(),
        "commit": current_commit() or "unknown",
    }


@dataclass(frozen=True)
class Request:
    """What an experiment is asked to do."""

    experiment: str
    data: Path  # folder of data sets
    split: str | None = None  # part of the data to report on; None for the experiment's own choice
    jobs: int = 1  # images worked on at a time
    limit: int | None = None  # only the first images of each part, for a quick look
    options: Mapping[str, str] = field(default_factory=dict)  # further settings by name, as text
    commit: str | None = field(default_factory=current_commit)  # of the code that runs

    def option(self, name: str, default: str, choices: Sequence[str] = ()) -> str:
        """Return a further setting, which must be one of the choices where there are any."""
        value = self.options.get(name, default)
        if choices and value not in choices:
            raise ValueError(f"{name} must be one of {', '.join(choices)}, got {value}")
        return value

    def number(self, name: str, default: int, least: int = 1) -> int:
        """Return a further setting that is a whole number."""
        return whole_number(name, self.options.get(name, str(default)), least)

    def names(self, name: str, known: Iterable[str], required: str) -> list[str]:
        """Return the names in a setting like "a,b", in their known order; one is required. All where it is not set."""
        known = list(known)
        asked = self.option(name, ",".join(known)).split(",")
        if not set(asked) <= set(known) or required not in asked:
            raise ValueError(f"{name} must be {required} and some of {', '.join(known)}, got {','.join(asked)}")
        return [one for one in known if one in asked]

    def require_options(self, known: Iterable[str] = ()) -> None:
        """Refuse settings that the experiment does not have."""
        for name in self.options:
            if name not in known:
                names = ", ".join(sorted(known))
                raise ValueError(f"{self.experiment} must be given settings it has ({names}), got {name}")

    def parts(self, *known: str) -> tuple[str, ...]:
        """Return the parts of the data to report on: the split, or all parts where none is asked for."""
        if self.split is None:
            return known
        if self.split not in known:
            allowed = f"{'one of ' if len(known) > 1 else ''}{', '.join(known)}" if known else "left out"
            raise ValueError(f"--split must be {allowed}, got {self.split}")
        return (self.split,)

    def berkeley(self) -> Path:
        """Return the folder of BSDS500: that of the data, or the one in it."""
        for root in (self.data / "bsds500", self.data):
            if (root / "groundTruth").is_dir():
                return root
        raise ValueError(
            f"{self.data} must hold bsds500/images and bsds500/groundTruth, got neither there nor in itself"
        )

    @property
    def command(self) -> str:
        """The command that repeats the experiment, without the folders of this computer."""
        parts = ["imtorque", "reproduce", self.experiment]
        parts += [] if self.split is None else ["--split", self.split]
        parts += [] if self.limit is None else ["--limit", str(self.limit)]
        for name, value in self.options.items():
            parts += [f"--{name}", "DIR"] if name in FOLDERS else ["--set", f"{name}={value}"]
        return shlex.join([*parts, "--jobs", str(self.jobs)])


@dataclass(frozen=True)
class Report:
    """What an experiment found."""

    data: str  # name of the data set
    data_sha256: str  # of the files that were read, by `checksum`
    split: str  # the part reported on
    images: int  # how many it has
    settings: Mapping[str, Any]  # whatever must be the same to find the same
    rows: Sequence[Row]  # one per method: its name under "method", and its metrics
    differences: Sequence[Row] = ()  # as `difference` makes them
    readings: Sequence[Row] = ()  # the ablation, nearest reading first; empty where the paper leaves nothing open
    notes: Sequence[str] = ()  # what a reader of the table must know
    plots: Mapping[str, bytes] = field(default_factory=dict)  # files by name, most of them PNG


def whole_number(name: str, text: str, least: int) -> int:
    """Return the number that a text holds, which must be whole and not too small."""
    if not text.isdecimal() or int(text) < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {text!r}")
    return int(text)


def data_folder(data: Path, name: str) -> Path:
    """Return the folder of a data set: below `data`, or `data` itself."""
    return data / name if (data / name).is_dir() else data


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Begin the text of errors with the file that they are about."""
    try:
        yield
    except ValueError as error:
        text = str(error)
        raise ValueError(text if str(path) in text else f"{path}: {text}") from error


def difference(a: str, b: str, metric: str, interval: Interval) -> dict[str, Any]:
    """Return the difference of two rows, a minus b, as results.json holds it."""
    bounds = {"value": interval.value, "low": interval.low, "high": interval.high}
    return {"a": a, "b": b, "metric": metric, **bounds}


def results(report: Report, request: Request) -> dict[str, Any]:
    """Return the content of results.json."""
    asked: dict[str, Any] = {"experiment": request.experiment, "command": request.command}
    asked |= {"version": version("imtorque"), "commit": request.commit}
    return asked | {one.name: getattr(report, one.name) for one in fields(report) if one.name != "plots"}


def write_report(report: Report, request: Request, out: Path) -> dict[str, Any]:
    """Write results.json, table.md and the plots, each whole or not at all, and return what results.json holds."""
    text = json.dumps(results(report, request), indent=1, allow_nan=False)
    content: dict[str, Any] = json.loads(text)
    out.mkdir(parents=True, exist_ok=True)
    for name, image in report.plots.items():
        write_bytes(out / name, image)
    write_text(out / "table.md", tables(content))
    write_text(out / "results.json", text + "\n")
    return content


def tables(content: Mapping[str, Any]) -> str:
    """Return the content of results.json as Markdown: what was done, the rows, the differences, the notes."""
    head = f"# {content['experiment']}: {content['images']} images of {content['data']}, {content['split']}"
    parts = [head, f"`{content['command']}`, version {content['version']}", markdown_table(content["rows"])]
    if content["differences"]:
        heading = "Differences, a minus b, with their 95 % paired bootstrap intervals:"
        parts += [heading, markdown_table([_signed(row) for row in content["differences"]])]
    if content["readings"]:
        parts += [ABLATION, markdown_table([_signed(row) for row in content["readings"]])]
    parts += [f"- {note}" for note in content["notes"]]
    return "\n\n".join(parts) + "\n"


def markdown_table(rows: Sequence[Row]) -> str:
    """Return rows as a Markdown table; a column for every key that any of them has."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    lines = [columns, ["---"] * len(columns), *([_cell(row.get(key)) for key in columns] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _signed(row: Row) -> Row:
    """Return a row whose differences have a sign."""
    return {key: f"{value:+.4f}" if key.startswith(SIGNED) else value for key, value in row.items()}


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else str(value)
