"""The verbs `imtorque evaluate ...`."""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from imtorque import datasets
from imtorque.cli.options import Json, Overwrite, expand
from imtorque.cli.runner import folder_ledger, one_line_errors, progress_bars, recorded
from imtorque.datasets.predictions import Kind
from imtorque.evaluation import folders
from imtorque.evaluation.folders import BoundaryOptions, Result
from imtorque.evaluation.matching import Matching
from imtorque.files import write_bytes, write_text

T = TypeVar("T")

app = typer.Typer(no_args_is_help=True, help="Judge predictions against what people marked.")

Thresholds = Annotated[int, typer.Option(help="Number of thresholds.")]
Distance = Annotated[float, typer.Option(help="Largest distance of a match, as a fraction of the image diagonal.")]
PLOT = "precision_recall.png"
OUTPUTS = ("table.md", PLOT, "results.json")
THRESHOLDS, DISTANCE = 99, 0.0075  # the Berkeley benchmark's; convention


@dataclass(frozen=True)
class Evaluation:
    """The options of every evaluation."""

    predictions: Annotated[
        Path,
        typer.Option(help="Folder of predictions: .png, .npy or .mat (ucm2, segs); or what a verb of imtorque wrote."),
    ]
    truth: Annotated[Path, typer.Option(help="Folder of ground truth.")]
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", metavar="N", help="Images at a time; by default as many as pay, up to the cores."),
    ] = None
    out: Annotated[Path | None, typer.Option(help="Folder for results.json, table.md and plots.")] = None
    overwrite: Overwrite = False
    as_json: Json = False

    def check(self) -> None:
        """Refuse to replace files that an evaluation did not write."""
        if self.out is not None:
            folder_ledger(self.out, "evaluate", self.overwrite).check(*OUTPUTS)

    def score(
        self, truths: Mapping[str, T], score: Callable[[Path, T], Any], kind: Kind, predictions: Path | None = None
    ) -> tuple[list[str], list[Any]]:
        """Return names and scores of the predictions, or of others."""
        self.check()
        pairs = folders.pair_files(predictions or self.predictions, truths, kind)
        done = itertools.count(1)
        with progress_bars() as tell:
            scores = folders.for_each(pairs, score, self.jobs, lambda: tell("images", next(done), len(pairs)))
        return [name for name, _, _ in pairs], scores

    def report(self, result: Result, table: str, plot: Callable[[Result], bytes] | None = None) -> None:
        """Print a result, and write it where a folder is given."""
        if self.out is not None:
            outputs = [self.out / name for name in OUTPUTS if plot is not None or name != PLOT]
            with recorded(self.out, "evaluate", outputs, self.overwrite):
                write_text(self.out / "table.md", f"{table}\n")
                if plot is not None:
                    write_bytes(self.out / PLOT, plot(result))
                write_text(self.out / "results.json", json.dumps(result, indent=1, allow_nan=False) + "\n")
        typer.echo(json.dumps(result, allow_nan=False) if self.as_json else table)


@app.command()
@expand
def boundaries(
    *,
    baseline: Annotated[Path | None, typer.Option(help="Another method's predictions, to compare with.")] = None,
    thresholds: Thresholds = THRESHOLDS,
    matching: Annotated[Matching, typer.Option(help="min_cost is for numbers to be published.")] = "min_cost",
    max_distance: Distance = DISTANCE,
    thin: Annotated[bool, typer.Option(help="Thin the thresholded maps.")] = True,
    evaluation: Evaluation,
) -> None:
    """Score boundaries as the Berkeley benchmark does: ODS, OIS, AP, R50.

    Ground truth: BSDS .mat files, one folder of PNGs per annotator (or PNGs of one), or Caltech outlines.

    Example: [bold]imtorque evaluate boundaries --predictions maps/ --truth groundTruth/test/ --out scores[/bold]
    """
    with one_line_errors():
        options = BoundaryOptions(thresholds, max_distance, matching, thin)
        score = partial(folders.score_boundaries, options=options)
        truths = datasets.find_truths(evaluation.truth)
        names, scores = evaluation.score(truths, score, "boundaries")
        result = folders.summarise_boundary_files(names, scores)
        result["settings"] = asdict(options)
        if baseline is not None:
            _, others = evaluation.score(truths, score, "boundaries", baseline)
            result["baseline"] = folders.summarise_boundary_files(names, others)
            result["difference"] = folders.compare_boundary_files(scores, others)
        evaluation.report(result, _boundary_table(result), _draw_curves)


@app.command()
@expand
def regions(
    *,
    thresholds: Thresholds = THRESHOLDS,
    evaluation: Evaluation,
) -> None:
    """Score segmentations: covering, probabilistic Rand index, variation of information.

    Predictions: .mat (segs, ucm2), label maps as .png or .npy, stacks of them as .npy, or double-size contour maps.
    Ground truth: BSDS .mat files, or label maps as PNG, one folder per annotator.

    Example: [bold]imtorque evaluate regions --predictions segs/ --truth groundTruth/test/[/bold]
    """
    with one_line_errors():
        score = partial(folders.score_regions, thresholds=thresholds)
        names, scores = evaluation.score(datasets.find_truths(evaluation.truth), score, "regions")
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
        evaluation.report(result, markdown_table(rows))


@app.command()
@expand
def masks(
    *,
    max_distance: Distance = DISTANCE,
    evaluation: Evaluation,
) -> None:
    """Score figure-ground masks: intersection over union, and F of the outline.

    Ground truth: PNG masks, 0 ground, 255 figure; pixels of any other value are left out.

    Example: [bold]imtorque evaluate masks --predictions masks/ --truth truth/[/bold]
    """
    with one_line_errors():
        score = partial(folders.score_mask, max_distance=max_distance)
        names, scores = evaluation.score(datasets.find_truths(evaluation.truth), score, "masks")
        result = folders.summarise_mask_files(names, scores)
        result["settings"] = {"max_distance": max_distance}
        evaluation.report(result, markdown_table([_numbers(result)]))


@app.command()
@expand
def saliency(
    *,
    sigma: Annotated[float, typer.Option(help="Standard deviation of the Gaussians at fixations, in pixels.")] = 25.0,
    evaluation: Evaluation,
) -> None:
    """Score saliency maps: F, AUC-Judd, AUC-Borji, shuffled AUC, NSS, CC, SIM, KL, information gain.

    Ground truth: an eye-tracking folder (images.csv, fixations.csv, images/), or MIT1003.

    The centre prior, which looks at no image, is always scored beside them.

    Example: [bold]imtorque evaluate saliency --predictions maps/ --truth osie/[/bold]
    """
    from imtorque.evaluation import saliency_folders

    with one_line_errors():
        score = partial(saliency_folders.score_saliency, sigma=sigma)
        names, scores = evaluation.score(saliency_folders.read_observations(evaluation.truth), score, "saliency")
        result = saliency_folders.summarise_saliency_files(names, scores)
        result["settings"] = {"sigma": sigma}
        rows = [{"map": "prediction", **_numbers(result)}, {"map": "centre prior", **result["centre_prior"]}]
        evaluation.report(result, markdown_table(rows))


def markdown_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Write rows of one set of keys as a Markdown table."""
    header = list(rows[0])
    lines = [header, ["---"] * len(header), *([_cell(row.get(key)) for key in header] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


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
