"""What each part adds to a map of where people look: blends of maps, with their parts removed in turn.

Eight parts: the middle of the image, edges, GBVS, torque, Boolean maps, the image signature, and two that know of
objects: figures cut in boxes, and faces. A logistic rule over their maps and the products of their maps says how likely
a pixel lies where people looked; it is learned anew without each part, on one eye-tracking set, and reported on
another. Beside it the plain mean of six of the maps, which has nothing to learn. No other part knows torque.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from imtorque import evaluation
from imtorque.boundaries.strength import fit_logistic, logistic
from imtorque.core.resizing import resize, shrunk
from imtorque.core.types import FloatArray, Image
from imtorque.evaluation.saliency_folders import Observed, SaliencyScores
from imtorque.images import CheckedImage
from imtorque.jobs.processes import each
from imtorque.saliency import blend_saliency, boolean_saliency, centre_saliency, gbvs_saliency, signature_saliency
from imtorque.saliency.gaussians import DEFAULT_SIGMA, blurred, widened
from imtorque.saliency.maps import Map, unit_range
from imtorque.segmentation.colour_cut import Hints
from imtorque.segmentation.figure_cuts import SMALLEST_SIDE, at_half_size, view_image, working_shape
from imtorque.segmentation.object_candidates import box_cuts
from imtorque.segmentation.object_selection import object_logits
from imtorque_reproduce.attention import experiment as attention
from imtorque_reproduce.attention.rows import FINE, GBVS_BLUR, Tuned, edge_channels, edge_strength, torque_map
from imtorque_reproduce.report import Report, Request, checksum
from imtorque_reproduce.scoring import gather

LEARN, SPLIT = "sun_scenes", "osie"
STEP = 6  # learn from every so many-th pixel of every so many-th row; bound: memory
Parts = dict[str, list[Map]]  # by part its maps; the first of each stands for it in products
BLENDED = ("centre", "edges", "gbvs", "torque", "objects", "boolean", "signature", "faces")
AVERAGED = ("centre", "gbvs", "torque", "boolean", "signature", "faces")
BLEND, FORMER, MEAN, EDGES = "blend", "gbvs+torque", "mean", "mean-edges-for-torque"
COMPARED = (
    *((MEAN, f"{MEAN}-without-{part}") for part in AVERAGED),
    (MEAN, EDGES),
    (MEAN, BLEND),
    (MEAN, FORMER),
    *((BLEND, f"{BLEND}-without-{part}") for part in BLENDED),
    (BLEND, FORMER),
    (FORMER, "gbvs"),
)
ENLARGED = 4  # times, for the search of faces: most are smaller than the cascade's 24 pixels; untuned
FACE_SIDES = (36, 500)  # pixels of that image; untuned
FACE_STEP = 1.2  # from one size to the next; untuned
FACE_SIGMA = 20.0  # as that of the Boolean map and the signature; untuned
SEEN = 4  # the third of every so many images of OSIE was looked at when the mean was put together; convention
NOTES = (
    "mean: the plain mean of the maps of six parts (all but edges and objects), each from 0 to 1; mean-without-PART: "
    "of the other five; mean-edges-for-torque: edges in torque's place. No weight was learned; that these six are "
    "averaged, and the blur of 20 pixels, was seen to be good on 170 SUN scenes and on 175 of the 700 images of OSIE. "
    "f_unseen: f of the other 525 images.",
    "blend: logistic rule over the maps of eight parts and the products of pairs of them, learned on the other set; "
    "blend-without-PART: learned anew without that part. Nothing of the set reported on was looked at.",
    "centre: a Gaussian in the middle. edges: those of torque, blurred by 25 and by 10 pixels. gbvs: the map, and it "
    "blurred. torque: torque_saliency's best form, and weighed by coherence with 8 pixels. objects: how many of the "
    "figures cut in 60 boxes hold a pixel, each by how likely it is an object by the rule of segment_objects that "
    "knows no torque. boolean: Zhang & Sclaroff 2016. signature: Hou, Harel & Koch 2012. faces: those that "
    "scikit-image's cascade finds, blurred by 20 pixels.",
    "gbvs+torque is the blend of the attention experiment, 0.6 and 0.4. Rows named as a part are its first map alone.",
)


def run(request: Request) -> Report:
    """Learn on one set, report on another."""
    request.require_options(["learn"])
    folder = attention.data_folder(request.data, request.split or SPLIT)
    other = attention.data_folder(request.data, request.option("learn", LEARN))
    if other.resolve() == folder.resolve():
        raise ValueError(f"learn must name another set than the one reported on, got {other.name}")
    observed = attention.read_observed(folder, request.limit)
    learning = attention.read_observed(other, request.limit)
    rules = learn(learning, request.jobs)
    scores = gather(list(each(partial(score_image, rules=rules), observed, request.jobs, folder.name)))
    files = [*attention.eye_tracking_files(folder, observed), *attention.eye_tracking_files(other, learning)]
    return Report(
        data=folder.name,
        data_sha256=checksum(files, folder.parent),
        split="all" if request.limit is None else f"first {len(observed)}",
        images=len(observed),
        settings={"learned_on": f"{len(learning)} images of {other.name}", "coefficients": _rounded(rules)},
        rows=[
            {"method": method, **_unseen(images, folder.name, request.limit), **attention.summary(images)}
            for method, images in scores.items()
        ],
        differences=attention.differences_of(scores, COMPARED),
        notes=NOTES,
    )


def _unseen(images: Sequence[SaliencyScores], name: str, limit: int | None) -> dict[str, float]:
    """Return F over the images that no choice was made on."""
    if name != SPLIT or limit is not None:
        return {}
    kept = [image.curve for k, image in enumerate(images) if k % SEEN != SEEN - 2]
    return {"f_unseen": evaluation.summarise_fixations(kept).f}


def part_maps(image: Image) -> Parts:
    """Return the maps of every part, each from 0 to 1."""
    channels, tuned = edge_channels(image)[1], Tuned()
    gbvs = gbvs_saliency(image)
    fine = torque_map(channels, int(FINE["count"]), sigma=FINE["sigma"], weight="coherence")
    return {
        "centre": [centre_saliency(image)],
        "edges": [edge_strength(channels, DEFAULT_SIGMA), edge_strength(channels, FINE["edge_sigma"])],
        "gbvs": [gbvs, unit_range(blurred(gbvs, GBVS_BLUR))],
        "torque": [torque_map(channels, tuned.count, alpha=tuned.alpha), fine],
        "objects": [object_map(image)],
        "boolean": [boolean_saliency(image)],
        "signature": [signature_saliency(image)],
        "faces": [face_map(image)],
    }


def face_map(image: Image) -> Map:
    """Return where a cascade finds faces seen from the front, blurred; all 0 where there are none."""
    from skimage.data import lbp_frontal_face_cascade_filename
    from skimage.feature import Cascade

    checked = CheckedImage(image)
    height, width = (ENLARGED * side for side in checked.shape)
    large = np.stack([resize(plane, (height, width)) for plane in checked.rgb()], axis=2).clip(0, 1)
    cascade = lbp_frontal_face_cascade_filename()  # type: ignore[no-untyped-call]
    found = Cascade(cascade).detect_multi_scale(
        img=np.round(255 * large).astype(np.uint8),
        scale_factor=FACE_STEP,
        step_ratio=1,
        min_size=(FACE_SIDES[0],) * 2,
        max_size=(FACE_SIDES[1],) * 2,
    )
    faces = np.zeros((height, width))
    for face in found:
        faces[face["r"] : face["r"] + face["height"], face["c"] : face["c"] + face["width"]] = 1
    return widened(shrunk(faces, ENLARGED), FACE_SIGMA, checked.shape)


def object_map(image: Image) -> Map:
    """Return for each pixel the sum of object probabilities of the figures that hold it, without torque."""
    checked = CheckedImage(image)
    if min(working_shape(checked.shape)) < SMALLEST_SIDE:
        return np.zeros(checked.shape)
    height, width = working_shape(checked.shape)
    view = view_image(checked, Hints([(height // 2, width // 2)]), torque=False)
    cuts = box_cuts(view) if view.edges.any() else []
    if len(cuts) < 2:  # nothing to compare
        return np.zeros(checked.shape)
    figures = [at_half_size(view, cut) for cut in cuts]
    likely = logistic(object_logits(view, figures))
    return unit_range(resize(np.tensordot(likely, np.stack(figures).astype(np.float64), 1), checked.shape))


def features(parts: Parts) -> FloatArray:
    """Return the features of each pixel: all maps, and the products of pairs of parts, (m, H, W)."""
    first = [maps[0] for maps in parts.values()]
    products = [a * b for a, b in combinations_with_replacement(first, 2)]
    return np.stack([*(one for maps in parts.values() for one in maps), *products])


def learn(observed: Sequence[Observed], jobs: int) -> dict[str, FloatArray]:
    """Return the coefficients of the blend of all parts, and of each without one part."""
    samples = list(each(_samples, observed, jobs, "learning"))
    looked = np.concatenate([region for _, region in samples])
    return {row: fit_logistic(np.concatenate([by_row[row] for by_row, _ in samples]), looked) for row in samples[0][0]}


def score_image(observed: Observed, rules: Mapping[str, FloatArray]) -> dict[str, SaliencyScores]:
    """Score every method on one image."""
    parts = part_maps(observed.image.image())
    maps = {
        row: logistic(rules[row][0] + np.tensordot(rules[row][1:], features(kept), 1))
        for row, kept in _without(parts).items()
    }
    maps |= mean_maps(parts)
    maps[FORMER] = blend_saliency([parts["gbvs"][0], parts["torque"][0]], [1 - Tuned().share, Tuned().share])
    maps |= {part: found[0] for part, found in parts.items()}
    return attention.score_all(maps, observed)


def mean_maps(parts: Parts) -> dict[str, Map]:
    """Return by row the plain mean of maps: of all that are averaged, of all but one, and with edges for torque."""
    chosen = {MEAN: AVERAGED, **{f"{MEAN}-without-{left}": _but(left) for left in AVERAGED}}
    chosen[EDGES] = (*_but("torque"), "edges")
    return {
        row: blend_saliency([parts[name][0] for name in names], [1.0] * len(names)) for row, names in chosen.items()
    }


def _but(left: str) -> tuple[str, ...]:
    return tuple(part for part in AVERAGED if part != left)


def _samples(observed: Observed) -> tuple[dict[str, FloatArray], FloatArray]:
    """Return the features of some pixels for every rule, (n, m), and whether people looked there."""
    parts = part_maps(observed.image.image())
    fixations = observed.image.fixations()
    region = evaluation.fixated_region(fixations.y, fixations.x, observed.image.shape)[::STEP, ::STEP]
    few = {part: [one[::STEP, ::STEP] for one in maps] for part, maps in parts.items()}
    return {
        row: features(kept).reshape(-1, region.size).T for row, kept in _without(few).items()
    }, region.ravel().astype(float)


def _without(parts: Parts) -> dict[str, Parts]:
    """Return the parts of every row: all, and all but one."""
    less = {f"{BLEND}-without-{left}": {part: maps for part, maps in parts.items() if part != left} for left in BLENDED}
    return {BLEND: parts, **less}


def _rounded(rules: Mapping[str, FloatArray]) -> dict[str, Any]:
    return {row: [round(float(c), 4) for c in coefficients] for row, coefficients in rules.items()}
