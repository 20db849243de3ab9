"""Figures. The only part of the library that imports matplotlib.

Every function draws into `ax`, or into a new figure where none is given, and returns the Axes. None shows or saves it.
"""

from imtorque.plotting.axes import figure_of, new_axes
from imtorque.plotting.recognition import show_class_accuracies, show_confusion, show_descriptor, show_patches
from imtorque.plotting.scores import show_precision_recall
from imtorque.plotting.torque import (
    overview,
    show_evidence,
    show_extrema,
    show_scale_map,
    show_torque_spectrum,
    show_value_map,
)

__all__ = [
    "figure_of",
    "new_axes",
    "overview",
    "show_class_accuracies",
    "show_confusion",
    "show_descriptor",
    "show_evidence",
    "show_extrema",
    "show_patches",
    "show_precision_recall",
    "show_scale_map",
    "show_torque_spectrum",
    "show_value_map",
]
