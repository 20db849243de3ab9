import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import jv

import imtorque
import naive
from imtorque import (
    Edges,
    detect_edges,
    gradient_edges,
    gradient_torque,
    smooth_volume,
    torque_map,
    torque_spectrum,
    torque_volume,
    value_and_scale_maps,
)
from imtorque.synthetic import scene
from strategies import (
    alphas,
    assert_same_on_every_path,
    directed_fields,
    edge_fields,
    exact_fields,
    largest_force,
    odd_sizes,
    patches,
    rectangle_lists,
    rounded,
    size_lists,
    uneven_fields,
)


def random_edges(shape, *, density=0.1, seed=0):
    rng = np.random.default_rng(seed)
    angle, edge = rng.uniform(0, 2 * np.pi, shape), rng.random(shape) < density
    return Edges(np.cos(angle) * edge, np.sin(angle) * edge)


def torque_at(edges, y, x, size):
    """The definition at one point, by slicing; for images too large for loops."""
    r = size // 2
    top, left = max(0, y - r), max(0, x - r)
    fx, fy = (f[top : y + r + 1, left : x + r + 1].astype(float) for f in (edges.fx, edges.fy))
    v, u = np.indices(fx.shape)
    return float(np.sum((u + left - x) * fy - (v + top - y) * fx)) / (2 * size * size)


@pytest.mark.parametrize("size", [5, 31, 3001])
@pytest.mark.parametrize("patch", ["square", "disk"])
@pytest.mark.parametrize("density", [0.1, 1.0])
def test_torque_of_tiny_forces_is_that_of_large_ones_or_refused(size, patch, density):
    edges = random_edges((30, 40), density=density)
    usual = torque_volume(edges, [size], patch=patch).tau.astype(float)
    ends = []
    for exponent in range(-20, -150, -2):
        tiny = Edges(np.ldexp(edges.fx, exponent), np.ldexp(edges.fy, exponent))
        try:
            tau = torque_volume(tiny, [size], patch=patch).tau.astype(float)
        except ValueError as error:
            ends.append(str(error))
        else:
            assert ends == []
            assert np.abs(np.ldexp(tau, -exponent) - usual).max() < 1e-4 * np.abs(usual).max()
    assert ends


def test_a_part_with_tiny_forces_of_a_field_with_larger_ones_is_taken():
    fx = np.full((20, 20), 1e-35, np.float32)
    fx[:, 10:] = 1
    whole = Edges(fx, 0 * fx)
    left = Edges(fx[:, :10], 0 * fx[:, :10], steps=whole.steps)
    assert_array_equal(torque_map(left, 3)[:, :8], torque_map(whole, 3)[:, :8])
    with pytest.raises(ValueError, match="forces must be 0 or reach 1e-29, got at most 1e-35"):
        torque_map(Edges(left.fx, left.fy), 3)


@given(edge_fields() | uneven_fields(), size_lists, patches, alphas)
def test_the_volume_is_the_definition_on_the_rounded_forces(edges, sizes, patch, alpha):
    ref = naive.torque_volume(*rounded(edges), sizes, patch, alpha)
    comp = torque_volume(edges, sizes, patch=patch, alpha=alpha).tau
    assert_allclose(comp, ref, rtol=3e-7, atol=1e-12 * (largest_force(edges) + 1))


@given(edge_fields(), size_lists, patches)
def test_the_volume_is_the_definition_to_a_ten_thousandth_of_the_largest_force(edges, sizes, patch):
    ref = naive.torque_volume(edges.fx, edges.fy, sizes, patch)
    comp = torque_volume(edges, sizes, patch=patch).tau
    assert_allclose(comp, ref, rtol=0, atol=1e-4 * largest_force(edges) + 1e-30)


@given(directed_fields(), size_lists, patches)
def test_eight_directions_are_the_definition_to_a_millionth(edges, sizes, patch):
    ref = naive.torque_volume(edges.fx, edges.fy, sizes, patch)
    assert_allclose(torque_volume(edges, sizes, patch=patch).tau, ref, rtol=0, atol=1e-6)


@given(exact_fields(), rectangle_lists, alphas)
def test_rectangles_are_the_definition(edges, sizes, alpha):
    ref = naive.torque_volume(edges.fx, edges.fy, sizes, alpha=alpha)
    comp = torque_volume(edges, sizes, alpha=alpha)
    assert_allclose(comp.tau, ref, rtol=3e-7, atol=1e-12)
    assert comp.sizes.shape == (len(sizes), 2)


@given(edge_fields(), odd_sizes, patches)
def test_a_map_is_a_slice_of_the_volume(edges, size, patch):
    larger = torque_volume(edges, [size, size + 2, size + 40], patch=patch)
    assert_array_equal(torque_map(edges, size, patch=patch), larger.tau[0])


@given(exact_fields(), st.integers(0, 9), st.integers(0, 9))
def test_a_rectangle_of_equal_sides_is_the_square(edges, h, w):
    size = 2 * max(h, w) + 1
    assert_array_equal(torque_map(edges, (size, size)), torque_map(edges, size))


@given(edge_fields() | uneven_fields(), size_lists, patches, alphas)
def test_fused_maps_equal_those_of_the_volume_to_the_bit(edges, sizes, patch, alpha):
    volume = torque_volume(edges, sizes, patch=patch, alpha=alpha)
    ref_value, ref_scale = naive.value_and_scale_maps(volume.tau, sizes)
    for value, scale in (value_and_scale_maps(edges, sizes, patch=patch, alpha=alpha), value_and_scale_maps(volume)):
        assert_array_equal(value, ref_value)
        assert_array_equal(scale, ref_scale)


@st.composite
def lists_of_many_sizes(draw):
    """Sizes of which many follow each other: their squares are looked up together."""
    first, count = draw(st.integers(0, 9)), draw(st.integers(10, 24))
    left_out = draw(st.sets(st.integers(first, first + count), max_size=2))
    beyond = draw(st.sets(st.integers(first + count, 60), max_size=3))
    return [2 * r + 1 for r in sorted({*range(first, first + count), *beyond} - left_out)]


@given(edge_fields() | uneven_fields(), lists_of_many_sizes(), alphas, st.sampled_from([1, 1e-25, 1e9]))
def test_fused_maps_of_many_sizes_equal_those_of_the_volume_to_the_bit(edges, sizes, alpha, strength):
    edges = Edges(edges.fx * strength, edges.fy * strength)
    ref_value, ref_scale = naive.value_and_scale_maps(torque_volume(edges, sizes, alpha=alpha).tau, sizes)
    value, scale = value_and_scale_maps(edges, sizes, alpha=alpha)
    assert_array_equal(value, ref_value)
    assert_array_equal(scale, ref_scale)


@pytest.mark.parametrize("shape", [(61, 700), (200, 23), (130, 321), (17, 313)])
@pytest.mark.parametrize(
    "sizes",
    [
        pytest.param(range(3, 92, 2), marks=pytest.mark.slow),
        range(1, 30, 2),
        [*range(3, 40, 2), 45, 65, 67, 91],
    ],
)
def test_fused_maps_of_many_sizes_are_those_of_the_volume_wherever_strips_and_blocks_end(shape, sizes):
    edges = random_edges(shape, density=0.3)
    expected = naive.value_and_scale_maps(torque_volume(edges, sizes).tau, sizes)
    for found, wanted in zip(value_and_scale_maps(edges, sizes), expected, strict=True):
        assert_array_equal(found, wanted)
    assert_same_on_every_path(lambda: value_and_scale_maps(edges, sizes))


@given(exact_fields(), rectangle_lists)
def test_fused_maps_of_rectangles_show_height_and_width(edges, sizes):
    volume = torque_volume(edges, sizes)
    ref_value, ref_scale = naive.value_and_scale_maps(volume.tau, sizes)
    for value, scale in (value_and_scale_maps(edges, sizes), value_and_scale_maps(volume)):
        assert_array_equal(value, ref_value)
        assert_array_equal(scale, ref_scale)


@given(edge_fields() | uneven_fields(), size_lists, patches, alphas, st.data())
def test_the_spectrum_is_a_column_of_the_volume(edges, sizes, patch, alpha, data):
    y, x = (data.draw(st.integers(0, n - 1)) for n in edges.shape)
    volume = torque_volume(edges, sizes, patch=patch, alpha=alpha)
    assert_array_equal(torque_spectrum(edges, (y, x), sizes, patch=patch, alpha=alpha), volume.tau[:, y, x])


@given(exact_fields(), rectangle_lists, st.data())
def test_the_spectrum_over_rectangles_is_a_column_of_the_volume(edges, sizes, data):
    y, x = (data.draw(st.integers(0, n - 1)) for n in edges.shape)
    assert_array_equal(torque_spectrum(edges, (y, x), sizes), torque_volume(edges, sizes).tau[:, y, x])


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 3, 7, (5, 9), (1, 3), 41])
def test_gradient_torque_is_the_torque_of_half_pixel_differences(size):
    image = np.random.default_rng(0).random((11, 9))
    assert_allclose(gradient_torque(image, [size]).tau[0], naive.gradient_torque(image, size), atol=2e-6)


@pytest.mark.parametrize("size", [1, 3, 7, 13, 31])
def test_gradient_torque_of_disks_is_the_torque_of_the_slopes_between_pixels(size):
    image = np.random.default_rng(2).random((9, 7))
    found = gradient_torque(image, [size], patch="disk").tau[0]
    assert_allclose(found, naive.gradient_disk(image, size), atol=2e-6)


@pytest.mark.parametrize("radius", [4, 5, 7, 10, 20, 40])
@pytest.mark.parametrize("smoothness", [2.0, None])  # pixels; None: the radius
def test_gradient_torque_of_a_disk_is_mean_inside_minus_mean_on_its_circle(radius, smoothness):
    # A wave of wave vector k around a centre where it is 1: its means are 2 J1(kR) / (kR) and J0(kR).
    rng = np.random.default_rng(radius)
    length = 1 / (smoothness or radius)
    y, x = np.indices((2 * radius + 1,) * 2) - radius
    found, ref = [], []
    for angle, k in zip(rng.uniform(0, np.pi, 40), length * rng.uniform(0.2, 1.2, 40), strict=True):
        image = np.cos(k * (np.cos(angle) * x + np.sin(angle) * y))
        tau = gradient_torque(image, [2 * radius + 1], patch="disk", value_range=(0, 1)).tau[0, radius, radius]
        found.append(tau)
        ref.append(2 * jv(1, k * radius) / (k * radius) - jv(0, k * radius))
    ref = np.array(ref)
    assert_allclose(np.dot(found, ref) / np.dot(ref, ref), 1, atol=0.03)
    assert_allclose(found, ref, atol=0.03 * np.abs(ref).max())


def test_gradient_torque_of_a_bright_disc_is_the_appendix_s_in_disks_of_every_size():
    y, x = np.indices((81, 81)) - 40
    image = np.clip(12.5 - np.hypot(y, x), 0, 1)  # a disc of radius 12, with an edge of a pixel
    radii = np.array([6, 10, 14, 20, 30])
    tau = gradient_torque(image, 2 * radii + 1, patch="disk").tau[:, 40, 40]
    assert_allclose(tau, np.where(radii < 12, 0, (12 / radii) ** 2), atol=0.03)


def test_gradient_torque_knows_no_disk_with_two_sides():
    with pytest.raises(ValueError, match=r"a disk has one size, got \(height, width\) pairs"):
        gradient_torque(np.zeros((9, 9)), [(3, 5)], patch="disk")


def test_gradient_torque_is_in_parts_of_the_value_range():
    image = np.random.default_rng(1).random((20, 30))
    tau = gradient_torque(image, [5]).tau
    assert_allclose(gradient_torque(1000 * image - 77, [5], value_range=(-77, 923)).tau, tau, atol=1e-6)
    assert_allclose(gradient_torque(255 * image, [5]).tau, tau, atol=1e-6)


@pytest.mark.parametrize(("shape", "density", "size"), [((300, 1500), 0.1, 91), ((260, 700), 0.1, 351)])
def test_large_images_are_the_definition_at_every_seam(shape, density, size):
    edges = random_edges(shape, density=density)
    fx, fy = rounded(edges)
    exact = Edges(fx, fy)
    tau = torque_map(edges, size)
    ys, xs = [0, 15, 16, 17, shape[0] // 2, shape[0] - 1], [0, 479, 480, 481, shape[1] // 2, shape[1] - 1]
    for y in ys:
        for x in xs:
            assert_allclose(tau[y, x], torque_at(exact, y, x, size), rtol=1e-6, atol=1e-9)


def test_sums_beyond_51_bits_are_exact():
    edges = random_edges((900, 1000), density=1.0)
    size = 2001
    tau = torque_map(edges, size)
    exact = Edges(*rounded(edges))
    for y, x in [(0, 0), (450, 500), (899, 999)]:
        assert_allclose(tau[y, x], torque_at(exact, y, x, size), rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("share", [0.02, 0.1, 1])
@pytest.mark.parametrize(
    ("shape", "sizes"), [((13, 16), range(1, 24, 2)), ((9, 30), [3, 15, 31, 101]), ((30, 9), [15])]
)
def test_disks_are_the_definition_whether_forces_are_few_or_many_and_sizes_close_or_not(share, shape, sizes):
    field = np.random.default_rng(3).integers(-9, 10, (2, *shape)) * (np.random.default_rng(4).random(shape) < share)
    tau = torque_volume(Edges(*field.astype(np.float32)), sizes, patch="disk").tau
    for size, found in zip(sizes, tau, strict=True):
        assert_allclose(found, naive.torque_map(*field, size, "disk"), rtol=3e-7, atol=1e-12)


@given(
    st.tuples(st.integers(1, 16), st.integers(1, 24)),
    st.sampled_from([0.0, 0.02, 0.1, 0.2]),
    st.integers(0, 2**16),
    st.integers(0, 6),
    st.integers(1, 14),
    st.integers(1, 3),
)
def test_disks_that_follow_each_other_are_the_definition(shape, share, seed, smallest, count, gap):
    rng = np.random.default_rng(seed)
    field = rng.integers(-9, 10, (2, *shape)) * (rng.random(shape) < share)
    sizes = range(2 * smallest + 1, 2 * (smallest + gap * count), 2 * gap)
    for steps in (1.0, 2.0**32):  # sums of 32 and of 64 bits
        tau = torque_volume(Edges(*field.astype(np.float32), steps=steps), sizes, patch="disk").tau
        for size, found in zip(sizes, tau, strict=True):
            assert_allclose(found, naive.torque_map(*field, size, "disk"), rtol=3e-7, atol=1e-12)


@pytest.mark.parametrize("density", [0.001, 0.03, 0.2, 1])
@pytest.mark.parametrize("steps", [None, 2.0**24, 2.0**32])
def test_disks_have_the_torque_of_the_spectrum_however_they_are_summed(density, steps):
    edges = random_edges((200, 300), density=density)
    edges = edges if steps is None else Edges(edges.fx, edges.fy, steps=steps)
    for sizes in (range(3, 92, 2), range(101, 192, 10), [5, 9, 41, 43, 45, 601]):
        tau = torque_volume(edges, sizes, patch="disk").tau
        for y, x in [(0, 0), (100, 150), (37, 299), (199, 4)]:
            assert_array_equal(tau[:, y, x], torque_spectrum(edges, (y, x), sizes, patch="disk"))


@pytest.mark.parametrize("polarity", ["signed", "free"])
@pytest.mark.parametrize("density", [0, 0.001, 0.03, 0.2, 1])
@pytest.mark.parametrize("steps", [None, 2.0**32])
def test_maps_of_disks_hold_the_strongest_of_their_volume_however_they_are_summed(density, steps, polarity):
    edges = random_edges((70, 90), density=density)
    edges = edges if steps is None else Edges(edges.fx, edges.fy, steps=steps)
    for sizes in (range(3, 62, 4), [5, 9, 41, 43, 45, 601]):
        volume = torque_volume(edges, sizes, patch="disk", polarity=polarity)
        for found, expected in zip(
            value_and_scale_maps(edges, sizes, patch="disk", polarity=polarity),
            naive.value_and_scale_maps(volume.tau, volume.sizes),
            strict=True,
        ):
            assert_array_equal(found, expected)


@pytest.mark.parametrize("density", [0.02, 1])
def test_maps_of_disks_in_tall_images_are_those_of_their_volume(density):
    edges, sizes = random_edges((1300, 30), density=density), range(3, 24, 4)
    found = value_and_scale_maps(edges, sizes, patch="disk")
    for one, other in zip(found, value_and_scale_maps(torque_volume(edges, sizes, patch="disk")), strict=True):
        assert_array_equal(one, other)


def test_results_do_not_depend_on_threads_or_instruction_set():
    edges = random_edges((200, 1100))
    sizes = [3, 9, 45, 91, 151]

    def everything():
        found = imtorque.find_extrema(edges, sizes=sizes)
        maps = value_and_scale_maps(edges, sizes)
        disks = [torque_volume(edges, given, patch="disk").tau for given in (sizes, range(3, 36, 2))]
        few = torque_volume(random_edges((200, 1100), density=0.01), sizes, patch="disk").tau
        return torque_volume(edges, sizes).tau, *maps, *disks, few, found.y, found.x, found.value

    assert_same_on_every_path(everything)


@pytest.mark.parametrize("offset", [(0, 0), (3, 461), (77, 475), (100, 900)])
def test_results_do_not_depend_on_where_an_object_lies(offset):
    small = random_edges((25, 31), density=0.3, seed=3)
    margin, (dy, dx) = 40, offset
    shape = (25 + 2 * margin + 100, 31 + 2 * margin + 900)
    fx, fy = np.zeros(shape), np.zeros(shape)
    fx[margin + dy :][:25, margin + dx :][:, :31] = small.fx
    fy[margin + dy :][:25, margin + dx :][:, :31] = small.fy
    sizes = [5, 21, 61]
    whole = torque_volume(Edges(fx, fy), sizes).tau[:, margin + dy :, margin + dx :][:, :25, :31]
    assert_array_equal(whole, torque_volume(small, sizes).tau)


def test_a_crop_has_the_torque_of_the_whole():
    edges = random_edges((120, 130))
    crop = Edges(edges.fx[20:100, 30:120], edges.fy[20:100, 30:120])
    assert_array_equal(torque_map(edges, 21)[30:90, 40:110], torque_map(crop, 21)[10:70, 10:80])


def test_kernels_may_be_called_from_several_threads():
    edges = random_edges((150, 600))
    ref = value_and_scale_maps(edges, range(3, 40, 2))[0]
    results = [None] * 6

    def work(i):
        results[i] = value_and_scale_maps(edges, range(3, 40, 2))[0]

    team = [threading.Thread(target=work, args=(i,)) for i in range(len(results))]
    for thread in team:
        thread.start()
    for thread in team:
        thread.join()
    for result in results:
        assert_array_equal(result, ref)


def test_the_volume_can_be_written_to_a_given_array():
    edges = random_edges((20, 30))
    out = np.full((2, 20, 30), np.nan, np.float32)
    volume = torque_volume(edges, [3, 9], out=out)
    assert volume.tau is out
    assert_array_equal(out, torque_volume(edges, [3, 9]).tau)


def test_an_image_without_edges_has_no_torque():
    edges = detect_edges(np.full((30, 40), 0.3))
    value, scale = value_and_scale_maps(edges, [3, 9])
    assert not value.any()
    assert not scale.any()
    assert len(imtorque.find_extrema(edges, sizes=[3, 9])) == 0
    assert len(imtorque.find_extrema(edges, sizes=[3, 9], count=5)) == 0


@pytest.mark.parametrize("shape", [(1, 1), (1, 50), (50, 1), (2, 2)])
def test_the_smallest_images_work(shape):
    image = np.random.default_rng(0).random(shape)
    for edges in (detect_edges(image), gradient_edges(image), random_edges(shape, density=1.0)):
        value, scale = value_and_scale_maps(edges, [1, 3, 99])
        assert value.shape == scale.shape == shape
        assert torque_volume(edges, [1, 3, 99], patch="disk").tau.shape == (3, *shape)
        assert not torque_map(edges, 1).any()
        assert not torque_map(edges, 1, patch="disk").any()


def test_smoothing_keeps_a_constant_volume_and_spreads_a_peak():
    volume = imtorque.TorqueVolume(np.full((5, 9, 9), 0.25), [3, 5, 7, 9, 11])
    assert_allclose(smooth_volume(volume, 1.5, 1).tau, 0.25, rtol=1e-6)
    peak = np.zeros((5, 9, 9))
    peak[2, 4, 4] = 1
    smooth = smooth_volume(imtorque.TorqueVolume(peak, volume.sizes), sigma_space=1.0, sigma_scale=0.5).tau
    scale, space = (np.exp(-0.5 * (np.arange(-n, n + 1) / sigma) ** 2) for n, sigma in ((2, 0.5), (4, 1.0)))
    ref = np.einsum("k,y,x->kyx", scale / scale.sum(), space / space.sum(), space / space.sum())
    assert_allclose(smooth, ref, atol=1e-6)
    assert_array_equal(smooth_volume(volume, 0, 0).tau, volume.tau)


def test_rounding_is_the_same_for_every_part_of_the_library():
    edges = detect_edges(scene("shapes"))
    sizes = range(3, 92, 2)
    volume = torque_volume(edges, sizes)
    value, scale = value_and_scale_maps(edges, sizes)
    y, x = np.unravel_index(np.abs(value).argmax(), value.shape)
    k = list(sizes).index(abs(scale[y, x]))
    assert value[y, x] == volume.tau[k, y, x] == torque_spectrum(edges, (y, x), sizes)[k]
    assert value[y, x] == torque_map(edges, abs(int(scale[y, x])))[y, x]


def ring(radius, far_force):
    """Unit forces around a disc, and one strong force far from it."""
    y, x = np.indices((120, 160))
    angle, edge = np.arctan2(y - 60, x - 50), np.abs(np.hypot(y - 60, x - 50) - radius) < 0.5
    fx, fy = -np.sin(angle) * edge, np.cos(angle) * edge
    fx[10, 150], fy[10, 150] = 0.8 * far_force, 0.6 * far_force
    return Edges(fx, fy)


@pytest.mark.parametrize("far_force", [1, 10, 40, 65, 100, 129, 300, 2000, 8192, 1e5, 1e6])
@pytest.mark.parametrize("radius", [5, 8, 15, 25])
def test_one_strong_force_takes_nothing_from_weak_ones_elsewhere(radius, far_force):
    edges = ring(radius, far_force)
    for size in (2 * radius + 3, 61):
        assert_allclose(torque_map(edges, size)[60, 50], torque_at(edges, 60, 50, size), rtol=1e-3)
        alone = torque_map(ring(radius, 0), size, patch="disk")[60, 50]
        assert_allclose(torque_map(edges, size, patch="disk")[60, 50], alone, rtol=1e-3)


def test_log_normal_strengths_keep_their_torque():
    rng = np.random.default_rng(0)
    strength, angle = np.exp(3 * rng.normal(size=(120, 160))), rng.uniform(0, 2 * np.pi, (120, 160))
    strength *= rng.random((120, 160)) < 0.1
    edges = Edges(np.cos(angle) * strength, np.sin(angle) * strength)
    points = [(y, x) for y in range(0, 120, 7) for x in range(0, 160, 7)]
    for size in (5, 11, 31):
        ref = np.array([torque_at(edges, y, x, size) for y, x in points])
        comp = torque_map(edges, size)[tuple(np.transpose(points))]
        error = np.abs(comp - ref)[ref != 0] / np.abs(ref[ref != 0])
        assert np.median(error) < 1e-3


@pytest.mark.parametrize(
    ("options", "steps"),
    [({}, 4096), ({"directions": 8}, 3363), ({"force": "strength", "strength_scale": 0.13}, 4096)],
)
def test_edges_of_images_are_rounded_as_in_the_first_version(options, steps):
    image = (255 * scene("shapes")).astype(np.uint8)
    assert detect_edges(image, **options).steps == steps


MEMORY = """
import numpy as np, imtorque as it
from pathlib import Path
def peak():
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024
edges = lambda *shape: it.Edges(*(np.random.default_rng(0).random((2, *shape)) < 0.1))
it.find_blobs(np.eye(9))
before = peak()
{}
print(peak() - before)
"""


@pytest.mark.parametrize(
    "call",
    [
        "it.find_blobs(np.random.default_rng(0).random((60, 80)), sizes=[5, 1000001], threshold=0)",
        "it.value_and_scale_maps(edges(100, 1000), range(3, 4000, 200), patch='disk')",
        "it.find_extrema(edges(100, 1000), sizes=range(3, 4000, 200), patch='disk', count=5)",
        "it.torque_map(edges(100000, 1), 99999)",
        "it.torque_map(edges(1, 100000), 99999)",
        "it.find_extrema(edges(100000, 1), sizes=[3, 99999])",
        "it.contribution_map(edges(9, 9), it.Extrema([0], [2**31], [1000001], [1.0]), patch='disk')",
    ],
)
def test_patches_far_larger_than_an_image_take_little_memory(call):
    if not os.path.exists("/proc/self/status"):
        pytest.skip("no /proc here")
    run = subprocess.run([sys.executable, "-c", MEMORY.format(call)], capture_output=True, text=True, check=True)
    assert float(run.stdout) < 200  # megabytes


@pytest.mark.slow
def test_threads_share_the_tables_of_far_reaching_patches_with_the_same_result():
    edges = random_edges((1500, 1700), density=0.05)
    sizes = [9, 301, 801, 1201]
    found, maps = [], []
    for threads in (1, 3, 16):
        imtorque.set_num_threads(threads)
        maps.append(value_and_scale_maps(edges, sizes))
        found.append(imtorque.find_extrema(edges, sizes=sizes, count=100))
    imtorque.set_num_threads(1)
    for k in (1, 2):
        assert_array_equal(maps[0][0], maps[k][0])
        assert_array_equal(maps[0][1], maps[k][1])
        assert_array_equal(found[0].value, found[k].value)
        assert_array_equal(found[0].y, found[k].y)
    tau = torque_volume(edges, sizes).tau
    assert_array_equal(naive.value_and_scale_maps(tau[:, :50], sizes)[0], maps[0][0][:50])
