"""The verbs `imtorque data`, `data prepare` and `data train`: which data sets there are, how downloads become them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_type_hints

import typer

from imtorque import __version__, datasets
from imtorque.cli.evaluate import markdown_table
from imtorque.cli.options import Json, parse_settings
from imtorque.cli.runner import one_line_errors
from imtorque.datasets.lists import LISTS, compare_with_list
from imtorque.datasets.published import PREPARERS
from imtorque.datasets.published import prepare as prepare_download
from imtorque.edges import network, token_forest
from imtorque.edges.network import BoundaryNetwork, kept_network
from imtorque.edges.token_forest import SketchTokens, kept_forest
from imtorque.edges.token_training import Drawn, TokenSettings, train_tokens
from imtorque.files import checksum

Trained = SketchTokens | BoundaryNetwork
SPLIT = "train"

app = typer.Typer(invoke_without_command=True)

Name = Annotated[
    str, typer.Argument(metavar="NAME", help="sketch-tokens, or network, which needs torch.", show_default=False)
]
Berkeley = Annotated[Path, typer.Option("--data", metavar="DIR", help="BSDS500, or the folder of data sets above it.")]
SetName = Annotated[str, typer.Argument(metavar="NAME", help=f"Which: {', '.join(PREPARERS)}.", show_default=False)]
Download = Annotated[Path, typer.Option("--from", metavar="DIR", help="The unpacked download.", show_default=False)]
Root = Annotated[
    Path, typer.Option("--root", "--data", metavar="DIR", envvar="IMTORQUE_DATA", help="Folder of data sets.")
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=NUMBER", help="Another setting: trees, seed and so on.")
]


@app.callback()
def data(
    context: typer.Context,
    root: Annotated[
        Path | None, typer.Option("--root", "--data", envvar="IMTORQUE_DATA", help="Folder of data sets.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the data sets, where to get each, its licence, and whether the given root holds it whole.

    Example: [bold]imtorque data --root ~/data[/bold]

    From a download: [bold]imtorque data prepare --help[/bold]; detectors: [bold]imtorque data train --help[/bold]
    """
    if context.invoked_subcommand is not None:
        return
    with one_line_errors():
        held = {h.data_set.name: h for h in datasets.holdings(root)} if root is not None else {}
        rows = [_data_row(data_set, held.get(data_set.name)) for data_set in datasets.CATALOGUE]
        result = {"root": None if root is None else str(root), "data_sets": rows}
        typer.echo(json.dumps(result) if as_json else markdown_table(rows))


@app.command()
def prepare(name: SetName, source: Download, root: Root, as_json: Json = False) -> None:
    """Turn a published download into what experiments read, in a new folder below a folder of data sets.

    OSIE and SUN's scenes: the clone of their repository. MIT1003: ALLSTIMULI and ALLFIXATIONMAPS. All three are reduced
    to the paper's 150 pixels. Caltech-101: 101_ObjectCategories and Annotations, of which the images of the results are
    copied. Horses: rgb and figure_ground. Then it compares the images with the committed list of those in the results;
    images that are encoded anew may have other bytes where libjpeg differs.

    Example: [bold]imtorque data prepare osie --from predicting-human-gaze-beyond-pixels --root ~/data[/bold]
    """
    with one_line_errors():
        target = prepare_download(name, source, root)
        lists = [str(compare_with_list(one, target)) for one, (folder, _) in LISTS.items() if root / folder == target]
    about = {"verb": "data prepare", "folder": str(target), "lists": lists}
    typer.echo(json.dumps(about, indent=1) if as_json else "\n".join([str(target), *lists]))


@app.command()
def train(name: Name, data: Berkeley, settings: Settings = None, as_json: Json = False) -> None:
    """Train a detector on the Berkeley training images, and keep it in the folder of caches.

    Berkeley's images are for non-commercial research and education, so no detector trained on them comes with imtorque.
    A few coefficients learned from them do: those of pb, mPb, gPb and of the recipes of boundary strength.
    The network is trained by torch, on a GPU where there is one, and used without torch.
    What is already there, of the same data, settings and version, is not trained again.

    Example: [bold]imtorque data train sketch-tokens --data ~/data/bsds500[/bold]
    """
    with one_line_errors():
        if name not in MODELS:
            raise ValueError(f"NAME must be one of {', '.join(MODELS)}, got {name}")
        root = data / "bsds500" if (data / "bsds500").is_dir() else data
        trained, path, fresh = _trained(MODELS[name](), root, settings or [])
    size = {"nodes": len(trained.child)} if isinstance(trained, SketchTokens) else {"weights": len(trained.weights)}
    about = {"verb": "data train", "model": str(path), "fresh": fresh, **size, **trained.about}
    told = ", ".join(f"{count} {what}" for what, count in size.items())
    typer.echo(json.dumps(about, indent=1) if as_json else f"{path}: {told}{'' if fresh else ', already there'}")


class _Model(NamedTuple):
    """What can be trained: its settings, its file, how it is read, how it is trained from drawn images."""

    settings: type[Any]
    path: Path
    format: int
    load: Callable[[Path], Trained]
    train: Callable[[Sequence[Callable[[], Drawn]], Any], Trained]


def _sketch_tokens() -> _Model:
    def train(drawn: Sequence[Callable[[], Drawn]], settings: TokenSettings) -> SketchTokens:
        return train_tokens(drawn, settings, _tell)

    return _Model(TokenSettings, kept_forest(), token_forest.FORMAT, SketchTokens.load, train)


def _network() -> _Model:
    from imtorque.torch.network import NetworkSettings, train_network  # here, because torch is an extra

    def train(drawn: Sequence[Callable[[], Drawn]], settings: NetworkSettings) -> BoundaryNetwork:
        images, drawings = zip(*(read() for read in drawn), strict=True)
        return train_network(images, drawings, settings, _tell)

    return _Model(NetworkSettings, kept_network(), network.FORMAT, BoundaryNetwork.load, train)


MODELS: dict[str, Callable[[], _Model]] = {"sketch-tokens": _sketch_tokens, "network": _network}


def _trained(model: _Model, root: Path, given: list[str]) -> tuple[Trained, Path, bool]:
    """Return what was trained of this data and these settings, its file, and whether it had to be trained."""
    settings = _numbers(model.settings, given)
    records = datasets.bsds500(root, SPLIT)
    files = [path for record in records for path in (record.image_path, *record.truth_paths)]
    wanted = {**settings.about(), "images": len(records), "data_sha256": checksum(files, root)}
    kept = _kept(model)
    if kept is not None and kept.about == {"format": model.format, "version": __version__, **wanted}:
        return kept, model.path, False
    trained = model.train([partial(_drawn, record) for record in records], settings)
    trained.about.update({"format": model.format, "version": __version__, **wanted})
    model.path.parent.mkdir(parents=True, exist_ok=True)
    trained.save(model.path)
    return trained, model.path, True


def _kept(model: _Model) -> Trained | None:
    """Return what is there, if it is of this version and not damaged."""
    try:
        return model.load(model.path)
    except (OSError, ValueError):
        return None


def _drawn(record: datasets.BerkeleyImage) -> Drawn:
    return Drawn(record.image(), [annotation.boundaries for annotation in record.annotations()])


def _tell(text: str) -> None:
    typer.echo(text, err=True)


def _numbers(settings: type[Any], given: list[str]) -> Any:
    """Return settings of which some numbers are given, as NAME=NUMBER."""
    names = {name: kind for name, kind in get_type_hints(settings).items() if kind in (int, float)}
    numbers: dict[str, float] = {}
    for name, value in parse_settings(given).items():
        kind = names.get(name)
        try:
            if kind is None or value.strip() != value or value.startswith("-"):
                raise ValueError(name)
            numbers[name] = kind(value)
        except ValueError:
            raise ValueError(f"--set must be a number for one of {', '.join(names)}, got {name}={value}") from None
    return settings(**numbers)


def _data_row(data_set: datasets.DataSet, holding: datasets.Holding | None) -> dict[str, Any]:
    row = {
        "name": data_set.name,
        "title": data_set.title,
        "images": data_set.images,
        "licence": data_set.licence,
        "address": data_set.address,
        "citation": data_set.citation,
        "folder": data_set.folders[0],
    }
    if holding is None:
        return row
    state = "whole" if holding.whole else "part" if holding.found else "absent"
    return {**row, "found": holding.found, "state": holding.problem or state}
