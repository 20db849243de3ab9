"""The experiments of imtorque: every table of the paper and of the documentation, one folder each.

`imtorque reproduce NAME` calls `run(request) -> Report` of the module that `EXPERIMENTS` names; all of them report in
the form of `imtorque_reproduce.report`.
"""

from typing import NamedTuple


class Experiment(NamedTuple):
    """Where an experiment is, what it measures, and whether it draws its own images and needs no data.

    `lists` are those of `imtorque.datasets.lists` that its reported results read.
    """

    module: str
    about: str
    draws: bool = False
    lists: tuple[str, ...] = ()


EYES, OBJECTS, FIGURES = ("osie", "sun_scenes"), ("caltech101",), ("caltech101", "weizmann_horses")


# To add an experiment, add its line here: the command line draws its choices and its help from it.
EXPERIMENTS = {
    "attention": Experiment("attention.experiment", "saliency beside GBVS and Itti (Sec. 4.1)", lists=EYES),
    "attention-blend": Experiment("attention.blend", "what each map adds to a blend", lists=EYES),
    "attention-readings": Experiment("attention.factorial", "choosing the paper's torque saliency", lists=EYES),
    "boundary": Experiment("boundary.experiment", "strengthened edges on Berkeley's images (Sec. 4.2)"),
    "boundary-readings": Experiment("boundary.factorial", "the paper's strengthened edges, frozen readings (Sec. 4.2)"),
    "car-side": Experiment("car_side.experiment", "strengthened edges on cars (Sec. 4.2)", lists=OBJECTS),
    "click": Experiment("figure_ground.click", "the object under a click, on three sets", lists=FIGURES),
    "constants": Experiment("constants.experiment", "what each constant of find_blobs decides"),
    "constants-figure": Experiment("constants.figure", "what each constant of segment_figure decides", lists=OBJECTS),
    "counting": Experiment("counting.experiment", "detection and counting on labelled sets"),
    "detectors": Experiment("detectors.experiment", "the base detectors pb, mPb, gPb, Sketch Tokens"),
    "figure-ground": Experiment("figure_ground.experiment", "the object under a fixation (Sec. 4.3.2)", lists=FIGURES),
    "figure-ground-readings": Experiment(
        "figure_ground.factorial", "the paper's torque cue for a fixated object, frozen readings", lists=FIGURES
    ),
    "hidden-objects": Experiment("patterns.hidden", "objects seen by depth and motion alone", draws=True),
    "network": Experiment("network.experiment", "the network that finds boundaries"),
    "network-figures": Experiment(
        "network.figures", "the object under a click by the network's edges", lists=("weizmann_horses",)
    ),
    "nuclei": Experiment("nuclei.experiment", "nuclei in drawn volumes", draws=True),
    "objects": Experiment("objects.experiment", "masks without a click", lists=OBJECTS),
    "ownership": Experiment("ownership.experiment", "border ownership", lists=FIGURES),
    "patterns": Experiment("patterns.experiment", "torque without polarity", lists=OBJECTS),
    "properties": Experiment(
        "properties.experiment", "what torque answers to, beside other operators (Fig. 9)", lists=OBJECTS
    ),
    "proposals": Experiment("objects.proposals", "recall of object proposals", lists=OBJECTS),
    "recognition": Experiment("recognition.experiment", "torque beside SIFT on Caltech-101 (Sec. 4.4)", lists=OBJECTS),
    "regions": Experiment("regions.experiment", "region segmentation (Sec. 4.3.1)"),
    "regions-readings": Experiment("regions.factorial", "choosing the paper's regions"),
    "shapes": Experiment("shapes.experiment", "detection of a class of shapes", lists=OBJECTS),
    "strong-bases": Experiment("strong_bases.experiment", "torque on top of gPb"),
}
