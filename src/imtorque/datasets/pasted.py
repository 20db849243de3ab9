"""Small objects away from the middle: outlined Caltech objects pasted into Berkeley photographs, the same every time.

The objects of the usual figure-ground sets fill the image, so that any fixed size is nearly right for them. Here the
size and the place are drawn at random, so that no prior on either helps.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from imtorque.datasets.berkeley import BerkeleyImage, bsds300
from imtorque.datasets.caltech import CaltechImage, caltech101

PASTED_SIDE = 300  # pixels of the images; untuned
# Of the image's area that the object's bounding box takes, evenly in their logarithm; untuned.
AREA_SHARES = (0.02, 0.15)
PASTE_MARGIN = 6  # pixels between the object's bounding box and the image's border; untuned
FEATHER = 0.7  # sigma in pixels of the object's rim; untuned
FIXATION_DEPTH = 3  # pixels that the fixation lies from the outline, where the object is thick enough; untuned
BERKELEY = ("bsds500", "bsds300", "BSDS500", "BSDS300")
# Backgrounds and objects of the two parts have nothing in common.
PASTED_PARTS = {"dev": ("train", 0), "test": ("test", 1)}


@dataclass(frozen=True)
class PastedObject:
    """One object in front of one photograph; nothing is read before it is asked for."""

    name: str
    source: CaltechImage
    background: BerkeleyImage
    seed: tuple[int, ...]

    @property
    def category(self) -> str:
        """What the object is."""
        return self.source.category

    def read(self) -> "Composite":
        """Make the image, its mask and its fixation."""
        rng = np.random.default_rng(self.seed)
        ground = _resized(Image.fromarray(self.background.image()).convert("RGB"), PASTED_SIDE)
        image, outline = self.source.image(), self.source.outline()
        mask = Image.fromarray(outline.mask((image.shape[0], image.shape[1])).astype(np.uint8) * 255)
        # The outline runs on the object's outermost pixels, which are half background.
        mask = mask.filter(ImageFilter.MinFilter(3))
        box = mask.getbbox()
        if box is None:
            raise ValueError(f"{self.source.outline_path} must enclose some pixels, got none")
        return _paste(ground, Image.fromarray(image).convert("RGB").crop(box), mask.crop(box), rng)


@dataclass(frozen=True)
class Composite:
    """An image (H, W, 3) uint8, where its object is (H, W) bool, and a fixation (y, x) on it."""

    image: NDArray[Any]
    mask: NDArray[np.bool_]
    fixation: tuple[int, int]

    @property
    def box(self) -> tuple[int, int, int, int]:
        """The object's bounding box: y0, x0 and, just beyond it, y1, x1."""
        rows, columns = (np.flatnonzero(self.mask.any(axis=axis)) for axis in (1, 0))
        return int(rows[0]), int(columns[0]), int(rows[-1]) + 1, int(columns[-1]) + 1


def small_objects(root: str | Path, part: str = "test", *, count: int = 240, seed: int = 0) -> list[PastedObject]:
    """List objects pasted into photographs, balanced over the outlined categories of Caltech-101.

    Parameters
    ----------
    root
        Folder that holds `caltech101/` and `bsds500/` or `bsds300/`.
    part
        "dev" to choose settings on (backgrounds from Berkeley's training images), "test" to report on (from its test
        images). Their objects are different ones, too.
    count
        How many.
    seed
        Another one gives other pairs, sizes and places.
    """
    if part not in PASTED_PARTS:
        raise ValueError(f"part must be one of {', '.join(PASTED_PARTS)}, got {part!r}")
    split, parity = PASTED_PARTS[part]
    outlined = [image for image in caltech101(Path(root) / "caltech101") if image.outline_path is not None]
    categories = sorted({image.category for image in outlined})
    if not categories:
        raise ValueError(f"{Path(root) / 'caltech101'} must hold Annotations/, got no outline")
    rng = np.random.default_rng([seed, parity])
    pools = [
        rng.permuted([i for i, image in enumerate(outlined) if image.category == name][parity::2])
        for name in categories
    ]
    if not all(pool.size for pool in pools):
        raise ValueError(f"{Path(root) / 'caltech101'} must hold at least two outlines of each category")
    folder = next((path for path in (Path(root) / name for name in BERKELEY) if path.is_dir()), None)
    if folder is None:
        raise ValueError(f"{root} must hold one of the folders {', '.join(BERKELEY)}, got none")
    grounds = bsds300(folder, split)
    order = rng.permutation(len(grounds))
    pasted = []
    for k in range(count):
        pool = pools[k % len(pools)]
        source = outlined[int(pool[k // len(pools) % len(pool)])]
        ground = grounds[int(order[k % len(order)])]
        name = f"{k:04d}_{source.category}_{source.name}_{ground.name}"
        pasted.append(PastedObject(name, source, ground, (seed, parity, k)))
    return pasted


def _paste(ground: Image.Image, checked: Image.Image, mask: Image.Image, rng: np.random.Generator) -> Composite:
    share = np.exp(rng.uniform(*np.log(AREA_SHARES)))
    room = [side - 2 * PASTE_MARGIN for side in ground.size]
    scale = np.sqrt(share * ground.width * ground.height / (mask.width * mask.height))
    scale = min(scale, room[0] / mask.width, room[1] / mask.height)
    width, height = (max(1, round(side * scale)) for side in mask.size)
    left, top = (
        PASTE_MARGIN + int(rng.integers(side - own + 1)) for side, own in zip(room, (width, height), strict=True)
    )
    cover = Image.new("L", ground.size)
    cover.paste(mask.resize((width, height), Image.Resampling.BOX), (left, top))
    front = ground.copy()
    front.paste(checked.resize((width, height), Image.Resampling.LANCZOS), (left, top))
    image = Image.composite(front, ground, cover.filter(ImageFilter.GaussianBlur(FEATHER)))
    figure = np.asarray(cover) >= 128
    return Composite(np.asarray(image), figure, _fixation(figure, rng))


def _fixation(figure: NDArray[np.bool_], rng: np.random.Generator) -> tuple[int, int]:
    """Draw a pixel well inside the figure; of a thin one, from the pixels that are deepest."""
    from scipy import ndimage  # imported here: it takes longer than the rest of this package

    depth = ndimage.distance_transform_edt(np.pad(figure, 1))[1:-1, 1:-1]
    y, x = np.nonzero(depth >= min(FIXATION_DEPTH, depth.max()))
    k = int(rng.integers(len(y)))
    return int(y[k]), int(x[k])


def _resized(image: Image.Image, long_side: int) -> Image.Image:
    scale = long_side / max(image.size)
    width, height = (max(1, round(side * scale)) for side in image.size)
    return image.resize((width, height), Image.Resampling.LANCZOS)
