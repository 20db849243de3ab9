"""The Berkeley segmentation data sets, BSDS300 and BSDS500: photographs with boundaries drawn by several people."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque.datasets.images import IMAGE_SUFFIXES, files_by_stem, read_image
from imtorque.datasets.matlab import read_mat
from imtorque.io.atomic import open_regular

BSDS300_AS_BSDS500 = {"train": "train", "test": "val"}  # BSDS500 took BSDS300's test images as its validation set


@dataclass(frozen=True)
class Annotation:
    """What one person drew: (H, W) boundaries, and the regions between them as labels from 1."""

    boundaries: NDArray[np.bool_]
    segmentation: NDArray[np.unsignedinteger]


@dataclass(frozen=True)
class BerkeleyImage:
    """One image of BSDS300 or BSDS500; nothing is read before it is asked for."""

    name: str
    image_path: Path
    truth_paths: tuple[Path, ...]

    def image(self) -> NDArray[Any]:
        """Read the photograph, (H, W, 3) uint8."""
        return read_image(self.image_path)

    def annotations(self) -> list[Annotation]:
        """Read what each person drew."""
        return [annotation for path in self.truth_paths for annotation in read_annotations(path)]


def bsds500(root: str | Path, split: str = "test") -> list[BerkeleyImage]:
    """List the images of BSDS500: split "train" (200), "val" (100) or "test" (200).

    `root` holds `images/` and `groundTruth/`, or is the unpacked `BSR` or `BSDS500` folder above them.
    """
    base = _base(Path(root), "groundTruth", "data", "BSDS500/data", "BSR/BSDS500/data")
    images = files_by_stem(base / "images" / split, IMAGE_SUFFIXES)
    truths = files_by_stem(base / "groundTruth" / split, (".mat",))
    return [
        BerkeleyImage(name, path, (_truth_of(name, truths, base / "groundTruth" / split),))
        for name, path in images.items()
    ]


def bsds300(root: str | Path, split: str = "test") -> list[BerkeleyImage]:
    """List the images of BSDS300: split "train" (200) or "test" (100).

    `root` holds BSDS300's own `images/` and `human/`, or BSDS500, which has the same
    images under "train" and "val".
    """
    if split not in BSDS300_AS_BSDS500:
        raise ValueError(f"split must be 'train' or 'test', got {split!r}")
    base = Path(root)
    if (base / "BSDS300").is_dir():
        base = base / "BSDS300"
    if not (base / "human").is_dir():
        return bsds500(root, BSDS300_AS_BSDS500[split])
    images = files_by_stem(base / "images" / split, IMAGE_SUFFIXES)
    truths = {name: tuple(sorted((base / "human" / "color").glob(f"*/{name}.seg"))) for name in images}
    for name, paths in truths.items():
        if not paths:
            raise ValueError(
                f"{base / 'human' / 'color'} must hold the segmentations of every image, got none of {name}"
            )
    return [BerkeleyImage(name, path, truths[name]) for name, path in images.items()]


def read_annotations(path: Path) -> list[Annotation]:
    """Read a Berkeley ground truth: `groundTruth` of a .mat file (several people), or a .seg file (one)."""
    if path.suffix == ".seg":
        return [_read_seg(path)]
    contents = read_mat(path)
    if "groundTruth" not in contents:
        names = sorted(repr(name)[1:-1] for name in contents if not name.startswith("__"))
        raise ValueError(f"{path} must hold the variable groundTruth, got {', '.join(names) or 'none'}")
    try:
        people = [
            Annotation(person["Boundaries"][0, 0].astype(bool), _labels(person["Segmentation"][0, 0]))
            for person in contents["groundTruth"].ravel()
        ]
    except (IndexError, KeyError, ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} must hold Boundaries and Segmentation of each annotator in groundTruth") from error
    if not people or any(p.boundaries.ndim != 2 or p.boundaries.shape != p.segmentation.shape for p in people):
        raise ValueError(f"{path} must hold (height, width) maps of at least one annotator in groundTruth")
    return people


def _read_seg(path: Path) -> Annotation:
    """Read BSDS300's text format: a header, then runs "label row first_column last_column"."""
    try:
        with open_regular(path) as file:
            header, _, body = file.read().decode().replace("\r\n", "\n").partition("\ndata\n")
        sizes = dict(line.split(maxsplit=1) for line in header.splitlines() if line.startswith(("width ", "height ")))
        drawn = np.zeros((int(sizes["height"]), int(sizes["width"])), np.int64)
        for label, row, first, last in (map(int, line.split()) for line in body.splitlines()):
            drawn[row, first : last + 1] = label + 1
        segmentation = _labels(drawn)
    except (OSError, KeyError, ValueError, IndexError, OverflowError) as error:
        raise ValueError(f"{path} must be a readable .seg file: {error}") from error
    if not segmentation.size:
        raise ValueError(f"{path} must have a height and a width above 0, got {segmentation.shape}")
    if not segmentation.all():
        raise ValueError(f"{path} must label every pixel, got {int((segmentation == 0).sum())} without a label")
    return Annotation(_boundary(segmentation), segmentation)


def _labels(given: NDArray[Any]) -> NDArray[np.unsignedinteger]:
    """Return labels in 16 bits where they fit, else in 32. MATLAB keeps them as doubles when nobody says otherwise."""
    array = np.asarray(given)
    whole = array.dtype.kind in "biu" or (array.dtype.kind == "f" and bool((array == np.floor(array)).all()))
    if not whole or (array.size and not 0 <= array.min() <= array.max() < 2**32):
        raise ValueError("labels must be whole numbers from 0 to 2^32 - 1")
    return array.astype(np.uint32 if array.size and array.max() > 65535 else np.uint16)


def _boundary(segmentation: NDArray[np.unsignedinteger]) -> NDArray[np.bool_]:
    """Mark pixels that differ from the one to the right, below, or diagonally below."""
    padded = np.pad(segmentation, ((0, 1), (0, 1)), mode="edge")
    others = (padded[1:, :-1], padded[:-1, 1:], padded[1:, 1:])
    differs: NDArray[np.bool_] = np.logical_or.reduce([segmentation != other for other in others])
    return differs


def _base(root: Path, marker: str, *below: str) -> Path:
    for base in (root, *(root / folder for folder in below)):
        if (base / marker).is_dir():
            return base
    raise ValueError(f"{root} must hold images/ and {marker}/, got neither there nor in {', '.join(below)}")


def _truth_of(name: str, truths: dict[str, Path], folder: Path) -> Path:
    if name not in truths:
        raise ValueError(f"{folder} must hold the ground truth of every image, got none of {name}")
    return truths[name]
