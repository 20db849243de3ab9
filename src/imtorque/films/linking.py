"""Places of one frame after the other, linked into tracks: identities that last while things are hidden for a while.

A track expects its thing where constant velocity takes it. A place costs a track the square of its distance from there,
and of how far their sizes differ, both counted in the track's reach; bright and dark never meet. A link is worth what
is left of 1 after its cost, times the trust in the track: one that has been seen often, and lately, comes first. Of all
sets of links that use each track and each place once, the one of the most worth is taken: the optimum, by the Hungarian
method on each group of tracks and places that reach each other.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass

import numpy as np

from imtorque._types import Extrema, FloatArray, IntArray

FOLLOWED = 0.5, 0.05  # least share of what was not expected that place and velocity take over
SIZES_KEPT = 0.3  # share of a change in size that a track takes over
UNLIKE, PART = 0.4, 0.2  # shrinkage, in octaves, from which only this part of all that is taken over
YOUNG = 1.6  # times the reach of a track with known velocity that one has which was seen once
SIZE_WEIGHT = 0.7  # what doubling in size costs, in sizes of distance
ESTABLISHED = 8  # times a thing must have been seen for half of the full trust in its track
FADING = 0.9  # share of that trust which is left after each frame it was hidden
WIDENED = 0.25  # by how much of itself reach grows with each frame a thing is hidden
FEW_PAIRS = 1 << 16  # of tracks and places, from which on groups that do not meet are linked apart


@dataclass(frozen=True)
class Linking:
    """How places become tracks.

    Parameters
    ----------
    memory
        How many of the frames looked at in a row a thing may be hidden and keep its identity.
    reach
        How far from where it is expected a thing may be found, in its own sizes.
    """

    memory: int = 10
    reach: float = 1.0

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if operator.index(self.memory) < 0:
            raise ValueError(f"memory must not be negative, got {self.memory}")
        if not (math.isfinite(self.reach) and self.reach > 0):
            raise ValueError(f"reach must be above 0, got {self.reach}")


class Linker:
    """The tracks there are, from frame to frame.

    Parameters
    ----------
    linking
        How far and how long a thing is looked for.
    """

    def __init__(self, linking: Linking = Linking()) -> None:  # noqa: B008 - frozen
        """Begin without tracks."""
        self.linking = linking
        self._tracks = _Tracks(np.zeros((0, 9)))
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
        sign = np.sign(found.value)
        tracks = self._tracks.moved()
        rows, columns = best_links(link_worth(tracks, place, size, sign, self.linking.reach))
        numbers = np.zeros(len(found), np.int64)
        numbers[columns] = tracks.number[rows]
        new = np.flatnonzero(numbers == 0)
        numbers[new] = self._born + 1 + np.arange(len(new))
        self._born += len(new)
        tracks.update(rows, place[columns], size[columns])
        kept = tracks.kept(self.linking.memory)
        self._tracks = kept.joined(_Tracks.begun(numbers[new], place[new], size[new], sign[new]))
        return numbers


class _Tracks:
    """A row for each track: where it is expected, how it moves, how large it is, and for how long it was not seen.

    All in one array, so that tracks move, go and come in one step each: there are few of them and many frames.
    """

    def __init__(self, rows: FloatArray) -> None:
        self.rows = rows
        self.number, self.size, self.sign, self.seen, self.hidden = rows.T[:5]
        self.place, self.velocity = rows[:, 5:7], rows[:, 7:]  # (n, 2) in pixels, and in pixels a frame

    @staticmethod
    def begun(number: IntArray, place: FloatArray, size: FloatArray, sign: FloatArray) -> _Tracks:
        rows = np.zeros((len(number), 9))
        tracks = _Tracks(rows)
        tracks.number[:], tracks.size[:], tracks.sign[:], tracks.seen[:] = number, size, sign, 1
        tracks.place[:] = place
        return tracks

    def moved(self) -> _Tracks:
        """Return the tracks one frame later."""
        later = _Tracks(self.rows.copy())
        later.place += later.velocity
        later.hidden += 1
        return later

    def update(self, rows: IntArray, place: FloatArray, size: FloatArray) -> None:
        """Take over what was seen of some tracks: as a straight line through all places would, and later more.

        Of a place smaller than the thing, most likely the part of it that is not hidden, little is taken over.
        """
        beyond, waited, n = place - self.place[rows], self.hidden[rows, None], self.seen[rows, None] + 1.0
        change = np.log2(size / self.size[rows])
        like = np.clip(1 + change / UNLIKE, PART, 1)
        self.velocity[rows] += np.maximum(6 / (n * (n + 1)), FOLLOWED[1]) * like[:, None] ** 2 * beyond / waited
        self.place[rows] += np.maximum(2 * (2 * n - 1) / (n * (n + 1)), FOLLOWED[0]) * like[:, None] * beyond
        self.size[rows] *= 2 ** (SIZES_KEPT * like * change)
        self.seen[rows] += 1
        self.hidden[rows] = 0

    def kept(self, memory: int) -> _Tracks:
        """Return the tracks that were seen not too long ago; what was seen less often is forgotten sooner."""
        return _Tracks(self.rows[self.hidden <= np.minimum(memory, self.seen)])

    def joined(self, others: _Tracks) -> _Tracks:
        return _Tracks(np.concatenate([self.rows, others.rows]))


def link_worth(tracks: _Tracks, place: FloatArray, size: FloatArray, sign: FloatArray, reach: float) -> FloatArray:
    """Return what linking each track to each place is worth, shape (tracks, places); 0 where it is out of reach."""
    unit = np.maximum(tracks.size, 1.0)[:, None]
    far = np.linalg.norm(tracks.place[:, None] - place[None], axis=2) / unit
    unlike = SIZE_WEIGHT * np.abs(np.log2(size[None] / tracks.size[:, None]))
    widened = reach * np.where(tracks.seen == 1, YOUNG, 1.0) * (1 + WIDENED * (tracks.hidden - 1))
    trust = tracks.seen / (tracks.seen + ESTABLISHED) * FADING ** (tracks.hidden - 1)
    worth = trust[:, None] * (1 - (far**2 + unlike**2) / widened[:, None] ** 2)
    return np.where((worth > 0) & (tracks.sign[:, None] == sign[None]), worth, 0.0)


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
    if len(set(row.tolist())) == len(set(column.tolist())) == len(row):  # mostly nothing competes
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
