"""Readings of the paper's strengthened edges (Sec. 4.2) by design: all combinations of the choices it leaves open.

With `--split train` every combination is scored on training images and the best of either base becomes `frozen.json`.
Otherwise only the readings of the committed `frozen.json` are scored, on images that had no part in that; on graded
edges also with coefficients of eq. 22 learned from the training images. On binary edges eq. 22 rises with the
contribution whatever its coefficients, and no F depends on them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from imtorque import datasets, evaluation
from imtorque.boundaries.strength import BoundaryModel, Samples, boundary_shares
from imtorque.core.types import FloatArray
from imtorque.jobs.processes import each
from imtorque.paper import BOUNDARIES, Reading
from imtorque_reproduce.boundary.ablation import BINARY, Reader
from imtorque_reproduce.boundary.tables import OPTIONS, Scores, Table, chosen_matching, matchings, score_maps
from imtorque_reproduce.report import Report, Request, checksum, naming, provenance
from imtorque_reproduce.scoring import berkeley_files, stride

TRAIN, SPLIT = "train", "val"
GRADED = "canny-graded"  # the gradient's strength on the edges of canny-binary
LEARNED = f"{GRADED}+torque-learned"
EQ_22 = BoundaryModel(quadratic=False, logarithm=False)
LEARNING_IMAGES, LEARNING_THRESHOLDS = 40, 33  # convention: enough to rank readings
FROZEN = Path(__file__).with_name("frozen.json")
PAPER = {"canny": 0.57, "canny+torque": 0.59}  # Sec. 4.2
# The choices, by name: what each level changes.
BASES: dict[str, dict[str, Any]] = {BINARY: {"binary": True}, GRADED: {"binary": False}}
FACTORS: tuple[Mapping[str, Mapping[str, Any]], ...] = (
    {f"to {size}": {"sizes": size} for size in (45, 61, 91, 0.46)},  # the last: 21 % of the area, as in Sec. 3.3
    {"joined": {"votes": "supporting"}, "apart": {"votes": "separate"}},
    {
        "box": {"neighbourhood": "box", "end_scales": True, "inside": False},
        "cross": {"neighbourhood": "cross", "end_scales": False, "inside": True},
    },
    {
        "750 of each": {"count": 750, "each_sign": True},
        "5000": {"count": 5000, "each_sign": False},
        "all": {"count": None, "each_sign": False},
    },
    {"sums": {"weight": "one"}, "over 2 s^2": {"weight": "area"}},
)


def readings_of(base: str) -> dict[str, Reading]:
    """Return every combination of choices on one base, by name."""
    found = {}
    for levels in product(*(factor.items() for factor in FACTORS)):
        reading = replace(BOUNDARIES, **BASES[base])
        for _, changes in levels:
            reading = replace(reading, **changes)
        found[f"{base}+torque: {', '.join(name for name, _ in levels)}"] = reading
    return found


def frozen_readings() -> dict[str, Reading]:
    """Return the committed reading of each base."""
    content = json.loads(FROZEN.read_text())
    return {base: Reading(**content["readings"][base]) for base in BASES}


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
        readings = {base: {f"{base}+torque-frozen": reading} for base, reading in frozen_readings().items()}
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
        best = {base: max(readings[base], key=_f_of(rows).__getitem__) for base in BASES}
        chosen = {base: readings[base][name] for base, name in best.items()}
        return report(
            settings={"chosen": best},
            notes=["Chosen: the largest F of either base, with the paper's coefficients. These rows are no results."],
            plots={"frozen.json": _frozen_text(chosen, request, split).encode()},
        )
    pairs = [(name, base) for base, own in readings.items() for name in own]
    return report(
        settings={
            "frozen": {base: asdict(reading) for base, reading in frozen_readings().items()},
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
    samples = each(partial(_samples, reading=frozen_readings()[GRADED]), records, request.jobs, TRAIN)
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


def _f_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    return {row["method"]: row["f"] for row in rows}


def _frozen_text(chosen: Mapping[str, Reading], request: Request, split: str) -> str:
    content = {
        **provenance(data="bsds500", split=split, command=request.command),
        "readings": {base: asdict(reading) for base, reading in chosen.items()},
    }
    return json.dumps(content, indent=1) + "\n"
