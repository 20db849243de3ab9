"""Objects without a click: boxes that may hold one, and the objects themselves, in the order they attract the eye."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from imtorque._renamed import renamed_argument
from imtorque._types import BoolArray, Image
from imtorque.images import Picture, ValueRange
from imtorque.saliency import scan_path
from imtorque.saliency.from_torque import saliency_of_size
from imtorque.segmentation.boxes import SCORES, SMALLEST, Boxes, best_boxes, candidate_boxes, smooth_lab
from imtorque.segmentation.cues import edge_cue
from imtorque.segmentation.figure import DEFAULT_CUE, segment_figure
from imtorque.segmentation.working_size import enlarge, working_picture

FIXATIONS_PER_OBJECT = 4  # that are tried at most
SHARED = 0.5  # of the smaller of two cuts, beyond which they are one object


@renamed_argument("overlap", "iou")
def propose_objects(
    image: Image | Picture,
    count: int = 100,
    *,
    score: Literal["torque", "side", "both"] = "both",
    iou: float = 0.4,
    smallest: float = SMALLEST,
    value_range: ValueRange | None = None,
) -> Boxes:
    """Propose boxes that may hold an object, best first, of any size.

    Boxes of many sizes and shapes are scored by the gradient of the colours L, a and b, and of those that overlap only
    the best are kept.

    Parameters
    ----------
    image
        Grey or colour, as for `detect_edges`.
    count
        How many boxes, at most.
    score
        "torque": the gradient torque of the box (Appendix A), its mean colour against that of the pixels around; one
        strong side can raise it. "side": the contrast across its weakest side, for a closed contour has contrast on all
        four. "both": their geometric mean, which finds more objects than either.
    iou
        How much a box may overlap a better one, as the area of their intersection over that of their union.
    smallest
        Side of the smallest boxes, as a part of the square root of the picture's area. The largest fill the picture.
    value_range
        As for `detect_edges`.

    Returns
    -------
    Boxes
        With the fields y0, x0, y1, x1 and score.

    Examples
    --------
    >>> image = np.zeros((60, 80))
    >>> image[20:40, 30:60] = 1
    >>> best = propose_objects(image, 5)[:1]
    >>> bool(abs(best.y0[0] - 20) < 4 and abs(best.x1[0] - 60) < 4)
    True
    """
    if score not in SCORES:
        raise ValueError(f"score must be one of {', '.join(SCORES)}, got {score!r}")
    if operator.index(count) < 0:
        raise ValueError(f"count must not be negative, got {count}")
    if not 0 <= iou <= 1:
        raise ValueError(f"iou must lie in [0, 1], got {iou}")
    if not 0.001 <= smallest <= 1:
        raise ValueError(f"smallest must lie in [0.001, 1], got {smallest}")
    planes = smooth_lab(Picture(image, value_range))
    return best_boxes(planes, candidate_boxes((planes.shape[1], planes.shape[2]), smallest), count, score, iou)


def segment_objects(
    image: Image | Picture, count: int = 5, *, value_range: ValueRange | None = None
) -> NDArray[np.bool_]:
    """Cut the most salient objects out without a click: attention, then boundaries, then figure-ground.

    Torque saliency supplies fixations, each inhibiting a return to its place (`scan_path`); the object around each is
    cut out with edges strengthened by torque (`segment_figure`). A fixation on an object found before is passed over.
    A cut is dropped where it reaches all four sides of the picture, which makes it ground, or where it shares more than
    half of its area, or of an earlier object's, with that object; otherwise it leaves shared pixels to the earlier one.

    Parameters
    ----------
    image
        Grey or colour, as for `detect_edges`.
    count
        How many objects, at most. Four times as many fixations are tried.
    value_range
        As for `detect_edges`.

    Returns
    -------
    ndarray
        Shape (n, H, W), bool: masks in order of attention, which do not overlap; n may be less than `count`, or 0.

    Examples
    --------
    >>> image = np.zeros((60, 80))
    >>> image[20:40, 20:50] = 1
    >>> masks = segment_objects(image, 1)
    >>> masks.shape, bool(masks[0, 30, 35])
    ((1, 60, 80), True)
    """
    if operator.index(count) < 0:
        raise ValueError(f"count must not be negative, got {count}")
    picture = Picture(image, value_range)
    working = working_picture(picture)
    edges = edge_cue(working, DEFAULT_CUE)
    found: list[BoolArray] = []
    taken = np.zeros(edges.shape, bool)
    y, x = scan_path(saliency_of_size(picture, working.shape), FIXATIONS_PER_OBJECT * count)
    for fixation in zip(y.tolist(), x.tolist(), strict=True):
        if len(found) == count:
            break
        if taken[fixation]:
            continue
        cut = segment_figure(working, fixation, edge_map=edges)
        if _is_ground(cut) or any(_are_one(cut, other) for other in found):
            continue
        found.append(cut & ~taken)
        taken |= cut
    return _disjoint((enlarge(cut, picture.shape) for cut in found), len(found), picture.shape)


def _disjoint(masks: Iterable[BoolArray], count: int, shape: tuple[int, int]) -> NDArray[np.bool_]:
    """Return masks with each pixel in the first of those that hold it."""
    found = np.zeros((count, *shape), bool)
    taken = np.zeros(shape, bool)
    for own, mask in zip(found, masks, strict=True):
        own[:] = mask & ~taken
        taken |= mask
    return found


def _is_ground(cut: BoolArray) -> bool:
    return bool(cut[0].any() and cut[-1].any() and cut[:, 0].any() and cut[:, -1].any())


def _are_one(cut: BoolArray, other: BoolArray) -> bool:
    return bool((cut & other).sum() > SHARED * min(cut.sum(), other.sum()))
