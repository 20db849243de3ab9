"""Kalman filters of tracks: where each object is expected, how certain that is, its velocity, its size and its torque.

Constant velocity with small random turns; a detection measures the position with noise (Kalman 1960). The noise grows
with the difference between detection and object in size and in torque; a visible part of an object may be as far off
its centre as it is smaller. So a track with many detections keeps its motion while its object is partly hidden or
merged with another, and a new track follows the detections.

An object that turns and one that goes on behind a post, of which a part stays in sight, look alike for a while. So each
track has two filters: a fast one that follows the detections, and a slow one that down-weights outliers. A detection
may be near either; where one filter predicted it and the other did not, both continue from the one that did.
All noise is in sizes of the object.
"""

from __future__ import annotations

import numpy as np

from imtorque.core.types import FloatArray, IntArray

# Standard deviations: of a position, of the velocity before it is known, of its change from frame to frame.
POSITION_NOISE, INITIAL_VELOCITY, VELOCITY_NOISE = 0.1, 0.5, 0.005  # chosen on drawn videos (seeds below 500)
SIZE_OCTAVES, TORQUE_OCTAVES = 0.3, 0.5  # differences that double the variance of a position; chosen likewise
TURN_VARIANCE = 0.01  # of the velocity, for each squared distance between prediction and detection; chosen likewise
# Innovation from which the slow filter adds noise, and how much at most; chosen likewise.
OUTLIER_DEVIATION, OUTLIER_WEIGHT = 1.5, 15.0
# Distances from one filter, in sizes, from which both take the state of the other: of the fast one, of the slow one.
FAST_RESET, SLOW_RESET = 0.4, 1.0  # chosen likewise
APPEARANCE_GAIN = 0.3  # of a change in size and torque; larger in the first frames; chosen likewise
PART_OFFSET = 0.5  # how far off centre a part may be, for each pixel by which it is smaller; chosen likewise
LEAST_TORQUE = 1e-3  # bound: for ratios
TRACK_COLUMNS = 23  # derived: 9 of the track, and 7 of each of its two filters
YOUNG_SEEN = 2  # derived: in so many frames the velocity of a track is not known, unless all objects keep theirs
# Links from which on the kind of motion is known, and links that count; of the error of the filters, how much that of
# the last places must be below for wandering. Chosen as in `video.linking`.
MIN_LINKS, MOTION_LINKS, WANDERING_SHARE = 20, 2000, 0.9


class KalmanState:
    """States of constant-velocity filters: columns of the tracks' array."""

    def __init__(self, rows: FloatArray) -> None:
        """Name the columns."""
        self.rows = rows
        self.position, self.velocity = rows[:, :2], rows[:, 2:4]  # (n, 2) in pixels, and in pixels a frame
        # Entries of the covariance, alike for y and x: of position, of position with velocity, of velocity.
        self.position_variance, self.covariance, self.velocity_variance = rows.T[4:]

    def predict(self) -> None:
        """Predict the next frame."""
        self.position += self.velocity
        self.position_variance += 2 * self.covariance + self.velocity_variance
        self.covariance += self.velocity_variance
        self.velocity_variance += VELOCITY_NOISE**2

    def update(self, rows: IntArray, innovation: FloatArray, noise: FloatArray, inflation: FloatArray | float) -> None:
        """Correct some states by innovations with this noise; `inflation` is added to the covariance before."""
        position, cross, velocity = (
            entry[rows] + inflation for entry in (self.position_variance, self.covariance, self.velocity_variance)
        )
        position_gain, velocity_gain = position / (position + noise), cross / (position + noise)
        self.position[rows] += position_gain[:, None] * innovation
        self.velocity[rows] += velocity_gain[:, None] * innovation
        self.position_variance[rows], self.covariance[rows] = (
            position * (1 - position_gain),
            cross * (1 - position_gain),
        )
        self.velocity_variance[rows] = velocity - velocity_gain * cross


class Tracks:
    """A row for each track, all in one array: each operation is one step for all tracks."""

    def __init__(self, rows: FloatArray | None = None) -> None:
        """Name the columns; no tracks by default."""
        self.rows = np.zeros((0, TRACK_COLUMNS)) if rows is None else rows
        self.number, self.size, self.sign, self.torque, self.seen, self.hidden, self.confirmed_from = self.rows.T[:7]
        self.last = self.rows[:, 7:9]  # place of the last detection
        self.fast, self.slow = KalmanState(self.rows[:, 9:16]), KalmanState(self.rows[:, 16:])

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.rows)

    @staticmethod
    def new(number: IntArray, place: FloatArray, size: FloatArray, torque: FloatArray) -> Tracks:
        """Return tracks of objects seen once."""
        tracks = Tracks(np.zeros((len(number), TRACK_COLUMNS)))
        tracks.number[:], tracks.size[:], tracks.sign[:], tracks.seen[:] = number, size, np.sign(torque), 1
        tracks.torque[:] = np.maximum(np.abs(torque), LEAST_TORQUE)
        tracks.last[:] = place
        for state in (tracks.fast, tracks.slow):
            state.position[:], state.position_variance[:] = place, POSITION_NOISE**2
            state.velocity_variance[:] = INITIAL_VELOCITY**2
        return tracks

    def predicted(self) -> Tracks:
        """Return the tracks one frame later."""
        later = Tracks(self.rows.copy())
        later.fast.predict()
        later.slow.predict()
        later.hidden += 1
        return later

    def update(self, rows: IntArray, place: FloatArray, size: FloatArray, torque: FloatArray) -> None:
        """Update some tracks by their detections, less the less these are like them."""
        larger, stronger = np.log2(size / self.size[rows]), self.stronger(rows, torque)
        noise = POSITION_NOISE**2 * (1 + (larger / SIZE_OCTAVES) ** 2 + (stronger / TORQUE_OCTAVES) ** 2)
        similarity = POSITION_NOISE**2 / noise
        (by_fast, fast), (by_slow, slow) = self._innovations(rows, place, size)
        self.fast.update(rows, by_fast, noise, TURN_VARIANCE * similarity**2 * fast)
        noise *= 1 + np.minimum(
            slow / (OUTLIER_DEVIATION**2 * (self.slow.position_variance[rows] + noise)), OUTLIER_WEIGHT
        )
        self.slow.update(rows, by_slow, noise, 0.0)
        # A larger detection means that the object was partly hidden before; a smaller one may be a part of it.
        gain = np.maximum(1 / (self.seen[rows] + 1), APPEARANCE_GAIN * np.where(larger > 0, 1.0, similarity))
        self.size[rows] *= 2 ** (gain * larger)
        self.torque[rows] *= 2 ** (gain * stronger)
        self.seen[rows] += 1
        self.last[rows] = place
        self.hidden[rows] = 0

    def _innovations(
        self, rows: IntArray, place: FloatArray, size: FloatArray
    ) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
        """Return the innovations of both filters; where one alone predicted the place, the other takes its state."""
        by_fast, fast = self._innovation(self.fast, rows, place, size)
        by_slow, slow = self._innovation(self.slow, rows, place, size)
        fast_lost, slow_lost = (fast > FAST_RESET**2) & (slow < fast), (slow > SLOW_RESET**2) & (fast < slow)
        if fast_lost.any() or slow_lost.any():  # never both of one track
            self.fast.rows[rows[fast_lost]] = self.slow.rows[rows[fast_lost]]
            self.slow.rows[rows[slow_lost]] = self.fast.rows[rows[slow_lost]]
            by_fast[fast_lost], by_slow[slow_lost] = by_slow[fast_lost], by_fast[slow_lost]
            fast[fast_lost], slow[slow_lost] = slow[fast_lost], fast[slow_lost]
        return (by_fast, fast), (by_slow, slow)

    def _innovation(
        self, state: KalmanState, rows: IntArray, place: FloatArray, size: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return how far places are from their prediction, beyond what a part of the object may be off its centre.

        In pixels (n, 2), and in sizes squared (n,).
        """
        innovation = place - state.position[rows]
        off = PART_OFFSET * np.maximum(self.size[rows] - size, 0)
        far = np.maximum(np.linalg.norm(innovation, axis=1), np.finfo(float).tiny)
        innovation *= np.maximum(1 - off / far, 0)[:, None]
        return innovation, (innovation**2).sum(axis=1) / self.size[rows] ** 2

    def stronger(self, rows: IntArray, torque: FloatArray) -> FloatArray:
        """Return by how many octaves torques exceed those of tracks."""
        return np.asarray(np.log2(np.maximum(np.abs(torque), LEAST_TORQUE) / self.torque[rows]))

    def recent(self, memory: int) -> Tracks:
        """Return the tracks hidden for at most `memory` frames, and for no more frames than they were seen in."""
        return Tracks(self.rows[self.hidden <= np.minimum(memory, self.seen)])

    def joined(self, others: Tracks) -> Tracks:
        """Return these tracks and others."""
        return Tracks(np.concatenate([self.rows, others.rows]))


class MotionEstimate:
    """How the objects of a video move: steadily, as filters predict, or at random from where they are."""

    def __init__(self) -> None:
        """Know nothing."""
        self.links = 0.0
        self.errors = np.zeros(3)  # sums of squared distances: from the last places, from both filters' predictions

    def add(self, tracks: Tracks, rows: IntArray, place: FloatArray) -> None:
        """Take in the links of a frame: of tracks that were seen in the frame before, with a known velocity."""
        known = (tracks.hidden[rows] == 1) & (tracks.seen[rows] > 1)
        rows, place = rows[known], place[known]
        fade = 1 - min(len(rows) / MOTION_LINKS, 1)
        states = (tracks.last, tracks.fast.position, tracks.slow.position)
        squares = [((state[rows] - place) ** 2).sum() for state in states]
        self.errors = fade * self.errors + squares
        self.links = fade * self.links + len(rows)

    @property
    def known(self) -> bool:
        """Whether enough links were seen to tell."""
        return self.links >= MIN_LINKS

    @property
    def wandering(self) -> bool:
        """Whether objects wander at random: their last places predict them best."""
        still, *steady = self.errors
        return bool(self.known and still < WANDERING_SHARE * min(steady))

    @property
    def step(self) -> float:
        """Standard deviation of a step along either axis, in pixels, of objects that wander."""
        return float(np.sqrt(self.errors[0] / max(self.links, 1) / 2))

    def expected(self, tracks: Tracks) -> list[FloatArray]:
        """Return places where the objects of tracks are looked for, each (n, 2)."""
        if self.wandering:
            return [tracks.last]
        steady = [tracks.fast.position, tracks.slow.position]
        if self.known:
            return steady
        young = (tracks.seen <= YOUNG_SEEN)[:, None]
        return [*steady, np.where(young, tracks.last, tracks.fast.position)]
