"""What readers of the pages have at hand: the names that the code of a page takes as given, small."""

import sys
from unittest.mock import MagicMock

import dask
import numpy as np
import tifffile
from PIL import Image

import imtorque
from berkeley_files import LABELS, write_truth
from imtorque.synthetic import scene
from video_files import write_video


def given(page, folder, monkeypatch):
    """Return the names a page takes as given, and put the files that it reads into the folder."""
    if page == "clusters.md":  # the makers of clusters that are not here
        for name in ("dask_jobqueue", "dask_kubernetes", "dask_kubernetes.operator"):
            monkeypatch.setitem(sys.modules, name, MagicMock())
    if page == "large_images.md":  # no cluster that another test has left
        monkeypatch.setitem(dask.config.config, "scheduler", "synchronous")
    if page == "explorer.md":  # a browser
        monkeypatch.setattr("webbrowser.open", lambda _: True)
    made = GIVEN.get(page)
    return made(folder) if made else {}


def _discs(seed, count=6, shape=(120, 160)):
    """An image of dark discs on grey, and their boxes: top, left, bottom, right."""
    rng = np.random.default_rng(seed)
    image, boxes = rng.normal(160, 3, shape), []
    for k in range(count):
        y, x, r = 25 + 60 * (k // 3) + rng.integers(5), 25 + 50 * (k % 3) + rng.integers(5), rng.integers(9, 13)
        v, u = np.ogrid[: shape[0], : shape[1]]
        image[(v - y) ** 2 + (u - x) ** 2 <= r * r] -= 90
        boxes.append((y - r, x - r, y + r + 1, x + r + 1))
    return image.clip(0, 255).astype(np.uint8), boxes


def _beyond(folder):
    depth = np.full((60, 80), 2.0)
    depth[20:40, 20:50] = 1.2
    z, y, x = np.ogrid[:16, :32, :32]
    stack = ((z - 8) ** 2 * 4 + (y - 16) ** 2 + (x - 16) ** 2 <= 64).astype(float)
    tifffile.imwrite(folder / "cells.tif", stack.astype(np.float32))
    first = scene("texture", (48, 64))
    masks = [scene("disc", (40, 40)) > 0.5, scene("triangle", (40, 40)) > 0.5]
    photographs = [_discs(k)[0][:40, :40] for k in range(2)]
    return {
        "imtorque": imtorque,
        "depth": depth,
        "first": first,
        "second": np.roll(first, 1, 1),
        "image": _discs(1)[0],
        "masks": masks,
        "photographs": photographs,
        "others": [scene("texture", (60, 60))],
    }


def _conventions(_):
    edges = imtorque.detect_edges(scene("shapes", (60, 80)))
    tiles = [np.s_[0:30, 0:80], np.s_[30:60, 0:80]]
    names = {"fx": edges.fx, "fy": edges.fy, "tiles": tiles, "t_with_halo": np.s_[0:50, :80]}
    return names | {"Edges": imtorque.Edges, "torque_map": imtorque.torque_map}


def _counting(_):
    marked = [_discs(k) for k in range(3)]
    images, boxes = [image for image, _ in marked], [boxes for _, boxes in marked]
    return {"images": images, "boxes": boxes, "new_image": _discs(7)[0], "other_images": [_discs(8)[0]]}


def _evaluation(folder):
    rng = np.random.default_rng(0)
    labels = np.repeat([[0, 0, 0, 1, 1, 1]], 6, axis=0)
    y, x = np.array([1, 2, 4]), np.array([3, 3, 2])
    write_truth(folder / "BSDS500/data/groundTruth/test/1.mat", [LABELS])
    checked = folder / "BSDS500/data/images/test/1.jpg"
    checked.parent.mkdir(parents=True)
    Image.fromarray(np.zeros((*LABELS.shape, 3), np.uint8)).save(checked)
    scores = [imtorque.evaluation.boundary_scores(rng.random((6, 6)), [labels == 1]) for _ in range(4)]
    return {
        "strength": rng.random((6, 6)),
        "person_1": labels == 1,
        "person_2": labels == 0,
        "scores_a": scores[:2],
        "scores_b": scores[2:],
        "ious_a": [0.5, 0.7, 0.6],
        "ious_b": [0.4, 0.6, 0.6],
        "segmentations": [labels, labels],
        "truths": [labels],
        "saliency": rng.random((6, 6)),
        "y": y,
        "x": x,
        "other_y": x,
        "other_x": y,
        "my_detector": lambda image: image[:, :, 0] / 255,
    }


def _videos(folder):
    images = [np.roll(scene("disc", (48, 64)), k, 1) for k in range(3)]
    write_video(folder / "video.mp4", [(255 * image).astype(np.uint8) for image in images])
    return {"images": images, "tables": [imtorque.find_blobs(image) for image in images]}


def _large_images(folder):
    tifffile.imwrite(folder / "slide.ome.tif", (255 * scene("shapes", (120, 160))).astype(np.uint8))
    return {}


GIVEN = {
    "beyond.md": _beyond,
    "conventions.md": _conventions,
    "counting.md": _counting,
    "evaluation.md": _evaluation,
    "explorer.md": lambda _: {"image": scene("shapes", (60, 80))},
    "video.md": _videos,
    "large_images.md": _large_images,
    "saliency.md": lambda _: {"image": scene("shapes", (60, 80))},
}
