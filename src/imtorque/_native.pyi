"""The compiled kernels: arrays in, arrays out; the public functions check and choose."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque._types import Float32Array, FloatArray, IntArray

def num_threads() -> int: ...
def set_num_threads(n: int) -> None: ...
def uses_avx2() -> bool: ...
def allow_avx2(yes: bool) -> None: ...
def to_grey(pixels: NDArray[Any], white: float, offset: float, scale: float) -> Float32Array: ...
def canny(
    image: Float32Array, sigma: float, low: float, high: float, quantiles: bool, automatic: bool
) -> tuple[Float32Array, Float32Array]: ...
def smoothed_gradient(image: Float32Array, sigma: float) -> tuple[Float32Array, Float32Array]: ...
def suppress_non_maxima(
    strength: Float32Array, gx: Float32Array, gy: Float32Array, threshold: float
) -> Float32Array: ...
def shape_forces(
    fx: Float32Array, fy: Float32Array, strength_scale: float, directions: int, arc_length: bool
) -> None: ...
def survey(fx: Float32Array, fy: Float32Array) -> tuple[float, float, NDArray[np.float64]]: ...
def torque_volume(
    fx: Float32Array,
    fy: Float32Array,
    steps: float,
    blocks: FloatArray,
    heights: IntArray,
    widths: IntArray,
    areas: FloatArray,
    disk: bool,
    out: Float32Array,
) -> None: ...
def value_and_scale(
    fx: Float32Array,
    fy: Float32Array,
    steps: float,
    blocks: FloatArray,
    heights: IntArray,
    widths: IntArray,
    areas: FloatArray,
    disk: bool,
    labels: NDArray[np.int32],
) -> tuple[Float32Array, NDArray[np.int32]]: ...
def value_and_scale_of_volume(
    tau: Float32Array, labels: NDArray[np.int32]
) -> tuple[Float32Array, NDArray[np.int32]]: ...
def torque_spectrum(
    fx: Float32Array,
    fy: Float32Array,
    steps: float,
    blocks: FloatArray,
    heights: IntArray,
    widths: IntArray,
    areas: FloatArray,
    disk: bool,
    y: int,
    x: int,
) -> Float32Array: ...
def gradient_torque(image: NDArray[np.float64], heights: IntArray, widths: IntArray) -> Float32Array: ...
def extrema_of_volume(
    tau: Float32Array, sign: int, count: int, end_scales: bool
) -> tuple[IntArray, IntArray, IntArray, Float32Array]: ...
def extrema_of_field(
    fx: Float32Array,
    fy: Float32Array,
    steps: float,
    blocks: FloatArray,
    heights: IntArray,
    widths: IntArray,
    areas: FloatArray,
    disk: bool,
    sign: int,
    count: int,
    end_scales: bool,
) -> tuple[IntArray, IntArray, IntArray, Float32Array]: ...
def suppress_overlaps(
    y: IntArray, x: IntArray, height: IntArray, width: IntArray, value: Float32Array, overlap: float
) -> NDArray[np.bool_]: ...
def contributions(
    fx: Float32Array,
    fy: Float32Array,
    y: IntArray,
    x: IntArray,
    height: IntArray,
    width: IntArray,
    weight: NDArray[np.float64],
    disk: bool,
    absolute: bool,
) -> NDArray[np.float64]: ...
def divide_by_mass(fx: Float32Array, fy: Float32Array, steps: float, half: int, tau: Float32Array) -> None: ...
def add_coherent_votes(
    fx: Float32Array,
    fy: Float32Array,
    coherence: Float32Array,
    half: int,
    total: NDArray[np.float64],
) -> None: ...
def polar_edges(
    strength: Float32Array, dx: Float32Array, dy: Float32Array, y: int, x: int, threshold: float, columns: int
) -> NDArray[np.float64]: ...
def nearest_seeds(cost: NDArray[np.float64], seeds: NDArray[np.int32]) -> NDArray[np.int32]: ...
def box_scores(
    planes: NDArray[np.float64], boxes: NDArray[np.int64], inside: float, outside: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def closed_contours(
    gx: Float32Array,
    gy: Float32Array,
    grey: Float32Array,
    seeds: NDArray[np.float64],
    angles: int,
    radii: int,
    nearest: float,
    farthest: float,
    slope: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64], Float32Array, NDArray[np.bool_], Float32Array, Float32Array]: ...
def claim_edges(
    y: NDArray[np.float64],
    x: NDArray[np.float64],
    evidence: Float32Array,
    sign: NDArray[np.float64],
    diameter: NDArray[np.float64],
    height: int,
    width: int,
    fresh: float,
    overlap: float,
    nested: float,
    reach: float,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
def distinct_boxes(boxes: NDArray[np.int64], overlap: float, most: int) -> NDArray[np.int64]: ...
def thin(picture: NDArray[np.uint8]) -> NDArray[np.uint8]: ...
def match_min_cost(
    pixels: NDArray[np.int32],
    starts: NDArray[np.int64],
    truths: NDArray[np.uint8],
    radius: float,
    outlier_cost: float,
) -> NDArray[np.int32]: ...
def match_cardinality(
    pixels: NDArray[np.int32], starts: NDArray[np.int64], truths: NDArray[np.uint8], radius: float
) -> NDArray[np.int32]: ...
def multiscale_torque(
    fx: Float32Array,
    fy: Float32Array,
    steps: float,
    y: IntArray,
    x: IntArray,
    size: IntArray,
    regions: FloatArray,
    distances: FloatArray,
    align: bool,
) -> Float32Array: ...
def direction_histograms(
    gx: Float32Array, gy: Float32Array, size: int, top: NDArray[np.int32], left: NDArray[np.int32]
) -> Float32Array: ...
def linear_codes(
    descriptors: Float32Array, words: Float32Array, neighbours: int, beta: float
) -> tuple[NDArray[np.int32], Float32Array]: ...
def pool_largest(
    index: NDArray[np.int32], weight: Float32Array, cell: NDArray[np.int32], words: int, cells: int
) -> Float32Array: ...
def sum_by_word(
    descriptors: Float32Array, words: Float32Array
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int32]]: ...
def train_machines(
    products: Float32Array,
    label: NDArray[np.int32],
    cost: float,
    tolerance: float,
    most: int,
    coefficient: Float32Array,
) -> int: ...
def max_flow(
    source: NDArray[np.float64],
    sink: NDArray[np.float64],
    right: NDArray[np.float64],
    down: NDArray[np.float64],
    down_right: NDArray[np.float64],
    down_left: NDArray[np.float64],
    diagonal: bool,
    wrap_rows: bool,
) -> tuple[NDArray[np.uint8], float]: ...
def alpha_expansion(
    unary: NDArray[np.float64],
    right: NDArray[np.float64],
    down: NDArray[np.float64],
    down_right: NDArray[np.float64],
    down_left: NDArray[np.float64],
    diagonal: bool,
    wrap_rows: bool,
    metric: NDArray[np.float64],
    cycles: int,
    start: NDArray[np.int32],
) -> tuple[NDArray[np.int32], float]: ...
def find_outlines(
    gx: Float32Array,
    gy: Float32Array,
    y: Float32Array,
    x: Float32Array,
    radius: Float32Array,
    sign: NDArray[np.int8],
    angles: int,
    low: float,
    high: float,
    steps: int,
    stiffness: float,
    attraction: float,
) -> tuple[Float32Array, Float32Array]: ...
def label_outlines(
    labels: NDArray[np.int32],
    number: NDArray[np.int32],
    y: Float32Array,
    x: Float32Array,
    angles: int,
    reach: float,
) -> Float32Array: ...
def outline_profiles(
    planes: Float32Array, y: Float32Array, x: Float32Array, radii: Float32Array, parts: Float32Array
) -> Float32Array: ...
def outline_lines(planes: Float32Array, y: Float32Array, x: Float32Array, radii: Float32Array) -> Float32Array: ...
def outline_contrasts(
    gx: Float32Array, gy: Float32Array, y: Float32Array, x: Float32Array, radii: Float32Array
) -> Float32Array: ...
def outline_shapes(
    y: Float32Array, x: Float32Array, radii: Float32Array, height: int, width: int
) -> NDArray[np.float64]: ...
def outline_overlaps(
    y: Float32Array, x: Float32Array, radii: Float32Array, height: int, width: int, part: float
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]: ...
def paint_outlines(
    y: Float32Array, x: Float32Array, radii: Float32Array, height: int, width: int
) -> NDArray[np.int32]: ...
def extremal_regions(
    picture: NDArray[np.uint8], smallest: int, largest: int, growth: float, angles: int
) -> tuple[Float32Array, Float32Array, Float32Array, NDArray[np.int64], Float32Array, NDArray[np.int32]]: ...
def ground_distance(inside: NDArray[np.uint8]) -> Float32Array: ...
def climb(plane: Float32Array, inside: NDArray[np.uint8]) -> tuple[NDArray[np.int32], int]: ...
def best_set(
    weight: NDArray[np.float64], first: NDArray[np.int32], second: NDArray[np.int32], budget: int
) -> tuple[NDArray[np.uint8], bool]: ...
def forest_values(
    feature: NDArray[np.int32],
    threshold: Float32Array,
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    value: Float32Array,
    root: NDArray[np.int32],
    features: Float32Array,
) -> Float32Array: ...
