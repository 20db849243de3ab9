"""Readers of data sets and predictions. Nothing is downloaded, and files are read when they are used.

A loader takes `root=` and returns a list of light records; a record reads its image or ground truth when asked.
`holdings` says which sets a folder holds, and where to get them.
"""

from imtorque.datasets.berkeley import Annotation, BerkeleyImage, bsds300, bsds500, read_annotations
from imtorque.datasets.caltech import CaltechImage, Outline, caltech101, read_outline
from imtorque.datasets.catalogue import CATALOGUE, DataSet, Holding, holdings
from imtorque.datasets.eyetracking import EyeTrackingImage, Fixations, eye_tracking, mit1003
from imtorque.datasets.mask_folders import MaskedImage, mask_folder, paired_masks
from imtorque.datasets.pasted import Composite, PastedObject, small_objects
from imtorque.datasets.predictions import Prediction, Truth, find_predictions, find_truths, read_prediction
from imtorque.datasets.samples import PHOTOGRAPHS, SAMPLES, sample

__all__ = [
    "CATALOGUE",
    "PHOTOGRAPHS",
    "SAMPLES",
    "Annotation",
    "BerkeleyImage",
    "CaltechImage",
    "Composite",
    "DataSet",
    "EyeTrackingImage",
    "Fixations",
    "Holding",
    "MaskedImage",
    "Outline",
    "PastedObject",
    "Prediction",
    "Truth",
    "bsds300",
    "bsds500",
    "caltech101",
    "eye_tracking",
    "find_predictions",
    "find_truths",
    "holdings",
    "mask_folder",
    "mit1003",
    "paired_masks",
    "read_annotations",
    "read_outline",
    "read_prediction",
    "sample",
    "small_objects",
]
