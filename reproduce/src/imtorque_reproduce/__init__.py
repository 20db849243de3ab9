"""The paper's tables, redone: one module per table, each with `run(request) -> Report`.

`imtorque reproduce NAME` runs one of `EXPERIMENTS`; all of them report in the form of `imtorque_reproduce.report`.
"""

# To add an experiment, add its name and its module here.
EXPERIMENTS = {
    "attention": "imtorque_reproduce.attention.experiment",
    "attention-blend": "imtorque_reproduce.attention.blend",
    "boundary": "imtorque_reproduce.boundary.experiment",
    "car-side": "imtorque_reproduce.car_side.experiment",
    "click": "imtorque_reproduce.figure_ground.click",
    "counting": "imtorque_reproduce.counting.experiment",
    "detectors": "imtorque_reproduce.detectors.experiment",
    "figure-ground": "imtorque_reproduce.figure_ground.experiment",
    "hidden-objects": "imtorque_reproduce.patterns.hidden",
    "nuclei": "imtorque_reproduce.nuclei.experiment",
    "objects": "imtorque_reproduce.objects.experiment",
    "ownership": "imtorque_reproduce.ownership.experiment",
    "patterns": "imtorque_reproduce.patterns.experiment",
    "proposals": "imtorque_reproduce.objects.proposals",
    "recognition": "imtorque_reproduce.recognition.experiment",
    "regions": "imtorque_reproduce.regions.experiment",
    "shapes": "imtorque_reproduce.shapes.experiment",
    "small-objects": "imtorque_reproduce.figure_ground.small_objects",
    "strong-bases": "imtorque_reproduce.strong_bases.experiment",
}

# Those that draw their own scenes, and need no data.
DRAWN = frozenset({"hidden-objects", "nuclei"})
