"""Objects without a click as others find them: boxes of selective search and EdgeBoxes, and GrabCut in boxes."""

import ctypes
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque import _native
from imtorque.core.types import BoolArray
from imtorque.edges import detect_edges
from imtorque.segmentation.fixated_boxes import enlarged
from imtorque_reproduce.figure_ground.controls import grab_cut
from imtorque_reproduce.objects.rows import OVERLAP, Boxes

TYPICAL = 0.99  # quantile of the gradient along edges that becomes 1; untuned
LEAST_BOX = 0.01  # of the image, for EdgeBoxes; untuned
MOST_BOXES = 1000  # bound: as many as are scored
GRABCUT_WINDOW = 2.0  # sides of the window that GrabCut works in, over those of the box; untuned


def selective_search(image: NDArray[Any], count: int) -> Boxes:
    """Return the boxes of selective search (J. Uijlings et al., IJCV 2013), "fast", in its own order."""
    cv2 = _contrib()
    search = cv2.ximgproc.segmentation.createSelectiveSearchSegmentation()
    search.setBaseImage(np.ascontiguousarray(image[:, :, ::-1]))
    search.switchToSelectiveSearchFast()
    ctypes.CDLL(None).srand(0)  # it mixes its order by the C library's random numbers
    return _distinct(search.process(), count)


def edge_boxes(image: NDArray[Any], count: int) -> Boxes:
    """Return EdgeBoxes (C. L. Zitnick, P. Dollár, ECCV 2014), on Canny's edges with their gradient."""
    cv2 = _contrib()
    edges = detect_edges(image, force="strength")
    strength = edges.strength
    top = float(np.quantile(strength[strength > 0], TYPICAL)) if (strength > 0).any() else 1.0
    direction = np.arctan2(edges.fx, -edges.fy) % np.pi  # of the gradient
    finder = cv2.ximgproc.createEdgeBoxes()
    finder.setMaxBoxes(MOST_BOXES)
    finder.setMinBoxArea(LEAST_BOX * strength.size)
    found = finder.getBoundingBoxes(np.clip(strength / top, 0, 1).astype(np.float32), direction.astype(np.float32))
    return _distinct(found[0] if isinstance(found, tuple) else found, count)


def cut_in_boxes(image: NDArray[Any], boxes: Boxes) -> list[BoolArray]:
    """Return GrabCut's figures in boxes, around their middles; the ground is taken from a window twice as large."""
    return [_cut_in(image, box) for box in boxes]


def _cut_in(image: NDArray[Any], box: NDArray[np.int64]) -> BoolArray:
    shape = (image.shape[0], image.shape[1])
    window = np.clip(np.round(enlarged(box.tolist(), GRABCUT_WINDOW)), 0, [*shape, *shape]).astype(np.int64)
    top, left, bottom, right = window.tolist()
    y0, x0, y1, x1 = (box - [top, left, top, left]).tolist()
    mask = np.zeros(shape, bool)
    part = image[top:bottom, left:right]
    mask[top:bottom, left:right] = grab_cut(part, (y0, x0, y1, x1), ((y0 + y1) // 2, (x0 + x1) // 2))
    return mask


def _distinct(found: Any, count: int) -> Boxes:
    """Return the first of x, y, width, height as y0, x0, y1, x1 that overlap no earlier one more than ours may."""
    x, y, width, height = np.asarray(found, np.int64).reshape(-1, 4).T
    boxes = np.stack([y, x, y + height, x + width], axis=1)
    return np.asarray(boxes[_native.distinct_boxes(np.ascontiguousarray(boxes), OVERLAP, count)])


def _contrib() -> Any:
    """Return OpenCV, which must be the build with contributed modules."""
    cv2: Any = import_module("cv2")
    if not hasattr(cv2, "ximgproc"):
        raise ModuleNotFoundError("OpenCV must have its contributed modules, got none", name="cv2.ximgproc")
    cv2.setNumThreads(1)
    return cv2
