"""
The compiled kernels: arrays in, arrays out; the public functions check and choose.
"""

from typing import Annotated, overload

import numpy
from numpy.typing import NDArray

def num_threads() -> int: ...
def set_num_threads(n: int) -> None: ...
def uses_avx2() -> bool: ...
def allow_avx2(yes: bool) -> None: ...
def uses_avx512() -> bool: ...
def allow_avx512(yes: bool) -> None: ...
def pool_memory(yes: bool) -> None: ...
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
def to_grey(
    pixels: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    white: float,
    offset: float,
    scale: float,
) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))]: ...
@overload
def to_grey(
    pixels: Annotated[NDArray[numpy.uint16], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    white: float,
    offset: float,
    scale: float,
) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))]: ...
@overload
def to_grey(
    pixels: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    white: float,
    offset: float,
    scale: float,
) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))]: ...
@overload
def to_grey(
    pixels: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    white: float,
    offset: float,
    scale: float,
) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))]: ...
def canny(
    image: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    sigma: float,
    low: float,
    high: float,
    quantiles: bool,
    automatic: bool,
    scale: float,
) -> tuple[
    Annotated[NDArray[numpy.float32], dict(shape=(None, None))],
    Annotated[NDArray[numpy.float32], dict(shape=(None, None))],
]: ...
def canny_field(
    image: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    sigma: float,
    low: float,
    high: float,
    quantiles: bool,
    automatic: bool,
    scale: float,
    directions: int = 0,
    arc_length: bool = False,
) -> EdgeField: ...
def automatic_thresholds(
    image: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    sigma: float,
) -> tuple[float, float]: ...
def smoothed_gradient(
    image: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    sigma: float,
) -> tuple[
    Annotated[NDArray[numpy.float32], dict(shape=(None, None))],
    Annotated[NDArray[numpy.float32], dict(shape=(None, None))],
]: ...
def suppress_non_maxima(
    strength: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    gx: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    gy: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    threshold: float,
) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))]: ...
def shape_forces(
    fx: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
    fy: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
    strength_scale: float,
    directions: int,
    arc_length: bool,
) -> None: ...
def watershed(
    heights: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.int32], dict(shape=(None, None))]: ...
def weigh_cracks(
    regions: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    oriented: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
    ],
) -> tuple[
    Annotated[NDArray[numpy.float32], dict(shape=(None, None))],
    Annotated[NDArray[numpy.float32], dict(shape=(None, None))],
]: ...
def merge_weakest(
    regions: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    right: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
    down: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
) -> tuple[
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.float32], dict(shape=(None,))],
]: ...
def half_disc_gradients(
    bins: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    count: int,
    radius: int,
    reach: int,
    step: int,
) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None, None))]: ...
def correlate(
    plane: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    border: int,
    dy: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    dx: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    weight: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))]: ...
def closed_contours(
    gx: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    gy: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    grey: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    seeds: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    angles: int,
    radii: int,
    nearest: float,
    farthest: float,
    slope: float,
) -> tuple[
    Annotated[NDArray[numpy.float64], dict(shape=(None, None))],
    Annotated[NDArray[numpy.float64], dict(shape=(None, None))],
    Annotated[NDArray[numpy.float32], dict(shape=(None, None))],
    Annotated[NDArray[numpy.bool_], dict(shape=(None, None))],
    Annotated[NDArray[numpy.float32], dict(shape=(None,))],
    Annotated[NDArray[numpy.float32], dict(shape=(None,))],
]: ...
def suppress_by_edges(
    y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    evidence: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    sign: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    diameter: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    height: int,
    width: int,
    own_share: float,
    overlap: float,
    size_ratio: float,
    margin: float,
) -> tuple[
    Annotated[NDArray[numpy.int32], dict(shape=(None, None))], Annotated[NDArray[numpy.int32], dict(shape=(None,))]
]: ...
def find_outlines(
    gx: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    gy: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    y: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    x: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    radius: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    sign: Annotated[NDArray[numpy.int8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    angles: int,
    low: float,
    high: float,
    steps: int,
    stiffness: float,
    attraction: float,
) -> tuple[
    Annotated[NDArray[numpy.float32], dict(shape=(None, None))], Annotated[NDArray[numpy.float32], dict(shape=(None,))]
]: ...
def label_outlines(
    labels: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    number: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    y: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    x: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    angles: int,
    reach: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))]: ...
def outline_profiles(
    planes: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    y: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    x: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    radii: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    parts: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None, None, None))]: ...
def outline_diameters(
    planes: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    y: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    x: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    radii: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None, None))]: ...
def outline_contrasts(
    gx: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    gy: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    y: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    x: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    radii: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))]: ...
def outline_shapes(
    y: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    x: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    radii: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    height: int,
    width: int,
) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]: ...
def outline_overlaps(
    y: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    x: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    radii: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    height: int,
    width: int,
    part: float,
) -> tuple[
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
]: ...
def paint_outlines(
    y: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    x: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    radii: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    height: int,
    width: int,
) -> Annotated[NDArray[numpy.int32], dict(shape=(None, None))]: ...
def extremal_regions(
    image: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    smallest: int,
    largest: int,
    growth: float,
    angles: int,
) -> tuple[
    Annotated[NDArray[numpy.float32], dict(shape=(None,))],
    Annotated[NDArray[numpy.float32], dict(shape=(None,))],
    Annotated[NDArray[numpy.float32], dict(shape=(None, None))],
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.float32], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
]: ...
def distance_transform(
    inside: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))]: ...
def smooth_plane(
    plane: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))]: ...
def order_statistics(
    plane: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    ranks: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]: ...
def box_mean(
    plane: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    size: int,
) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))]: ...
def label_hills(
    plane: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    inside: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)],
) -> tuple[
    Annotated[NDArray[numpy.int32], dict(shape=(None, None))], Annotated[NDArray[numpy.int64], dict(shape=(None, None))]
]: ...
def max_weight_set(
    weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    first: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    second: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    budget: int,
) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,))], bool]: ...
def forest_values(
    feature: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    threshold: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    left: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    right: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    value: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    root: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    features: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]: ...

class EdgeField:
    def __init__(
        self,
        fx: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        fy: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    ) -> None: ...
    def round_to(self, steps: float) -> None: ...
    def statistics(
        self,
    ) -> tuple[tuple[int, int, int, int], float, int, tuple[int, ...], tuple[tuple[int, int], ...]]: ...
    def turned(self, a: float, b: float, c: float, d: float) -> EdgeField: ...
    @property
    def mass(self) -> float: ...
    @property
    def fx(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None), writable=False)]: ...
    @property
    def fy(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None), writable=False)]: ...

def divide_by_mass(
    edges: EdgeField,
    half: int,
    tau: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
) -> None: ...
def divide_by_second_mass(
    edges: EdgeField,
    half: int,
    tau: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
) -> None: ...
def add_coherent_votes(
    edges: EdgeField,
    halves: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    tau: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu")],
    total: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
) -> None: ...
def torque_volume(
    edges: EdgeField,
    heights: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    widths: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    areas: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    shape: int,
    free: bool,
    out: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu")],
) -> None: ...
def value_and_scale(
    edges: EdgeField,
    heights: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    widths: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    areas: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    shape: int,
    free: bool,
    labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> tuple[
    Annotated[NDArray[numpy.float32], dict(shape=(None, None))],
    Annotated[NDArray[numpy.int32], dict(shape=(None, None))],
]: ...
def value_and_scale_of_volume(
    tau: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> tuple[
    Annotated[NDArray[numpy.float32], dict(shape=(None, None))],
    Annotated[NDArray[numpy.int32], dict(shape=(None, None))],
]: ...
def torque_spectrum(
    edges: EdgeField,
    heights: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    widths: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    areas: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    shape: int,
    free: bool,
    y: int,
    x: int,
) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]: ...
def patch_moments(
    edges: EdgeField, height: int, width: int
) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None, None))]: ...
def moments_at(
    edges: EdgeField,
    y: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    x: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    height: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    width: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]: ...
def gradient_torque(
    image: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    heights: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    widths: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None, None))]: ...
def gradient_disks(
    image: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None, None))]: ...
def extrema_of_volume(
    tau: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    heights: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    widths: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    sign: int,
    count: int,
    end_scales: bool,
    least: float,
    cross: bool = False,
    inside: bool = False,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.float32], dict(shape=(None,))],
]: ...
def extrema_of_field(
    edges: EdgeField,
    heights: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    widths: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    areas: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    shape: int,
    free: bool,
    sign: int,
    count: int,
    end_scales: bool,
    least: float,
    cross: bool = False,
    inside: bool = False,
    near: bool = False,
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.float32], dict(shape=(None,))],
    int,
]: ...
def force_bounded_search(yes: bool) -> None: ...
def unmerged_extrema(
    edges: EdgeField,
    heights: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    widths: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    areas: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    shape: int,
    free: bool,
    least: float,
    core: tuple[int, int, int, int],
    y: int,
    x: int,
    end_scales: bool = True,
    cross: bool = False,
    inside: bool = False,
) -> Annotated[NDArray[numpy.int32], dict(shape=(None, None))]: ...
def merge_extrema(rows: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu")]) -> int: ...
def suppress_overlaps(
    y: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    x: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    height: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    width: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    value: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    overlap: float,
) -> Annotated[NDArray[numpy.bool_], dict(shape=(None,))]: ...
def contributions(
    fx: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    fy: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    y: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    x: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    height: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    width: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    shape: int,
    absolute: bool,
    free: bool,
) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]: ...
def max_flow(
    source: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    sink: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    right: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    down: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    down_right: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    down_left: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    diagonal: bool,
    wrap_rows: bool,
) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None, None))], float]: ...
def max_flow_from(
    source: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    sink: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    right: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    down: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    wrap_rows: bool,
    flow: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
) -> Annotated[NDArray[numpy.uint8], dict(shape=(None, None))]: ...
def alpha_expansion(
    unary: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    right: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    down: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    down_right: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    down_left: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    diagonal: bool,
    wrap_rows: bool,
    metric: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    cycles: int,
    start: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None, None))], float]: ...
def box_scores(
    planes: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    boxes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    inside: float,
    outside: float,
) -> tuple[
    Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))]
]: ...
def distinct_boxes(
    boxes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    overlap: float,
    most: int,
) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...
def count_words(
    words: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    top: int,
    left: int,
    figure: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    on: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    off: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    count: int,
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...
def cut_words(
    words: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    right: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    down: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    top: int,
    left: int,
    log_odds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    cost: float,
    on: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    off: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    flow: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
) -> Annotated[NDArray[numpy.uint8], dict(shape=(None, None))]: ...
def polar_edges(
    strength: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    dx: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    dy: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    y: int,
    x: int,
    threshold: float,
    columns: int,
) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]: ...
def flood(
    mask: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    seeds: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.uint8], dict(shape=(None, None))]: ...
def dilate(
    mask: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    radius: int,
) -> Annotated[NDArray[numpy.uint8], dict(shape=(None, None))]: ...
def fill_holes(
    mask: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.uint8], dict(shape=(None, None))]: ...
def nearest_seeds(
    cost: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    seeds: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.int32], dict(shape=(None, None))]: ...
def thin(
    image: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.uint8], dict(shape=(None, None))]: ...
def match_min_cost(
    pixels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    truths: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    radius: float,
    outlier_cost: float,
) -> Annotated[NDArray[numpy.int32], dict(shape=(None, None))]: ...
def match_cardinality(
    pixels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    truths: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    radius: float,
) -> Annotated[NDArray[numpy.int32], dict(shape=(None, None))]: ...
def multiscale_torque(
    fx: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    fy: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    steps: float,
    y: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    x: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    height: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    width: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    regions: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    distances: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    align: bool,
) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))]: ...
def direction_histograms(
    gx: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    gy: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    size: int,
    top: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    left: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))]: ...
def linear_codes(
    descriptors: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    words: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    neighbours: int,
    beta: float,
) -> tuple[
    Annotated[NDArray[numpy.int32], dict(shape=(None, None))],
    Annotated[NDArray[numpy.float32], dict(shape=(None, None))],
]: ...
def max_pool(
    index: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    weight: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    cell: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    words: int,
    cells: int,
) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))]: ...
def sum_by_word(
    descriptors: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    words: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
) -> tuple[
    Annotated[NDArray[numpy.float64], dict(shape=(None, None))],
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
]: ...
def train_linear_svms(
    products: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    cost: float,
    tolerance: float,
    most: int,
    coefficient: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
) -> int: ...
def volume_torque(
    gz: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    gy: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    gx: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    steps: float,
    halves: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    norms: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    wide: bool,
) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None, None, None))]: ...
def volume_value_and_scale(
    gz: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    gy: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    gx: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    steps: float,
    halves: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    norms: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    wide: bool,
    labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> tuple[
    Annotated[NDArray[numpy.float32], dict(shape=(None, None, None))],
    Annotated[NDArray[numpy.int32], dict(shape=(None, None, None))],
]: ...
def volume_extrema(
    gz: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    gy: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    gx: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    steps: float,
    halves: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    norms: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    wide: bool,
    sign: int,
    least: float,
) -> tuple[
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.float32], dict(shape=(None,))],
]: ...
def volume_thin(
    strength: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
    ],
    gz: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    gy: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    gx: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    threshold: float,
) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None, None))]: ...
def volume_gradient_torque(
    image: Annotated[NDArray[numpy.int32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    unit: float,
    halves: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    norms: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None, None, None))]: ...
def volume_gradient_extrema(
    image: Annotated[NDArray[numpy.int32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    unit: float,
    halves: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    norms: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    sign: int,
    least: float,
) -> tuple[
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.float32], dict(shape=(None,))],
]: ...
def volume_suppress(
    centre: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    side: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    value: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    overlap: float,
) -> Annotated[NDArray[numpy.bool_], dict(shape=(None,))]: ...
def shape_response(
    first: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    second: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    down: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    across: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    weights: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    floor: float,
) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))]: ...
def find_candidates(
    window: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    sigma: float,
    low: float,
) -> tuple[
    Annotated[NDArray[numpy.float32], dict(shape=(None, None))],
    Annotated[NDArray[numpy.float32], dict(shape=(None, None))],
]: ...
def count_bins(
    window: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    sigma: float,
    core: tuple[int, int, int, int],
    largest: float,
) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...
def list_candidates(
    window: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    sigma: float,
    low: float,
    automatic: bool,
    core: tuple[int, int, int, int],
    block: int,
) -> tuple[
    Annotated[NDArray[numpy.uint32], dict(shape=(None, None))],
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    float,
    int,
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
]: ...
def place_candidates(
    candidates: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    part_width: int,
    y: int,
    x: int,
    gx: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
    gy: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
) -> None: ...
def strongest_floats(
    values: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None, None))]: ...
def strongest_doubles(
    values: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None, None))]: ...
def strongest_integers(
    values: Annotated[NDArray[numpy.int32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.int32], dict(shape=(None, None, None))]: ...
def label_tile_edges(
    gx: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    gy: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    low: float,
    high: float,
    rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.int64], dict(shape=(None,))],
    Annotated[NDArray[numpy.bool_], dict(shape=(None,))],
]: ...
def connect_edges(
    gx: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
    gy: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
    low: float,
    high: float,
    seeds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rounds: int,
    core: tuple[int, int, int, int],
) -> bool: ...
def token_features(
    planes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    x: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    first: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    second: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.uint8], dict(shape=(None, None))]: ...
def grow_token_tree(
    features: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    classes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    tried: int,
    least: int,
    seed: int,
) -> tuple[
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.uint8], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
]: ...
def token_predictions(
    planes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    side: int,
    step: int,
    first: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    second: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    threshold: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    child: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    value: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    root: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None, None))]: ...
