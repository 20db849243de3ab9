"""Training Sketch Tokens: from images, and what people drew over them, to a forest.

Pieces of drawn contours are clustered into tokens by appearance; trees then learn to predict from a patch of the
image which token is in its middle, or none. Everything follows from the images, the settings and their seed.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from imtorque import _native
from imtorque.core.threads import available_cores, cancel_with
from imtorque.core.types import BoolArray, Float32Array, Image
from imtorque.edges.sketches import daisies, tangents
from imtorque.edges.textons import cluster, nearest
from imtorque.edges.token_channels import channel_planes, token_colours
from imtorque.edges.token_forest import FEATURES, SketchTokens, feature_places
from imtorque.images import CheckedImage

Part = TypeVar("Part")
PARALLEL_TREES = 3  # trees that grow, each from two gigabytes of features; bound: memory
MAX_TOKENS = 255  # bound: a byte holds them and the background
# Pixels around a contour that are no background; chosen of two on `val` (docs/measured/base_detectors.md).
BACKGROUND_MARGIN = 2
MAX_CLUSTERED = 60_000  # pieces of contours that tokens are made from; bound: time
TOKEN_ROUNDS = 25  # of clustering; bound: time


@dataclass(frozen=True)
class TokenSettings:
    """How a forest is trained.

    Parameters
    ----------
    tokens
        Kinds of contours.
    trees
        In the forest.
    of_token, background
        Samples that a tree grows from: of each token, and of no contour.
    from_drawing
        Samples on and off contours from each drawing.
    features
        Drawn at random for a tree.
    tried
        Of these, at each node.
    least
        Samples in a leaf.
    seed
        Of all that is random.
    """

    tokens: int = 150
    trees: int = 25
    of_token: int = 2000
    background: int = 300_000
    from_drawing: int = 600
    features: int = 3000
    tried: int = 100
    least: int = 20
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name, value in asdict(self).items():
            if value < (0 if name == "seed" else 1):
                raise ValueError(f"{name} must be at least {0 if name == 'seed' else 1}, got {value}")
        if self.tokens > MAX_TOKENS:
            raise ValueError(f"tokens must be at most {MAX_TOKENS}, got {self.tokens}")

    def about(self) -> dict[str, Any]:
        """Return the settings as the file records them."""
        return {"settings": asdict(self)}


class Drawn(NamedTuple):
    """An image and what each person drew over it, (H, W), True on contours."""

    image: Image
    drawings: list[BoolArray]


@dataclass(frozen=True)
class Places:
    """Places in images: image and pixel of each, and the angle and descriptor of the contour there."""

    image: NDArray[np.int32]
    y: NDArray[np.int32]
    x: NDArray[np.int32]
    angle: Float32Array
    daisy: Float32Array


def train_tokens(
    examples: Sequence[Callable[[], Drawn]],
    settings: TokenSettings | None = None,
    report: Callable[[str], object] = str,
) -> SketchTokens:
    """Train a forest; `examples` are called to give each image; `report` gets the progress."""
    settings = settings or TokenSettings()
    seen = _each(lambda k: _sample_image(k, examples[k], settings), len(examples), "images sampled", report)
    planes = [own for own, _, _ in seen]
    contours, background = _joined([on for _, on, _ in seen]), _joined([off for _, _, off in seen])
    report(f"clustering {len(contours.y)} places on contours")
    classes = _tokens_of(contours, settings)

    def grow(number: int) -> SketchTokens:
        return _grow(planes, contours, background, classes, settings, number)

    return _forest(_each(grow, settings.trees, "trees grown", report), settings)


def _each(function: Callable[[int], Part], count: int, what: str, report: Callable[[str], object]) -> list[Part]:
    """Return function(0), function(1) and so on, by threads that end soon after this one is interrupted."""
    cancellation = _native.Cancellation()

    def work(number: int) -> Part:
        with cancel_with(cancellation):
            _native.check_interrupt()
            return function(number)

    found: list[Part] = []
    with ThreadPoolExecutor(min(available_cores(), PARALLEL_TREES)) as pool:
        try:
            for part in pool.map(work, range(count)):
                found.append(part)
                if len(found) % max(1, count // 10) == 0:
                    report(f"{what}: {len(found)} of {count}")
        except BaseException:
            cancellation.cancel()
            raise
    return found


def _sample_image(
    number: int, example: Callable[[], Drawn], settings: TokenSettings
) -> tuple[NDArray[np.uint8], Places, Places]:
    """Return an image's planes, and places on and off the contours drawn over it."""
    from scipy import ndimage

    image, drawings = example()
    rng = np.random.default_rng([settings.seed, 0, number])
    contours: list[Places] = []
    background: list[Places] = []
    clear = ~ndimage.binary_dilation(np.any(drawings, axis=0), iterations=BACKGROUND_MARGIN)
    for drawing in drawings:
        y, x = _chosen(drawing, rng, settings.from_drawing)
        own = np.full(len(y), number, np.int32)
        contours.append(Places(own, y, x, tangents(drawing)[y, x], daisies(drawing, y, x)))
        y, x = _chosen(clear, rng, settings.from_drawing)
        empty = np.zeros((len(y), 0), np.float32)
        background.append(Places(np.full(len(y), number, np.int32), y, x, np.zeros(len(y), np.float32), empty))
    return channel_planes(token_colours(CheckedImage(image))), _joined(contours), _joined(background)


def _chosen(mask: BoolArray, rng: np.random.Generator, most: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return some of the pixels of a mask, row by row."""
    chosen = np.sort(rng.permutation(np.flatnonzero(mask))[:most])
    y, x = np.unravel_index(chosen, mask.shape)
    return y.astype(np.int32), x.astype(np.int32)


def _joined(parts: Sequence[Places]) -> Places:
    return Places(*(np.concatenate([getattr(part, name) for part in parts]) for name in Places.__dataclass_fields__))


def _tokens_of(contours: Places, settings: TokenSettings) -> NDArray[np.intp]:
    """Return the token of each place on a contour."""
    if len(contours.y) < settings.tokens:
        raise ValueError(f"drawings must have at least {settings.tokens} pixels of contours, got {len(contours.y)}")
    rng = np.random.default_rng([settings.seed, 1])
    some = contours.daisy[np.sort(rng.permutation(len(contours.daisy))[:MAX_CLUSTERED])]
    return nearest(contours.daisy, cluster(some, settings.tokens, TOKEN_ROUNDS))


def _grow(
    planes: Sequence[NDArray[np.uint8]],
    contours: Places,
    background: Places,
    classes: NDArray[np.intp],
    settings: TokenSettings,
    number: int,
) -> SketchTokens:
    """Return one tree, from samples and features of its own."""
    rng = np.random.default_rng([settings.seed, 2, number])
    shuffled = rng.permutation(len(classes))
    order = shuffled[np.argsort(classes[shuffled], kind="stable")]
    starts = np.searchsorted(classes[order], classes[order])
    on = np.sort(order[np.arange(len(order)) - starts < settings.of_token])
    off = np.sort(rng.permutation(len(background.y))[: settings.background])
    asked = np.sort(rng.permutation(FEATURES)[: settings.features]).astype(np.int32)
    features = np.empty((len(asked), len(on) + len(off)), np.uint8)
    _fill(features[:, : len(on)], planes, contours, on, asked)
    _fill(features[:, len(on) :], planes, background, off, asked)
    labels = np.concatenate([classes[on], np.full(len(off), settings.tokens)]).astype(np.uint8)
    tried = min(settings.tried, len(asked))
    seed = int(rng.integers(2**62))
    column, threshold, child, leaf = _native.grow_token_tree(features, labels, tried, settings.least, seed)
    angle = 2 * contours.angle[on].astype(np.float64)
    sums = [
        np.bincount(leaf[: len(on)], weights, len(child))
        for weights in (np.ones(len(on)), np.cos(angle), np.sin(angle))
    ]
    value = np.stack(sums, axis=1) / np.maximum(np.bincount(leaf, minlength=len(child)), 1)[:, None]
    feature = np.where(child > 0, asked[column], 0).astype(np.int32)
    return SketchTokens(feature, threshold, child, value.astype(np.float32), np.zeros(1, np.int32))


def _fill(
    features: NDArray[np.uint8],
    planes: Sequence[NDArray[np.uint8]],
    places: Places,
    chosen: NDArray[np.intp],
    asked: NDArray[np.int32],
) -> None:
    """Write features of the chosen places, (features, places); places are in order of their images."""
    ends = np.searchsorted(places.image[chosen], np.arange(len(planes) + 1))
    for own, start, end in zip(planes, ends[:-1], ends[1:], strict=True):
        first, second = feature_places(asked, (own.shape[1], own.shape[2]))
        part = chosen[start:end]
        features[:, start:end] = _native.token_features(own, places.y[part], places.x[part], first, second)


def _forest(trees: Sequence[SketchTokens], settings: TokenSettings) -> SketchTokens:
    starts = np.cumsum([0] + [len(tree.child) for tree in trees]).astype(np.int32)
    child = [np.where(tree.child > 0, tree.child + start, 0) for tree, start in zip(trees, starts, strict=False)]
    return SketchTokens(
        feature=np.concatenate([tree.feature for tree in trees]),
        threshold=np.concatenate([tree.threshold for tree in trees]),
        child=np.concatenate(child).astype(np.int32),
        value=np.concatenate([tree.value for tree in trees]),
        root=starts[:-1],
        about=settings.about(),
    )
