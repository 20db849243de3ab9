"""Published downloads turned into what the loaders and experiments read, once, in a new folder."""

import io
import re
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from imtorque.datasets.caltech import ANNOTATION_FOLDERS
from imtorque.datasets.eyetracking import EyeTrackingImage, Fixations, mit1003
from imtorque.datasets.images import IMAGE_SUFFIXES, files_by_stem, image_shape, read_image
from imtorque.datasets.lists import listed
from imtorque.datasets.matlab import read_mat
from imtorque.files import encode_png
from imtorque.io.atomic import alone, open_regular, write_bytes, write_text

SHORTER_SIDE = 150  # pixels: paper, Sec. 4.1
HORSE_SIDE = 400  # pixels, the longer side: as the results had it; bound: time
EYE_QUALITY, HORSE_QUALITY = 92, 90  # of JPEG: as the results had them; convention
# Folders of images and of masks: as published, and in the mirror that the catalogue names.
HORSE_FOLDERS = (("rgb", "figure_ground"), ("horse_train", "mask_train"), ("horse_test", "mask_test"))


def prepare(name: str, source: str | Path, root: str | Path) -> Path:
    """Write a data set below a folder of data sets, from its published download, and return its folder.

    Parameters
    ----------
    name
        "osie", "sun", "mit1003", "caltech101" or "horses".
    source
        The folder that the download was unpacked in.
    root
        Folder of data sets. What is there already is not written again.
    """
    if name not in PREPARERS:
        raise ValueError(f"NAME must be one of {', '.join(PREPARERS)}, got {name}")
    folder, write = PREPARERS[name]
    target = Path(root) / folder
    if not Path(source).is_dir():
        raise ValueError(f"--from must name the folder of the unpacked download, got {source}")
    target.parent.mkdir(parents=True, exist_ok=True)
    with alone(target):  # so that what others have begun is known to be left by a run that was killed
        if target.exists():
            raise ValueError(f"{target} must not be there yet, got one")
        for left in target.parent.iterdir():
            if re.fullmatch(rf"\.{target.name}\.[0-9a-f]{{16}}\.part", left.name):
                shutil.rmtree(left)
        partial = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
        try:
            write(Path(source), partial)
            partial.rename(target)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return target


def _osie(source: Path, target: Path) -> None:
    """Read `data/stimuli` and `data/eye/fixations.mat`: a cell of each image, with its name and a cell of people."""
    path = source / "data" / "eye" / "fixations.mat"
    stimuli = files_by_stem(source / "data" / "stimuli", IMAGE_SUFFIXES)
    images = []
    for cell in _variable(path, "fixations").ravel():
        entry = _record(cell, ("img", "subjects"), path)
        name = Path(str(entry["img"].ravel()[0])).stem
        if name not in stimuli:
            raise ValueError(f"{path} must name images of {source / 'data' / 'stimuli'}, got {name}")
        people = [_record(one, ("fix_x", "fix_y", "fix_duration"), path) for one in entry["subjects"].ravel()]
        columns = [[one[key].ravel() for one in people] for key in ("fix_y", "fix_x", "fix_duration")]
        images.append(_viewed(name, stimuli[name], columns, path))
    _write_eye_tracking(images, target)


def _sun(source: Path, target: Path) -> None:
    """Read `data/stimuli` and `data/tidy/fixations.mat`: images by people, each y, x, latency, duration in seconds."""
    path = source / "data" / "tidy" / "fixations.mat"
    stimuli = files_by_stem(source / "data" / "stimuli", IMAGE_SUFFIXES)
    cells = _variable(path, "fixations")
    if cells.dtype != object or cells.shape[0] != len(stimuli):
        raise ValueError(f"{path} must have a row of cells for each of {len(stimuli)} stimuli, got shape {cells.shape}")
    images = []
    for row, (name, image_path) in zip(cells, stimuli.items(), strict=True):
        tables = [np.reshape(one, (-1, 4)) if one is not None and np.size(one) else np.zeros((0, 4)) for one in row]
        columns = [[table[:, k] * unit for table in tables] for k, unit in ((0, 1), (1, 1), (3, 1000))]
        images.append(_viewed(name, image_path, columns, path))
    _write_eye_tracking(images, target)


def _mit1003(source: Path, target: Path) -> None:
    """Read `ALLSTIMULI` and `ALLFIXATIONMAPS`, as `mit1003` does."""
    _write_eye_tracking(mit1003(source), target)


def _caltech101(source: Path, target: Path) -> None:
    """Copy the images and outlines of the committed list from `101_ObjectCategories` and `Annotations`."""
    for name in listed("caltech101"):
        room, category, file = name.split("/")
        published = ANNOTATION_FOLDERS.get(category, category) if room == "Annotations" else category
        found = [path for folder in (category, published) if (path := source / room / folder / file).is_file()]
        if not found:
            raise ValueError(f"{source} must hold {name}, got none")
        with open_regular(found[0]) as data:
            _write(target / name, data.read())


def _horses(source: Path, target: Path) -> None:
    """Read images and masks, which are figure where they are brighter than half of their range, of the list alone."""
    pairs = [(source / a, source / b) for a, b in HORSE_FOLDERS if (source / a).is_dir()]
    if not pairs:
        raise ValueError(f"{source} must hold rgb/ and figure_ground/, got neither")
    images, masks = (
        {k: v for pair in pairs for k, v in files_by_stem(pair[i], IMAGE_SUFFIXES).items()} for i in (0, 1)
    )
    for name in [Path(one).stem for one in listed("weizmann_horses") if one.startswith("images/")]:
        if name not in images or name not in masks:
            raise ValueError(f"{source} must hold an image and a mask of {name}, got one or none")
        image, mask = Image.fromarray(read_image(images[name])).convert("RGB"), read_image(masks[name])
        figure = (mask if mask.ndim == 2 else mask.max(axis=2)) > mask.max() / 2
        scale = min(1.0, HORSE_SIDE / max(image.size))
        size = (round(scale * image.width), round(scale * image.height))
        small = image if image.size == size else image.resize(size, Image.Resampling.LANCZOS)
        fitted = Image.fromarray(figure.astype(np.uint8) * 255).resize(size, Image.Resampling.NEAREST)
        _write(target / "images" / f"{name}.jpg", _jpeg(small, HORSE_QUALITY))
        _write(target / "masks" / f"{name}.png", encode_png(np.asarray(fitted)))


PREPARERS: Mapping[str, tuple[str, Callable[[Path, Path], None]]] = {
    "osie": ("eyetracking/osie", _osie),
    "sun": ("eyetracking/sun_scenes", _sun),
    "mit1003": ("eyetracking/mit1003", _mit1003),
    "caltech101": ("caltech101", _caltech101),
    "horses": ("figure_ground/weizmann_horses", _horses),
}


def _viewed(name: str, path: Path, columns: list[list[NDArray[Any]]], source: Path) -> EyeTrackingImage:
    """Return an image with its fixations: y, x (from 1) and duration of each person in the order of viewing."""
    if len({tuple(len(part) for part in column) for column in columns}) > 1:
        raise ValueError(f"{source} must have as many x as y and durations, got others for {name}")
    counts = [len(part) for part in columns[0]]
    if not sum(counts):
        raise ValueError(f"{source} must hold fixations of every image, got none of {name}")
    y, x, duration = (np.concatenate(column).astype(float) for column in columns)
    observer = np.repeat(np.arange(1, len(counts) + 1), counts).astype(str)
    order = np.concatenate([np.arange(1, count + 1) for count in counts])
    fixations = Fixations(y - 1, x - 1, observer, order, duration)
    return EyeTrackingImage(name, path, image_shape(path), fixations)


def _write_eye_tracking(images: list[EyeTrackingImage], target: Path) -> None:
    """Write `images/`, `images.csv` and `fixations.csv`, the images with the paper's shorter side."""
    sizes, rows = ["image,width,height,orig_width,orig_height"], list[str]()
    columns = "image,x,y"
    for full in images:
        one = full.reduced(SHORTER_SIDE)
        name = f"{one.name}.jpg"
        _write(target / "images" / name, _jpeg(Image.fromarray(one.image()), EYE_QUALITY))
        sizes.append(f"{name},{one.shape[1]},{one.shape[0]},{full.shape[1]},{full.shape[0]}")
        found = one.fixations()
        if found.observer is not None:
            columns = "image,subject,order,x,y,duration_ms"
        rows += [f"{name},{row}" for row in _fixation_rows(found)]
    write_text(target / "images.csv", "\n".join(sizes) + "\n")
    write_text(target / "fixations.csv", "\n".join([columns, *rows]) + "\n")


def _fixation_rows(found: Fixations) -> Iterator[str]:
    places = [f"{x:.2f},{y:.2f}" for y, x in zip(found.y, found.x, strict=True)]
    if found.observer is None or found.order is None or found.duration is None:
        yield from places
        return
    for who, when, place, length in zip(found.observer, found.order, places, found.duration, strict=True):
        yield f"{who},{when},{place},{length:.0f}"


def _variable(path: Path, name: str) -> NDArray[Any]:
    found = read_mat(path).get(name)
    if not isinstance(found, np.ndarray):
        raise ValueError(f"{path} must hold {name}, got none")
    return found


def _record(cell: Any, names: tuple[str, ...], path: Path) -> Any:
    """Return the one struct that a cell holds, which must have these fields."""
    held = cell if isinstance(cell, np.ndarray) else np.zeros(0)
    fields = held.dtype.names or ()
    if held.size != 1 or any(name not in fields or held.ravel()[0][name] is None for name in names):
        raise ValueError(f"{path} must hold structs with {', '.join(names)}, got {', '.join(fields) or 'none'}")
    return held.ravel()[0]


def _jpeg(image: Image.Image, quality: int) -> bytes:
    encoded = io.BytesIO()
    image.convert("RGB").save(encoded, "JPEG", quality=quality, subsampling=0)
    return encoded.getvalue()


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, content)
