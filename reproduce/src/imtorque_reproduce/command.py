"""The verb `imtorque reproduce NAME`: run an experiment on data that is already here."""

import json
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from imtorque.cli.options import Json, parse_settings
from imtorque.cli.runner import one_line_errors
from imtorque.core.threads import available_cores
from imtorque.datasets.lists import LISTS, compare_with_list
from imtorque_reproduce import EXPERIMENTS
from imtorque_reproduce.report import Report, Request, tables, write_report

CORES = available_cores()
ABOUT = "; ".join(f"{name} ({experiment.about})" for name, experiment in EXPERIMENTS.items())

Name = Annotated[str, typer.Argument(metavar="NAME", help=f"One of: {ABOUT}.", show_default=False)]
Data = Annotated[Path | None, typer.Option(envvar="IMTORQUE_DATA", metavar="DIR", help="Folder of data sets.")]
Images = Annotated[
    Path | None, typer.Option("--images", metavar="DIR", help="Report on these images instead (figure-ground).")
]
Masks = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Their masks, PNG of the same names: 0 ground, 255 figure.")
]
Split = Annotated[str | None, typer.Option(metavar="NAME", help="Part of the data to report on.")]
Out = Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Folder for results.json, table.md, plots.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=1, metavar="N", help="Images worked on at a time.")]
Limit = Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the first N images, for a quick look.")]
Matching = Annotated[
    str | None, typer.Option(metavar="NAME", help="Match boundaries of all rows by min_cost or cardinality.")
]
Train = Annotated[
    str | None, typer.Option(metavar="N,N,...", help="recognition: training images per class, such as 5,15,30.")
]
Splits = Annotated[int | None, typer.Option(min=1, metavar="N", help="recognition: random splits to average over.")]
Categories = Annotated[int | None, typer.Option(min=2, metavar="N", help="recognition: only the first N classes.")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A further setting of the experiment.")
]


def reproduce(
    name: Name,
    data: Data = None,
    images: Images = None,
    masks: Masks = None,
    split: Split = None,
    out: Out = Path("imtorque-results"),
    jobs: Jobs = CORES,
    limit: Limit = None,
    matching: Matching = None,
    train: Train = None,
    splits: Splits = None,
    categories: Categories = None,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Repeat an experiment of the paper: results.json, a table and plots.

    Example: [bold]imtorque reproduce boundary --data DIR --split val --out results/boundary[/bold]
    """
    with one_line_errors():
        options = parse_settings(settings or [])
        given: dict[str, object] = {"matching": matching, "images": images, "masks": masks}
        given |= {"train": train, "splits": splits, "categories": categories}
        options |= {option: str(value) for option, value in given.items() if value is not None}
        request = Request(name, _data_folder(name, data or images), split, jobs, limit, options)
        report = _run(request)
        report = replace(report, notes=[*report.notes, *list_notes(request)])
        content = write_report(report, request, out)
    typer.echo(json.dumps(content, indent=1) if as_json else tables(content))


def list_notes(request: Request) -> list[str]:
    """Return how the files of the data that the results were read from compare with those that are here."""
    notes = []
    for name in EXPERIMENTS[request.experiment].lists:
        folder = Path(LISTS[name][0])
        here = [path for path in (request.data / folder, request.data / folder.name, request.data) if path.is_dir()]
        if here[0].name == folder.name:
            notes.append(f"Files, beside those of the committed results: {compare_with_list(name, here[0])}")
    return notes


def _data_folder(name: str, data: Path | None) -> Path:
    if name not in EXPERIMENTS:
        raise ValueError(f"NAME must be one of {', '.join(EXPERIMENTS)}, got {name}")
    if data is None and not EXPERIMENTS[name].draws:
        raise ValueError("--data must name a folder of data sets, or IMTORQUE_DATA, got neither")
    if not (data or Path()).is_dir():
        raise ValueError(f"--data must name a folder of data sets, got {data}")
    return data or Path()


def _run(request: Request) -> Report:
    try:
        module = import_module(f"{__package__}.{EXPERIMENTS[request.experiment].module}")
        report: Report = module.run(request)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("imtorque"):
            raise
        raise ValueError(f"reproduce {request.experiment} needs {error.name}: pip install {error.name}") from error
    return report
