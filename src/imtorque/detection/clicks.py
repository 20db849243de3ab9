"""Detection click by click: what was found stays, unless it was clicked as wrong or is like what was."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import reduce
from typing import Any, NamedTuple, TypeVar

import numpy as np

from imtorque.core.types import BoolArray, FloatArray, Image
from imtorque.detection.finder import ObjectFinder
from imtorque.detection.measurement import measure_objects
from imtorque.detection.proposals import ANGLES, Outlines, Proposals
from imtorque.detection.table import WHOLE_IMAGE, Blobs
from imtorque.images import CheckedImage

MAX_SHARED = 0.3  # of the smaller area: two outlines that share more are of one object; convention
SAME_SIZE = 1.5  # ratio of diameters up to which an object found is the one clicked; convention
# By what objects are compared, and which difference counts as one (of greys: a share of their range); convention.
LIKENESS = {"diameter": 0.1, "contrast": 0.2, "intensity": 0.2}
TAUGHT = 3  # right clicks from which on a result is one to be corrected: fewer teach; convention
AGREED = 0.7  # of what was found before, at least, must be found again where new objects are to be added; convention
APART = 1.5  # such differences at least make a wrong object one of another kind; convention
LIKE_ONE = 3.0  # such differences at most make another object like the one clicked; tuned on drawn cells, coins, nuclei
NEARER = 0.5  # a wrong object takes those with it that are this much nearer to it than to any right one; convention

Result = TypeVar("Result")
Remember = Callable[[Hashable, Callable[[], Any]], Any]


class Click(NamedTuple):
    """An object that was clicked, with its diameter (0: unknown); or a negative, a place where there is none."""

    y: float
    x: float
    diameter: float = 0.0
    negative: bool = False

    def box(self, usual: float) -> tuple[float, float, float, float]:
        """Return the box around an object, of the usual diameter where its own is not known."""
        half = (self.diameter or usual) / 2
        return self.y - half, self.x - half, self.y + half, self.x + half


ClickLike = Click | tuple[float, float, float, bool]


def usual_diameter(clicks: Iterable[Iterable[Click]]) -> float | None:
    """Return the median diameter of the objects clicked; None where none is known."""
    known = [click.diameter for own in clicks for click in own if click.diameter]
    return float(np.median(known)) if known else None


@dataclass(frozen=True)
class Found:
    """What is found after some clicks: the objects, and those of them that were clicked as right and as wrong."""

    objects: Blobs | None = None
    right: tuple[Blobs, ...] = ()
    wrong: tuple[Blobs, ...] = ()


def find_clicked(
    image: Image,
    clicks: Sequence[ClickLike],
    others: Sequence[tuple[Image, Sequence[ClickLike]]] = (),
    *,
    min_score: float | None = None,
    remember: Remember = lambda _, compute: compute(),
) -> Blobs:
    """Return the objects that were clicked in an image, and others like them.

    Each click is a correction of what was found before it. A right one trains anew: what is found then is added. A
    wrong one takes out the object that it hits and those that are much more like it than like any right one. Nothing
    else is lost, whatever the finder makes of the clicks; all right ones are counted.

    Parameters
    ----------
    image
        Grey or colour.
    clicks
        Each (y, x, diameter, negative): the diameter 0 where it is not known, and whether it is no object.
    others
        Further images and the clicks in them, to learn from.
    min_score
        Least score of objects that were not clicked; by default what follows from the clicks. Those clicked have 1.
    remember
        Called as `remember(key, compute)` for what follows from the first clicks: a cache may keep it.

    See Also
    --------
    trained_on_clicks
    """
    told = tuple(Click(*click) for click in clicks)
    found = _found(image, told, others, remember)
    if found.objects is None:
        return measure_objects(Proposals.none(), image, CheckedImage(image).shape)
    known, right = found.objects, [click for click in told if not click.negative]
    if min_score is not None:
        finder = remember(("finder", told), lambda: trained_on_clicks(image, clicks, others)).with_threshold(min_score)
        more = remember(("more", told, min_score), lambda: finder.predict(image))
        wrong = _hit(more, [click for click in told if click.negative]) | _like_wrong(more, found)
        known = _join(known, more[~_overlap(more, known).any(axis=1) & ~wrong])
    clicked = _hit(known, right)
    known = replace(known, score=np.where(clicked, 1.0, known.score))
    return known if min_score is None else known[clicked | (known.score >= min_score)]


def trained_on_clicks(
    image: Image,
    clicks: Sequence[ClickLike],
    others: Sequence[tuple[Image, Sequence[ClickLike]]] = (),
) -> ObjectFinder:
    """Return the finder that learned from the clicks in all images. Parameters are those of `find_clicked`."""
    annotated = [(one, [Click(*click) for click in own]) for one, own in (*others, (image, clicks)) if len(own)]
    usual = usual_diameter(own for _, own in annotated)
    objects = [
        [(click.y, click.x) if usual is None else click.box(usual) for click in own if not click.negative]
        for _, own in annotated
    ]
    finder = ObjectFinder().fit(
        [one for one, _ in annotated],
        [np.array(places) for places in objects],
        complete=False,
        negatives=[[(click.y, click.x) for click in own if click.negative] for _, own in annotated],
    )
    right = [(one, click) for one, own in annotated for click in own if not click.negative]
    return _of_one(finder, *right[0]) if len(right) == 1 else finder


def _of_one(finder: ObjectFinder, image: Image, click: Click) -> ObjectFinder:
    """Return the finder with the threshold that best parts what is like the only object clicked from what is not.

    Its own follows from what forests that did not see an object make of it; without the only one they know nothing.
    """
    found = finder.predict(image)
    hit = _hit(found, [click])
    if not hit.any():
        return finder
    described = _described(found)
    like = _nearest(described, described[hit], _scale(described)) <= LIKE_ONE
    order = np.argsort(-found.score, kind="stable")
    best = np.cumsum(np.where(like[order], 1, -1)).argmax()
    return finder.with_threshold(float(found.score[order[best]]))


def _found(image: Image, clicks: tuple[Click, ...], others: Any, remember: Remember) -> Found:
    """Return what is found after these clicks: what was found before the last one, corrected by it."""
    if not clicks and not any(not Click(*click).negative for _, own in others for click in own):
        return Found()
    return remember(("clicked", clicks), lambda: _corrected(image, clicks, others, remember))  # type: ignore[no-any-return]


def _corrected(image: Image, clicks: tuple[Click, ...], others: Any, remember: Remember) -> Found:
    if not clicks:
        return Found(trained_on_clicks(image, (), others).predict(image))
    before, last = _found(image, clicks[:-1], others, remember), clicks[-1]
    if last.negative:
        return _without(before, last)
    finder = trained_on_clicks(image, clicks, others)
    found = finder.predict(image)
    clicked = _clicked(image, last, found, before.objects, finder.diameters[1])
    after = Found(None, (*before.right, clicked), before.wrong)
    corrects = before.objects is not None and (len(before.right) >= TAUGHT or not before.right)
    known = before.objects if corrects else _joined(before.right)
    known = clicked if known is None else _join(clicked, known[~_overlap(known, clicked).any(axis=1)])
    overlap = _overlap(found, known)
    again = overlap & (_ratio(found.diameter[:, None], known.diameter) <= SAME_SIZE)
    again &= (overlap.sum(axis=1) == 1)[:, None] & (overlap.sum(axis=0) == 1)
    agree = not corrects or again.any(axis=0).mean() >= AGREED
    wrong = _hit(found, [click for click in clicks if click.negative]) | _like_wrong(found, after)
    new = ~overlap.any(axis=1) & ~wrong & agree
    return replace(after, objects=_join(found[new | again.any(axis=1)], known[~again.any(axis=0)]))


def _without(before: Found, click: Click) -> Found:
    """Return what is left where one object was wrong."""
    if before.objects is None:
        return before
    hit = _hit(before.objects, [click])
    right = tuple(one for one in before.right if not _hit(one, [click]).any())
    after = Found(before.objects, right, (*before.wrong, *([before.objects[hit]] if hit.any() else ())))
    rights = _joined(right)
    spared = ~_like_wrong(before.objects, after) | (rights is not None and _overlap(before.objects, rights).any(axis=1))
    return replace(after, objects=before.objects[~hit & spared])


def _clicked(image: Image, click: Click, found: Blobs, before: Blobs | None, usual: float) -> Blobs:
    """Return the object clicked: as it is found now or was before, else a disc."""
    for objects in (found, *([] if before is None else [before])):
        near = _hit(objects, [click]) & (_ratio(objects.diameter, click.diameter or objects.diameter) <= SAME_SIZE)
        if near.any():
            return objects[np.flatnonzero(near)]
    radii = np.full((1, ANGLES), (click.diameter or usual) / 2, np.float32)
    height, width = np.shape(image)[:2]
    y, x = Outlines.of_polar(np.array([click.y]), np.array([click.x]), radii).points
    outline = Outlines.of_points(np.clip(y, -0.5, height - 0.5), np.clip(x, -0.5, width - 0.5))
    disc = Proposals.of(outline, sign=np.ones(1), size=2 * radii[:, 0], score=np.ones(1))
    return measure_objects(disc, image, CheckedImage(image).shape)


def _ratio(some: FloatArray, others: FloatArray | float) -> FloatArray:
    """Return by how much the larger of two lengths exceeds the smaller."""
    ratio: FloatArray = np.maximum(some, others) / np.minimum(some, others)
    return ratio


def _hit(objects: Blobs, clicks: Sequence[Click]) -> BoolArray:
    """Return which objects show at the clicks."""
    labels = [objects.labels[round(click.y), round(click.x)] for click in clicks]
    return np.isin(np.arange(1, len(objects) + 1), labels)


def _overlap(objects: Blobs, others: Blobs) -> BoolArray:
    """Return which objects (rows) share more than a part of the smaller one's pixels with which others (columns)."""
    shape = len(objects) + 1, len(others) + 1
    own, other = (np.bincount(one.labels.ravel(), minlength=n) for one, n in zip((objects, others), shape, strict=True))
    pairs = np.ravel_multi_index((objects.labels.ravel(), others.labels.ravel()), shape)
    common = np.bincount(pairs, minlength=shape[0] * shape[1]).reshape(shape)
    shared: BoolArray = common > MAX_SHARED * np.minimum(own[:, None], other)
    return shared[1:, 1:]


def _like_wrong(objects: Blobs, told: Found) -> BoolArray:
    """Return which objects are much more like one that was wrong than like any that was right."""
    if not told.wrong or not told.right:
        return np.zeros(len(objects), bool)
    right, wrong = (np.concatenate([_described(one) for one in part]) for part in (told.right, told.wrong))
    own = _described(objects)
    scale = _scale(np.concatenate([right, wrong, own]))
    wrong = wrong[_nearest(wrong, right, scale) >= APART]
    if not len(wrong):
        return np.zeros(len(objects), bool)
    like: BoolArray = _nearest(own, wrong, scale) < NEARER * _nearest(own, right, scale)
    return like


def _scale(described: FloatArray) -> FloatArray:
    """Return which difference of each column counts as one."""
    span = np.ptp(described, axis=0) + 1e-9
    scale: FloatArray = np.array(list(LIKENESS.values())) * np.where(np.arange(len(LIKENESS)) == 0, 1.0, span)
    return scale


def _nearest(some: FloatArray, others: FloatArray, scale: FloatArray) -> FloatArray:
    """Return the distance of each row to the nearest of the others."""
    nearest: FloatArray = np.linalg.norm((some[:, None] - others) / scale, axis=2).min(axis=1)
    return nearest


def _described(objects: Blobs) -> FloatArray:
    """Return what objects are compared by, a row each: the diameter by its logarithm."""
    columns = [getattr(objects, name) for name in LIKENESS]
    described: FloatArray = np.nan_to_num(np.stack([np.log(columns[0]), *columns[1:]], axis=1))
    return described


def _join(objects: Blobs, others: Blobs) -> Blobs:
    """Return the objects of both, the first on top."""
    named = [field.name for field in fields(Blobs) if field.name not in WHOLE_IMAGE]
    columns: dict[str, Any] = {n: np.concatenate([getattr(objects, n), getattr(others, n)]) for n in named}
    below = np.where(others.labels > 0, others.labels + len(objects), 0)
    return replace(others, **columns, labels=np.where(objects.labels > 0, objects.labels, below).astype(np.int32))


def _joined(parts: Sequence[Blobs]) -> Blobs | None:
    return reduce(_join, parts) if parts else None
