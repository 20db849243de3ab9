"""Write a small model and what it says of images it has not seen; each new format adds a pair of files, for good.

PYTHONPATH=tests python tests/recognition/models/write.py NAME     writes NAME.model and NAME.json beside this script

version-0.1.model was written by 0.1, format-1.model by the first version that reads models by their format number.
"""

import json
import sys
import tempfile
from pathlib import Path

from drawn_classes import draw_classes, draw_image
from imtorque.recognition import Recogniser, train_recogniser
from imtorque.recognition.presets import BLOCKS

HERE = Path(__file__).parent
METHOD = "sift+torque-colour"  # has every kind of step
ASKED = [(kind, seed) for kind in ("disc", "bar", "ring") for seed in (50, 51, 52)]


def use_tiny_blocks():
    for name, make in list(BLOCKS.items()):
        block = make()
        block["encode"].codebook.set_params(words=12, samples=900, iterations=4)
        if "patches" in block.named_steps:
            block["patches"].set_params(count=60)
        BLOCKS[name] = lambda block=block: block


def small_model(folder: Path) -> Recogniser:
    draw_classes(folder / "photos", count=4)
    classes = {own.name: sorted(own.iterdir()) for own in sorted((folder / "photos").iterdir())}
    return train_recogniser(classes, method=METHOD, folder=folder / "cache")


def main(name: str) -> None:
    use_tiny_blocks()
    with tempfile.TemporaryDirectory() as folder:
        model = small_model(Path(folder))
    said = []
    for kind, seed in ASKED:
        found = model.recognise(draw_image(kind, seed))
        said.append({"kind": kind, "seed": seed, "classes": found.classes, "scores": found.scores.tolist()})
    model.save(HERE / f"{name}.model")
    (HERE / f"{name}.json").write_text(json.dumps(said, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
