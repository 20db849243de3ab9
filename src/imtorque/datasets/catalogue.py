"""The data sets of this field: where each is to be had, under which terms, and whether a folder holds it whole."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from imtorque.datasets.berkeley import bsds300, bsds500
from imtorque.datasets.caltech import caltech101
from imtorque.datasets.eyetracking import eye_tracking, mit1003
from imtorque.datasets.mask_folders import mask_folder


@dataclass(frozen=True)
class DataSet:
    """One data set: `images` in all, looked for in the first of `folders` that the root has."""

    name: str
    title: str
    folders: tuple[str, ...]
    images: int
    address: str
    licence: str
    citation: str
    count: Callable[[Path], int]


@dataclass(frozen=True)
class Holding:
    """What a root holds of a data set: `found` of its images; `problem` says why not all could be read."""

    data_set: DataSet
    path: Path
    found: int
    problem: str | None

    @property
    def whole(self) -> bool:
        """Whether every image is there, with its ground truth."""
        return self.problem is None and self.found >= self.data_set.images


BERKELEY_TERMS = "free for non-commercial research and education"
BERKELEY_ADDRESS = "https://www2.eecs.berkeley.edu/Research/Projects/CS/vision/bsds/ (mirror: github.com/BIDS/BSDS500)"


def _berkeley_images(base: Path, splits: tuple[str, ...]) -> int:
    folders = [base / "images" / split for split in splits]
    return sum(len(bsds500(base, folder.name)) for folder in folders if folder.is_dir())


CATALOGUE = (
    DataSet(
        "bsds300",
        "Berkeley segmentation data set, 300 images",
        ("bsds300", "BSDS300", "bsds500"),
        300,
        BERKELEY_ADDRESS,
        BERKELEY_TERMS,
        "Martin, Fowlkes, Tal, Malik, ICCV 2001",
        lambda base: len(bsds300(base, "train")) + len(bsds300(base, "test")),
    ),
    DataSet(
        "bsds500",
        "Berkeley segmentation data set, 500 images",
        ("bsds500", "BSDS500", "BSR"),
        500,
        BERKELEY_ADDRESS,
        BERKELEY_TERMS,
        "Arbelaez, Maire, Fowlkes, Malik, PAMI 2011",
        lambda base: _berkeley_images(base, ("train", "val", "test")),
    ),
    DataSet(
        "caltech101",
        "Caltech-101 object categories",
        ("caltech101",),
        9144,
        "https://data.caltech.edu/records/mzrjq-6wc02",
        "CC BY 4.0",
        "Fei-Fei, Fergus, Perona, CVPR workshop 2004",
        lambda base: len(caltech101(base)),
    ),
    DataSet(
        "caltech101-outlines",
        "Caltech-101 hand-drawn outlines",
        ("caltech101",),
        9144,
        "https://data.caltech.edu/records/mzrjq-6wc02",
        "CC BY 4.0",
        "Fei-Fei, Fergus, Perona, CVPR workshop 2004",
        lambda base: sum(image.outline_path is not None for image in caltech101(base)),
    ),
    DataSet(
        "osie",
        "OSIE: 700 everyday scenes, fixations of 15 people",
        ("eyetracking/osie",),
        700,
        "https://github.com/NUS-VIP/predicting-human-gaze-beyond-pixels",
        "MIT",
        "Xu, Jiang, Wang, Kankanhalli, Zhao, Journal of Vision 2014",
        lambda base: len(eye_tracking(base)),
    ),
    DataSet(
        "sun_scenes",
        "500 scenes of SUN2012, fixations of 12 people",
        ("eyetracking/sun_scenes",),
        500,
        "https://github.com/Yanakz/Scene",
        "MIT",
        "Liang, Zhao (NUS VIP scene saliency data)",
        lambda base: len(eye_tracking(base)),
    ),
    DataSet(
        "mit1003",
        "MIT1003: 1003 images, fixations of 15 people",
        ("mit1003", "eyetracking/mit1003"),
        1003,
        "https://people.csail.mit.edu/tjudd/WherePeopleLook/",
        "none stated; published for research",
        "Judd, Ehinger, Durand, Torralba, ICCV 2009",
        lambda base: len(mit1003(base) if (base / "ALLSTIMULI").is_dir() else eye_tracking(base)),
    ),
    DataSet(
        "weizmann_horses",
        "Weizmann horses with masks",
        ("figure_ground/weizmann_horses",),
        327,
        "https://www.msri.org/people/members/eranb/ (mirror: github.com/ZJW-HUST/Deeplab-Weizmann-Horse)",
        "none stated; published for research",
        "Borenstein, Ullman, ECCV 2002",
        lambda base: len(mask_folder(base)),
    ),
)


def holdings(root: str | Path) -> list[Holding]:
    """Return what a folder holds of every data set of the catalogue."""
    base = Path(root)
    if not base.is_dir():
        raise ValueError(f"{base} must be a folder, got {'a file' if base.exists() else 'nothing'}")
    return [_holding(data_set, base) for data_set in CATALOGUE]


def _holding(data_set: DataSet, root: Path) -> Holding:
    present = [root / folder for folder in data_set.folders if (root / folder).is_dir()]
    if not present:
        return Holding(data_set, root / data_set.folders[0], 0, None)
    path = present[0]
    try:
        return Holding(data_set, path, data_set.count(path), None)
    except ValueError as error:
        return Holding(data_set, path, 0, str(error))
