"""Linear support vector machines, trained on inner products so that several blends of features share them."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from imtorque import _native
from imtorque.core.types import Float32Array

BLOCK_FEATURES = 4096  # features converted and multiplied at a time; bound: memory


@dataclass(eq=False, repr=False)
class LinearSVM(ClassifierMixin, BaseEstimator):
    """Classify by linear SVMs, one class against the rest, with the squared hinge loss.

    Each minimises |w|^2 / 2 + cost * sum_i max(0, 1 - y_i (w . x_i + b))^2, where b counts as one more weight: the
    problem of scikit-learn's LinearSVC(C=cost), solved on the inner products of the examples, all classes together:
    kinds of features are blended by adding their products, and a larger training set begins with a smaller one's
    solution. SVC(kernel="precomputed") has another loss and another scheme (one against one).

    Parameters
    ----------
    cost
        Weight of the errors on the examples.
    tolerance
        Largest slope, over the coefficients of the examples, at which the search ends.
    passes
        Over the examples, at most.

    Attributes
    ----------
    classes_
        The classes, in order.
    coef_, intercept_
        Weights, (classes, features) float32, and b.
    """

    cost: float = 10.0
    tolerance: float = 0.01
    passes: int = 1000

    def fit(self, features: Any, y: Any) -> Self:
        """Learn from the features of examples (n, d) and their classes (n,)."""
        x, labels = validate_data(self, features, y, dtype=[np.float32, np.float64])
        check_classification_targets(labels)
        self.classes_, index = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y must name at least 2 classes, got 1 class: {self.classes_[0]}")
        x = np.asarray(x, dtype=np.float32)
        coefficient = train_on_products(
            inner_products(x),
            index,
            len(self.classes_),
            cost=self.cost,
            tolerance=self.tolerance,
            passes=self.passes,
        )
        self.coef_ = coefficient.T @ x
        self.intercept_ = coefficient.sum(axis=0)
        return self

    def decision_function(self, features: Any) -> NDArray[np.floating[Any]]:
        """Return the score of each class, (n, classes); of two classes only the second's, (n,)."""
        check_is_fitted(self)
        x = validate_data(self, features, dtype=[np.float32, np.float64], reset=False)
        scores: NDArray[np.floating[Any]] = x @ self.coef_.T + self.intercept_
        return scores[:, 1] if len(self.classes_) == 2 else scores

    def predict(self, features: Any) -> NDArray[Any]:
        """Return the class of largest score for each row of features."""
        scores = self.decision_function(features)
        chosen = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[chosen])


def inner_products(features: NDArray[Any]) -> Float32Array:
    """Return the inner products of all rows, (n, n) float32, of features of any float type."""
    from scipy.linalg.blas import ssyrk  # here, because it takes longer to load than the rest

    products = np.zeros((len(features),) * 2, np.float32, order="F")
    for first in range(0, features.shape[1], BLOCK_FEATURES):
        block = np.ascontiguousarray(features[:, first : first + BLOCK_FEATURES], dtype=np.float32)
        products = ssyrk(1.0, block.T, beta=1.0, c=products, trans=1, overwrite_c=1)  # the upper half alone
    return np.ascontiguousarray(np.triu(products) + np.triu(products, 1).T)


def train_on_products(
    products: ArrayLike,
    labels: ArrayLike,
    classes: int,
    *,
    cost: float = 10.0,
    tolerance: float = 0.01,
    passes: int = 1000,
    start: Float32Array | None = None,
) -> Float32Array:
    """Return the dual coefficients of the examples for each class, (n, classes).

    The score of x is the sum over the examples i of coefficient[i] * (x . x_i + 1).

    Parameters
    ----------
    products
        Inner products of the examples, (n, n).
    labels
        Their classes, whole numbers below `classes`, (n,).
    classes
        How many there are.
    cost, tolerance, passes
        As for `LinearSVM`.
    start
        Coefficients to begin with, such as those of a part of the examples.
    """
    if not cost > 0:
        raise ValueError(f"cost must be positive, got {cost}")
    with_bias = np.ascontiguousarray(np.asarray(products, dtype=np.float32) + np.float32(1))
    index = np.ascontiguousarray(labels, dtype=np.int32)
    coefficient = np.zeros((len(index), classes), np.float32)
    if start is not None:
        coefficient[: len(start)] = start
    _native.train_linear_svms(with_bias, index, cost, tolerance, passes, coefficient)
    return coefficient
