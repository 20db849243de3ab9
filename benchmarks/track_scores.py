"""Tracks against truth: which places were found, and how often an object changed its identity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imtorque.core.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class TrackScores:
    """How well tracks agree with the truth (CLEAR MOT, Bernardin and Stiefelhagen 2008).

    Parameters
    ----------
    truth
        Places there were, over all frames.
    found
        How many of them have a place of the tracks near.
    switches
        How often an object was found under another track than the last time.
    false
        Places of the tracks that are none of the truth.
    """

    truth: int
    found: int
    switches: int
    false: int

    @property
    def recall(self) -> float:
        """Share of the true places that were found."""
        return self.found / self.truth if self.truth else 1.0

    @property
    def mota(self) -> float:
        """1 less the misses, the false places and the switches, in parts of the true places."""
        missed = self.truth - self.found
        return 1 - (missed + self.false + self.switches) / self.truth if self.truth else 1.0


@dataclass(frozen=True, eq=False)
class TrackTable:
    """A row for each place: the number of its frame, of its object or track, the place, and the size of the object."""

    frame: IntArray
    track: IntArray
    y: FloatArray
    x: FloatArray
    size: FloatArray

    def of(self, rows: BoolArray | list[int]) -> TrackTable:
        """Return some of the rows."""
        return TrackTable(*(column[np.asarray(rows, None if len(rows) else int)] for column in vars(self).values()))


def track_scores(
    truth: TrackTable, found: TrackTable, *, reach: float = 0.25, ignored: TrackTable | None = None
) -> TrackScores:
    """Judge tracks.

    A place is found where a place of a track lies within `reach` times its size. An object that was found under a track
    keeps it as long as that is near enough; the others are matched so that distances are least together.

    Parameters
    ----------
    truth
        Places of objects that can be seen.
    found
        Places of tracks.
    reach
        How far a place may lie from the true one, in sizes of the object.
    ignored
        Places of objects that can hardly be seen: tracks near them are neither right nor false.
    """
    names: dict[int, int] = {}
    hits = switches = false = 0
    for frame in np.unique(np.concatenate([truth.frame, found.frame])):
        here, there = truth.of(truth.frame == frame), found.of(found.frame == frame)
        pairs = _matched(here, there, reach, names)
        hits += len(pairs)
        for annotated, track in ((int(here.track[i]), int(there.track[j])) for i, j in pairs):
            switches += names.get(annotated, track) != track
            names[annotated] = track
        rest = there.of([j for j in range(len(there.y)) if j not in {j for _, j in pairs}])
        if ignored is not None:
            rest = rest.of(np.asarray(~_near(ignored.of(ignored.frame == frame), rest, 2 * reach).any(axis=0)))
        false += len(rest.y)
    return TrackScores(len(truth.y), hits, switches, false)


def _near(here: TrackTable, there: TrackTable, reach: float) -> FloatArray:
    """Return how close each place of a track is to each true one, in parts of the reach; 0 beyond."""
    far = np.hypot(here.y[:, None] - there.y[None], here.x[:, None] - there.x[None])
    return np.asarray(np.maximum(0.0, 1 - far / (reach * here.size[:, None])))


def _matched(here: TrackTable, there: TrackTable, reach: float, names: dict[int, int]) -> list[tuple[int, int]]:
    """Return which true place is which place of a track, those that go on first."""
    from scipy.optimize import linear_sum_assignment  # here, because it takes longer to load than the rest

    near = _near(here, there, reach)
    goes_on = np.array(
        [[names.get(int(annotated)) == track for track in there.track] for annotated in here.track], bool
    )
    near = near + (near > 0) * goes_on.reshape(near.shape) * 10.0
    rows, columns = linear_sum_assignment(near, maximize=True)
    return [(int(i), int(j)) for i, j in zip(rows, columns, strict=True) if near[i, j] > 0]
