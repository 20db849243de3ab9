"""Scores of cuts around a fixation: their expected overlap with the object, learned from their features."""

from functools import cache

from imtorque.core.logistic import LogisticModel
from imtorque.core.types import FloatArray
from imtorque.io.weights import read_weights


def figure_scores(names: tuple[str, ...], features: FloatArray, *, torque: bool) -> FloatArray:
    """Return the scores of cuts from their features, (cuts, features), by the model with torque or without."""
    return figure_model(torque, names).logit(features)


@cache
def figure_model(torque: bool, names: tuple[str, ...]) -> LogisticModel:
    """Return the model of a cut's overlap with the object, learned by `imtorque_reproduce.figure_ground.weights`.

    It is linear in the overlap itself: its logit is the expected overlap, up to a constant.
    """
    return LogisticModel.from_dict(read_weights("figure")["torque" if torque else "no-torque"], names)
