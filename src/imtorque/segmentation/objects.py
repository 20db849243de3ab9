"""Objects without a click: proposals of boxes, and masks of objects by falling score."""

import operator
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from imtorque.core.boxes import Boxes
from imtorque.core.types import BoolArray, Image
from imtorque.images import CheckedImage, ValueRange
from imtorque.segmentation.boxes import SCORES, SMALLEST_SIDE_SHARE, best_boxes, candidate_boxes, smooth_lab
from imtorque.segmentation.object_selection import best_objects
from imtorque.segmentation.working_size import enlarge


def propose_objects(
    image: Image | CheckedImage,
    count: int = 100,
    *,
    score: Literal["torque", "side", "both"] = "both",
    iou: float = 0.4,
    smallest: float = SMALLEST_SIDE_SHARE,
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
        four. "both": their geometric mean, times how much busier the box is than the ring around it, which finds more
        objects than either.
    iou
        How much a box may overlap a better one, as the area of their intersection over that of their union.
    smallest
        Side of the smallest boxes, as a part of the square root of the image's area. The largest fill the image.
    value_range
        As for `detect_edges`.

    Returns
    -------
    Boxes
        With the fields y0, x0, y1, x1 and score.

    See Also
    --------
    segment_objects, segment_figure

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
    planes = smooth_lab(CheckedImage(image, value_range))
    candidates = candidate_boxes((planes.shape[1], planes.shape[2]), smallest)
    return best_boxes(planes, candidates, count, score, iou, contrast=score == "both")


def segment_objects(
    image: Image | CheckedImage,
    count: int = 5,
    *,
    iou: float | None = None,
    value_range: ValueRange | None = None,
) -> NDArray[np.bool_]:
    """Segment the objects of an image without a click.

    Some 150 figures are tried: the cuts by colour and texture in the boxes of strongest torque (`propose_objects`); the
    cuts that `segment_figure` chooses from, around the places where torque saliency predicts the first fixations
    (`scan_path`) and around the middle of the image; and the regions of `segment_regions`, with all that they merge
    to. They are ranked by two logistic models of features of figures: edges along the outline,
    contrast of colours to the surround, size, share of the outline on the image's border, overlap with the other
    figures, and so on. The second was learned from images where the first is wrong, mostly those of small objects; they
    select in turn, and what overlaps a selected figure comes later. What reaches all four sides of the
    image is ground, and left out.

    Parameters
    ----------
    image
        Grey or colour, as for `detect_edges`. Images whose longer side exceeds 200 pixels are cut at that size, and
        the masks are enlarged again; those under 8 pixels high or wide have no objects.
    count
        How many objects, at most.
    iou
        How much an object may overlap a better one, as the area of their intersection over that of their union. A part
        and the whole are then both listed: with 0.6 one of the first ten is the object most often. By default objects
        do not overlap at all: of those that share more than half of either only the better one is kept, and pixels that
        two others share belong to the better one.
    value_range
        As for `detect_edges`.

    Returns
    -------
    ndarray
        Shape (n, H, W), bool: masks, that most like an object first; n may be less than `count`, or 0.

    See Also
    --------
    segment_figure, propose_objects, find_blobs

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
    if iou is not None and not 0 <= iou <= 1:
        raise ValueError(f"iou must lie in [0, 1], got {iou}")
    checked = CheckedImage(image, value_range)
    return masks_of(best_objects(checked, count, iou), checked.shape, apart=iou is None)


def masks_of(found: Sequence[BoolArray], shape: tuple[int, int], *, apart: bool) -> NDArray[np.bool_]:
    """Return figures as masks of an image's shape, (n, H, W); where they are kept apart, each pixel in the first."""
    masks = np.zeros((len(found), *shape), bool)
    taken = np.zeros(shape, bool)
    for mask, cut in zip(masks, found, strict=True):
        mask[:] = enlarge(cut, shape)
        if apart:
            mask &= ~taken
            taken |= mask
    return masks
