"""Detections of one frame after the other, linked into tracks: identities that last while objects are hidden.

A track predicts its object by `video.motion`. Linking a detection to a track costs the square of its distance from the
prediction and of the differences in size and torque, all in units of the track's search range; a part of an object may
be as far off its centre as it is smaller. Bright and dark are never linked. The gain of a link is 1 minus its cost,
times the confidence in the track, which grows with the frames it was seen in and fades while it is hidden. The set of
links of the largest gain that uses each track and each detection at most once is taken: linear assignment, for each
group of tracks and detections within search range of each other.

That is done in rounds: confirmed tracks and detections near them, then young tracks and detections near those, then
confirmed ones in the full search range, then the rest. A track that begins where a confirmed one predicts its object
may be around part of it, as it comes out from behind another: it comes last, and is confirmed late, so that it cannot
take the object from the older track.

Where objects wander at random (`video.motion` tells), they are expected where they were last, all tracks seen in the
frame before compete alike, by squared distances in units of the steps that objects take, and hidden ones come last.

Where two confirmed objects are detected as one, one track has the detection and the other is occluded: it stays at its
prediction, so that both keep their numbers when they part.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from imtorque.core.deprecation import accept_old_keywords, deprecated_attribute
from imtorque.core.types import BoolArray, Extrema, FloatArray, IntArray
from imtorque.video.motion import PART_OFFSET, YOUNG_SEEN, MotionEstimate, Tracks

YOUNG_RANGE = 1.6  # search range of a track without a known velocity; chosen on drawn videos (seeds below 500)
SIZE_WEIGHT, TORQUE_WEIGHT = 0.66, 0.7  # cost of an octave of size or torque, in sizes of distance; chosen likewise
# Frames in which an object must be seen for its track to be confirmed, and for half confidence; chosen likewise.
CONFIRMED_AFTER = 8
CONFIDENCE_DECAY = 0.9  # of the confidence, with each frame an object is hidden; chosen likewise
RANGE_GROWTH = 0.25  # of the search range, with each frame an object is hidden; chosen likewise
# Frames, for a track that begins within so many sizes of where a confirmed track predicts its object.
FRAGMENT_CONFIRMED_AFTER, FRAGMENT_DISTANCE = 24, 0.75  # chosen likewise
NEAR_RANGE = 0.5  # of the search range, in the first rounds; chosen likewise
# Where objects wander: search range in steps, how many times the usual one it is at most, and cost of an octave of
# size or torque, in steps. Chosen on 60, 300 and 500 objects in Brownian motion of 0.5 to 4 pixels a step.
STEP_RANGE, MAX_STEP_RANGE, OCTAVE_STEPS = 5.0, 4.0, 2.0


@dataclass(frozen=True)
class Linking:
    """How detections are linked into tracks.

    Parameters
    ----------
    memory
        How many of the frames looked at in a row an object may be hidden and keep its identity.
    search_range
        How far from where it is expected an object may be found, in its own sizes; farther where objects wander at
        random in larger steps.
    """

    memory: int = 10
    search_range: float = 1.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        if operator.index(self.memory) < 0:
            raise ValueError(f"memory must not be negative, got {self.memory}")
        if not (math.isfinite(self.search_range) and self.search_range > 0):
            raise ValueError(f"search_range must be above 0, got {self.search_range}")

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return what an old name stands for."""
            return deprecated_attribute(self, name)


Linking.__init__ = accept_old_keywords(Linking.__init__)  # type: ignore[method-assign]


class Occluded(NamedTuple):
    """Objects of a frame that were detected as one with another: their tracks, predicted places and sizes.

    Torques are those of the detections that occlude them. Each of shape (n,).
    """

    track: IntArray
    y: FloatArray
    x: FloatArray
    size: FloatArray
    torque: FloatArray


NONE_OCCLUDED = Occluded(np.zeros(0, np.int64), *np.zeros((4, 0)))


class Linker:
    """Links the detections of one frame after the other.

    Parameters
    ----------
    linking
        How far and how long an object is looked for.

    Attributes
    ----------
    occluded
        Objects of the last frame that were detected as one with others.
    """

    def __init__(self, linking: Linking = Linking()) -> None:
        """Begin without tracks."""
        self.linking = linking
        self.occluded = NONE_OCCLUDED
        self._tracks = Tracks()
        self._motion = MotionEstimate()
        self._count = 0

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return what an old name stands for."""
            return deprecated_attribute(self, name)

    def link(self, found: Extrema) -> IntArray:
        """Return the track of each place in the next frame, numbered from 1; a place that fits none begins a new one.

        Parameters
        ----------
        found
            Extrema or blobs of the frame.
        """
        place = np.stack([found.y, found.x], axis=1).astype(np.float64)
        size = np.sqrt(np.asarray(found.height, np.float64) * found.width)
        torque = np.asarray(found.value, np.float64)
        tracks = self._tracks.predicted()
        rows, columns = links_in_rounds(tracks, place, size, torque, self.linking.search_range, self._motion)
        self._motion.add(tracks, rows, place[columns])
        self.occluded = occluded_by(tracks, rows, place[columns], size[columns], torque[columns])
        numbers = np.zeros(len(found), np.int64)
        numbers[columns] = tracks.number[rows]
        new = np.flatnonzero(numbers == 0)
        numbers[new] = self._count + 1 + np.arange(len(new))
        self._count += len(new)
        fresh = Tracks.new(numbers[new], place[new], size[new], torque[new])
        fresh.confirmed_from[:] = np.where(may_be_fragments(tracks, fresh), FRAGMENT_CONFIRMED_AFTER, CONFIRMED_AFTER)
        tracks.update(rows, place[columns], size[columns], torque[columns])
        kept = tracks.recent(self.linking.memory)
        self._tracks = kept.joined(fresh)
        return numbers


def links_in_rounds(
    tracks: Tracks, place: FloatArray, size: FloatArray, torque: FloatArray, search_range: float, motion: MotionEstimate
) -> tuple[IntArray, IntArray]:
    """Return the linked tracks and detections: confirmed tracks first, and near detections first.

    Parameters
    ----------
    tracks, place, size, torque
        Tracks, and the detections.
    search_range
        In sizes of a track.
    motion
        How objects move.
    """
    rows, columns, cost = link_costs(tracks, place, size, torque, search_range, motion)
    if _disjoint(rows, columns):  # every round finds these
        return rows, columns
    confirmed = tracks.seen >= tracks.confirmed_from
    if motion.wandering:
        confidence, visible = np.ones(len(tracks)), tracks.hidden == 1
        rounds = [(visible, 1.0), (~visible, 1.0)]
    else:
        confidence = tracks.seen / (tracks.seen + CONFIRMED_AFTER) * CONFIDENCE_DECAY ** (tracks.hidden - 1)
        young = ~confirmed & (tracks.confirmed_from == CONFIRMED_AFTER)  # fragments of confirmed objects come last
        rounds = [(confirmed, NEAR_RANGE), (young, NEAR_RANGE), (confirmed, 1.0), (~confirmed, 1.0)]
    linked = np.zeros((2, 0), np.intp)
    for who, near in rounds:
        free = ~np.isin(rows, linked[0]) & ~np.isin(columns, linked[1]) & who[rows] & (cost < near**2)
        gain = confidence[rows[free]] * (1 - cost[free] / near**2)
        linked = np.hstack([linked, best_links(rows[free], columns[free], gain)])
    return linked[0], linked[1]


def link_costs(
    tracks: Tracks, place: FloatArray, size: FloatArray, torque: FloatArray, search_range: float, motion: MotionEstimate
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return tracks and detections that may be linked, and what each link costs: 1 at the end of the search range."""
    unit = octave = np.maximum(tracks.size, 1.0)
    reach = unit * search_range
    if motion.wandering:
        octave = np.minimum(unit, OCTAVE_STEPS * motion.step)
        reach = np.clip(STEP_RANGE * motion.step, reach, MAX_STEP_RANGE * reach) * np.sqrt(tracks.hidden)
    else:
        reach *= np.where(tracks.seen <= YOUNG_SEEN, YOUNG_RANGE, 1.0) * (1 + RANGE_GROWTH * (tracks.hidden - 1))
    states = motion.expected(tracks)
    part = PART_OFFSET * unit
    pairs = [near_pairs(state, reach + part, place) for state in states]
    code = np.unique(np.concatenate([row * len(place) + column for row, column in pairs]))
    rows, columns = np.divmod(code, max(len(place), 1))
    far = np.min([np.linalg.norm(state[rows] - place[columns], axis=1) for state in states], axis=0)
    far = np.maximum(far - np.maximum(part[rows] - PART_OFFSET * size[columns], 0), 0)
    larger = np.log2(size[columns] / tracks.size[rows])
    stronger = tracks.stronger(rows, torque[columns])
    cost = far**2 + octave[rows] ** 2 * ((SIZE_WEIGHT * larger) ** 2 + (TORQUE_WEIGHT * stronger) ** 2)
    cost /= reach[rows] ** 2
    may = (cost < 1) & (tracks.sign[rows] == np.sign(torque[columns]))
    return rows[may], columns[may], cost[may]


def near_pairs(these: FloatArray, reach: FloatArray, others: FloatArray) -> tuple[IntArray, IntArray]:
    """Return which of these places (n, 2) have which others (m, 2) within a square of half-width `reach` (n,)."""
    order = np.argsort(others[:, 0], kind="stable")
    first = np.searchsorted(others[order, 0], these[:, 0] - reach)
    count = np.searchsorted(others[order, 0], these[:, 0] + reach, side="right") - first
    row = np.repeat(np.arange(len(these)), count)
    column = order[np.arange(len(row)) + np.repeat(first - np.cumsum(count) + count, count)]
    near = np.abs(these[row, 1] - others[column, 1]) <= reach[row]
    return row[near], column[near]


def may_be_fragments(tracks: Tracks, fresh: Tracks) -> BoolArray:
    """Say which new tracks lie where confirmed ones of their sign predict their objects."""
    far = np.linalg.norm(tracks.slow.position[:, None] - fresh.slow.position[None], axis=2)
    inside = (far <= FRAGMENT_DISTANCE * tracks.size[:, None]) & (tracks.sign[:, None] == fresh.sign[None])
    return np.asarray((inside & (tracks.seen >= tracks.confirmed_from)[:, None]).any(axis=0))


def occluded_by(tracks: Tracks, rows: IntArray, place: FloatArray, size: FloatArray, torque: FloatArray) -> Occluded:
    """Return the confirmed tracks without a detection that are predicted inside one of another confirmed track.

    Parameters
    ----------
    tracks
        All there are.
    rows, place, size, torque
        The tracks with detections, and these.
    """
    confirmed = tracks.seen >= tracks.confirmed_from
    free = confirmed.copy()
    free[rows] = False
    if not free.any():
        return NONE_OCCLUDED
    far = np.abs(tracks.slow.position[:, None] - place[None]).max(axis=2)
    covers = (far <= size[None] / 2) & (tracks.sign[:, None] == np.sign(torque)[None]) & free[:, None] & confirmed[rows]
    row = np.flatnonzero(covers.any(axis=1))
    by = np.where(covers, far, np.inf)[row].argmin(axis=1) if len(row) else np.zeros(0, np.intp)
    y, x = tracks.slow.position[row].T
    return Occluded(tracks.number[row].astype(np.int64), y, x, tracks.size[row], torque[by])


def best_links(row: IntArray, column: IntArray, gain: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the rows and columns of the links of the largest total gain, each row and column used at most once.

    Parameters
    ----------
    row, column, gain
        Links that may be taken, and the gain of each, above 0. Shape (n,).

    Examples
    --------
    >>> rows, columns = best_links(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([3.0, 2.0, 2.5]))
    >>> rows.tolist(), columns.tolist()
    ([0, 1], [1, 0])
    """
    if _disjoint(row, column):
        return row, column
    from scipy.sparse import coo_array  # here, because they take longer to load than the rest
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    rows, n = np.unique(row, return_inverse=True)
    columns, m = np.unique(column, return_inverse=True)
    own = np.arange(len(rows))  # a column of its own for each row, which stands for no link
    weight = np.concatenate([2 * gain.max() - gain, np.full(len(rows), 2 * gain.max())])
    shape = len(rows), len(columns) + len(rows)
    graph = coo_array((weight, (np.append(n, own), np.append(m, len(columns) + own))), shape=shape)
    some, others = min_weight_full_bipartite_matching(graph.tocsr())
    linked = others < len(columns)
    return rows[some[linked]], columns[others[linked]]


def _disjoint(row: IntArray, column: IntArray) -> bool:
    """Say whether no two links share a row or a column, which is the usual case."""
    return len(set(row.tolist())) == len(set(column.tolist())) == len(row)
