"""The paper's tables, redone: one module per table, each with `run(request) -> Report`.

`imtorque reproduce NAME` runs one of `EXPERIMENTS`; all of them report in the form of `imtorque.experiments.report`.
"""

# To add an experiment, add its name and its module here.
EXPERIMENTS = {
    "attention": "imtorque.experiments.attention",
    "attention-blend": "imtorque.experiments.attention_blend",
    "boundary": "imtorque.experiments.boundary",
    "car-side": "imtorque.experiments.car_side",
    "click": "imtorque.experiments.click",
    "counting": "imtorque.experiments.counting",
    "detectors": "imtorque.experiments.detectors",
    "figure-ground": "imtorque.experiments.figure_ground",
    "hidden-objects": "imtorque.experiments.hidden",
    "nuclei": "imtorque.experiments.nuclei",
    "objects": "imtorque.experiments.objects",
    "ownership": "imtorque.experiments.ownership",
    "patterns": "imtorque.experiments.patterns",
    "proposals": "imtorque.experiments.proposals",
    "recognition": "imtorque.experiments.recognition",
    "regions": "imtorque.experiments.regions",
    "shapes": "imtorque.experiments.shapes",
    "small-objects": "imtorque.experiments.small_objects",
    "strong-bases": "imtorque.experiments.strong_bases",
}

# Those that draw their own scenes, and need no data.
DRAWN = frozenset({"hidden-objects", "nuclei"})
