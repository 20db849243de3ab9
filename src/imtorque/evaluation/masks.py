"""Scores of a figure-ground mask: overlap with the true mask, and how well their outlines agree."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imtorque.evaluation.matching import match_boundaries
from imtorque.io.arrays import shaped_array


@dataclass(frozen=True)
class MaskScores:
    """Overlap (`iou`) of one mask with the truth, and precision, recall and F of its outline."""

    iou: float
    boundary_precision: float
    boundary_recall: float
    boundary_f: float


def mask_scores(prediction: ArrayLike, truth: ArrayLike, *, max_distance: float = 0.0075) -> MaskScores:
    """Score a mask against the truth, leaving unknown pixels out.

    The overlap is |A & B| / |A | B| over the known pixels, 1 when both are empty. The
    outline of a mask is its pixels with a 4-neighbour of known background; outlines are
    matched one to one as in `match_boundaries`, and predicted outline pixels on unknown
    ground are left out. F is 1 when neither has an outline, 0 when only one has.

    Parameters
    ----------
    prediction
        (H, W) bool, or integers 0 and one other value.
    truth
        (H, W) bool, or uint8 with 0 for ground, 255 for figure, and any other value
        where it is not known.
    max_distance
        Largest distance of a matched pair of outline pixels, as a fraction of the image diagonal.

    Examples
    --------
    >>> truth = np.zeros((10, 10), np.uint8)
    >>> truth[2:8, 2:8] = 255
    >>> truth[:, 7] = 128
    >>> mask_scores(truth > 0, truth).iou
    1.0
    """
    figure, known = true_figure(truth)
    mask = as_mask(prediction)
    if mask.shape != figure.shape:
        raise ValueError(f"prediction must have the truth's shape {figure.shape}, got {mask.shape}")
    union = int(((mask | figure) & known).sum())
    iou = int((mask & figure & known).sum()) / union if union else 1.0
    predicted, true = _outline(mask, ~mask) & known, _outline(figure, known & ~figure)
    pairs = int((match_boundaries(predicted, true, max_distance=max_distance) >= 0).sum())
    if not predicted.any() and not true.any():
        return MaskScores(iou, 1.0, 1.0, 1.0)
    precision, recall = pairs / max(1, int(predicted.sum())), pairs / max(1, int(true.sum()))
    return MaskScores(iou, precision, recall, 2 * precision * recall / (precision + recall) if pairs else 0.0)


def true_figure(truth: ArrayLike) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return where the truth is figure, and where it is known."""
    array = shaped_array(truth, "truth")
    if array.dtype == bool:
        return array, np.ones(array.shape, dtype=bool)
    if array.dtype != np.uint8 or (array.any() and not (array == 255).any()):
        raise ValueError(
            "truth must be bool, or uint8 with 0 for ground, 255 for figure and other values where unknown, "
            f"got {array.dtype} with values from {array.min()} to {array.max()}"
        )
    figure = array == 255
    return figure, figure | (array == 0)


def as_mask(prediction: ArrayLike) -> NDArray[np.bool_]:
    """Check a predicted mask and return it as bool."""
    array = shaped_array(prediction, "prediction")
    if array.dtype == bool:
        return array
    mask: NDArray[np.bool_] = array != 0
    if not np.issubdtype(array.dtype, np.integer) or len(np.unique(array[mask])) > 1:
        raise ValueError(
            f"prediction must be bool, or integers 0 and one other value, got {array.dtype} with "
            f"{len(np.unique(array))} values"
        )
    return mask


def _outline(mask: NDArray[np.bool_], ground: NDArray[np.bool_]) -> NDArray[np.bool_]:
    beside = np.zeros_like(mask)
    beside[1:] |= ground[:-1]
    beside[:-1] |= ground[1:]
    beside[:, 1:] |= ground[:, :-1]
    beside[:, :-1] |= ground[:, 1:]
    return mask & beside
