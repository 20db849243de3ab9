"""Detection learned from a few annotations: proposals of several kinds, forest scores, the best set as a whole."""

from __future__ import annotations

import copy
import io
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from imtorque import _native
from imtorque.core.deprecation import accept_old_keywords, deprecated_attribute
from imtorque.core.resizing import shrink_image
from imtorque.core.types import LARGEST_SIZE, BoolArray, Float32Array, FloatArray, Image, IntArray
from imtorque.detection.annotations import Annotations, read_annotations
from imtorque.detection.augmentation import augmented
from imtorque.detection.click_sizes import outlined_clicks
from imtorque.detection.feature_maps import (
    COLOUR_PLANES,
    PLANES,
    FeatureMaps,
    ObjectSizes,
    annotated_sizes,
    brighter_objects,
    checked_planes,
    feature_maps,
    is_coloured,
    object_signs,
)
from imtorque.detection.features import FeatureTable, feature_names, measure_features
from imtorque.detection.forest import FOREST_LAYOUT, Forest, grow_forest
from imtorque.detection.measurement import measure_objects
from imtorque.detection.noise import noise_level
from imtorque.detection.pixel_classifier import checked_form, classify_pixels, pixel_moments, solve_classifier
from imtorque.detection.proposal_kinds import PROPOSAL_KINDS, named_sources, propose, sources_of
from imtorque.detection.proposals import Outlines, Proposals
from imtorque.detection.pyramid import MIN_NOISE
from imtorque.detection.table import Blobs
from imtorque.detection.training import (
    KIND_SETS,
    BestParams,
    ExamplesByKinds,
    cross_validate,
    examples_of,
    params_from_clicks,
    select,
    training_set,
)
from imtorque.detection.trust import TrainingRange, unlikeness
from imtorque.images import CheckedImage, grey_image
from imtorque.io.arrays import Layout, read_arrays
from imtorque.io.atomic import write_bytes
from imtorque.io.errors import reading_file

LAYOUT: Layout = {"about": ("U", ()), "form": ("f8", ("planes", "planes")), **FOREST_LAYOUT}
MOST_FINDER_BYTES = 2**26  # bound: of a saved finder, unpacked; the largest forest that `grow_forest` grows has 13 MB
FORMAT = 2  # of the saved file; 1 was that of version 0.2; format: version
BESIDE_OUTLINE = (0.85, 1.2)  # of the radius: grey values inside, outside are read there; convention: INNER, OUTER


@dataclass(frozen=True)
class Form:
    """A training image with its annotations at the working size, as it is or as an augmented copy."""

    number: int
    image: Image
    annotations: Annotations
    copy: bool = False

    def maps(self, sizes: ObjectSizes, coloured: bool) -> FeatureMaps:
        """Return its feature maps."""
        return feature_maps(augmented(self.image, self.number) if self.copy else self.image, sizes, coloured)


class ObjectFinder:
    """Detect objects like those annotated in a few images.

    Proposals of several kinds (torque, extremal and thresholded regions, Laplacian of Gaussian, radial symmetry) get
    features, a small forest learns their scores, and the best set of proposals that do not overlap is chosen as a
    whole. Which kinds serve, and from which score on, cross-validation over the training images decides.

    Parameters
    ----------
    kinds
        Kinds of proposals that may be used, of `proposal_kinds.PROPOSAL_KINDS`; sets of them to try, each a tuple, or
        None for the usual ones.

    Attributes
    ----------
    best_params_
        What cross-validation chose, and its F1 and count error: how far the finder is to be trusted.
    reduce
        By how much images are shrunk before anything else: set it where those learned from had been. Objects are then
        detected in whole images, and come in their pixels.

    See Also
    --------
    find_blobs, Blobs
    """

    def __init__(self, kinds: Sequence[tuple[str, ...]] | None = None) -> None:
        """Check the kinds; nothing is learned yet."""
        self.reduce = 1
        self.kinds = tuple(tuple(part) for part in (KIND_SETS if kinds is None else kinds))
        for part in self.kinds:
            if not part or not set(part) <= set(PROPOSAL_KINDS):
                raise ValueError(f"kinds must be tuples of {', '.join(PROPOSAL_KINDS)}, got {part}")

    @property
    def diameters(self) -> tuple[float, float, float]:
        """Smallest, typical and largest diameter that objects are taken to have, in pixels."""
        self._require_fit()
        return self._sizes.smallest, self._sizes.typical, self._sizes.largest

    def __repr__(self) -> str:
        """Say by what it finds objects, and how well that went where it was chosen."""
        if not hasattr(self, "best_params_"):
            return "ObjectFinder(not trained)"
        params = self.best_params_
        return f"ObjectFinder(by {', '.join(params.kinds)}; F1 {params.f1:.2f} in cross-validation)"

    def __getattr__(self, name: str) -> Any:
        """Return an attribute by the name it had in version 0.2."""
        return deprecated_attribute(self, name)

    @accept_old_keywords
    def fit(
        self,
        images: Sequence[Image],
        annotations: Sequence[ArrayLike],
        ignored: Sequence[ArrayLike] | None = None,
        *,
        complete: bool = True,
        negatives: Sequence[ArrayLike] | None = None,
        sizes: tuple[float, float] | None = None,
    ) -> ObjectFinder:
        """Learn from annotated images.

        Parameters
        ----------
        images
            Grey or coloured, of one magnification.
        annotations
            For each image boxes (n, 4) with y0, x0, y1, x1 (the last two exclusive), points (n, 2) with y, x, or a
            label image of the image's height and width.
        ignored
            For each image boxes (m, 4) of what is to be neither learned nor avoided.
        complete
            Whether all objects of the images are annotated. With False a handful of clicks will do; then the threshold
            follows from the scores of the clicked objects, and no F1 is known.
        negatives
            For each image points (k, 2) with y, x of what is no object though it looks like one: with `complete` it
            is known, without it teaches.
        sizes
            Smallest and largest diameter of the objects, in pixels; by default those annotated, or those of the
            outlines found around points.
        """
        if not len(images) or len(images) != len(annotations):
            raise ValueError(f"every image must have its annotations, got {len(images)} and {len(annotations)}")
        aside, no = ([()] * len(images) if given is None else given for given in (ignored, negatives))
        shapes = [np.shape(image)[:2] for image in images]
        given = zip(annotations, shapes, aside, no, strict=True)
        read = [read_annotations(objects, (s[0], s[1]), i, n) for objects, s, i, n in given]
        self._sizes = annotated_sizes(images, read, sizes)
        if not complete:
            read = [
                outlined_clicks(image, part, self._sizes.typical) if part.form == "points" and len(part) else part
                for image, part in zip(images, read, strict=True)
            ]
        read = [part.reduced(self._sizes.factor) for part in read]
        coloured = any(is_coloured(image) for image in images)
        forms = [Form(number, image, part) for number, (image, part) in enumerate(zip(images, read, strict=True))]
        if complete:  # with a few clicks, copies would double what was not clicked
            forms += [replace(form, copy=True) for form in forms]
        kind_sets = self.kinds if complete else (max(self.kinds, key=len),)
        training = self._training(forms, coloured, kind_sets)
        if complete:
            self.best_params_, examples, scores = cross_validate(training, kind_sets)
        else:
            self.best_params_, examples, scores = params_from_clicks(training, kind_sets[0])
        plain = list(zip(examples, scores, strict=True))[: len(images)]  # without the copies
        self._range = TrainingRange.of([self._unlikeness(e.room, e.table, score) for e, score in plain])
        self._sources = sources_of(self.best_params_.kinds, self._signs)
        features, values, weights = training_set(examples)
        known = np.isfinite(values)
        self._forest = grow_forest(features[known], values[known], None if weights is None else weights[known])
        return self

    def _training(
        self, forms: Sequence[Form], coloured: bool, kind_sets: Sequence[tuple[str, ...]]
    ) -> list[ExamplesByKinds]:
        """Return the examples of each form of the training images, and keep what their pixels and signs are like.

        Feature maps are made twice: those of all forms together would be too large to be kept.
        """
        self._planes: tuple[str, ...] = COLOUR_PLANES if coloured else PLANES
        moments, brighter = [], []
        for form in forms:
            maps = form.maps(self._sizes, coloured)
            moments.append(pixel_moments(maps, form.annotations))
            if not form.copy:
                brighter.append(brighter_objects(maps, form.annotations))
        self._form, self._signs = solve_classifier(moments), object_signs(brighter)
        sources = sources_of({kind for part in self.kinds for kind in part}, self._signs)
        training = []
        for form in forms:
            maps = form.maps(self._sizes, coloured)
            # Each image's pixel scores are learned from the others, as they will be later.
            others = [m for m, other in zip(moments, forms, strict=True) if other.number != form.number] or moments
            maps.pixel_score = classify_pixels(maps, solve_classifier(others))
            training.append(examples_of(maps, form.annotations, form.number, self._sizes, sources, kind_sets))
        if not any(len(examples.table.proposals) for form in training for examples in form.values()):
            raise ValueError("the images must show something that may be an object, got none with a closed contour")
        return training

    @accept_old_keywords
    def predict(self, image: Image) -> Blobs:
        """Detect the objects of an image of the same magnification: a table as of `find_blobs`, by falling strength.

        Its `trust` is 1 for an image like those learned from, and below one half for one that is not; then `warning`
        says why.
        """
        return self.predict_shrunk(self._shrunk(image)).enlarged(self.reduce, np.shape(image))

    def predict_shrunk(self, image: Image) -> Blobs:
        """Detect the objects of an image that is shrunk already, in its pixels."""
        maps, table, score = self.scored_proposals(image)
        chosen = self._selected(table, score)
        selected = replace(table.proposals[chosen], score=score[chosen].astype(np.float64))
        found = _in_image(selected, maps, grey_image(image), self._sizes.factor)
        blobs = measure_objects(found, image, CheckedImage(image).shape)
        trust, warning = self._range.trust(self._unlikeness(maps.room, table, score))
        return replace(blobs, trust=trust, warning=warning)

    def with_threshold(self, threshold: float) -> ObjectFinder:
        """Return the finder with another least score of what it takes for objects."""
        other = copy.copy(self)
        own = self.best_params_.threshold  # 0 where nothing was learned from that is no object
        cost = self.best_params_.cost * (threshold / own if own else 1)
        other.best_params_ = replace(self.best_params_, threshold=threshold, cost=cost)
        return other

    def query(self, images: Iterable[Image]) -> IntArray:
        """Return the order in which to annotate images: the least trusted first, then the most uncertain.

        Images that are not like those learned from, with a trust below one half, come first. An image's uncertainty is
        the sum of p (1 - p) over the selected proposals, and those selected with half the threshold (active learning).
        They may come from a generator: one is looked at after the other.
        """
        trusts, uncertainty = [], []
        for image in images:
            maps, table, score = self.scored_proposals(self._shrunk(image))
            trust, warning = self._range.trust(self._unlikeness(maps.room, table, score))
            wide = self._selected(table, score, 0.5)
            trusts.append(trust if warning else 1.0)
            uncertainty.append(float((score[wide] * (1 - score[wide])).sum()))
        return np.lexsort((-np.asarray(uncertainty), np.asarray(trusts)))

    def _selected(self, table: FeatureTable, score: FloatArray | Float32Array, part: float = 1.0) -> BoolArray:
        """Return the proposals that are objects, with such a part of the threshold and of the cost."""
        return select(table, score, part * self.best_params_.threshold, part * self.best_params_.cost)

    def _unlikeness(self, room: float, table: FeatureTable, score: FloatArray | Float32Array) -> Mapping[str, float]:
        return unlikeness(room, score, self._selected(table, score), self._selected(table, score, 0.5))

    def scored_proposals(self, image: Image) -> tuple[FeatureMaps, FeatureTable, Float32Array]:
        """Return an image's feature maps, its proposals with features, and scores: what `predict` selects from."""
        self._require_fit()
        maps = feature_maps(image, self._sizes, coloured=self._planes == COLOUR_PLANES)
        maps.pixel_score = classify_pixels(maps, self._form)
        proposals = propose(maps, self._sizes, self._sources)
        torque = "torque" in self.best_params_.kinds
        table = measure_features(maps, self._sizes, proposals, self._sources, torque=torque)
        return maps, table, self._forest(table.features)

    @accept_old_keywords
    def score(self, images: Sequence[Image], annotations: Sequence[ArrayLike]) -> float:
        """Return F1 over images with all their objects annotated: centres that lie in an object, one to one."""
        matched = total = 0
        for image, objects in zip(images, annotations, strict=True):
            shape = np.shape(image)[:2]
            annotated = read_annotations(objects, (shape[0], shape[1]))
            found = self.predict(image)
            matched += _matches(found, annotated, self._sizes.typical / 2)
            total += len(found) + len(annotated)
        return 2 * matched / total if total else 1.0

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write what was learned to one file of arrays and plain text, complete or not at all."""
        self._require_fit()
        about = {
            "format": FORMAT,
            "params": asdict(self.best_params_),
            "sizes": asdict(self._sizes),
            "planes": self._planes,
            "sources": [source.name for source in self._sources],
            "features": feature_names(self._planes, "torque" in self.best_params_.kinds),
            "kinds": self.kinds,
            "range": dict(self._range.largest),
            "reduce": self.reduce,
        }
        arrays = {field.name: getattr(self._forest, field.name) for field in fields(Forest)}
        buffer = io.BytesIO()
        np.savez_compressed(buffer, about=np.array(json.dumps(about)), form=self._form, allow_pickle=False, **arrays)
        write_bytes(path, buffer.getvalue())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ObjectFinder:
        """Read a finder that `save` wrote; scikit-learn is not needed."""
        with reading_file(path, "a file that ObjectFinder.save wrote"):
            arrays = read_arrays(path, LAYOUT, MOST_FINDER_BYTES)
            about = json.loads(str(arrays["about"]))
            if about["format"] != FORMAT:
                raise ValueError(
                    f"{'one of version 0.2' if about['format'] == 1 else 'of another version'}: train it again"
                )
            finder = cls([tuple(part) for part in about["kinds"]])
            finder.reduce = _checked_factor(about.get("reduce", 1))
            finder.best_params_ = BestParams(**{**about["params"], "kinds": tuple(about["params"]["kinds"])}).checked()
            finder._range = TrainingRange(about["range"]).checked()
            finder._sizes, finder._planes = ObjectSizes(**about["sizes"]).checked(), checked_planes(about["planes"])
            finder._sources = named_sources(about["sources"])
            names = feature_names(finder._planes, "torque" in finder.best_params_.kinds)
            _check_features(about["features"], names)
            finder._form = checked_form(arrays["form"], finder._planes)
            finder._forest = Forest(*(arrays[field.name] for field in fields(Forest))).checked(len(names))
        return finder

    def _shrunk(self, image: Image) -> Image:
        return image if self.reduce == 1 else shrink_image(image, self.reduce)

    def _require_fit(self) -> None:
        if not hasattr(self, "best_params_"):
            raise ValueError("fit must be called first, got a finder that has learned nothing")


def _checked_factor(factor: Any) -> int:
    """Return a factor that images can be shrunk by, else raise: files can hold anything."""
    if type(factor) is not int or not 1 <= factor <= LARGEST_SIZE:
        raise ValueError(f"images shrunk by {factor!r:.80}")
    return factor


def _check_features(stored: Sequence[str], computed: Sequence[str]) -> None:
    """Refuse a finder that learned from other features than this version computes."""
    if list(stored) != list(computed):
        other = sorted(set(stored) ^ set(computed)) or ["another order"]
        raise ValueError(f"features that this version does not have in common with it ({other[0]}): train it again")


def _in_image(selected: Proposals, maps: FeatureMaps, grey: Float32Array, factor: int) -> Proposals:
    """Return proposals in pixels of the image as given, with the torque and the grey values of their outlines."""
    torque = _native.outline_contrasts(*maps.gradient("grey"), *selected.outlines.polar)[:, 0].astype(np.float64)
    shift = np.float32((factor - 1) / 2)
    y, x, radii = selected.outlines.polar
    polar = y * factor + shift, x * factor + shift, radii * np.float32(factor)
    sides = np.array(BESIDE_OUTLINE, np.float32)
    inside, outside = _native.outline_profiles(np.ascontiguousarray(grey)[None], *polar, sides)[:, 0, :, 0].T
    rows, columns = Outlines.of_polar(*polar).points
    inner_rows, inner_columns = (np.clip(v, -0.5, n - 0.5) for v, n in zip((rows, columns), grey.shape, strict=True))
    noise = max(noise_level(grey), MIN_NOISE * float(np.ptp(grey)), 1e-12)
    return Proposals.of(
        Outlines.of_points(inner_rows, inner_columns),
        sign=np.where(torque < 0, -1.0, 1.0),
        strength=np.abs(torque),
        size=2 * polar[2].mean(axis=1, dtype=np.float64),
        closure=np.abs(torque),
        inside=inside.astype(np.float64),
        outside=outside.astype(np.float64),
        noise=np.full(len(selected), noise),
        score=selected.score,
    )


def _matches(found: Blobs, annotated: Annotations, radius: float) -> int:
    """Return how many found centres lie in objects (near points), at most one in each."""
    from scipy.optimize import linear_sum_assignment

    y, x = found.y[:, None], found.x[:, None]
    if annotated.form == "points":
        inside = np.hypot(y - annotated.points[:, 0], x - annotated.points[:, 1]) <= radius
    else:
        y0, x0, y1, x1 = annotated.boxes.T
        inside = (y >= y0 - 0.5) & (x >= x0 - 0.5) & (y < y1 - 0.5) & (x < x1 - 0.5)
    rows, columns = linear_sum_assignment(inside, maximize=True)
    return int(inside[rows, columns].sum())
