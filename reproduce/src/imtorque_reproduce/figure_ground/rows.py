"""Every way of segmenting a fixated object that the tables compare, by name and setting."""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from imtorque.core.types import BoolArray, FloatArray
from imtorque.images import CheckedImage, grey_image
from imtorque.segmentation.cues import edge_cue
from imtorque.segmentation.figure import best_cuts, segment_figure
from imtorque.segmentation.figure_cuts import working_shape
from imtorque.segmentation.fixated_boxes import Box, centred_box, fixated_box
from imtorque.segmentation.working_size import enlarge, moved
from imtorque_reproduce.figure_ground import controls
from imtorque_reproduce.figure_ground.ablation import Way, reading_cue
from imtorque_reproduce.figure_ground.bases import base_cue
from imtorque_reproduce.figure_ground.cases import Scene, Source, any_pixel, read_scene
from imtorque_reproduce.report import Request
from imtorque_reproduce.scoring import Floats, score_images

COSTS = {"5/20": (5.0, 20.0), "20/50": (20.0, 50.0)}  # eta and k: as published first, and as its authors' code has it


class Cutter:
    """One scene, and all ways of cutting its object out; edge maps are made once."""

    def __init__(self, scene: Scene) -> None:
        """Take a scene."""
        self.scene = scene
        self.shape = (scene.image.shape[0], scene.image.shape[1])
        self._cues: dict[str, FloatArray] = {}
        self._cuts: dict[Way, BoolArray] = {}

    def cut(self, way: Way) -> BoolArray:
        """Return the figure that one way finds."""
        if way not in self._cuts:
            self._cuts[way] = self._cut(way)
        return self._cuts[way]

    def _cut(self, way: Way) -> BoolArray:
        kind, setting = way
        name, _, extra = kind.partition(":")
        if name in ("cue", "reading", "base", "cartesian"):
            eta, k = COSTS[setting]
            method = "cartesian" if name == "cartesian" else "polar"
            return self._polar(kind if name in ("reading", "base") else extra, eta=eta, k=k, method=method)
        if name == "prior":  # the published costs, for which the prior was set
            size = "torque" if setting == "torque" else float(setting) * math.sqrt(self.shape[0] * self.shape[1])
            return self._polar(extra, eta=5.0, k=20.0, size=size)
        if name == "grabcut":
            return controls.grab_cut(self.scene.image, self._box(extra, setting), self.scene.fixation)
        if name.startswith("figure"):
            return self._figure(name.endswith("@anywhere"), setting == "torque")
        if name == "chan-vese":
            return controls.chan_vese_cut(grey_image(self.scene.image), self.scene.fixation)
        return controls.ellipse(self.shape)

    def _polar(self, cue: Any, **settings: Any) -> BoolArray:
        if cue not in self._cues:
            self._cues[cue] = self._edge_map(cue)
        return segment_figure(self.scene.image, self.scene.fixation, edge_map=self._cues[cue], **settings)

    def _edge_map(self, cue: Any) -> FloatArray:
        if cue.startswith("reading:"):
            return reading_cue(self.scene.image, self.scene.fixation, cue.removeprefix("reading:"))
        if cue.startswith("base:"):
            return base_cue(self.scene.image, cue.removeprefix("base:"))
        return edge_cue(self.scene.image, cue)

    def _figure(self, anywhere: bool, torque: bool) -> BoolArray:
        """Return the figure as `segment_figure` finds it, or the same without torque; clicked anywhere on it."""
        fixation = any_pixel(self.scene.figure, 0) if anywhere else self.scene.fixation
        if torque:
            return segment_figure(self.scene.image, fixation)
        click = moved(fixation, self.shape, working_shape(self.shape))
        found = best_cuts(CheckedImage(self.scene.image), [click], [], None, torque=False)
        return enlarge(found[0][0], self.shape) if found else segment_figure(self.scene.image, fixation)

    def _box(self, kind: str, setting: str) -> Box:
        if kind == "centred":
            return centred_box(self.shape, float(setting))
        if kind == "fixated":
            return fixated_box(self.shape, self.scene.fixation, float(setting))
        return controls.torque_box(self.scene.image, self.scene.fixation, setting)


def score_ways(source: Source, ways: Iterable[Way]) -> dict[Way, float]:
    """Return the overlap with the truth that each way reaches on one scene."""
    cutter = Cutter(read_scene(source))
    return {way: cutter.scene.iou(cutter.cut(way)) for way in ways}


def score_sources(sources: Sequence[Source], ways: Iterable[Way], request: Request, label: str) -> dict[Way, Floats]:
    """Return the overlap of each way on every scene."""
    return score_images(partial(score_ways, ways=sorted(set(ways))), sources, request, label)


def means_of(scores: Mapping[Way, Floats]) -> dict[Way, float]:
    """Return the mean over scenes of each way."""
    return {way: float(values.mean()) for way, values in scores.items()}


def best_setting(means: Mapping[Way, float], kind: str) -> Way:
    """Return the setting of this kind of cut with the highest mean."""
    return max((way for way in means if way[0] == kind), key=lambda way: means[way])
