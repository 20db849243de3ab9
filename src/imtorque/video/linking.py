"""Places of one frame after the other, linked into tracks: identities that last while objects are hidden for a while.

A track expects its object where `video.motion` says. A place costs a track the square of its distance from there, and
of how far their sizes and torques differ, all counted in the track's reach; a part of an object may be as far off its
middle as it is smaller. Bright and dark never meet. A link is worth what is left of 1 after its cost, times the trust
in the track: one that has been seen often, and lately, comes first. Of all sets of links that use each track and each
place once, the one of the most worth is taken: the optimum, by the Hungarian method on each group of tracks and places
that reach each other.

That is done in rounds: first known tracks and what is near them, then young ones and what is near those, then known
ones and whatever is in reach, then the rest. A track that begins where a known one expects its object may be around
part of it, as it comes out from behind another: it is among the rest, and becomes known late, so that it cannot take
the object from the track that has been there for long.

Where two known objects are seen as one, one track has that place, and the other is covered: it goes on where it is
expected, so that both keep their numbers when they part.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from imtorque.core.types import BoolArray, Extrema, FloatArray, IntArray
from imtorque.video.motion import PART, Tracks

YOUNG = 1.6  # times the reach of a track with known velocity that one has which was seen once
SIZE_WEIGHT, TORQUE_WEIGHT = 0.66, 0.7  # what twice the size or torque costs, in sizes of distance
ESTABLISHED = 8  # times an object must have been seen for its track to be known, and for half of the full trust in it
FADING = 0.9  # share of that trust which is left after each frame it was hidden
WIDENED = 0.25  # by how much of itself reach grows with each frame an object is hidden
SUSPECT, AROUND = 24, 0.75  # times, where it began within so many sizes of where a known track expects its object
NEAR = 0.5  # share of the reach that is tried first
FEW_PAIRS = 1 << 16  # of tracks and places, from which on groups that do not meet are linked apart


@dataclass(frozen=True)
class Linking:
    """How places become tracks.

    Parameters
    ----------
    memory
        How many of the frames looked at in a row an object may be hidden and keep its identity.
    reach
        How far from where it is expected an object may be found, in its own sizes.
    """

    memory: int = 10
    reach: float = 1.0

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if operator.index(self.memory) < 0:
            raise ValueError(f"memory must not be negative, got {self.memory}")
        if not (math.isfinite(self.reach) and self.reach > 0):
            raise ValueError(f"reach must be above 0, got {self.reach}")


class Covered(NamedTuple):
    """Objects of a frame that were seen as one with another: their tracks, and where and how large they are expected.

    Torques are those of the places that cover them. Each of shape (n,).
    """

    track: IntArray
    y: FloatArray
    x: FloatArray
    size: FloatArray
    torque: FloatArray


NOTHING_COVERED = Covered(np.zeros(0, np.int64), *np.zeros((4, 0)))


class Linker:
    """The tracks there are, from frame to frame.

    Parameters
    ----------
    linking
        How far and how long an object is looked for.

    Attributes
    ----------
    covered
        What the last frame linked has besides its places: objects that were seen as one with others.
    """

    def __init__(self, linking: Linking = Linking()) -> None:
        """Begin without tracks."""
        self.linking = linking
        self.covered = NOTHING_COVERED
        self._tracks = Tracks()
        self._born = 0

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
        tracks = self._tracks.moved()
        rows, columns = links_in_rounds(tracks, place, size, torque, self.linking.reach)
        self.covered = covered_by(tracks, rows, place[columns], size[columns], torque[columns])
        numbers = np.zeros(len(found), np.int64)
        numbers[columns] = tracks.number[rows]
        new = np.flatnonzero(numbers == 0)
        numbers[new] = self._born + 1 + np.arange(len(new))
        self._born += len(new)
        fresh = Tracks.begun(numbers[new], place[new], size[new], torque[new])
        fresh.due[:] = np.where(within(tracks, fresh), SUSPECT, ESTABLISHED)
        tracks.update(rows, place[columns], size[columns], torque[columns])
        kept = tracks.kept(self.linking.memory)
        self._tracks = kept.joined(fresh)
        return numbers


def links_in_rounds(
    tracks: Tracks, place: FloatArray, size: FloatArray, torque: FloatArray, reach: float
) -> tuple[IntArray, IntArray]:
    """Return which tracks have which places: known tracks first, and what is near first."""
    cost = link_cost(tracks, place, size, torque) / reach**2
    rows, columns = np.nonzero(cost < 1)
    if _apart(rows, columns):  # then every round finds these
        return rows, columns
    known = tracks.seen >= tracks.due
    young = ~known & (tracks.due == ESTABLISHED)  # those that may be parts of known objects come last
    trust = (tracks.seen / (tracks.seen + ESTABLISHED) * FADING ** (tracks.hidden - 1))[:, None]
    rows = columns = np.zeros(0, np.intp)
    for who, near in ((known, NEAR), (young, NEAR), (known, 1.0), (~known, 1.0)):
        if not who.any():
            continue
        worth = trust * np.maximum(1 - cost / near**2, 0)
        worth[~who] = 0
        more, places = best_links(worth)
        rows, columns = np.append(rows, more), np.append(columns, places)
        cost[more] = cost[:, places] = np.inf
    return rows, columns


def link_cost(tracks: Tracks, place: FloatArray, size: FloatArray, torque: FloatArray) -> FloatArray:
    """Return what linking each track to each place costs, shape (tracks, places): 1 at a reach of one size.

    Infinite where one is bright and the other dark.
    """
    unit = np.maximum(tracks.size, 1.0)[:, None]
    quick, steady = (np.linalg.norm(way.place[:, None] - place, axis=2) for way in (tracks.quick, tracks.steady))
    far = np.minimum(quick, steady) / unit
    far = np.maximum(far - PART * np.maximum(1 - size[None] / unit, 0), 0)
    larger = np.log2(size[None] / tracks.size[:, None])
    stronger = tracks.stronger(np.arange(len(tracks))[:, None], torque[None])
    loss = far**2 + (SIZE_WEIGHT * larger) ** 2 + (TORQUE_WEIGHT * stronger) ** 2
    loss[tracks.sign[:, None] != np.sign(torque)] = np.inf
    widened = np.where(tracks.seen == 1, YOUNG, 1.0) * (1 + WIDENED * (tracks.hidden - 1))
    return np.asarray(loss / widened[:, None] ** 2)


def within(tracks: Tracks, fresh: Tracks) -> BoolArray:
    """Say which tracks that have just begun lie where known ones of their sign expect their objects."""
    far = np.linalg.norm(tracks.steady.place[:, None] - fresh.steady.place[None], axis=2)
    inside = (far <= AROUND * tracks.size[:, None]) & (tracks.sign[:, None] == fresh.sign[None])
    return np.asarray((inside & (tracks.seen >= tracks.due)[:, None]).any(axis=0))


def covered_by(tracks: Tracks, rows: IntArray, place: FloatArray, size: FloatArray, torque: FloatArray) -> Covered:
    """Return the known tracks without place that are expected in patches of others, of known tracks and their sign.

    Parameters
    ----------
    tracks
        All there are.
    rows, place, size, torque
        Those that have places, and these.
    """
    known = tracks.seen >= tracks.due
    free = known.copy()
    free[rows] = False
    if not free.any():
        return NOTHING_COVERED
    far = np.abs(tracks.steady.place[:, None] - place[None]).max(axis=2)
    covers = (far <= size[None] / 2) & (tracks.sign[:, None] == np.sign(torque)[None]) & free[:, None] & known[rows]
    row = np.flatnonzero(covers.any(axis=1))
    by = np.where(covers, far, np.inf)[row].argmin(axis=1) if len(row) else np.zeros(0, np.intp)
    y, x = tracks.steady.place[row].T
    return Covered(tracks.number[row].astype(np.int64), y, x, tracks.size[row], torque[by])


def best_links(worth: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the rows and columns of the links that are worth most together, each row and column used once at most.

    Parameters
    ----------
    worth
        Of linking a row to a column, shape (n, m), not negative; 0 where they cannot be.

    Examples
    --------
    >>> rows, columns = best_links(np.array([[3.0, 2.0, 0.0], [2.5, 0.0, 0.0]]))
    >>> rows.tolist(), columns.tolist()
    ([0, 1], [1, 0])
    """
    row, column = np.nonzero(worth)
    if _apart(row, column):
        return row, column
    from scipy.optimize import linear_sum_assignment  # here, because it takes longer to load than the rest

    if worth.size <= FEW_PAIRS:
        chosen = linear_sum_assignment(worth, maximize=True)
        linked = np.stack(chosen)[:, worth[chosen] > 0]
        return linked[0], linked[1]
    rows: list[int] = []
    columns: list[int] = []
    for some, others in _groups(worth):
        if len(some) == len(others) == 1:
            first, second = some, others
        else:
            chosen = linear_sum_assignment(worth[np.ix_(some, others)], maximize=True)
            first, second = some[chosen[0]], others[chosen[1]]
        rows += first.tolist()
        columns += second.tolist()
    linked = np.array([rows, columns], np.intp).reshape(2, -1)
    linked = linked[:, worth[linked[0], linked[1]] > 0]
    order = np.argsort(linked[0])
    return linked[0, order], linked[1, order]


def _apart(row: IntArray, column: IntArray) -> bool:
    """Say whether no two links have a row or a column in common: mostly nothing competes."""
    return len(set(row.tolist())) == len(set(column.tolist())) == len(row)


def _groups(worth: FloatArray) -> list[tuple[IntArray, IntArray]]:
    """Return the rows and columns of each group that is connected by worth."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n, m = worth.shape
    row, column = np.nonzero(worth)
    graph = coo_array((np.ones(len(row)), (row, n + column)), shape=(n + m, n + m))
    label = connected_components(graph, directed=False)[1]
    order = np.argsort(label, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(label[order])) + 1)
    return [(part[part < n], part[part >= n] - n) for part in parts if len(part) > 1]
