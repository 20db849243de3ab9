"""
The compiled kernels: arrays in, arrays out; the public functions check and choose.
"""

from collections.abc import Sequence
from typing import overload

import numpy
from numpy.typing import NDArray

def num_threads() -> int: ...
def set_num_threads(n: int) -> None: ...
def uses_avx2() -> bool: ...
def allow_avx2(yes: bool) -> None: ...
def uses_avx512() -> bool: ...
def allow_avx512(yes: bool) -> None: ...
def use_all_threads(yes: bool) -> None: ...

class Cancelled(Exception):
    pass

class Cancellation:
    def __init__(self) -> None: ...
    def cancel(self) -> None: ...
    def watch(self) -> None: ...
    @property
    def cancelled(self) -> bool: ...

def watch_nothing() -> None: ...
def check_interrupt() -> None: ...
@overload
def to_grey(pixels: NDArray[numpy.uint8], white: float, offset: float, scale: float) -> NDArray[numpy.float32]: ...
@overload
def to_grey(pixels: NDArray[numpy.uint16], white: float, offset: float, scale: float) -> NDArray[numpy.float32]: ...
@overload
def to_grey(pixels: NDArray[numpy.float32], white: float, offset: float, scale: float) -> NDArray[numpy.float32]: ...
@overload
def to_grey(pixels: NDArray[numpy.float64], white: float, offset: float, scale: float) -> NDArray[numpy.float32]: ...
def canny(
    image: NDArray[numpy.float32], sigma: float, low: float, high: float, quantiles: bool, automatic: bool, scale: float
) -> tuple[NDArray[numpy.float32], NDArray[numpy.float32]]: ...
def canny_field(
    image: NDArray[numpy.float32],
    sigma: float,
    low: float,
    high: float,
    quantiles: bool,
    automatic: bool,
    scale: float,
    directions: int = 0,
    arc_length: bool = False,
) -> EdgeField: ...
def automatic_thresholds(image: NDArray[numpy.float32], sigma: float) -> tuple[float, float]: ...
def smoothed_gradient(
    image: NDArray[numpy.float32], sigma: float
) -> tuple[NDArray[numpy.float32], NDArray[numpy.float32]]: ...
def suppress_non_maxima(
    strength: NDArray[numpy.float32], gx: NDArray[numpy.float32], gy: NDArray[numpy.float32], threshold: float
) -> NDArray[numpy.float32]: ...
def shape_forces(
    fx: NDArray[numpy.float32], fy: NDArray[numpy.float32], strength_scale: float, directions: int, arc_length: bool
) -> None: ...
def watershed(heights: NDArray[numpy.float32]) -> NDArray[numpy.int32]: ...
def weigh_cracks(
    regions: NDArray[numpy.int32], oriented: NDArray[numpy.float32]
) -> tuple[NDArray[numpy.float32], NDArray[numpy.float32]]: ...
def merge_weakest(
    regions: NDArray[numpy.int32], right: NDArray[numpy.float32], down: NDArray[numpy.float32]
) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.float32]]: ...
def convolve_planes(
    planes: NDArray[numpy.float32],
    weight: NDArray[numpy.float32],
    bias: NDArray[numpy.float32],
    added: NDArray[numpy.float32] | None,
    rectified: bool,
) -> NDArray[numpy.float32]: ...
def half_disc_gradients(
    bins: NDArray[numpy.uint8], count: int, radius: int, reach: int, step: int
) -> NDArray[numpy.float32]: ...
def correlate(
    plane: NDArray[numpy.float32],
    border: int,
    dy: NDArray[numpy.int32],
    dx: NDArray[numpy.int32],
    weight: NDArray[numpy.float32],
) -> NDArray[numpy.float32]: ...
def closed_contours(
    gx: NDArray[numpy.float32],
    gy: NDArray[numpy.float32],
    grey: NDArray[numpy.float32],
    seeds: NDArray[numpy.float64],
    angles: int,
    radii: int,
    nearest: float,
    farthest: float,
    slope: float,
) -> tuple[
    NDArray[numpy.float64],
    NDArray[numpy.float64],
    NDArray[numpy.float32],
    NDArray[numpy.bool_],
    NDArray[numpy.float32],
    NDArray[numpy.float32],
]: ...
def suppress_by_edges(
    y: NDArray[numpy.float64],
    x: NDArray[numpy.float64],
    evidence: NDArray[numpy.float32],
    sign: NDArray[numpy.float64],
    diameter: NDArray[numpy.float64],
    height: int,
    width: int,
    own_share: float,
    overlap: float,
    size_ratio: float,
    margin: float,
) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32]]: ...
def find_outlines(
    gx: NDArray[numpy.float32],
    gy: NDArray[numpy.float32],
    y: NDArray[numpy.float32],
    x: NDArray[numpy.float32],
    radius: NDArray[numpy.float32],
    sign: NDArray[numpy.int8],
    angles: int,
    low: float,
    high: float,
    steps: int,
    stiffness: float,
    attraction: float,
) -> tuple[NDArray[numpy.float32], NDArray[numpy.float32]]: ...
def label_outlines(
    labels: NDArray[numpy.int32],
    number: NDArray[numpy.int32],
    y: NDArray[numpy.float32],
    x: NDArray[numpy.float32],
    angles: int,
    reach: NDArray[numpy.float32],
) -> NDArray[numpy.float32]: ...
def outline_profiles(
    planes: NDArray[numpy.float32],
    y: NDArray[numpy.float32],
    x: NDArray[numpy.float32],
    radii: NDArray[numpy.float32],
    parts: NDArray[numpy.float32],
) -> NDArray[numpy.float32]: ...
def outline_diameters(
    planes: NDArray[numpy.float32], y: NDArray[numpy.float32], x: NDArray[numpy.float32], radii: NDArray[numpy.float32]
) -> NDArray[numpy.float32]: ...
def outline_contrasts(
    gx: NDArray[numpy.float32],
    gy: NDArray[numpy.float32],
    y: NDArray[numpy.float32],
    x: NDArray[numpy.float32],
    radii: NDArray[numpy.float32],
) -> NDArray[numpy.float32]: ...
def outline_shapes(
    y: NDArray[numpy.float32], x: NDArray[numpy.float32], radii: NDArray[numpy.float32], height: int, width: int
) -> NDArray[numpy.float64]: ...
def outline_overlaps(
    y: NDArray[numpy.float32],
    x: NDArray[numpy.float32],
    radii: NDArray[numpy.float32],
    height: int,
    width: int,
    part: float,
) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32]]: ...
def paint_outlines(
    y: NDArray[numpy.float32], x: NDArray[numpy.float32], radii: NDArray[numpy.float32], height: int, width: int
) -> NDArray[numpy.int32]: ...
def extremal_regions(
    image: NDArray[numpy.uint8], smallest: int, largest: int, growth: float, angles: int
) -> tuple[
    NDArray[numpy.float32],
    NDArray[numpy.float32],
    NDArray[numpy.float32],
    NDArray[numpy.int64],
    NDArray[numpy.float32],
    NDArray[numpy.int32],
]: ...
def distance_transform(inside: NDArray[numpy.uint8]) -> NDArray[numpy.float32]: ...
def smooth_plane(plane: NDArray[numpy.float32], weights: NDArray[numpy.float64]) -> NDArray[numpy.float32]: ...
def box_mean(plane: NDArray[numpy.float32], size: int) -> NDArray[numpy.float32]: ...
def label_hills(
    plane: NDArray[numpy.float32], inside: NDArray[numpy.uint8]
) -> tuple[NDArray[numpy.int32], NDArray[numpy.int64]]: ...
def max_weight_set(
    weight: NDArray[numpy.float64], first: NDArray[numpy.int32], second: NDArray[numpy.int32], budget: int
) -> tuple[NDArray[numpy.uint8], bool]: ...
def forest_values(
    feature: NDArray[numpy.int32],
    threshold: NDArray[numpy.float32],
    left: NDArray[numpy.int32],
    right: NDArray[numpy.int32],
    value: NDArray[numpy.float32],
    root: NDArray[numpy.int32],
    features: NDArray[numpy.float32],
) -> NDArray[numpy.float32]: ...

class EdgeField:
    def __init__(self, fx: NDArray[numpy.float32], fy: NDArray[numpy.float32]) -> None: ...
    def round_to(self, steps: float) -> None: ...
    def statistics(
        self,
    ) -> tuple[tuple[int, int, int, int], float, int, tuple[int, ...], tuple[tuple[int, int], ...]]: ...
    def turned(self, a: float, b: float, c: float, d: float) -> EdgeField: ...
    @property
    def mass(self) -> float: ...
    @property
    def fx(self) -> NDArray[numpy.float32]: ...
    @property
    def fy(self) -> NDArray[numpy.float32]: ...

def unit_exponent(largest: float) -> int: ...
def choose_steps(
    height: int,
    width: int,
    extent: tuple[int, int, int, int],
    largest: float,
    grain: int,
    not_pell: Sequence[int],
    octaves: Sequence[tuple[int, int]],
) -> float: ...
def finest_steps(
    height: int,
    width: int,
    extent: tuple[int, int, int, int],
    largest: float,
    grain: int,
    not_pell: Sequence[int],
    octaves: Sequence[tuple[int, int]],
) -> float: ...
def divide_by_mass(edges: EdgeField, half: int, tau: NDArray[numpy.float32]) -> None: ...
def divide_by_second_mass(edges: EdgeField, half: int, tau: NDArray[numpy.float32]) -> None: ...
def add_coherent_votes(
    edges: EdgeField, halves: NDArray[numpy.int64], tau: NDArray[numpy.float32], total: NDArray[numpy.float64]
) -> None: ...
def torque_volume(
    edges: EdgeField,
    heights: NDArray[numpy.int64],
    widths: NDArray[numpy.int64],
    areas: NDArray[numpy.float64],
    shape: int,
    free: bool,
    out: NDArray[numpy.float32],
) -> None: ...
def value_and_scale(
    edges: EdgeField,
    heights: NDArray[numpy.int64],
    widths: NDArray[numpy.int64],
    areas: NDArray[numpy.float64],
    shape: int,
    free: bool,
    labels: NDArray[numpy.int32],
) -> tuple[NDArray[numpy.float32], NDArray[numpy.int32]]: ...
def value_and_scale_of_volume(
    tau: NDArray[numpy.float32], labels: NDArray[numpy.int32]
) -> tuple[NDArray[numpy.float32], NDArray[numpy.int32]]: ...
def torque_spectrum(
    edges: EdgeField,
    heights: NDArray[numpy.int64],
    widths: NDArray[numpy.int64],
    areas: NDArray[numpy.float64],
    shape: int,
    free: bool,
    y: int,
    x: int,
) -> NDArray[numpy.float32]: ...
def patch_moments(edges: EdgeField, height: int, width: int) -> NDArray[numpy.float32]: ...
def moments_at(
    edges: EdgeField,
    y: NDArray[numpy.int64],
    x: NDArray[numpy.int64],
    height: NDArray[numpy.int64],
    width: NDArray[numpy.int64],
) -> NDArray[numpy.float64]: ...
def gradient_torque(
    image: NDArray[numpy.float64], heights: NDArray[numpy.int64], widths: NDArray[numpy.int64]
) -> NDArray[numpy.float32]: ...
def gradient_disks(image: NDArray[numpy.float64], sizes: NDArray[numpy.int64]) -> NDArray[numpy.float32]: ...
def extrema_of_volume(
    tau: NDArray[numpy.float32],
    heights: NDArray[numpy.int64],
    widths: NDArray[numpy.int64],
    sign: int,
    count: int,
    end_scales: bool,
    least: float,
    cross: bool = False,
    inside: bool = False,
) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.float32]]: ...
def extrema_of_field(
    edges: EdgeField,
    heights: NDArray[numpy.int64],
    widths: NDArray[numpy.int64],
    areas: NDArray[numpy.float64],
    shape: int,
    free: bool,
    sign: int,
    count: int,
    end_scales: bool,
    least: float,
    cross: bool = False,
    inside: bool = False,
    near: bool = False,
) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.float32], int]: ...
def force_bounded_search(yes: bool) -> None: ...
def unmerged_extrema(
    edges: EdgeField,
    heights: NDArray[numpy.int64],
    widths: NDArray[numpy.int64],
    areas: NDArray[numpy.float64],
    shape: int,
    free: bool,
    least: float,
    core: tuple[int, int, int, int],
    y: int,
    x: int,
    end_scales: bool = True,
    cross: bool = False,
    inside: bool = False,
) -> NDArray[numpy.int32]: ...
def merge_extrema(rows: NDArray[numpy.int32]) -> int: ...
def suppress_overlaps(
    y: NDArray[numpy.int64],
    x: NDArray[numpy.int64],
    height: NDArray[numpy.int64],
    width: NDArray[numpy.int64],
    value: NDArray[numpy.float32],
    overlap: float,
) -> NDArray[numpy.bool_]: ...
def contributions(
    fx: NDArray[numpy.float32],
    fy: NDArray[numpy.float32],
    y: NDArray[numpy.int64],
    x: NDArray[numpy.int64],
    height: NDArray[numpy.int64],
    width: NDArray[numpy.int64],
    weight: NDArray[numpy.float64],
    shape: int,
    absolute: bool,
    free: bool,
) -> NDArray[numpy.float64]: ...
def max_flow(
    source: NDArray[numpy.float64],
    sink: NDArray[numpy.float64],
    right: NDArray[numpy.float64],
    down: NDArray[numpy.float64],
    down_right: NDArray[numpy.float64],
    down_left: NDArray[numpy.float64],
    diagonal: bool,
    wrap_rows: bool,
) -> tuple[NDArray[numpy.uint8], float]: ...
def max_flow_from(
    source: NDArray[numpy.float64],
    sink: NDArray[numpy.float64],
    right: NDArray[numpy.float64],
    down: NDArray[numpy.float64],
    wrap_rows: bool,
    flow: NDArray[numpy.int64],
) -> NDArray[numpy.uint8]: ...
def alpha_expansion(
    unary: NDArray[numpy.float64],
    right: NDArray[numpy.float64],
    down: NDArray[numpy.float64],
    down_right: NDArray[numpy.float64],
    down_left: NDArray[numpy.float64],
    diagonal: bool,
    wrap_rows: bool,
    metric: NDArray[numpy.float64],
    cycles: int,
    start: NDArray[numpy.int32],
) -> tuple[NDArray[numpy.int32], float]: ...
def box_scores(
    planes: NDArray[numpy.float64], boxes: NDArray[numpy.int64], inside: float, outside: float
) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]: ...
def distinct_boxes(boxes: NDArray[numpy.int64], overlap: float, most: int) -> NDArray[numpy.int64]: ...
def count_words(
    words: NDArray[numpy.int64],
    top: int,
    left: int,
    figure: NDArray[numpy.uint8],
    on: NDArray[numpy.uint8],
    off: NDArray[numpy.uint8],
    count: int,
) -> NDArray[numpy.float64]: ...
def cut_words(
    words: NDArray[numpy.int64],
    right: NDArray[numpy.float64],
    down: NDArray[numpy.float64],
    top: int,
    left: int,
    log_odds: NDArray[numpy.float64],
    cost: float,
    on: NDArray[numpy.uint8],
    off: NDArray[numpy.uint8],
    flow: NDArray[numpy.int64],
) -> NDArray[numpy.uint8]: ...
def polar_edges(
    strength: NDArray[numpy.float32],
    dx: NDArray[numpy.float32],
    dy: NDArray[numpy.float32],
    y: int,
    x: int,
    threshold: float,
    columns: int,
) -> NDArray[numpy.float64]: ...
def fill_holes(mask: NDArray[numpy.uint8]) -> NDArray[numpy.uint8]: ...
def nearest_seeds(cost: NDArray[numpy.float64], seeds: NDArray[numpy.int32]) -> NDArray[numpy.int32]: ...
def thin(image: NDArray[numpy.uint8]) -> NDArray[numpy.uint8]: ...
def match_min_cost(
    pixels: NDArray[numpy.int32],
    starts: NDArray[numpy.int64],
    truths: NDArray[numpy.uint8],
    radius: float,
    outlier_cost: float,
) -> NDArray[numpy.int32]: ...
def match_cardinality(
    pixels: NDArray[numpy.int32], starts: NDArray[numpy.int64], truths: NDArray[numpy.uint8], radius: float
) -> NDArray[numpy.int32]: ...
def multiscale_torque(
    fx: NDArray[numpy.float32],
    fy: NDArray[numpy.float32],
    steps: float,
    y: NDArray[numpy.int64],
    x: NDArray[numpy.int64],
    height: NDArray[numpy.int64],
    width: NDArray[numpy.int64],
    regions: NDArray[numpy.float64],
    distances: NDArray[numpy.float64],
    align: bool,
) -> NDArray[numpy.float32]: ...
def direction_histograms(
    gx: NDArray[numpy.float32],
    gy: NDArray[numpy.float32],
    size: int,
    top: NDArray[numpy.int32],
    left: NDArray[numpy.int32],
) -> NDArray[numpy.float32]: ...
def linear_codes(
    descriptors: NDArray[numpy.float32], words: NDArray[numpy.float32], neighbours: int, beta: float
) -> tuple[NDArray[numpy.int32], NDArray[numpy.float32]]: ...
def max_pool(
    index: NDArray[numpy.int32], weight: NDArray[numpy.float32], cell: NDArray[numpy.int32], words: int, cells: int
) -> NDArray[numpy.float32]: ...
def sum_by_word(
    descriptors: NDArray[numpy.float32], words: NDArray[numpy.float32]
) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64], NDArray[numpy.int32]]: ...
def train_linear_svms(
    products: NDArray[numpy.float32],
    label: NDArray[numpy.int32],
    cost: float,
    tolerance: float,
    most: int,
    coefficient: NDArray[numpy.float32],
) -> int: ...
def volume_torque(
    gz: NDArray[numpy.float32],
    gy: NDArray[numpy.float32],
    gx: NDArray[numpy.float32],
    steps: float,
    halves: NDArray[numpy.int32],
    norms: NDArray[numpy.float32],
    wide: bool,
) -> NDArray[numpy.float32]: ...
def volume_value_and_scale(
    gz: NDArray[numpy.float32],
    gy: NDArray[numpy.float32],
    gx: NDArray[numpy.float32],
    steps: float,
    halves: NDArray[numpy.int32],
    norms: NDArray[numpy.float32],
    wide: bool,
    labels: NDArray[numpy.int32],
) -> tuple[NDArray[numpy.float32], NDArray[numpy.int32]]: ...
def volume_extrema(
    gz: NDArray[numpy.float32],
    gy: NDArray[numpy.float32],
    gx: NDArray[numpy.float32],
    steps: float,
    halves: NDArray[numpy.int32],
    norms: NDArray[numpy.float32],
    wide: bool,
    sign: int,
    least: float,
) -> tuple[
    NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.float32]
]: ...
def volume_thin(
    strength: NDArray[numpy.float32],
    gz: NDArray[numpy.float32],
    gy: NDArray[numpy.float32],
    gx: NDArray[numpy.float32],
    threshold: float,
) -> NDArray[numpy.float32]: ...
def volume_gradient_torque(
    image: NDArray[numpy.int32], unit: float, halves: NDArray[numpy.int32], norms: NDArray[numpy.float32]
) -> NDArray[numpy.float32]: ...
def volume_gradient_extrema(
    image: NDArray[numpy.int32],
    unit: float,
    halves: NDArray[numpy.int32],
    norms: NDArray[numpy.float32],
    sign: int,
    least: float,
) -> tuple[
    NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.float32]
]: ...
def volume_suppress(
    centre: NDArray[numpy.int64], side: NDArray[numpy.int64], value: NDArray[numpy.float32], overlap: float
) -> NDArray[numpy.bool_]: ...
def shape_response(
    first: NDArray[numpy.int32],
    second: NDArray[numpy.int32],
    down: NDArray[numpy.int32],
    across: NDArray[numpy.int32],
    weights: NDArray[numpy.float32],
    floor: float,
) -> NDArray[numpy.float32]: ...
def find_candidates(
    window: NDArray[numpy.float32], sigma: float, low: float
) -> tuple[NDArray[numpy.float32], NDArray[numpy.float32]]: ...
def count_bins(
    window: NDArray[numpy.float32], sigma: float, core: tuple[int, int, int, int], largest: float
) -> NDArray[numpy.int64]: ...
def list_candidates(
    window: NDArray[numpy.float32],
    sigma: float,
    low: float,
    automatic: bool,
    core: tuple[int, int, int, int],
    block: int,
) -> tuple[NDArray[numpy.uint32], NDArray[numpy.int64], float, int, NDArray[numpy.int64]]: ...
def place_candidates(
    candidates: NDArray[numpy.uint32],
    part_width: int,
    y: int,
    x: int,
    gx: NDArray[numpy.float32],
    gy: NDArray[numpy.float32],
) -> None: ...
def label_tile_edges(
    gx: NDArray[numpy.float32],
    gy: NDArray[numpy.float32],
    low: float,
    high: float,
    rows: NDArray[numpy.int64],
    columns: NDArray[numpy.int64],
) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.bool_]]: ...
def connect_edges(
    gx: NDArray[numpy.float32],
    gy: NDArray[numpy.float32],
    low: float,
    high: float,
    seeds: NDArray[numpy.int64],
    rounds: int,
    core: tuple[int, int, int, int],
) -> bool: ...
def token_features(
    planes: NDArray[numpy.uint8],
    y: NDArray[numpy.int32],
    x: NDArray[numpy.int32],
    first: NDArray[numpy.int32],
    second: NDArray[numpy.int32],
) -> NDArray[numpy.uint8]: ...
def grow_token_tree(
    features: NDArray[numpy.uint8], classes: NDArray[numpy.uint8], tried: int, least: int, seed: int
) -> tuple[NDArray[numpy.int32], NDArray[numpy.uint8], NDArray[numpy.int32], NDArray[numpy.int32]]: ...
def token_predictions(
    planes: NDArray[numpy.uint8],
    side: int,
    step: int,
    first: NDArray[numpy.int32],
    second: NDArray[numpy.int32],
    threshold: NDArray[numpy.uint8],
    child: NDArray[numpy.int32],
    value: NDArray[numpy.float32],
    root: NDArray[numpy.int32],
) -> NDArray[numpy.float32]: ...
