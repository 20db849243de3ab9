"""Folders of small drawn images, a class each, and blocks small enough to learn from them in a moment."""

import numpy as np

from imtorque import synthetic
from imtorque.files import write_image
from imtorque.recognition import presets

SHAPE = (48, 64)


def draw_image(kind, seed, colour=True):
    """A disc, a bar or a ring on texture, at a random place."""
    rng = np.random.default_rng(seed)
    ground = 0.3 * synthetic.texture(SHAPE, seed=seed)
    y, x = rng.uniform(18, 30), rng.uniform(20, 44)
    if kind == "bar":
        cover = np.zeros(SHAPE)
        cover[int(y) - 4 : int(y) + 4, int(x) - 16 : int(x) + 16] = 1
    else:
        cover = synthetic.disc(SHAPE, (y, x), 12)
        if kind == "ring":
            cover = cover - synthetic.disc(SHAPE, (y, x), 7)
    grey = synthetic.paint(ground, cover, 0.9)
    tint = np.where(cover[:, :, None] > 0.5, (1.0, 0.8, 0.5), (0.7, 0.9, 1.0)) if colour else np.ones(3)
    return np.round(255 * grey[:, :, None] * tint).astype(np.uint8)


def draw_classes(folder, kinds=("disc", "bar", "ring"), count=6):
    for kind in kinds:
        (folder / kind).mkdir(parents=True)
        for k in range(count):
            write_image(folder / kind / f"{k}.png", draw_image(kind, seed=k))
    return folder


def use_small_blocks(monkeypatch):
    """Let every block have few words and few patches."""
    for name, make in list(presets.BLOCKS.items()):
        block = make()
        block["encode"].codebook.set_params(words=24, samples=1500, iterations=4)
        if "patches" in block.named_steps:
            block["patches"].set_params(count=60)
        monkeypatch.setitem(presets.BLOCKS, name, lambda block=block: block)
