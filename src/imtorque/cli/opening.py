"""Which image of a file a verb works on, and how far it is reduced first."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from imtorque.core.resizing import shrink_image
from imtorque.core.types import Image
from imtorque.files import read_image

Page = Annotated[
    int | None,
    typer.Option(min=0, metavar="N", help="Which page of files that hold several (stacks, animations), from 0."),
]
Channel = Annotated[
    int | None, typer.Option(min=0, metavar="N", help="Which channel to work on, from 0; of a colour image, too.")
]
Reduce = Annotated[
    int,
    typer.Option(
        min=1, metavar="N", help="Average N x N pixels first. Places and sizes are then those of the reduced image."
    ),
]
Depth = Annotated[
    bool,
    typer.Option(
        "--depth", help="The images are depth maps, smaller is nearer, 0 unknown: bright is what stands in front."
    ),
]


@dataclass(frozen=True)
class Opening:
    """How images are opened: one page, one channel, reduced by a whole factor; recorded among a task's parameters."""

    page: int | None = None
    channel: int | None = None
    reduce: int = 1

    def read(self, path: Path) -> Image:
        """Read the image of a file."""
        image = read_image(path, self.page, self.channel)
        try:
            return self.reduced(image)
        except ValueError:
            height, width = image.shape[:2]
            raise ValueError(
                f"{path}: --reduce must be at most the shorter side of {height} x {width}, got {self.reduce}"
            ) from None

    def reduced(self, image: Image) -> Image:
        """Return an image at the size that is worked at."""
        return image if self.reduce == 1 else shrink_image(image, self.reduce)


AS_IT_IS = Opening()
