"""What is fuzzed: for each reader of files a few good files to damage, and the requests of the explorer.

A reader may refuse a file only by a ValueError or an OSError of one line that says which file it is.
"""

from __future__ import annotations

import gzip
import io
import shutil
import sys
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import tifffile
from explorer_requests import ADDRESSES, queries, request_at, request_of_image, upload
from PIL import Image
from scipy.io import savemat

import imtorque
from imtorque import files
from imtorque.cli.runner import find_sources
from imtorque.cli.train_detector import load_annotations, match_images
from imtorque.datasets import berkeley, caltech, eyetracking, predictions
from imtorque.datasets.matlab import read_mat

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tests"))
from model_mutations import array_changed, setting_changed  # noqa: E402

TRAINED, MODELS = ROOT / "fuzz" / "trained.finder", ROOT / "tests" / "recognition" / "models"


@dataclass(frozen=True)
class Target:
    """A reader, the ending of its files, and some that it reads."""

    read: Callable[[Path], Any]
    ending: str
    seeds: list[bytes]
    large: bool = False  # whether what it reads may take as much memory as there is


@cache
def targets() -> dict[str, Target]:
    """Return all readers by name."""
    return {
        **{f"image.{form}": Target(read_image, f".{form}", seeds, True) for form, seeds in images().items()},
        **array_targets(),
        "seg": Target(berkeley.read_annotations, ".seg", [SEG]),
        "objects.csv": Target(read_annotated, ".csv", TABLES),
        "paths": Target(read_paths, ".txt", LISTS),
        "eye_tracking": Target(read_eye_tracking, ".csv", [b"image,observer,y,x\na,1,2,3\na,2,5.5,6\n"]),
        "explorer.upload": Target(upload, ".png", [seed for seeds in images().values() for seed in seeds[:1]]),
        "explorer.query": Target(request_of_image, ".txt", queries()),
        "explorer.address": Target(request_at, ".txt", ADDRESSES),
        "large.tiff": Target(read_window, ".tiff", images()["tiff"][4:6], True),
        "large.npy": Target(read_window, ".npy", [saved(np.save, np.arange(96, dtype=np.uint8).reshape(8, 12))], True),
        **stack_targets(),
        "video": Target(read_video, ".mp4", [video_file()], True),
        "finder": Target(find_by, ".finder", [finder_file()]),
        "finder.contents": Target(find_by_forged, ".finder", [b"0", b"4", b"8", b"29"]),
        "recogniser": Target(load_recogniser, ".model", [(MODELS / "format-1.model").read_bytes()]),
    }


def array_targets() -> dict[str, Target]:
    """Return the readers of arrays: MATLAB's and numpy's."""
    mats = mat_files()
    arrays = [saved(np.save, np.arange(12.0).reshape(3, 4)), saved(np.save, np.zeros((2, 3, 4), np.uint8))]
    return {
        "mat": Target(read_mat, ".mat", list(mats.values())),
        "mat.truth": Target(berkeley.read_annotations, ".mat", [mats["truth"]]),
        "mat.outline": Target(caltech.read_outline, ".mat", [mats["outline"]]),
        "mat.prediction": Target(predictions.read_prediction, ".mat", [mats["ucm"], mats["segs"]]),
        "npy": Target(predictions.read_prediction, ".npy", arrays),
        "volume": Target(imtorque.TorqueVolume.load, ".npz", [volume_file()]),
    }


def stack_targets() -> dict[str, Target]:
    """Return the readers of volumes: stacks of pages, NIfTI and zarr, as far as what reads them is installed."""
    slices = np.arange(60, dtype=np.uint16).reshape(3, 4, 5)
    about = {"axes": "ZYX", "PhysicalSizeX": 0.5, "PhysicalSizeY": 0.5, "PhysicalSizeZ": 2}
    tiffs = [images()["tiff"][2], saved(tifffile.imwrite, slices, ome=True, metadata=about)]
    targets = {"stack.tiff": Target(read_stack, ".tiff", tiffs)}
    if find_spec("nibabel"):
        targets["stack.nii"] = Target(read_stack, ".nii", [nifti_file("Nifti1Image"), nifti_file("Nifti2Image")])
        targets["stack.nii.gz"] = Target(read_stack, ".nii.gz", [gzip.compress(nifti_file("Nifti1Image"), mtime=0)])
    if find_spec("zarr"):
        targets["stack.zarr"] = Target(read_packed_zarr, ".zip", [zarr_file(2), zarr_file(3)], True)
    return targets


def read_stack(path: Path) -> None:
    """Read a volume and the size of its voxels."""
    from imtorque.volumes import read_volume, voxel_size

    voxel_size(path)
    read_volume(path)


def read_packed_zarr(path: Path) -> None:
    """Read a folder of zarr, which an archive holds, as a volume and as an image in tiles."""
    folder = path.with_name(f"{path.name}.zarr")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, ValueError, OSError) as error:
        raise ValueError(f"{path}: no archive") from error
    read_stack(folder)
    read_window(folder, page=0)


def nifti_file(kind: str) -> bytes:
    """Return a volume as nibabel writes it."""
    import nibabel

    image = getattr(nibabel, kind)(np.arange(60, dtype=np.int16).reshape(5, 4, 3), np.diag([0.5, 0.5, 2, 1]))
    image.header.set_xyzt_units("micron")
    return image.to_bytes()


def zarr_file(form: int) -> bytes:
    """Return an OME-Zarr group of a volume, packed."""
    import zarr

    axes = [{"name": name, "type": "space", "unit": "micrometer"} for name in "zyx"]
    levels = [{"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [2.0, 0.5, 0.5]}]}]
    about = {"multiscales": [{"version": "0.5", "axes": axes, "datasets": levels}]}
    with TemporaryDirectory() as folder:
        group = zarr.open_group(folder, mode="w", zarr_format=form)
        group.attrs.update({"ome": about} if form == 3 else about)
        array = group.create_array("0", shape=(3, 8, 9), chunks=(2, 8, 9), dtype="uint8")
        array[:] = np.arange(216, dtype=np.uint8).reshape(3, 8, 9)
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for path in sorted(Path(folder).rglob("*")):
                if path.is_file():
                    archive.write(path, path.relative_to(folder))
        return packed.getvalue()


def read_image(path: Path) -> None:
    """Read an image, its shape and the size of its pixels."""
    for read in (files.image_shape, files.pixel_size, files.read_image, lambda p: files.read_image(p, 0, 0)):
        try:
            read(path)
        except (ValueError, OSError) as error:
            refused = error
            check_refusal(error, path)
        else:
            refused = None
    if refused is not None:
        raise refused


def read_window(path: Path, page: int | None = None) -> None:
    """Open an image as those are that do not fit in memory, and read a part of it."""
    from imtorque.tiling import open_image
    from imtorque.tiling.grid import Box

    source = open_image(path, page=page)
    source.read(Box(0, 0, min(5, source.shape[0]), min(7, source.shape[1])))


def read_video(path: Path) -> None:
    """Read the first frames of a video."""
    from imtorque.video import open_video

    for _ in zip(open_video(path).frames(), range(5), strict=False):
        pass


def video_file() -> bytes:
    """Return a short video."""
    import av

    file = io.BytesIO()
    with av.open(file, "w", format="mp4") as container:
        stream = container.add_stream("mpeg4", rate=25)
        stream.height, stream.width, stream.pix_fmt = 32, 48, "yuv420p"
        for k in range(8):
            frame = av.VideoFrame.from_ndarray(np.full((32, 48, 3), 20 * k, np.uint8), format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return file.getvalue()


def check_refusal(error: BaseException, path: Path) -> None:
    """Raise unless an error is one line that names the file."""
    text = str(error)
    if "\n" in text or path.name not in text:
        raise AssertionError(f"a refusal must be one line with the file's name, got {text!r}") from error


def saved(write: Callable[..., Any], *content: Any, **options: Any) -> bytes:
    """Return what a function writes to a file."""
    file = io.BytesIO()
    write(file, *content, **options)
    return file.getvalue()


def images() -> dict[str, list[bytes]]:
    """Return small images of every format."""
    y, x = np.indices((12, 17))
    grey = ((y * 20 + x * 9) % 256).astype(np.uint8)
    colour = np.stack([grey, 255 - grey, grey // 2], axis=2)

    def by_pillow(pixels: np.ndarray, form: str, **options: Any) -> bytes:
        return saved(lambda file: Image.fromarray(pixels).save(file, form, **options))

    frames = [Image.fromarray(grey), Image.fromarray(255 - grey)]
    video = saved(lambda file: frames[0].save(file, "GIF", save_all=True, append_images=frames[1:]))
    return {
        "png": [by_pillow(grey, "PNG"), by_pillow(colour, "PNG"), by_pillow(grey.astype(np.uint16) * 200, "PNG")],
        "jpg": [by_pillow(grey, "JPEG"), by_pillow(colour, "JPEG", progressive=True)],
        "bmp": [by_pillow(grey, "BMP"), by_pillow(colour, "BMP")],
        "webp": [by_pillow(colour, "WEBP"), by_pillow(colour, "WEBP", lossless=True)],
        "gif": [by_pillow(grey, "GIF"), video],
        "ppm": [by_pillow(grey, "PPM"), by_pillow(colour, "PPM")],
        "tiff": tiffs(grey, colour),
    }


def tiffs(grey: np.ndarray, colour: np.ndarray) -> list[bytes]:
    """Return TIFF files of many kinds."""

    def written(pixels: np.ndarray, **options: Any) -> bytes:
        return saved(lambda file: tifffile.imwrite(file, pixels, **options))

    squares = [Image.fromarray(colour).convert("P"), Image.fromarray(grey)]
    packed = [
        saved(lambda file, c=c: Image.fromarray(grey).save(file, "TIFF", compression=c))
        for c in ("tiff_lzw", "packbits", "jpeg", "tiff_adobe_deflate")
    ]
    fax = saved(lambda file: Image.fromarray(grey > 99).save(file, "TIFF", compression="group4"))
    return [
        written(grey),
        written(colour, photometric="rgb", planarconfig="separate"),
        written(np.stack([grey, grey]).astype(np.float32), imagej=True, metadata={"axes": "ZYX"}),
        written(np.stack([grey, grey]), ome=True, metadata={"axes": "CYX", "PhysicalSizeX": 0.5}),
        written(np.zeros((40, 50), np.uint16), tile=(16, 16), compression="zlib", predictor=True),
        written(grey, bigtiff=True, byteorder=">"),
        saved(lambda file: squares[0].save(file, "TIFF")),
        fax,
        *packed,
    ]


TABLES = [
    b"image,y0,x0,y1,x1\na.png,1,2,3,4\n",
    b"image,y,x\na,1.5,2\n",
    b"image,y,x,wrong\na.png,3,4,\nb.png,5,6,1\n",
    b"index,axis-0,axis-1\n0,3.5,4.5\n1,5,6\n",
    b" ,Label,X,Y\n1,a.png:0001,3,4\n2,b.png,5,6\n",
    b"\xef\xbb\xbfImage;Y;X\r\na.png;1,5;2,5\r\n",
]
LISTS = [b"a.png\nb.png\n", b"\xef\xbb\xbfa.png\r\n./a.png\r\ncaf\xe9.png", b"https://host/a.png\n../b.png\n\n"]


def read_annotated(path: Path) -> None:
    """Read a table of annotations, and say which are of an image."""
    match_images([Path("a.png")], load_annotations(path), path)


def read_paths(path: Path) -> None:
    """Read a list of images, as --paths does."""
    find_sources([], path.parent, False, str(path))


def find_by(path: Path) -> None:
    """Load a finder, and find by it."""
    finder = imtorque.ObjectFinder.load(path)
    with suppress(ValueError):  # what such a finder cannot do it says when it is used
        finder.predict(np.arange(900.0).reshape(20, 45) % 37)


def find_by_forged(path: Path) -> None:
    """Find by a finder with other contents under valid checksums, which the bytes of a file choose."""
    rng = np.random.default_rng([*path.read_bytes()[:99]])
    path.write_bytes(rng.choice([array_changed, setting_changed])(rng, finder_file()))
    find_by(path)


SEG = b"format ascii cr\nwidth 5\nheight 2\nsegments 2\ndata\n0 0 0 2\n1 0 3 4\n0 1 0 4\n"


def mat_files() -> dict[str, bytes]:
    """Return MATLAB files of what the data sets hold."""
    labels = np.repeat([[1, 1, 2, 2]], 3, axis=0).astype(np.uint16)
    people, cells = np.empty((1, 2), object), np.empty((1, 2), object)
    for k in range(2):
        people[0, k] = {"Segmentation": labels, "Boundaries": (labels > 1).astype(np.uint8)}
        cells[0, k] = labels
    box = np.array([[3.0, 20.0, 4.0, 30.0]])
    return {
        "truth": saved(savemat, {"groundTruth": people}),
        "packed": saved(savemat, {"groundTruth": people, "text": "words"}, do_compression=True),
        "outline": saved(savemat, {"obj_contour": np.array([[1.0, 5, 9], [2, 8, 3]]), "box_coord": box}),
        "ucm": saved(savemat, {"ucm2": np.linspace(0, 1, 63).reshape(7, 9)}),
        "segs": saved(savemat, {"segs": cells}),
    }


def _through(save: Callable[[Path], Any]) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "file.npz"
        save(path)
        return path.read_bytes()


def volume_file() -> bytes:
    """Return a torque volume."""
    return _through(imtorque.TorqueVolume(np.zeros((2, 3, 4), np.float32), np.array([3, 5])).save)


def finder_file() -> bytes:
    """Return a finder that was trained on two small images; where the file is gone, it is made anew."""
    if not TRAINED.exists():
        y, x = np.indices((60, 80))
        discs = [(y - 20) ** 2 + (x - c) ** 2 <= 64 for c in (20, 50)]
        image = (100 + 80 * np.logical_or(*discs)).astype(np.uint8)
        boxes = [[12, 12, 29, 29], [12, 42, 29, 59]], [[12, 21, 29, 38], [12, 51, 29, 68]]
        imtorque.ObjectFinder().fit([image, image[:, ::-1].copy()], boxes).save(TRAINED)
    return TRAINED.read_bytes()


def load_recogniser(path: Path) -> Any:
    """Load a recogniser."""
    from imtorque.recognition import Recogniser

    return Recogniser.load(path)


def read_eye_tracking(path: Path) -> Any:
    """Read a table of fixations, as part of a data set of one image."""
    rows = eyetracking._rows(path, ("image", "observer", "y", "x"))
    try:
        return eyetracking._fixations(rows, (12, 17))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
