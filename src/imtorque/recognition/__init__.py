"""Recognition: torque patches, the multiscale torque descriptor and bags of features (Sec. 4.4 of the paper).

image -> patches -> descriptors -> codes -> one vector -> class. Everything is a scikit-learn estimator.
"""

try:
    import sklearn  # noqa: F401
except ImportError as error:
    raise ImportError("imtorque.recognition needs scikit-learn: pip install 'imtorque[learn]'") from error

from functools import partial

from imtorque.core.deprecation import deprecated_name
from imtorque.io.caches import cache_folder
from imtorque.recognition.coding import Codebook, LLCEncoder, SpatialPyramid
from imtorque.recognition.linear_svm import LinearSVM
from imtorque.recognition.local import Codes, Descriptors, Patches
from imtorque.recognition.model import Recogniser, Recognition
from imtorque.recognition.presets import METHODS, features
from imtorque.recognition.sift import DenseSIFT
from imtorque.recognition.torque_patches import MultiscaleTorque, TorquePatches, multiscale_torque
from imtorque.recognition.training import train_recogniser
from imtorque.recognition.working_image import WorkingImage, WorkingImages

__all__ = [
    "METHODS",
    "Codebook",
    "Codes",
    "DenseSIFT",
    "Descriptors",
    "LLCEncoder",
    "LinearSVM",
    "MultiscaleTorque",
    "Patches",
    "Recogniser",
    "Recognition",
    "SpatialPyramid",
    "TorquePatches",
    "WorkingImage",
    "WorkingImages",
    "cache_folder",
    "features",
    "multiscale_torque",
    "train_recogniser",
]

__getattr__ = partial(deprecated_name, __name__)
