"""What a torque cue must be compared with: cuts that know no torque, or the object's usual place and size."""

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque.core.types import BoolArray
from imtorque.segmentation.boxes import smooth_lab
from imtorque.segmentation.fixated_boxes import Box, torque_boxes

ELLIPSE = 0.6  # of the image's sides; untuned
DISC = 5  # pixels around the fixation that are held to the figure; untuned
GRABCUT_ITERATIONS = 5  # colour models and cut, in turns; convention


def ellipse(shape: tuple[int, int]) -> BoolArray:
    """Return an ellipse in the middle of the image: no image data at all."""
    y, x = (np.linspace(-1, 1, side) for side in shape)
    return np.asarray((y[:, None] / ELLIPSE) ** 2 + (x / ELLIPSE) ** 2 <= 1)


def torque_box(image: NDArray[Any], fixation: tuple[int, int], score: str) -> Box:
    """Return the best box around the fixation, as `torque_boxes` finds it: no size is known beforehand."""
    return torque_boxes(smooth_lab(image), fixation)[score]


def grab_cut(image: NDArray[Any], box: Box, fixation: tuple[int, int]) -> BoolArray:
    """Return OpenCV's GrabCut within a box, with a disc at the fixation held to the figure: the part that holds it."""
    from scipy import ndimage

    cv2: Any = import_module("cv2")
    shape = (image.shape[0], image.shape[1])
    y, x = np.arange(shape[0])[:, None], np.arange(shape[1])
    within = (y >= round(box[0])) & (y < round(box[2])) & (x >= round(box[1])) & (x < round(box[3]))
    if within.all():  # some ground there must be
        within[[0, -1]] = within[:, [0, -1]] = False
    labels = np.where(within, cv2.GC_PR_FGD, cv2.GC_BGD).astype(np.uint8)
    labels[(y - fixation[0]) ** 2 + (x - fixation[1]) ** 2 <= DISC**2] = cv2.GC_FGD
    colours = image if image.ndim == 3 else np.repeat(image[:, :, None], 3, axis=2)
    models = np.zeros((1, 65)), np.zeros((1, 65))
    cv2.setNumThreads(1)
    cv2.setRNGSeed(0)
    bgr = np.ascontiguousarray(colours[:, :, ::-1])
    cv2.grabCut(bgr, labels, None, *models, GRABCUT_ITERATIONS, cv2.GC_INIT_WITH_MASK)
    parts, _ = ndimage.label((labels == cv2.GC_FGD) | (labels == cv2.GC_PR_FGD))
    return np.asarray(parts == parts[fixation])


def chan_vese_cut(grey: NDArray[Any], fixation: tuple[int, int]) -> BoolArray:
    """Return scikit-image's Chan-Vese segmentation: the part that holds the fixation."""
    from scipy import ndimage

    skimage: Any = import_module("skimage.segmentation")
    sides = skimage.chan_vese(grey.astype(np.float64), max_num_iter=200)
    parts, _ = ndimage.label(sides == sides[fixation])
    return np.asarray(parts == parts[fixation])
