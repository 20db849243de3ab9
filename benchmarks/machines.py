"""Time our linear SVM beside scikit-learn's LinearSVC: the same vectors, cost and machine, one thread, one run.

python benchmarks/machines.py --data DIR      a folder of images for each class, such as Caltech-101
python benchmarks/machines.py --toy           drawn images, few words

Both solve the dual of the same problem, LinearSVM on inner products, LinearSVC on the vectors, which it is given
as it likes them best: sparse, in double precision. Told are processor time (the least of the runs), class accuracy on
other images, and how far the sum of the objectives lies above the lowest one found. LinearSVM stops at slopes of
0.01, which a tolerance of 0.01 comes nearest to; LinearSVC's own default is 1e-4.
"""

import argparse
import json
import platform
import time
import warnings
from pathlib import Path

import numpy as np
import sklearn
from scipy import sparse
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

import imtorque
from imtorque import synthetic
from imtorque.files import SUFFIXES, read_image
from imtorque.recognition import METHODS, LinearSVM, WorkingImage
from imtorque.recognition.bag_of_words import bag, describe, drawn, learn_words, samples_per_image, with_words
from imtorque.recognition.linear_svm import inner_products, train_on_products
from imtorque.recognition.model import joined_row
from imtorque.recognition.presets import BLOCKS

RESULTS = Path(__file__).parent / "results" / "machines.json"
COST = 10.0
TOLERANCES = (0.1, 0.01, 1e-4)  # of LinearSVC


def folder_images(folder, classes, count):
    """The first images of each class, class by class."""
    own = sorted(path for path in folder.iterdir() if path.is_dir())[:classes]
    found = [sorted(path for path in c.iterdir() if path.suffix.lower() in SUFFIXES)[:count] for c in own]
    return [read_image(path) for paths in found for path in paths], np.repeat(
        np.arange(len(own)), list(map(len, found))
    )


def drawn_images(classes, count):
    """Discs of another size for each class, on texture."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(classes), count)
    images = [
        synthetic.paint(
            0.4 * synthetic.texture((48, 64), seed=k),
            synthetic.disc((48, 64), rng.uniform(18, 30, 2), 4 + 3 * label),
            0.9,
        )
        for k, label in enumerate(labels)
    ]
    return images, labels


def split(labels, train):
    """The first `train` images of each class, or all but one; and the others."""
    chosen = [own[: min(train, len(own) - 1)] for own in (np.flatnonzero(labels == k) for k in np.unique(labels))]
    first = np.concatenate(chosen)
    return first, np.setdiff1d(np.arange(len(labels)), first)


def vectors(images, train, method, words):
    """One row for each image, with words learned from the training images."""
    checked_images = [WorkingImage(image) for image in images]
    bags = {}
    for name in METHODS[method]:
        block = BLOCKS[name]()
        block["encode"].codebook.set_params(words=words)
        count = samples_per_image(block, len(train))
        fitted = with_words(
            block, learn_words(block, [drawn(describe(block, checked_images[i]), count, 0) for i in train])
        )
        bags[name] = [bag(fitted, describe(block, checked)) for checked in checked_images]
    return np.stack([joined_row({name: bags[name][i] for name in bags}, METHODS[method]) for i in range(len(images))])


def least_seconds(function, runs):
    """The least processor time of several runs, and what the last one returned."""
    times = []
    for _ in range(runs):
        start = time.process_time()
        result = function()
        times.append(time.process_time() - start)
    return min(times), result


def objective(weights, intercepts, x, labels):
    """Sum over the SVMs of what both minimise, in double precision."""
    weights, intercepts = np.float64(weights), np.float64(intercepts)
    signs = np.where(labels[:, None] == np.arange(len(weights)), 1.0, -1.0)
    losses = np.maximum(0, 1 - signs * (x @ weights.T + intercepts)) ** 2
    return float((weights**2).sum() / 2 + (intercepts**2).sum() / 2 + COST * losses.sum())


def class_accuracy(found, labels):
    return float(np.mean([(found[labels == k] == k).mean() for k in np.unique(labels)]))


def compare(rows, labels, train, test, arguments):
    x, y = rows[train], labels[train]
    plain = sparse.csr_matrix(x, dtype=np.float64)
    table = []

    def add(name, seconds, model, **about):
        reached = objective(model.coef_, model.intercept_, plain, y)
        accuracy = class_accuracy(model.predict(rows[test]), labels[test])
        table.append({"solver": name, "seconds": seconds, "accuracy": accuracy, "objective": reached, **about})

    seconds, ours = least_seconds(lambda: LinearSVM(COST).fit(x, y), arguments.runs)
    products_seconds, products = least_seconds(lambda: inner_products(x), arguments.runs)
    classes = int(y.max()) + 1
    training_seconds, _ = least_seconds(lambda: train_on_products(products, y, classes, cost=COST), arguments.runs)
    add("LinearSVM", seconds, ours, products_seconds=products_seconds, training_seconds=training_seconds)
    for tolerance in arguments.tolerances:
        machine = LinearSVC(C=COST, dual=True, tol=tolerance, max_iter=arguments.passes, random_state=0)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            seconds, theirs = least_seconds(lambda machine=machine: machine.fit(plain, y), arguments.runs)
        add("LinearSVC", seconds, theirs, tolerance=tolerance, passes=int(theirs.n_iter_), converged=not told)
    lowest = min(row["objective"] for row in table)
    return [{**row, "above_lowest": row["objective"] / lowest - 1} for row in table], plain


def measure(arguments):
    classes, count, words = (4, 8, 16) if arguments.toy else (arguments.classes, arguments.train + arguments.test, 1024)
    train = 4 if arguments.toy else arguments.train
    images, labels = drawn_images(classes, count) if arguments.toy else folder_images(arguments.data, classes, count)
    first, others = split(labels, train)
    rows = vectors(images, first, arguments.method, words)
    table, plain = compare(rows, labels, first, others, arguments)
    return {
        "benchmark": "machines",
        "version": imtorque.__version__,
        "scikit-learn": sklearn.__version__,
        "machine": platform.machine(),
        "threads": 1,
        "runs": arguments.runs,
        "method": arguments.method,
        "cost": COST,
        "classes": len(np.unique(labels)),
        "train": len(first),
        "test": len(others),
        "features": rows.shape[1],
        "not_zero": plain.nnz / plain.shape[0] / plain.shape[1],
        "rows": table,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--data", type=Path)
    source.add_argument("--toy", action="store_true")
    parser.add_argument("--classes", type=int, default=102)
    parser.add_argument("--train", type=int, default=15, help="images of each class to learn from")
    parser.add_argument("--test", type=int, default=10, help="images of each class to test on")
    parser.add_argument("--method", choices=list(METHODS), default="sift+torque")
    parser.add_argument("--tolerances", type=float, nargs="+", default=TOLERANCES, help="of LinearSVC")
    parser.add_argument("--passes", type=int, default=1000, help="of LinearSVC, at most")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    imtorque.set_num_threads(1)
    threadpool_limits(1)

    result = measure(arguments)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
