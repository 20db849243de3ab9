"""The verbs `imtorque evaluate ...`."""

import io
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast, get_args

import typer

from imtorque import datasets
from imtorque.cli.options import Json
from imtorque.cli.runner import one_line_errors, progress_bars
from imtorque.datasets.predictions import Kind
from imtorque.evaluation import folders
from imtorque.evaluation.folders import BoundaryOptions, Result
from imtorque.evaluation.matching import Matching
from imtorque.files import write_bytes, write_text

T = TypeVar("T")

app = typer.Typer(no_args_is_help=True, help="Judge predictions against what people marked.")

Predictions = Annotated[
    Path,
    typer.Option(help="Folder of predictions: .png, .npy or .mat (ucm2, segs); or what a verb of imtorque wrote."),
]
Truths = Annotated[Path, typer.Option("--truth", help="Folder of ground truth.")]
Out = Annotated[Path | None, typer.Option(help="Folder for results.json, table.md and images.")]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", metavar="N", help="Images at a time; by default as many as pay, up to the cores."),
]
Thresholds = Annotated[int, typer.Option(help="Number of thresholds.")]
Distance = Annotated[float, typer.Option(help="Largest distance of a match, as a fraction of the image diagonal.")]


@app.command()
def boundaries(
    predictions: Predictions,
    truth: Truths,
    baseline: Annotated[Path | None, typer.Option(help="Another method's predictions, to compare with.")] = None,
    thresholds: Thresholds = 99,
    matching: Annotated[str, typer.Option(help="min_cost, for numbers to be published, or cardinality.")] = "min_cost",
    max_distance: Distance = 0.0075,
    thin: Annotated[bool, typer.Option(help="Thin the thresholded maps.")] = True,
    jobs: Jobs = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Score boundaries as the Berkeley benchmark does: ODS, OIS, AP, R50.

    Ground truth: BSDS .mat files, one folder of PNGs per annotator (or PNGs of one), or Caltech outlines.

    Example: [bold]imtorque evaluate boundaries --predictions maps/ --truth groundTruth/test/ --out scores[/bold]
    """
    with one_line_errors():
        options = BoundaryOptions(thresholds, max_distance, _matching(matching), thin)
        score = partial(folders.score_boundaries, options=options)
        truths = datasets.find_truths(truth)
        names, scores = _run(predictions, truths, score, jobs, "boundaries")
        result = folders.summarise_boundary_files(names, scores)
        result["settings"] = asdict(options)
        if baseline is not None:
            _, others = _run(baseline, truths, score, jobs, "boundaries")
            result["baseline"] = folders.summarise_boundary_files(names, others)
            result["difference"] = folders.compare_boundary_files(scores, others)
        _report(result, _boundary_table(result), out, as_json, image=_draw_curves)


@app.command()
def regions(
    predictions: Predictions,
    truth: Truths,
    thresholds: Thresholds = 99,
    jobs: Jobs = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Score segmentations: covering, probabilistic Rand index, variation of information.

    Predictions: .mat (segs, ucm2), label maps as .png or .npy, stacks of them as .npy, or double-size contour maps.
    Ground truth: BSDS .mat files, or label maps as PNG, one folder per annotator.

    Example: [bold]imtorque evaluate regions --predictions segs/ --truth groundTruth/test/[/bold]
    """
    with one_line_errors():
        score = partial(folders.score_regions, thresholds=thresholds)
        names, scores = _run(predictions, datasets.find_truths(truth), score, jobs, "regions")
        result = folders.summarise_region_files(names, scores)
        result["settings"] = {"thresholds": thresholds}
        rows = [
            {
                "metric": metric,
                "ODS": result[metric]["ods"],
                "OIS": result[metric]["ois"],
                "best": result[metric].get("best"),
            }
            for metric in ("covering", "pri", "voi")
        ]
        _report(result, markdown_table(rows), out, as_json)


@app.command()
def masks(
    predictions: Predictions,
    truth: Truths,
    max_distance: Distance = 0.0075,
    jobs: Jobs = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Score figure-ground masks: intersection over union, and F of the outline.

    Ground truth: PNG masks, 0 ground, 255 figure; pixels of any other value are left out.

    Example: [bold]imtorque evaluate masks --predictions masks/ --truth truth/[/bold]
    """
    with one_line_errors():
        score = partial(folders.score_mask, max_distance=max_distance)
        names, scores = _run(predictions, datasets.find_truths(truth), score, jobs, "masks")
        result = folders.summarise_mask_files(names, scores)
        result["settings"] = {"max_distance": max_distance}
        _report(result, markdown_table([_numbers(result)]), out, as_json)


@app.command()
def saliency(
    predictions: Predictions,
    truth: Annotated[Path, typer.Option(help="Eye-tracking folder (images.csv, fixations.csv, images/), or MIT1003.")],
    sigma: Annotated[float, typer.Option(help="Standard deviation of the Gaussians at fixations, in pixels.")] = 25.0,
    jobs: Jobs = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Score saliency maps: F, AUC-Judd, AUC-Borji, shuffled AUC, NSS, CC, SIM, KL, information gain.

    The centre prior, which looks at no image, is always scored beside them.

    Example: [bold]imtorque evaluate saliency --predictions maps/ --truth osie/[/bold]
    """
    from imtorque.evaluation import saliency_folders

    with one_line_errors():
        score = partial(saliency_folders.score_saliency, sigma=sigma)
        names, scores = _run(predictions, saliency_folders.read_observations(truth), score, jobs, "saliency")
        result = saliency_folders.summarise_saliency_files(names, scores)
        result["settings"] = {"sigma": sigma}
        rows = [{"map": "prediction", **_numbers(result)}, {"map": "centre prior", **result["centre_prior"]}]
        _report(result, markdown_table(rows), out, as_json)


def markdown_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Write rows of one set of keys as a Markdown table."""
    header = list(rows[0])
    lines = [header, ["---"] * len(header), *([_cell(row.get(key)) for key in header] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _run(
    predictions: Path, truths: Mapping[str, T], score: Callable[[Path, T], Any], jobs: int | None, kind: Kind
) -> tuple[list[str], list[Any]]:
    pairs = folders.pair_files(predictions, truths, kind)
    done = itertools.count(1)
    with progress_bars() as tell:
        scores = folders.for_each(pairs, score, jobs, lambda: tell("images", next(done), len(pairs)))
    return [name for name, _, _ in pairs], scores


def _report(
    result: Result,
    table: str,
    out: Path | None,
    as_json: bool,
    image: Callable[[Result], bytes] | None = None,
) -> None:
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        write_text(out / "table.md", f"{table}\n")
        if image is not None:
            write_bytes(out / "precision_recall.png", image(result))
        write_text(out / "results.json", json.dumps(result, indent=1, allow_nan=False) + "\n")
    typer.echo(json.dumps(result, allow_nan=False) if as_json else table)


def _matching(name: str) -> Matching:
    for matching in get_args(Matching):
        if name == matching:
            return cast(Matching, matching)
    raise ValueError(f"matching must be min_cost or cardinality, got {name}")


def _boundary_table(result: Result) -> str:
    rows = [{"method": "prediction", **_boundary_row(result)}]
    if "baseline" not in result:
        return markdown_table(rows)
    table = markdown_table([*rows, {"method": "baseline", **_boundary_row(result["baseline"])}])
    d = result["difference"]
    return f"{table}\n\nODS F, prediction minus baseline: {d['value']:+.4f} [{d['low']:+.4f}, {d['high']:+.4f}]"


def _boundary_row(result: Result) -> dict[str, Any]:
    ods = result["ods"]
    return {
        "ODS F": ods["f"],
        "OIS F": result["ois"]["f"],
        "AP": result["ap"],
        "R50": result["r50"],
        "precision": ods["precision"],
        "recall": ods["recall"],
        "threshold": ods["threshold"],
        "images": result["images"],
    }


def _numbers(result: Result) -> dict[str, Any]:
    return {key: value for key, value in result.items() if isinstance(value, (int, float))}


def _draw_curves(result: Result) -> bytes:
    from imtorque import plotting  # matplotlib is slow to import

    parts = {"prediction": result} | ({"baseline": result["baseline"]} if "baseline" in result else {})
    axes = plotting.new_axes((5, 5))
    for name, part in parts.items():
        plotting.show_precision_recall(
            part["curve"]["recall"],
            part["curve"]["precision"],
            best=(part["ods"]["recall"], part["ods"]["precision"]),
            label=f"{name}, F = {part['ods']['f']:.3f}",
            ax=axes,
        )
    image = io.BytesIO()
    plotting.figure_of(axes).savefig(image, format="png", dpi=150)
    return image.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else str(value)
