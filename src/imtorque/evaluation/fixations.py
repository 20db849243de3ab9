"""Metrics of saliency maps against fixations, each defined exactly.

Names and formulas follow Z. Bylinskii, T. Judd, A. Oliva, A. Torralba, F. Durand: What do different evaluation metrics
tell us about saliency models? PAMI 41(3), 2019. Where a metric asks for fixations, they are (y, x) positions in pixels,
pixel centres at integers; a pixel fixated more than once counts once, as in the MIT benchmark's binary fixation maps.
Where it asks for a density, see `fixation_density`.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imtorque.evaluation.strengths import Floats
from imtorque.io.arrays import shaped_array, whole_array

EPSILON = float(np.finfo(float).eps)  # keeps logarithms finite, as in the MIT benchmark


def auc_judd(saliency: ArrayLike, y: ArrayLike, x: ArrayLike) -> float:
    """Return the area under the ROC curve of fixated against all other pixels, drawn at the fixated values.

    For every saliency value t at a fixated pixel, the curve has the point (share of the
    other pixels with saliency >= t, share of the fixated pixels with saliency >= t);
    points are joined by straight lines from (0, 0) to (1, 1). Equal values share a point, where Judd's code
    breaks ties by random jitter. A constant map scores 1/2; rising functions of the map change nothing.

    References
    ----------
    T. Judd, K. Ehinger, F. Durand, A. Torralba: Learning to predict where humans look. ICCV 2009.

    Examples
    --------
    >>> auc_judd([[0.1, 0.2], [0.3, 0.9]], [1], [0])  # (0, 0), (1/3, 1), (1, 1)
    0.8333333333333333
    """
    values = as_saliency(saliency)
    fixated = fixated_pixels(y, x, values.shape)
    if fixated.all():
        raise ValueError("some pixel must be without a fixation, got fixations on all")
    positives = np.sort(values[fixated])
    levels = np.unique(positives)[::-1]
    hits, alarms = _share_at_least(positives, levels), _share_at_least(np.sort(values[~fixated]), levels)
    return float(np.trapezoid(np.r_[0, hits, 1], np.r_[0, alarms, 1]))


def auc_borji(saliency: ArrayLike, y: ArrayLike, x: ArrayLike) -> float:
    """Return the area under the ROC curve of fixated pixels against pixels drawn evenly from the image.

    The probability that a fixated pixel is more salient than one drawn at random,
    ties counting one half. Borji's code draws a hundred random samples and takes thresholds 0.1 apart;
    this is the value that such samples have on average with all thresholds.

    References
    ----------
    A. Borji, H. R. Tavakoli, D. N. Sihite, L. Itti: Analysis of scores, datasets, and models in visual saliency
    prediction. ICCV 2013.

    Examples
    --------
    >>> auc_borji([[0.1, 0.2], [0.3, 0.9]], [1], [0])  # above two, equal to one of four
    0.625
    """
    values = as_saliency(saliency)
    return _probability_above(values[fixated_pixels(y, x, values.shape)], values.ravel())


def auc_shuffled(saliency: ArrayLike, y: ArrayLike, x: ArrayLike, *, other_y: ArrayLike, other_x: ArrayLike) -> float:
    """Return the area under the ROC curve of fixated pixels against fixations made on other images.

    The probability that a fixated pixel is more salient than the place of a fixation
    on another image, ties counting one half. It takes away what a preference for the image's centre gains.
    All of the other fixations are used, each as often as it was made; scale them to this image's size first.

    References
    ----------
    B. W. Tatler, R. J. Baddeley, I. D. Gilchrist: Visual correlates of fixation selection. Vision Research 45, 2005.
    L. Zhang, M. H. Tong, T. K. Marks, H. Shan, G. W. Cottrell: SUN: a Bayesian framework for saliency using natural
    statistics. Journal of Vision 8(7), 2008.

    Examples
    --------
    >>> auc_shuffled([[0.1, 0.2], [0.3, 0.9]], [1], [0], other_y=[0, 1], other_x=[0, 1])
    0.5
    """
    values = as_saliency(saliency)
    row, column = fixation_indices(other_y, other_x, values.shape)
    times = np.bincount(row * values.shape[1] + column, minlength=values.size)
    return _probability_above(values[fixated_pixels(y, x, values.shape)], values.ravel(), times)


def nss(saliency: ArrayLike, y: ArrayLike, x: ArrayLike) -> float:
    """Return the normalised scan-path saliency: the mean over fixated pixels of (S - mean) / standard deviation.

    Mean and (population) standard deviation are over the image; a constant map scores 0.

    References
    ----------
    R. J. Peters, A. Iyer, L. Itti, C. Koch: Components of bottom-up gaze allocation in natural images. Vision Research
    45, 2005.

    Examples
    --------
    >>> round(nss([[0, 0], [0, 1]], [1], [1]), 6)  # (1 - 1/4) / (sqrt(3) / 4)
    1.732051
    """
    values = as_saliency(saliency)
    spread = values.std()
    fixated = values[fixated_pixels(y, x, values.shape)]
    return float((fixated.mean() - values.mean()) / spread) if values.min() < values.max() else 0.0


def cc(saliency: ArrayLike, density: ArrayLike) -> float:
    """Return Pearson's correlation of a saliency map and a fixation density; 0 when one of them is constant.

    Examples
    --------
    >>> round(cc([[0, 1], [2, 3]], [[1, 3], [5, 7]]), 6)
    1.0
    """
    s, d = _same_shape(saliency, density)
    s, d = s - s.mean(), d - d.mean()
    norm = np.sqrt((s**2).sum() * (d**2).sum())
    return float((s * d).sum() / norm) if norm > 0 else 0.0


def sim(saliency: ArrayLike, density: ArrayLike) -> float:
    """Return the similarity, or histogram intersection: sum of min(S, D), with both maps summing to 1.

    Examples
    --------
    >>> sim([[1, 0], [1, 0]], [[1, 1], [1, 1]])
    0.5
    """
    s, d = _same_shape(saliency, density)
    return float(np.minimum(_as_distribution(s, "saliency"), _as_distribution(d, "density")).sum())


def kl_divergence(saliency: ArrayLike, density: ArrayLike) -> float:
    """Return the divergence of the saliency map from the density, in nats: the sum of D log(e + D / (e + S)).

    Both maps sum to 1; e is 2.2e-16. Lower is better.

    Examples
    --------
    >>> round(kl_divergence([[1, 1]], [[1, 0]]), 6)  # log 2
    0.693147
    """
    s, d = _same_shape(saliency, density)
    p, q = _as_distribution(s, "saliency"), _as_distribution(d, "density")
    return float((q * np.log(EPSILON + q / (EPSILON + p))).sum())


def information_gain(saliency: ArrayLike, y: ArrayLike, x: ArrayLike, *, baseline: ArrayLike) -> float:
    """Return the information gain of a saliency map over a baseline, such as `centre_prior`, in bits per fixation.

    The mean over fixated pixels of log2(e + S) - log2(e + B), with both maps summing to 1; e is 2.2e-16.

    References
    ----------
    M. Kuemmerer, T. S. A. Wallis, M. Bethge: Information-theoretic model comparison unifies saliency metrics. PNAS
    112(52), 2015.

    Examples
    --------
    >>> round(information_gain([[0, 0], [0, 1]], [1], [1], baseline=[[1, 1], [1, 1]]), 6)
    2.0
    """
    s, b = _same_shape(saliency, baseline)
    fixated = fixated_pixels(y, x, s.shape)
    p, q = _as_distribution(s, "saliency")[fixated], _as_distribution(b, "baseline")[fixated]
    return float((np.log2(EPSILON + p) - np.log2(EPSILON + q)).mean())


def fixation_density(y: ArrayLike, x: ArrayLike, shape: tuple[int, int], *, sigma: float) -> Floats:
    """Return the sum of Gaussians at the fixations, scaled to sum 1 over the image.

    Gaussians are not truncated, and stand at the fixations' own places, not at pixel
    centres. `sigma` is in pixels; one degree of visual angle is usual.
    """
    if not sigma > 0:
        raise ValueError(f"sigma must be above 0, got {sigma}")
    fixation_indices(y, x, shape)
    rows, columns = (
        np.exp(-0.5 * ((np.arange(side)[:, None] - np.asarray(place, dtype=float)) / sigma) ** 2)
        for side, place in zip(shape, (y, x), strict=True)
    )
    density: Floats = rows @ columns.T
    density /= density.sum()
    return density


def centre_prior(shape: tuple[int, int], *, spread: float = 0.25) -> Floats:
    """Return the baseline that does not depend on the image: a Gaussian in the middle, 1 at its peak.

    Its standard deviations are `spread` times the image's height and width.
    """
    if not spread > 0:
        raise ValueError(f"spread must be above 0, got {spread}")
    rows, columns = (np.exp(-0.5 * ((np.arange(side) - (side - 1) / 2) / (spread * side)) ** 2) for side in shape)
    return np.outer(rows / rows.max(), columns / columns.max())


def as_saliency(saliency: ArrayLike, name: str = "saliency") -> Floats:
    """Check a map and return it as finite floats."""
    values = shaped_array(saliency, name)
    values = values.astype(float)
    if not np.isfinite(values).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity")
    return values


def fixation_indices(y: ArrayLike, x: ArrayLike, shape: tuple[int, ...]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the nearest pixel of each fixation; all must lie on the image."""
    rows, columns = whole_array(y, "y", float), whole_array(x, "x", float)
    if rows.ndim != 1 or rows.shape != columns.shape or rows.size == 0:
        raise ValueError(f"y and x must be 1-D, of one length and not empty, got shapes {rows.shape}, {columns.shape}")
    inside = (rows >= -0.5) & (rows <= shape[0] - 0.5) & (columns >= -0.5) & (columns <= shape[1] - 0.5)
    if not inside.all():
        first = int(np.flatnonzero(~inside)[0])
        raise ValueError(
            f"fixations must lie on the image of {shape[0]} x {shape[1]}, "
            f"got y = {rows[first]:g}, x = {columns[first]:g} (and {int((~inside).sum()) - 1} more)"
        )
    nearest = (np.floor(place + 0.5).astype(np.intp) for place in (rows, columns))
    row, column = (np.clip(index, 0, side - 1) for index, side in zip(nearest, shape, strict=True))
    return row, column


def fixated_pixels(y: ArrayLike, x: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return the (H, W) map of pixels with at least one fixation."""
    fixated = np.zeros(shape, dtype=bool)
    fixated[fixation_indices(y, x, shape)] = True
    return fixated


def _share_at_least(ordered: Floats, levels: Floats) -> Floats:
    share: Floats = 1 - np.searchsorted(ordered, levels, side="left") / len(ordered)
    return share


def _probability_above(positives: Floats, negatives: Floats, times: NDArray[np.int64] | None = None) -> float:
    """Return P(positive > negative) + P(equal) / 2, the Mann-Whitney form of the ROC area.

    Each negative counts as often as `times` says, once by default.
    """
    order = np.argsort(negatives)
    ordered = negatives[order]
    counted = np.r_[0, np.cumsum(np.ones(len(order), np.int64) if times is None else times[order])]
    below, upto = (counted[np.searchsorted(ordered, positives, side=side)] for side in ("left", "right"))
    return float((below + upto).mean() / (2 * counted[-1]))


def _same_shape(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    a, b = as_saliency(first), as_saliency(second, "density")
    if a.shape != b.shape:
        raise ValueError(f"both maps must have one shape, got {a.shape} and {b.shape}")
    return a, b


def _as_distribution(values: Floats, name: str) -> Floats:
    if values.min() < 0 or values.sum() <= 0:
        raise ValueError(f"{name} must be at least 0 and somewhere above, got {values.min()} to {values.max()}")
    shares: Floats = values / values.sum()
    return shares
