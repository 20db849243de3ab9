"""Predictions to evaluate: folders of boundary maps, segmentations, masks and saliency maps in common formats."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from imtorque.datasets.berkeley import read_annotations
from imtorque.datasets.caltech import read_outline
from imtorque.datasets.images import files_by_stem, read_array, read_grey
from imtorque.datasets.matlab import read_mat
from imtorque.files import SUFFIXES

IMAGE_SUFFIXES = (".png", ".tif", ".tiff", ".bmp")  # a lossy format would blur what is to be measured
PREDICTION_SUFFIXES = (*IMAGE_SUFFIXES, ".npy", ".mat")

Kind = Literal["boundaries", "regions", "masks", "saliency"]
LABELS = (".segment.npy", ".segment.labels.tiff")
# What our own verbs write for each kind of evaluation, IMAGE.SUFFIX.VERB..., the first that there is being taken.
OWN_OUTPUTS: dict[Kind, tuple[str, ...]] = {
    "boundaries": (".edges.strengthened.npy", ".edges.strengthened.png", ".edges.boundaries.npy", *LABELS),
    "regions": (*LABELS, ".edges.ucm.npy"),
    "masks": (".segment.mask.png", ".fixate.mask.png"),  # fixate was segment --at before 0.3
    "saliency": (".saliency.npy", ".saliency.map.png"),
}


@dataclass(frozen=True)
class Prediction:
    """One file's content: exactly one of a map, a double-size contour map, and a list of segmentations."""

    map: NDArray[Any] | None = None
    ucm: NDArray[np.float64] | None = None
    segmentations: tuple[NDArray[Any], ...] | None = None


def find_predictions(folder: str | Path, kind: Kind | None = None) -> dict[str, Path]:
    """Return the prediction files of a folder (.png, .tif, .bmp, .npy, .mat) by image name.

    In a folder that `imtorque edges --strengthen` or `--detector`, `segment` or `saliency` wrote, these are
    the files that an evaluation of this kind is about.
    """
    found = _own_outputs(Path(folder), kind) if kind is not None else {}
    found = found or files_by_stem(Path(folder), PREDICTION_SUFFIXES)
    if not found:
        raise ValueError(f"{folder} must hold predictions ({', '.join(PREDICTION_SUFFIXES)}), got none")
    return found


def read_prediction(path: Path) -> Prediction:
    """Read a prediction: a grey image, an .npy array of 2 or 3 dimensions, or a .mat with `ucm2` or `segs`."""
    if path.suffix.lower() == ".mat":
        return _read_mat_prediction(path)
    image = path.suffix.lower() != ".npy"
    array = read_grey(path) if image else read_array(path)
    if array.ndim == 2 and path.name.endswith(LABELS):
        return Prediction(segmentations=(array.astype(np.int64),))
    if image:
        return Prediction(map=array)
    if array.ndim == 3:
        return Prediction(segmentations=tuple(array))
    if array.ndim != 2:
        raise ValueError(f"{path} must hold a map (2-D) or a stack of segmentations (3-D), got shape {array.shape}")
    return Prediction(map=array)


def _own_outputs(folder: Path, kind: Kind) -> dict[str, Path]:
    """Return the outputs of our own verbs in a folder, by image name."""
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    for ending in OWN_OUTPUTS[kind]:
        inputs = [name.removesuffix(ending) for name in names if name.endswith(ending) and not name.startswith(".")]
        found: dict[str, Path] = {}
        for given in (Path(name) for name in inputs if Path(name).suffix.lower() in SUFFIXES):
            if given.stem in found:
                raise ValueError(f"{folder} must hold one file per image, got two for {given.stem}")
            found[given.stem] = folder / f"{given}{ending}"
        if found:
            return found
    return {}


def _read_mat_prediction(path: Path) -> Prediction:
    contents = read_mat(path)
    if "ucm2" in contents:
        return Prediction(ucm=np.asarray(contents["ucm2"], dtype=float))
    if "segs" in contents:
        segmentations = tuple(np.asarray(labels) for labels in contents["segs"].ravel())
        if segmentations and all(s.ndim == 2 and s.dtype.kind in "biuf" for s in segmentations):
            # MATLAB keeps labels as doubles when nobody says otherwise.
            return Prediction(segmentations=tuple(s.astype(np.int64) for s in segmentations))
        raise ValueError(f"{path} must hold (height, width) label maps in segs")
    names = sorted(repr(name)[1:-1] for name in contents if not name.startswith("__"))
    raise ValueError(f"{path} must hold the variable ucm2 or segs, got {', '.join(names) or 'none'}")


@dataclass(frozen=True)
class Truth:
    """Where one image's ground truth is: one file for all annotators, or one each."""

    name: str
    paths: tuple[Path, ...]

    def boundaries(self, shape: tuple[int, int]) -> list[NDArray[np.bool_]]:
        """Read the boundary map of each annotator; an outline is drawn at `shape`."""
        if self.paths[0].suffix == ".png":
            return [read_grey(path) > 0 for path in self.paths]
        if self.paths[0].stem.startswith("annotation_"):
            return [read_outline(path).boundary(shape) for path in self.paths]
        return [annotation.boundaries for path in self.paths for annotation in read_annotations(path)]

    def segmentations(self) -> list[NDArray[Any]]:
        """Read the labels of each annotator."""
        if self.paths[0].suffix == ".png":
            return [read_grey(path) for path in self.paths]
        return [annotation.segmentation for path in self.paths for annotation in read_annotations(path)]


def find_truths(folder: str | Path) -> dict[str, Truth]:
    """Return the ground truths of a folder by image name.

    It holds Berkeley .mat files, Caltech outlines (`annotation_NNNN.mat`, for images
    called `image_NNNN`), PNGs of one annotator, or one folder of PNGs per annotator.
    """
    base = Path(folder)
    found = files_by_stem(base, (".mat", ".png"))
    annotators = [files_by_stem(path, (".png",)) for path in sorted(base.iterdir()) if path.is_dir()]
    names = sorted({name for files in annotators for name in files})
    if bool(found) == bool(names):
        given = "both" if found else "neither"
        raise ValueError(f"{base} must hold ground truths as files (.mat, .png) or as folders of .png, got {given}")
    if found:
        return {_image_name(stem): Truth(_image_name(stem), (path,)) for stem, path in found.items()}
    return {name: Truth(name, tuple(files[name] for files in annotators if name in files)) for name in names}


def _image_name(stem: str) -> str:
    return stem.replace("annotation_", "image_", 1) if stem.startswith("annotation_") else stem
