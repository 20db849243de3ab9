"""Readings of the paper's strengthened edges (Sec. 4.2) by design, as `imtorque_reproduce.factorial` has it.

On graded edges the frozen reading is scored also with coefficients of eq. 22 learned from the training images. On
binary edges eq. 22 rises with the contribution whatever its coefficients, and no F depends on them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from imtorque import datasets, evaluation
from imtorque.boundaries.strength import BoundaryModel, Samples, boundary_shares
from imtorque.core.types import FloatArray
from imtorque.jobs.processes import each
from imtorque.paper import BOUNDARIES, Reading
from imtorque_reproduce.boundary.ablation import BINARY, Reader
from imtorque_reproduce.boundary.tables import OPTIONS, Scores, Table, chosen_matching, matchings, score_maps
from imtorque_reproduce.factorial import (
    COUNTS,
    FROZEN,
    RULES,
    SIGNS,
    TRAIN,
    VOTES,
    Levels,
    best_of,
    combinations,
    frozen_file,
    read_frozen,
    up_to,
)
from imtorque_reproduce.report import Report, Request, checksum, naming
from imtorque_reproduce.scoring import berkeley_files, stride

SPLIT = "val"
GRADED = "canny-graded"  # the gradient's strength on the edges of canny-binary
LEARNED = f"{GRADED}+torque-learned"
EQ_22 = BoundaryModel(quadratic=False, logarithm=False)
LEARNING_IMAGES, LEARNING_THRESHOLDS = 40, 33  # convention: enough to rank readings
CHOSEN = Path(__file__).with_name(FROZEN)
PAPER = {"canny": 0.57, "canny+torque": 0.59}  # Sec. 4.2
# The choices, by name: what each level changes.
BASES: dict[str, dict[str, Any]] = {BINARY: {"binary": True}, GRADED: {"binary": False}}
# Of sizes the last is 21 % of the area, as in Sec. 3.3.
FACTORS: Sequence[Levels] = (up_to(45, 61, 91, 0.46), SIGNS, RULES, COUNTS, VOTES)


def readings_of(base: str) -> dict[str, Reading]:
    """Return every combination of choices on one base, by name."""
    return combinations(replace(BOUNDARIES, **BASES[base]), base, FACTORS)


def run(request: Request) -> Report:
    """Choose on training images, or score what was chosen on others."""
    request.require_options((*OPTIONS, "images"))
    root, split = request.berkeley(), request.split or SPLIT
    records = datasets.bsds500(root, split)
    matching = "cardinality" if split == TRAIN else chosen_matching(request) or "min_cost"
    if split == TRAIN:
        records = stride(records, request.number("images", LEARNING_IMAGES))
        readings = {base: readings_of(base) for base in BASES}
        score = partial(_score, readings=readings, chosen=matching, thresholds=LEARNING_THRESHOLDS)
    else:
        readings = {base: {f"{base}+torque-frozen": reading} for base, reading in read_frozen(CHOSEN).items()}
        learned = _learn(root, request)
        score = partial(_score, readings=readings, chosen=matching, learned=learned)
    records = records[: request.limit]
    table = Table.of(list(each(score, records, request.jobs, split)), request, matching)
    rows = table.rows()
    report = partial(
        Report,
        data=root.name,
        data_sha256=checksum(berkeley_files(records), root),
        split=split,
        images=len(records),
        rows=rows,
    )
    if split == TRAIN:
        strengths = {row["method"]: row["f"] for row in rows}
        best = {base: best_of(strengths, list(own)) for base, own in readings.items()}
        chosen = {base: readings[base][name] for base, name in best.items()}
        return report(
            settings={"chosen": best},
            notes=["Chosen: the largest F of either base, with the paper's coefficients. These rows are no results."],
            plots=frozen_file(chosen, request, root.name),
        )
    pairs = [(name, base) for base, own in readings.items() for name in own]
    return report(
        settings={
            "frozen": {base: asdict(reading) for base, reading in read_frozen(CHOSEN).items()},
            "learned": learned,
            "paper": PAPER,
        },
        differences=table.differences([*pairs, (LEARNED, GRADED), (GRADED, BINARY), (pairs[0][0], GRADED)]),
        notes=[
            "The readings were chosen among all combinations of the open choices on training images and frozen before "
            "these images were scored; Canny's sigma and threshold are those of `paper.BOUNDARIES`.",
            "+torque-frozen: eq. 22 with the paper's coefficients; +torque-learned: learned from the training images.",
        ],
    )


def _learn(root: Path, request: Request) -> list[float]:
    """Return the coefficients of eq. 22 on graded edges, learned from training images; none where there are none."""
    if not (root / "images" / TRAIN).is_dir():
        return []
    records = datasets.bsds500(root, TRAIN)[: request.limit]
    samples = each(partial(_samples, reading=read_frozen(CHOSEN)[GRADED]), records, request.jobs, TRAIN)
    model = replace(EQ_22).fit_samples(samples)
    return [model.intercept_, *model.coef_.tolist()]


def _samples(record: datasets.BerkeleyImage, reading: Reading) -> Samples:
    with naming(record.image_path):
        truths = [annotation.boundaries for annotation in record.annotations()]
        reader = Reader(record.image())
        base = reader.base(reading)
        shares = boundary_shares(truths, base.shape, EQ_22.tolerance)
        return EQ_22.samples_of_shares(base, reader.contribution(reading)[None], shares)


def _score(
    record: datasets.BerkeleyImage,
    readings: Mapping[str, Mapping[str, Reading]],
    chosen: str,
    thresholds: int | None = None,
    learned: Sequence[float] = (),
) -> Scores:
    with naming(record.image_path):
        truths: Sequence[Any] = [annotation.boundaries for annotation in record.annotations()]
        reader = Reader(record.image())
        maps = {}
        for base, own in readings.items():
            maps[base] = reader.base(next(iter(own.values())))
            maps |= {name: reader.strengthened(reading) for name, reading in own.items()}
        if learned:
            maps[LEARNED] = _eq_22(reader, next(iter(readings[GRADED].values())), learned)
        if thresholds is None:
            return score_maps(maps, truths, chosen)
        return {
            (name, matching): evaluation.boundary_scores(found, truths, thresholds=thresholds, matching=matching)
            for name, found in maps.items()
            for matching in matchings(name, chosen)
        }


def _eq_22(reader: Reader, reading: Reading, coefficients: Sequence[float]) -> FloatArray:
    base = reader.base(reading)
    model = replace(EQ_22).set_coefficients(coefficients)
    return model.transform(base, reader.contribution(reading)[None]) if base.any() else base
