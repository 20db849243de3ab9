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
from imtorque.video.motion import PART_OFFSET, Tracks

YOUNG_RANGE = 1.6  # search range of a track that was seen once, in those of a track with known velocity
SIZE_WEIGHT, TORQUE_WEIGHT = 0.66, 0.7  # cost of an octave of size or torque, in sizes of distance
CONFIRMED_AFTER = 8  # frames in which an object must be seen for its track to be confirmed, and for half confidence
CONFIDENCE_DECAY = 0.9  # of the confidence, with each frame an object is hidden
RANGE_GROWTH = 0.25  # of the search range, with each frame an object is hidden
# Frames, for a track that begins within so many sizes of where a confirmed track predicts its object.
FRAGMENT_CONFIRMED_AFTER, FRAGMENT_DISTANCE = 24, 0.75
NEAR_RANGE = 0.5  # of the search range, in the first rounds
DENSE_PAIRS = 1 << 16  # bound: of tracks and detections; from there on connected groups are assigned one by one


@dataclass(frozen=True)
class Linking:
    """How detections are linked into tracks.

    Parameters
    ----------
    memory
        How many of the frames looked at in a row an object may be hidden and keep its identity.
    search_range
        How far from where it is expected an object may be found, in its own sizes.
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
        rows, columns = links_in_rounds(tracks, place, size, torque, self.linking.search_range)
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
    tracks: Tracks, place: FloatArray, size: FloatArray, torque: FloatArray, search_range: float
) -> tuple[IntArray, IntArray]:
    """Return the linked tracks and detections: confirmed tracks first, and near detections first."""
    cost = link_cost(tracks, place, size, torque) / search_range**2
    rows, columns = np.nonzero(cost < 1)
    if _disjoint(rows, columns):  # every round finds these
        return rows, columns
    confirmed = tracks.seen >= tracks.confirmed_from
    young = ~confirmed & (tracks.confirmed_from == CONFIRMED_AFTER)  # fragments of confirmed objects come last
    confidence = (tracks.seen / (tracks.seen + CONFIRMED_AFTER) * CONFIDENCE_DECAY ** (tracks.hidden - 1))[:, None]
    rows = columns = np.zeros(0, np.intp)
    for who, near in ((confirmed, NEAR_RANGE), (young, NEAR_RANGE), (confirmed, 1.0), (~confirmed, 1.0)):
        if not who.any():
            continue
        gain = confidence * np.maximum(1 - cost / near**2, 0)
        gain[~who] = 0
        more, places = best_links(gain)
        rows, columns = np.append(rows, more), np.append(columns, places)
        cost[more] = cost[:, places] = np.inf
    return rows, columns


def link_cost(tracks: Tracks, place: FloatArray, size: FloatArray, torque: FloatArray) -> FloatArray:
    """Return the cost of linking each track to each detection, shape (tracks, detections): 1 at one size of distance.

    Infinite where one is bright and the other dark.
    """
    unit = np.maximum(tracks.size, 1.0)[:, None]
    by_fast, by_slow = (np.linalg.norm(state.position[:, None] - place, axis=2) for state in (tracks.fast, tracks.slow))
    far = np.minimum(by_fast, by_slow) / unit
    far = np.maximum(far - PART_OFFSET * np.maximum(1 - size[None] / unit, 0), 0)
    larger = np.log2(size[None] / tracks.size[:, None])
    stronger = tracks.stronger(np.arange(len(tracks))[:, None], torque[None])
    loss = far**2 + (SIZE_WEIGHT * larger) ** 2 + (TORQUE_WEIGHT * stronger) ** 2
    loss[tracks.sign[:, None] != np.sign(torque)] = np.inf
    range_factor = np.where(tracks.seen == 1, YOUNG_RANGE, 1.0) * (1 + RANGE_GROWTH * (tracks.hidden - 1))
    return np.asarray(loss / range_factor[:, None] ** 2)


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


def best_links(gain: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the rows and columns of the links of the largest total gain, each row and column used at most once.

    Parameters
    ----------
    gain
        Of linking a row to a column, shape (n, m), not negative; 0 where they must not be linked.

    Examples
    --------
    >>> rows, columns = best_links(np.array([[3.0, 2.0, 0.0], [2.5, 0.0, 0.0]]))
    >>> rows.tolist(), columns.tolist()
    ([0, 1], [1, 0])
    """
    row, column = np.nonzero(gain)
    if _disjoint(row, column):
        return row, column
    from scipy.optimize import linear_sum_assignment  # here, because it takes longer to load than the rest

    if gain.size <= DENSE_PAIRS:
        chosen = linear_sum_assignment(gain, maximize=True)
        linked = np.stack(chosen)[:, gain[chosen] > 0]
        return linked[0], linked[1]
    rows: list[int] = []
    columns: list[int] = []
    for some, others in _groups(gain):
        if len(some) == len(others) == 1:
            first, second = some, others
        else:
            chosen = linear_sum_assignment(gain[np.ix_(some, others)], maximize=True)
            first, second = some[chosen[0]], others[chosen[1]]
        rows += first.tolist()
        columns += second.tolist()
    linked = np.array([rows, columns], np.intp).reshape(2, -1)
    linked = linked[:, gain[linked[0], linked[1]] > 0]
    order = np.argsort(linked[0])
    return linked[0, order], linked[1, order]


def _disjoint(row: IntArray, column: IntArray) -> bool:
    """Say whether no two links share a row or a column, which is the usual case."""
    return len(set(row.tolist())) == len(set(column.tolist())) == len(row)


def _groups(gain: FloatArray) -> list[tuple[IntArray, IntArray]]:
    """Return the rows and columns of each connected component of the links."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n, m = gain.shape
    row, column = np.nonzero(gain)
    graph = coo_array((np.ones(len(row)), (row, n + column)), shape=(n + m, n + m))
    label = connected_components(graph, directed=False)[1]
    order = np.argsort(label, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(label[order])) + 1)
    return [(part[part < n], part[part >= n] - n) for part in parts if len(part) > 1]
