"""Learn from a few examples what to find, and find it."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, fields

import numpy as np
from numpy.typing import ArrayLike

from imtorque import _native
from imtorque.core.types import Float32Array, Image, IntArray
from imtorque.detection.contours import Contours
from imtorque.detection.features import Measured, measure
from imtorque.detection.forest import Forest, grow_forest
from imtorque.detection.levels import QUIET
from imtorque.detection.likeness import apply_likeness, likeness_moments, solve_likeness
from imtorque.detection.measure import measured
from imtorque.detection.noise import noise_level
from imtorque.detection.planes import IN_COLOUR, Planes, Sizes, is_coloured, signs_of, sizes_of, working_planes
from imtorque.detection.pool import KINDS, Pool, edge_sigma, find_candidates, sources_of
from imtorque.detection.table import Blobs
from imtorque.detection.training import (
    KIND_SETS,
    Lesson,
    Setting,
    choose_setting,
    chosen_of,
    learned_from,
    setting_from_clicks,
)
from imtorque.detection.truth import ANGLES, Marks, read_marks
from imtorque.images import CheckedImage, grey_image
from imtorque.io.arrays import read_arrays
from imtorque.io.atomic import write_bytes
from imtorque.io.errors import reading_file

FORMAT = 1  # of the saved file
BESIDE_OUTLINE = (0.85, 1.2)  # of the radius: where the grey values inside and outside are read


class ObjectFinder:
    """Find objects like those marked in a few images.

    Candidates of several kinds (torque, extremal and thresholded regions, Laplacian of Gaussian, radial symmetry) are
    measured, a small forest learns what each is worth, and the best set of candidates that do not overlap is chosen as
    a whole. Which kinds serve, and from which worth on, cross-validation over the training images decides.

    Parameters
    ----------
    kinds
        Kinds of candidates that may be used; sets of them to try, each a tuple, or None for the usual ones.

    Attributes
    ----------
    setting_
        What cross-validation chose, and its F1 and count error: how far the finder is to be trusted.

    See Also
    --------
    find_blobs, Blobs
    """

    def __init__(self, kinds: Sequence[tuple[str, ...]] | None = None) -> None:
        """Check the kinds; nothing is learned yet."""
        self.kinds = tuple(tuple(part) for part in (KIND_SETS if kinds is None else kinds))
        for part in self.kinds:
            if not part or not set(part) <= set(KINDS):
                raise ValueError(f"kinds must be tuples of {', '.join(KINDS)}, got {part}")

    def __repr__(self) -> str:
        """Say by what it finds objects, and how well that went where it was chosen."""
        if not hasattr(self, "setting_"):
            return "ObjectFinder(not taught)"
        return f"ObjectFinder(by {', '.join(self.setting_.kinds)}; F1 {self.setting_.f1:.2f} in cross-validation)"

    def fit(
        self,
        images: Sequence[Image],
        objects: Sequence[ArrayLike],
        ignored: Sequence[ArrayLike] | None = None,
        *,
        complete: bool = True,
        wrong: Sequence[ArrayLike] | None = None,
    ) -> ObjectFinder:
        """Learn from images with their objects marked.

        Parameters
        ----------
        images
            Grey or coloured, of one magnification.
        objects
            For each image boxes (n, 4) with y0, x0, y1, x1 (the last two exclusive), points (n, 2) with y, x, or a
            label image of the image's height and width.
        ignored
            For each image boxes (m, 4) of what is to be neither learned nor avoided.
        complete
            Whether all objects of the images are marked. With False a handful of clicks will do; then the threshold
            follows from what the clicked objects get, and no F1 is known.
        wrong
            For each image points (k, 2) with y, x of what is no object though it looks like one: with `complete` it
            is known, without it teaches.
        """
        if not len(images) or len(images) != len(objects):
            raise ValueError(f"every image must have its objects, got {len(images)} and {len(objects)}")
        aside, no = ([()] * len(images) if given is None else given for given in (ignored, wrong))
        shapes = [np.shape(image)[:2] for image in images]
        marks = [read_marks(o, (s[0], s[1]), i, w) for o, s, i, w in zip(objects, shapes, aside, no, strict=True)]
        self._sizes = sizes_of(images, marks)
        marks = [mark.reduced(self._sizes.factor) for mark in marks]
        coloured = any(is_coloured(image) for image in images)
        planes = [working_planes(image, self._sizes, coloured) for image in images]
        self._signs = signs_of(planes, marks)
        lessons = self._lessons(planes, marks)
        if complete:
            self.setting_, examples = choose_setting(lessons, self._sizes, self.kinds)
        else:
            self.setting_, examples = setting_from_clicks(lessons, self._sizes, max(self.kinds, key=len))
        features, values, weights = learned_from(examples)
        known = np.isfinite(values)
        self._forest = grow_forest(features[known], values[known], None if weights is None else weights[known])
        return self

    def _lessons(self, planes: list[Planes], marks: list[Marks]) -> list[Lesson]:
        """Return the lessons; each image's learned plane comes from the other images, as it will be later."""
        moments = [likeness_moments(*pair) for pair in zip(planes, marks, strict=True)]
        self._form = solve_likeness(moments)
        kinds = {kind for part in self.kinds for kind in part}
        lessons = []
        for i, (image, marked) in enumerate(zip(planes, marks, strict=True)):
            others = moments[:i] + moments[i + 1 :] or moments
            image.likeness = apply_likeness(image, solve_likeness(others))
            pool = find_candidates(image, self._sizes, sources_of(kinds, self._signs))
            lessons.append(Lesson(image, marked, pool))
        if not any(len(lesson.pool) for lesson in lessons):
            raise ValueError("the images must show something that may be an object, got none with a closed contour")
        return lessons

    def predict(self, image: Image) -> Blobs:
        """Find the objects of an image of the same magnification: a table as of `find_blobs`, by falling strength."""
        planes, candidates, value = self._judged(image)
        chosen = chosen_of(candidates, value, self.setting_.threshold, self.setting_.cost)
        found = _contours(candidates.pool[chosen], value[chosen], planes, grey_image(image), self._sizes.factor)
        return measured(found, image, CheckedImage(image).shape)

    def label_next(self, images: Sequence[Image]) -> IntArray:
        """Return the places of images in the order in which to mark them: first those it is least sure of.

        What counts is how many objects it is in doubt about: the sum over the chosen set, and over the set it would
        choose with half the threshold, of v (1 - v).
        """
        doubt = []
        for image in images:
            _, candidates, value = self._judged(image)
            wide = chosen_of(candidates, value, self.setting_.threshold / 2, self.setting_.cost / 2)
            doubt.append(float((value[wide] * (1 - value[wide])).sum()))
        return np.argsort(-np.asarray(doubt), kind="stable")

    def _judged(self, image: Image) -> tuple[Planes, Measured, Float32Array]:
        """Return an image's planes, its candidates, and what each is worth."""
        self._require_fit()
        planes = working_planes(image, self._sizes, coloured=len(self._form) > IN_COLOUR)
        planes.likeness = apply_likeness(planes, self._form)
        kinds = self.setting_.kinds
        pool = find_candidates(planes, self._sizes, sources_of(kinds, self._signs))
        candidates = measure(planes, self._sizes, pool, torque="torque" in kinds)
        return planes, candidates, self._forest(candidates.features)

    def score(self, images: Sequence[Image], objects: Sequence[ArrayLike]) -> float:
        """Return F1 over images with all their objects marked: found centres that lie in an object, one to one."""
        matched = total = 0
        for image, marked in zip(images, objects, strict=True):
            shape = np.shape(image)[:2]
            marks = read_marks(marked, (shape[0], shape[1]))
            found = self.predict(image)
            matched += _matches(found, marks, self._sizes.typical / 2)
            total += len(found) + len(marks)
        return 2 * matched / total if total else 1.0

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write what was learned to one file of arrays and plain text, complete or not at all."""
        self._require_fit()
        about = {
            "format": FORMAT,
            "setting": asdict(self.setting_),
            "sizes": asdict(self._sizes),
            "signs": self._signs,
            "kinds": self.kinds,
        }
        arrays = {field.name: getattr(self._forest, field.name) for field in fields(Forest)}
        buffer = io.BytesIO()
        np.savez_compressed(buffer, about=np.array(json.dumps(about)), form=self._form, allow_pickle=False, **arrays)
        write_bytes(path, buffer.getvalue())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ObjectFinder:
        """Read a finder that `save` wrote; scikit-learn is not needed."""
        with reading_file(path, "a file that ObjectFinder.save wrote"):
            arrays = read_arrays(path)
            about = json.loads(str(arrays["about"]))
            if about["format"] != FORMAT:
                raise ValueError(f"format {about['format']}, not {FORMAT}")
            finder = cls([tuple(part) for part in about["kinds"]])
            finder.setting_ = Setting(**{**about["setting"], "kinds": tuple(about["setting"]["kinds"])})
            finder._sizes, finder._signs = Sizes(**about["sizes"]), tuple(about["signs"])
            finder._form = arrays["form"]
            finder._forest = Forest(*(arrays[field.name] for field in fields(Forest))).checked()
        return finder

    def _require_fit(self) -> None:
        if not hasattr(self, "setting_"):
            raise ValueError("fit must be called first, got a finder that has learned nothing")


def _contours(pool: Pool, value: Float32Array, planes: Planes, grey: Float32Array, factor: int) -> Contours:
    """Return candidates as contours in the image as given, with the torque and the grey values of their outlines."""
    gx, gy = planes.force("grey", edge_sigma(planes))
    torque = _native.outline_contrasts(gx, gy, pool.y, pool.x, pool.radii)[:, 0].astype(np.float64)
    shift = np.float32((factor - 1) / 2)
    y, x, radii = pool.y * factor + shift, pool.x * factor + shift, pool.radii * np.float32(factor)
    sides = np.array(BESIDE_OUTLINE, np.float32)
    inside, outside = _native.outline_profiles(np.ascontiguousarray(grey)[None], y, x, radii, sides)[:, 0, :, 0].T
    angle = np.arange(ANGLES) * (2 * np.pi / ANGLES)
    diameter = 2 * radii.mean(axis=1, dtype=np.float64)
    noise = max(noise_level(grey), QUIET * float(np.ptp(grey)), 1e-12)
    return Contours(
        y=np.clip(y[:, None] + radii * np.sin(angle), -0.5, grey.shape[0] - 0.5),
        x=np.clip(x[:, None] + radii * np.cos(angle), -0.5, grey.shape[1] - 0.5),
        evidence=np.zeros(radii.shape, np.float32),
        sign=np.where(torque < 0, -1.0, 1.0),
        closure=np.abs(torque),
        inside=inside.astype(np.float64),
        outside=outside.astype(np.float64),
        noise=np.full(len(pool), noise),
        torque=torque,
        size=diameter,
        score=value.astype(np.float64),
    )


def _matches(found: Blobs, marks: Marks, radius: float) -> int:
    """Return how many found centres lie in objects (near points), at most one in each."""
    from scipy.optimize import linear_sum_assignment

    y, x = found.y[:, None], found.x[:, None]
    if marks.form == "points":
        inside = np.hypot(y - marks.points[:, 0], x - marks.points[:, 1]) <= radius
    else:
        y0, x0, y1, x1 = marks.boxes.T
        inside = (y >= y0 - 0.5) & (x >= x0 - 0.5) & (y < y1 - 0.5) & (x < x1 - 0.5)
    rows, columns = linear_sum_assignment(inside, maximize=True)
    return int(inside[rows, columns].sum())
