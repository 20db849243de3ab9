"""What is known of each track: where its object is expected, how sure that is, how it moves, its size and its torque.

Objects move straight on but for small turns, and a place found tells where its object is up to noise (Kalman 1960). The
noise counts as the larger the less the place is like the object, in size and in torque; and a part of an object may be
as far off its middle as it is smaller. So a track that was seen often keeps its way while its object is seen in part or
together with another, and one that has just begun goes where the places are.

An object that turns and one that goes on behind a post, of which a part stays in sight, look alike for a while. So each
track has two ways: a quick one that goes with the places, and a steady one that doubts what is far from where all
before leads. What is found may be on either; where one has led to it and the other has not, both go on from there.
All noise is in sizes of the object.
"""

from __future__ import annotations

import numpy as np

from imtorque.core.types import FloatArray, IntArray

NOISE, FIRST, TURN = 0.1, 0.5, 0.005  # of a place; of the velocity before it is known; what it changes by in a frame
UNLIKE, FADED = 0.3, 0.5  # octaves of size and of torque that double the squared noise of a place
TURNED = 0.01  # of the square of how far off a place is that looks like the object: what the velocity may have changed
ODD, OUTLIER = 1.5, 15.0  # standard deviations from which a place is doubted, and by how much of its noise at most
BACK, AWAY = 0.4, 1.0  # sizes off one way from which the other is the right one: the quick one, and the steady one
TAKEN = 0.3  # share of a change in size and torque that a track takes over, at first more
PART = 0.5  # of what a place is smaller than its object: how far off its middle a part of the object may be
FAINTEST = 1e-3  # torque, for ratios
COLUMNS = 21


class Way:
    """Where objects are expected, and how they move: columns of the tracks' array."""

    def __init__(self, rows: FloatArray) -> None:
        """Name the columns."""
        self.rows = rows
        self.place, self.velocity = rows[:, :2], rows[:, 2:4]  # (n, 2) in pixels, and in pixels a frame
        self.doubt, self.both, self.drift = rows.T[4:]  # variances: of places, with velocities, of velocities

    def go_on(self) -> None:
        """Move by one frame."""
        self.place += self.velocity
        self.doubt += 2 * self.both + self.drift
        self.both += self.drift
        self.drift += TURN**2

    def take_over(self, rows: IntArray, beyond: FloatArray, noise: FloatArray, turned: FloatArray | float) -> None:
        """Take over how far beyond the expected the objects of some tracks were found, as its noise allows."""
        doubt, both, drift = (variance[rows] + turned for variance in (self.doubt, self.both, self.drift))
        share, pull = doubt / (doubt + noise), both / (doubt + noise)
        self.place[rows] += share[:, None] * beyond
        self.velocity[rows] += pull[:, None] * beyond
        self.doubt[rows], self.both[rows] = doubt * (1 - share), both * (1 - share)
        self.drift[rows] = drift - pull * both


class Tracks:
    """A row for each track, all in one array, so that tracks move, go and come in one step each.

    There are few of them and many frames.
    """

    def __init__(self, rows: FloatArray | None = None) -> None:
        """Name the columns; none begun by default."""
        self.rows = np.zeros((0, COLUMNS)) if rows is None else rows
        self.number, self.size, self.sign, self.torque, self.seen, self.hidden, self.due = self.rows.T[:7]
        self.quick, self.steady = Way(self.rows[:, 7:14]), Way(self.rows[:, 14:])

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.rows)

    @staticmethod
    def begun(number: IntArray, place: FloatArray, size: FloatArray, torque: FloatArray) -> Tracks:
        """Return tracks of objects seen once."""
        tracks = Tracks(np.zeros((len(number), COLUMNS)))
        tracks.number[:], tracks.size[:], tracks.sign[:], tracks.seen[:] = number, size, np.sign(torque), 1
        tracks.torque[:] = np.maximum(np.abs(torque), FAINTEST)
        for way in (tracks.quick, tracks.steady):
            way.place[:], way.doubt[:], way.drift[:] = place, NOISE**2, FIRST**2
        return tracks

    def moved(self) -> Tracks:
        """Return the tracks one frame later."""
        later = Tracks(self.rows.copy())
        later.quick.go_on()
        later.steady.go_on()
        later.hidden += 1
        return later

    def update(self, rows: IntArray, place: FloatArray, size: FloatArray, torque: FloatArray) -> None:
        """Take over what was seen of some tracks, the less the less it is like them."""
        larger, stronger = np.log2(size / self.size[rows]), self.stronger(rows, torque)
        noise = NOISE**2 * (1 + (larger / UNLIKE) ** 2 + (stronger / FADED) ** 2)
        like = NOISE**2 / noise
        (of_quick, quick), (of_steady, steady) = self._chosen(rows, place, size)
        self.quick.take_over(rows, of_quick, noise, TURNED * like**2 * quick)
        noise *= 1 + np.minimum(steady / (ODD**2 * (self.steady.doubt[rows] + noise)), OUTLIER)
        self.steady.take_over(rows, of_steady, noise, 0.0)
        # What is larger than ever was seen in part before; what is smaller may be a part now.
        taken = np.maximum(1 / (self.seen[rows] + 1), TAKEN * np.where(larger > 0, 1.0, like))
        self.size[rows] *= 2 ** (taken * larger)
        self.torque[rows] *= 2 ** (taken * stronger)
        self.seen[rows] += 1
        self.hidden[rows] = 0

    def _chosen(
        self, rows: IntArray, place: FloatArray, size: FloatArray
    ) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
        """Return how far places are from either way; where only one has led there, both go on from it."""
        of_quick, quick = self._beyond(self.quick, rows, place, size)
        of_steady, steady = self._beyond(self.steady, rows, place, size)
        back, away = (quick > BACK**2) & (steady < quick), (steady > AWAY**2) & (quick < steady)
        if back.any() or away.any():  # never both of one track
            self.quick.rows[rows[back]] = self.steady.rows[rows[back]]
            self.steady.rows[rows[away]] = self.quick.rows[rows[away]]
            of_quick[back], of_steady[away] = of_steady[back], of_quick[away]
            quick[back], steady[away] = steady[back], quick[away]
        return (of_quick, quick), (of_steady, steady)

    def _beyond(self, way: Way, rows: IntArray, place: FloatArray, size: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return how far places are from where they are expected, beyond what a part of the object may be off.

        In pixels (n, 2), and in sizes squared (n,).
        """
        beyond = place - way.place[rows]
        off = PART * np.maximum(self.size[rows] - size, 0)
        far = np.maximum(np.linalg.norm(beyond, axis=1), np.finfo(float).tiny)
        beyond *= np.maximum(1 - off / far, 0)[:, None]
        return beyond, (beyond**2).sum(axis=1) / self.size[rows] ** 2

    def stronger(self, rows: IntArray, torque: FloatArray) -> FloatArray:
        """Return by how many octaves torques exceed those of tracks."""
        return np.asarray(np.log2(np.maximum(np.abs(torque), FAINTEST) / self.torque[rows]))

    def kept(self, memory: int) -> Tracks:
        """Return the tracks that were seen not too long ago; what was seen less often is forgotten sooner."""
        return Tracks(self.rows[self.hidden <= np.minimum(memory, self.seen)])

    def joined(self, others: Tracks) -> Tracks:
        """Return these tracks and others."""
        return Tracks(np.concatenate([self.rows, others.rows]))
