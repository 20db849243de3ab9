"""A small forest: grown by scikit-learn, kept as arrays, asked by a kernel; no pickle, and no version to match."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque import _native
from imtorque.core.threads import available_cores, cancel_with, current_cancellation
from imtorque.core.types import Float32Array, FloatArray
from imtorque.io.arrays import Layout

TREES = 80  # of a detector; training.CV_TREES while settings are chosen
MIN_LEAF = 4  # rows; unrecorded
MAX_FEATURES = 0.2  # share of the features that a node tries; unrecorded
MAX_ROWS = 16000  # to grow trees from; bound: time
FOREST_LAYOUT: Layout = {  # of the arrays in a file
    **dict.fromkeys(("feature", "left", "right"), ("i4", ("nodes",))),
    **dict.fromkeys(("threshold", "value"), ("f4", ("nodes",))),
    "root": ("i4", ("trees",)),
}


@dataclass(frozen=True)
class Forest:
    """Regression trees as arrays over all nodes; the roots' places in `root`; -1 in `feature` marks a leaf."""

    feature: NDArray[np.int32]
    threshold: Float32Array
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    value: Float32Array
    root: NDArray[np.int32]

    def checked(self, features: int) -> Forest:
        """Return the forest where every way through it ends at a leaf, else raise: files can hold anything.

        It may ask for so many features.
        """
        count = len(self.feature)
        if self.feature.max(initial=-1) >= features:
            raise ValueError(f"trees that ask for feature {self.feature.max()} of {features}")
        if not (np.isfinite(self.threshold).all() and np.isfinite(self.value).all()):
            raise ValueError("trees with what is no number")
        node = np.flatnonzero(self.feature >= 0)
        ends = [np.all((branch[node] > node) & (branch[node] < count)) for branch in (self.left, self.right)]
        if not 0 < len(self.root) <= count or not np.all((self.root >= 0) & (self.root < count)) or not all(ends):
            raise ValueError("trees with branches to nowhere")
        return self

    def __call__(self, features: Float32Array) -> Float32Array:
        """Return the mean value of the leaves that each row of features falls into."""
        if self.feature.max(initial=-1) >= features.shape[1]:
            raise ValueError(f"a forest must ask for {features.shape[1]} features, got {self.feature.max() + 1}")
        arrays = (self.feature, self.threshold, self.left, self.right, self.value, self.root)
        return _native.forest_values(*arrays, np.ascontiguousarray(features, np.float32))


def grow_forest(
    features: Float32Array,
    values: FloatArray,
    weights: FloatArray | None = None,
    *,
    trees: int = TREES,
    max_rows: int = MAX_ROWS,
    seed: int = 0,
) -> Forest:
    """Grow extremely randomised trees (Geurts et al. 2006) that predict values from features, each of some weight."""
    try:
        from sklearn.tree import ExtraTreeRegressor
    except ImportError as error:
        raise ImportError("learning needs scikit-learn: pip install 'imtorque[learn]'") from error

    rows = np.random.default_rng(seed).permutation(len(values))[:max_rows]
    chosen, wanted = np.ascontiguousarray(features[rows], np.float32), values[rows].astype(np.float64)[:, None]
    weight, cancellation = None if weights is None else weights[rows], current_cancellation()
    seeds = np.random.RandomState(seed)  # as ExtraTreesRegressor draws them: the same trees, which can be ended

    def grow(number: int) -> Any:
        with cancel_with(cancellation):
            _native.check_interrupt()
        tree = ExtraTreeRegressor(min_samples_leaf=MIN_LEAF, max_features=MAX_FEATURES, random_state=number)
        return tree.fit(chosen, wanted, weight, check_input=False).tree_

    with ThreadPoolExecutor(available_cores()) as threads:  # trees grow outside of Python
        return _as_arrays(list(threads.map(grow, [seeds.randint(np.iinfo(np.int32).max) for _ in range(trees)])))


def _as_arrays(trees: list[Any]) -> Forest:
    starts = np.cumsum([0] + [tree.node_count for tree in trees])
    leaf = np.concatenate([tree.children_left < 0 for tree in trees])
    left, right = (
        np.concatenate([getattr(tree, side) + start for tree, start in zip(trees, starts, strict=False)])
        for side in ("children_left", "children_right")
    )
    feature = np.where(leaf, -1, np.concatenate([tree.feature for tree in trees]))
    threshold = np.concatenate([tree.threshold for tree in trees])
    value = np.concatenate([tree.value[:, 0, 0] for tree in trees])
    # Rounding a threshold down to float32 sends float32 features the same way as the double did.
    single = threshold.astype(np.float32)
    single = np.where(single > threshold, np.nextafter(single, np.float32(-np.inf)), single)
    return Forest(
        feature.astype(np.int32),
        single.astype(np.float32),
        np.where(leaf, 0, left).astype(np.int32),
        np.where(leaf, 0, right).astype(np.int32),
        value.astype(np.float32),
        starts[:-1].astype(np.int32),
    )
