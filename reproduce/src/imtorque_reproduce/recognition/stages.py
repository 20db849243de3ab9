"""The stages of the recognition experiment: words, codes, inner products, SVMs.

Every stage writes its results to the plan's folder, whole or not at all, and finds there what was done before: a run
that was stopped goes on where it was. An image is described once and encoded with the words of all splits at that.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from imtorque.files import read_image, write_array
from imtorque.jobs.processes import each
from imtorque.recognition.bag_of_words import (
    bag,
    describe,
    drawn,
    fingerprint,
    learn_words,
    parameters,
    samples_per_image,
    with_words,
)
from imtorque.recognition.cache import room_on_disk
from imtorque.recognition.linear_svm import inner_products, train_on_products
from imtorque.recognition.local import Descriptors
from imtorque_reproduce.recognition.plan import Plan
from imtorque_reproduce.report import naming

Methods = Mapping[str, Mapping[str, float]]
Predictions = NDArray[np.int16]


def learn(plan: Plan, methods: Methods, jobs: int) -> list[Predictions]:
    """Do all stages, and return each split's predictions, (methods, sizes, images); -1 for training images."""
    plan.folder.mkdir(parents=True, exist_ok=True)
    with _limited(jobs), room_on_disk(plan.folder):
        for name in plan.blocks:
            for stage, count, unit in (
                (find_words, plan.splits, "codebooks"),
                (encode_class, len(plan.classes), "classes"),
                (multiply, plan.splits, "matrices"),
            ):
                parts = [part for part in range(count) if not _path(plan, stage.__name__, name, part).exists()]
                label = f"{name}: {stage.__name__.replace('_', ' ')}"
                for _ in each(partial(stage, plan, name), parts, jobs, label, unit):
                    pass
        return list(each(partial(classify, plan, methods), range(plan.splits), jobs, "machines", "splits"))


def find_words(plan: Plan, name: str, split: int) -> None:
    """Learn the words of one block from the smallest training set of one split."""
    block, chosen = plan.blocks[name], plan.training(split, plan.train[0])
    count = samples_per_image(block, len(chosen))
    samples = [drawn(_described(plan, name, i), count, seed=int(i)) for i in chosen]
    write_array(_path(plan, "find_words", name, split), learn_words(block, samples))


def encode_class(plan: Plan, name: str, label: int) -> None:
    """Encode the images of one class under one block with the words of all splits: (splits, images, features)."""
    words = [np.load(_path(plan, "find_words", name, split)) for split in range(plan.splits)]
    blocks = [with_words(plan.blocks[name], own) for own in words]
    members = plan.members(label)
    widest = max(map(len, words)) * sum(level**2 for level in plan.blocks[name]["pool"].levels)
    codes = np.zeros((len(blocks), len(members), widest), np.float16)  # splits of few images may differ in words
    for k, i in enumerate(members):
        descriptors = _described(plan, name, i)
        for split, block in enumerate(blocks):
            row = bag(block, descriptors)
            codes[split, k, : len(row)] = row
    write_array(_path(plan, "encode_class", name, label), codes)


def multiply(plan: Plan, name: str, split: int) -> None:
    """Take the inner products of all images under one block and one split's words."""
    parts = [
        np.load(_path(plan, "encode_class", name, label), mmap_mode="r")[split] for label in range(len(plan.classes))
    ]
    with threadpool_limits(1):
        write_array(_path(plan, "multiply", name, split), inner_products(np.concatenate(parts)))


def classify(plan: Plan, methods: Methods, split: int) -> Predictions:
    """Train and test every method with every size of training set on one split."""
    predicted = np.full((len(methods), len(plan.train), len(plan.paths)), -1, np.int16)
    for m, weights in enumerate(methods.values()):
        described = {name: [w, parameters(plan.blocks[name])] for name, w in weights.items()}
        target = plan.folder / f"classify-{fingerprint(described, plan.train, split)}.npy"
        if target.exists():
            predicted[m] = np.load(target)
            continue
        with threadpool_limits(1):
            products = sum(w**2 * np.load(_path(plan, "multiply", name, split)) for name, w in weights.items())
            _classify_sizes(plan, split, np.asarray(products), predicted[m])
        write_array(target, predicted[m])
    return predicted


def _classify_sizes(plan: Plan, split: int, products: NDArray[np.float32], predicted: Predictions) -> None:
    labels = np.asarray(plan.labels)
    solved = np.zeros((len(labels), len(plan.classes)), np.float32)  # by image: a larger set begins with a smaller's
    for k, size in enumerate(plan.train):
        chosen = plan.training(split, size)
        solved[chosen] = train_on_products(
            products[np.ix_(chosen, chosen)], labels[chosen], len(plan.classes), start=solved[chosen]
        )
        rest = np.setdiff1d(np.arange(len(labels)), chosen)
        scores = products[np.ix_(rest, chosen)] @ solved[chosen] + solved[chosen].sum(axis=0)
        predicted[k, rest] = scores.argmax(axis=1)


def clear(plan: Plan) -> None:
    """Remove what the stages kept."""
    for path in plan.folder.glob("*.npy"):
        path.unlink()
    plan.folder.rmdir()


def _described(plan: Plan, name: str, index: int) -> Descriptors:
    with naming(plan.paths[index]):
        return describe(plan.blocks[name], read_image(plan.paths[index]))


def _path(plan: Plan, stage: str, block: str, part: int) -> Path:
    """Return the file of a stage's result for one split or class."""
    return plan.folder / f"{stage}-{fingerprint(parameters(plan.blocks[block]))[:16]}-{part}.npy"


@contextmanager
def _limited(jobs: int) -> Iterator[None]:
    """Let no process of several use more than one thread for its matrices."""
    before = os.environ.get("OPENBLAS_NUM_THREADS")
    if jobs > 1:
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("OPENBLAS_NUM_THREADS", None)
        else:
            os.environ["OPENBLAS_NUM_THREADS"] = before
