"""Recognition: torque patches, the multiscale torque descriptor and bags of features (Sec. 4.4 of the paper).

image -> patches -> descriptors -> codes -> one vector -> class. Everything is a scikit-learn estimator.
"""

try:
    import sklearn  # noqa: F401
except ImportError as error:
    raise ImportError("imtorque.recognition needs scikit-learn: pip install 'imtorque[learn]'") from error

from imtorque.recognition.coding import Codebook, LLCEncoder, SpatialPyramid
from imtorque.recognition.local import Codes, Descriptors, Patches
from imtorque.recognition.sift import DenseSIFT
from imtorque.recognition.torque_patches import MultiscaleTorque, TorquePatches, multiscale_torque

__all__ = [
    "Codebook",
    "Codes",
    "DenseSIFT",
    "Descriptors",
    "LLCEncoder",
    "MultiscaleTorque",
    "Patches",
    "SpatialPyramid",
    "TorquePatches",
    "multiscale_torque",
]
