"""Folders of images with one object mask each."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from imtorque.datasets.images import IMAGE_SUFFIXES, files_by_stem, read_grey, read_image


@dataclass(frozen=True)
class MaskedImage:
    """One image with its mask; nothing is read before it is asked for."""

    name: str
    image_path: Path
    mask_path: Path

    def image(self) -> NDArray[Any]:
        """Read the image, uint8."""
        return read_image(self.image_path)

    def mask(self) -> NDArray[Any]:
        """Read the mask, (H, W) uint8: 0 ground, 255 figure, anything else unknown."""
        return read_grey(self.mask_path)


def mask_folder(root: str | Path) -> list[MaskedImage]:
    """List the images of a folder that holds `images/` and `masks/` with one mask of the same name for each."""
    return paired_masks(Path(root) / "images", Path(root) / "masks")


def paired_masks(images: str | Path, masks: str | Path) -> list[MaskedImage]:
    """List the images of one folder with their masks, PNG files of the same names in another."""
    checked_images = files_by_stem(Path(images), IMAGE_SUFFIXES)
    truths = files_by_stem(Path(masks), (".png",))
    unpaired = sorted(checked_images.keys() ^ truths.keys())
    if unpaired:
        raise ValueError(
            f"{images} must hold one image for each mask of {masks}, got only one of the two for "
            f"{', '.join(unpaired[:5])}"
        )
    return [MaskedImage(name, path, truths[name]) for name, path in checked_images.items()]
