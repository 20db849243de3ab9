"""Time the features of recognition: processor time per image, one thread, beside OpenCV's SIFT on the same patches.

python benchmarks/recognition.py [--data DIR]
python benchmarks/recognition.py --accuracy DIR     our SIFT and OpenCV's in the same bags and machines

Images are those of a folder (the first of each folder in it), or the samples, all reduced to 300 pixels.
"""

import argparse
import json
import platform
import time
from pathlib import Path

import cv2
import numpy as np
from threadpoolctl import threadpool_limits

import imtorque
from imtorque import datasets
from imtorque.files import SUFFIXES, read_image
from imtorque.recognition import METHODS, Codebook, DenseSIFT, Descriptors, LinearSVM, LLCEncoder, SpatialPyramid
from imtorque.recognition.bag_of_words import bag, describe, drawn, learn_words, with_words
from imtorque.recognition.presets import BLOCKS
from imtorque.recognition.working_image import working_image

RESULTS = Path(__file__).parent / "results" / "recognition.json"
CLASSES, PER_CLASS, TRAIN, SPLITS = 20, 30, 15, 5  # of the comparison of accuracy


def read_images(folder, count):
    if folder is None:
        return [datasets.sample(name) for name in datasets.PHOTOGRAPHS]
    first = [next(p for p in sorted(own.iterdir()) if p.suffix.lower() in SUFFIXES) for own in sorted(folder.iterdir())]
    return [read_image(path) for path in first[:: max(1, len(first) // count)]]


def opencv_sift(image):
    """OpenCV's descriptors of the patches that DenseSIFT describes; its cells are 1.5 times as wide as `size`."""
    grey = np.round(255 * working_image(image).grey).astype(np.uint8)
    height, width = grey.shape
    points = [
        cv2.KeyPoint(x + side / 2, y + side / 2, side / 6, 0)
        for side in (16, 24, 32)
        for y in range(0, height - side + 1, 8)
        for x in range(0, width - side + 1, 8)
    ]
    return cv2.SIFT_create().compute(grey, points)[1]


def opencv_descriptors(image):
    """OpenCV's descriptors, of unit length, of just the patches that ours describe."""
    grey = np.round(255 * working_image(image).grey).astype(np.uint8)
    vectors, y, x = [], [], []
    for side in DenseSIFT().sizes:
        own = DenseSIFT(sizes=(side,)).describe(image)
        points = [cv2.KeyPoint(*place, side / 6, 0) for place in zip(own.x, own.y, strict=True)]
        vectors.append(cv2.SIFT_create().compute(grey, points)[1] if points else np.zeros((0, 128)))
        y, x = [*y, *own.y], [*x, *own.x]
    found = np.concatenate(vectors)
    lengths = np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1)
    return Descriptors(np.float32(found / lengths), np.array(y), np.array(x), grey.shape)


def accuracy(folder):
    """Mean class accuracy with our SIFT and with OpenCV's: the same images, splits, words, bags and machines."""
    own = sorted(path for path in folder.iterdir() if path.is_dir())[:CLASSES]
    paths = [p for c in own for p in sorted(q for q in c.iterdir() if q.suffix.lower() in SUFFIXES)[:PER_CLASS]]
    labels = np.array([own.index(p.parent) for p in paths])
    images = [read_image(path) for path in paths]
    rows = []
    for name, function in (("sift", DenseSIFT().describe), ("opencv-sift", opencv_descriptors)):
        descriptors = [function(image) for image in images]
        scores = []
        for seed in range(SPLITS):
            rng = np.random.default_rng(seed)
            train = np.concatenate([rng.permutation(np.flatnonzero(labels == k))[:TRAIN] for k in range(len(own))])
            test = np.setdiff1d(np.arange(len(labels)), train)
            encoder = LLCEncoder(Codebook(1024, seed=seed)).fit([descriptors[i] for i in train])
            bags = SpatialPyramid().transform(encoder.transform(descriptors))
            found = LinearSVM().fit(bags[train], labels[train]).predict(bags[test])
            scores.append(np.mean([(found[labels[test] == k] == k).mean() for k in range(len(own))]))
        rows.append({"method": name, "accuracy": float(np.mean(scores)), "splits": [float(s) for s in scores]})
    about = {"classes": len(own), "images": len(paths), "train": TRAIN}
    return {"benchmark": "sift-accuracy", "version": imtorque.__version__, **about, "rows": rows}


def milliseconds(function, images, runs):
    """Mean over images of the least time of several runs."""
    least = np.full(len(images), np.inf)
    for _ in range(runs):
        for k, image in enumerate(images):
            start = time.process_time()
            function(image)
            least[k] = min(least[k], time.process_time() - start)
    return 1000 * float(least.mean())


def times(arguments):
    images = read_images(arguments.data, arguments.images)
    rows = [
        {"step": "describe", "block": "opencv-sift", "ms": milliseconds(opencv_sift, images, arguments.runs)},
        {"step": "describe", "block": "sift", "ms": milliseconds(DenseSIFT().describe, images, arguments.runs)},
    ]
    whole = {}
    for name in dict.fromkeys(name for method in METHODS.values() for name in method):
        block = BLOCKS[name]()
        block["encode"].codebook.set_params(iterations=1)
        descriptors = [describe(block, image) for image in images]
        fitted = with_words(block, learn_words(block, [drawn(d, 1000, 0) for d in descriptors]))
        words = fitted["encode"].codebook_.words_
        spent = {
            "describe": milliseconds(lambda image, block=block: describe(block, image), images, arguments.runs),
            "encode": milliseconds(lambda d, fitted=fitted: bag(fitted, d), descriptors, arguments.runs),
        }
        products = milliseconds(lambda d, words=words: d.vectors @ words.T, descriptors, arguments.runs)
        about = {"patches": float(np.mean([len(d) for d in descriptors])), "words": len(words)}
        rows += [{"step": s, "block": name, "ms": ms, **about} for s, ms in spent.items()]
        rows.append({"step": "products of descriptors and words by numpy", "block": name, "ms": products, **about})
        whole[name] = sum(spent.values())
    rows += [{"step": "all", "method": m, "ms": sum(whole[name] for name in METHODS[m])} for m in METHODS]
    machine = {"machine": platform.machine(), "threads": 1, "images": len(images), "runs": arguments.runs}
    return {"benchmark": "recognition", "version": imtorque.__version__, **machine, "rows": rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--images", type=int, default=20)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--accuracy", type=Path, metavar="DIR")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    imtorque.set_num_threads(1)
    cv2.setNumThreads(1)
    threadpool_limits(1)

    result = accuracy(arguments.accuracy) if arguments.accuracy else times(arguments)
    out = arguments.out or (RESULTS.with_name("sift_accuracy.json") if arguments.accuracy else RESULTS)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
