"""Proposals of objects without a click: cuts in boxes, cuts around predicted fixations, and regions."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from imtorque.core.types import BoolArray
from imtorque.images import CheckedImage
from imtorque.saliency import scan_path
from imtorque.saliency.from_torque import saliency_of_size
from imtorque.segmentation.boxes import best_boxes, candidate_boxes
from imtorque.segmentation.colour_cut import Hints, colour_cut
from imtorque.segmentation.evidence import gather_evidence
from imtorque.segmentation.figure_cuts import View, at_half_size, figure_cuts, view_image, working_shape
from imtorque.segmentation.fixated_boxes import enlarged
from imtorque.segmentation.region_graph import RegionTree
from imtorque.segmentation.region_merging import merge_regions
from imtorque.segmentation.regions import COLOUR_MODELS, SMOOTHNESS, cut_regions, grid_patches, torque_patches

Pixel = tuple[int, int]
BOX_COUNT, BOX_OVERLAP = 60, 0.5  # boxes that are cut in, and how much two of them may overlap; bound: time
SMALLEST_BOX = 0.1  # side, of the square root of the image's area; untuned
# By which boxes are enlarged: their sides lie on the outline, and ground is needed beyond it; chosen by
# cross-validation (docs/measured/segmentation.md).
BOX_MARGIN = 1.3
FIXATIONS = 3  # that attract the eye; chosen as BOX_MARGIN was
# In their stead without torque, as parts of the sides; untuned: a triangle.
FALLBACK_FIXATIONS = ((0.5, 0.25), (0.5, 0.75), (0.75, 0.5))
MIN_AREA_SHARE = 0.001  # of the image that an object covers; untuned


def object_candidates(image: CheckedImage, *, torque: bool = True) -> tuple[View, list[BoolArray]]:
    """Return the view of an image, fixated in the middle, and figures at one of its two levels' sizes."""
    height, width = working_shape(image.shape)
    view = view_image(image, Hints([(height // 2, width // 2)]), torque=torque)
    if not view.edges.any():
        return view, []
    found = [*box_cuts(view), *(cut for place in _places(image, view) for cut in _cuts_around(view, place))]
    found += regions_as_masks(region_tree_of(image, torque), view.levels[0].shape)
    return view, [cut for cut in found if _may_be_object(at_half_size(view, cut))]


def _may_be_object(figure: BoolArray) -> bool:
    """Return whether a figure is neither a speck nor ground, which reaches all sides of the image."""
    reaches_all = figure[0].any() and figure[-1].any() and figure[:, 0].any() and figure[:, -1].any()
    return bool(figure.mean() >= MIN_AREA_SHARE and not reaches_all)


def box_cuts(view: View) -> list[BoolArray]:
    """Return the figures by colour and texture in the boxes of highest score, around their middles."""
    score = "both" if view.torque else "side"
    boxes = best_boxes(view.colours, candidate_boxes(view.shape, SMALLEST_BOX), BOX_COUNT, score, BOX_OVERLAP)
    return [_cut_in(view, box) for box in 2.0 * boxes.as_array()]


def _cut_in(view: View, box: Sequence[float]) -> BoolArray:
    middle = int((box[0] + box[2]) / 2), int((box[1] + box[3]) / 2)
    return colour_cut(view.levels, enlarged(box, BOX_MARGIN), None, Hints([middle]))


def _cuts_around(view: View, place: Pixel) -> list[BoolArray]:
    return list(figure_cuts(replace(view, hints=Hints([place]))).values())


def _places(image: CheckedImage, view: View) -> Iterator[Pixel]:
    """Yield the middle of the image and the first fixations, in pixels of the working size."""
    height, width = view.levels[0].shape
    yield height // 2, width // 2
    if view.torque:
        y, x = scan_path(saliency_of_size(image, (height, width)), FIXATIONS)
        yield from zip(y.tolist(), x.tolist(), strict=True)
    else:
        yield from ((int(down * height), int(across * width)) for down, across in FALLBACK_FIXATIONS)


def region_tree_of(image: CheckedImage, torque: bool) -> RegionTree:
    """Return the region tree of an image; without torque, by the gradient's edges around a regular grid."""
    evidence = gather_evidence(image, torque=torque)
    patches = torque_patches(evidence, COLOUR_MODELS) if torque else grid_patches(evidence.shape, COLOUR_MODELS)
    return merge_regions(evidence, cut_regions(evidence, patches, SMOOTHNESS))


def regions_as_masks(tree: RegionTree, shape: tuple[int, int]) -> list[BoolArray]:
    """Return the masks of all nodes of the tree, regions and mergers, at this size."""
    y, x = ((np.arange(new) + 0.5) * old / new for old, new in zip(tree.regions.shape, shape, strict=True))
    labels = tree.regions[y.astype(np.intp)[:, None], x.astype(np.intp)]
    now = {k: np.asarray(labels == k) for k in range(len(tree.pairs) + 1)}
    found = list(now.values())
    for kept, gone in tree.pairs.tolist():
        now[kept] = now[kept] | now[gone]
        found.append(now[kept])
    return found
