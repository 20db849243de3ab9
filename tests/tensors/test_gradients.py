"""Gradients are those of the definition, and cost no more memory than the maps themselves."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch.autograd import gradcheck, gradgradcheck
from torch.profiler import ProfilerActivity, profile

import imtorque.torch as tensors
import naive
from imtorque import Edges

SIZES = (3, 5, 9)
BOXES = ((3, 5), (7, 5), (5, 9))


def forces(seed=0, height=6, width=7, batch=1):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(batch, 2, height, width, dtype=torch.float64, generator=generator, requires_grad=True)


def image(channels=1, height=9, width=10):
    generator = torch.Generator().manual_seed(1)
    return torch.rand(1, channels, height, width, dtype=torch.float64, generator=generator, requires_grad=True)


@pytest.mark.parametrize("sizes", [SIZES, BOXES])
def test_of_the_volume_once_and_twice(sizes):
    def volume(f):
        return tensors.torque_volume(f, sizes, alpha=1.5)

    assert gradcheck(volume, forces(), fast_mode=True)
    assert gradgradcheck(volume, forces(), fast_mode=True)


def test_of_one_map_once_and_twice():
    def one_map(f):
        return tensors.torque_map(f, 5)

    assert gradcheck(one_map, forces(), fast_mode=True)
    assert gradgradcheck(one_map, forces(), fast_mode=True)


@pytest.mark.parametrize("sizes", [SIZES, BOXES])
def test_of_the_value_map_go_to_the_chosen_size(sizes):
    assert gradcheck(lambda f: tensors.value_and_scale_maps(f, sizes)[0], forces(), fast_mode=True)


def test_of_the_value_map_over_several_bands_of_rows():
    f = forces(height=150, width=6, batch=1)
    value, scale = tensors.value_and_scale_maps(f, SIZES)
    weight = torch.rand_like(value)
    (found,) = torch.autograd.grad(value, f, weight)
    volume = tensors.torque_volume(f, SIZES)
    chosen = volume.gather(1, torch.searchsorted(torch.tensor(SIZES), scale.abs().long())[:, None])[:, 0]
    (wanted,) = torch.autograd.grad(chosen, f, weight)
    assert_allclose(found, wanted, atol=1e-12)


def test_of_extrema_go_to_their_patches():
    f = forces(height=20, width=20)
    found = tensors.find_extrema(f, SIZES, count=4)
    assert gradcheck(lambda f: tensors.find_extrema(f, SIZES, count=4).value, f, fast_mode=True)
    assert_allclose(found.value.detach(), tensors.find_extrema(f.detach(), SIZES, count=4, exact=True).value, atol=1e-5)


def test_of_coherence_and_of_the_dense_contribution():
    assert gradcheck(lambda f: tensors.torque_coherence(f, 5), forces(), fast_mode=True)
    assert gradcheck(lambda f: tensors.dense_contribution(f, SIZES), forces(), fast_mode=True)


def test_of_coherence_are_finite_where_there_is_no_force():
    f = torch.zeros(1, 2, 8, 8, requires_grad=True)
    tensors.dense_contribution(f, SIZES).sum().backward()
    assert torch.isfinite(f.grad).all()


def test_of_the_whole_gradient_and_its_torque():
    assert gradcheck(tensors.gradient_edges, image(3), fast_mode=True)
    assert gradcheck(lambda i: tensors.gradient_torque(i, [3, 5], value_range=(0.0, 1.0)), image(), fast_mode=True)


@pytest.mark.parametrize("options", [{}, {"force": "strength", "strength_scale": 0.2}, {"length_correction": True}])
def test_of_canny_edges(options):
    assert gradcheck(
        lambda i: tensors.detect_edges(i, value_range=(0.0, 1.0), **options), image(3, 14, 15), fast_mode=True
    )


def test_floats_agree_with_the_definition():
    f = forces(batch=1)
    edges = Edges(*f[0].detach().numpy())
    wanted = [naive.torque_map(edges.fx.astype(float), edges.fy.astype(float), size) for size in SIZES]
    assert_allclose(tensors.torque_volume(f.detach(), SIZES)[0], np.stack(wanted), atol=1e-6)


def test_floats_agree_with_the_librarys_bits_within_its_rounding():
    f = forces(height=40, width=50).detach().float()
    for name, arguments in (("torque_volume", [SIZES]), ("torque_coherence", [7]), ("dense_contribution", [SIZES])):
        function = getattr(tensors, name)
        assert_allclose(function(f, *arguments), function(f, *arguments, exact=True), atol=1e-4)


def test_the_backward_pass_is_the_adjoint():
    f = forces(height=30, width=41)
    volume = tensors.torque_volume(f, SIZES)
    weight = torch.rand_like(volume)
    (adjoint,) = torch.autograd.grad(volume, f, weight)
    assert_allclose((volume * weight).sum().item(), (adjoint * f).sum().item(), rtol=1e-10)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_a_gradient_has_the_type_of_the_forces(dtype):
    f = forces().detach().to(dtype).requires_grad_()
    value, _ = tensors.value_and_scale_maps(f, SIZES)
    value.sum().backward()
    assert value.dtype == torch.float32
    assert f.grad.dtype == dtype


def test_a_second_derivative_of_the_value_map_is_refused():
    f = forces()
    (grad,) = torch.autograd.grad(tensors.value_and_scale_maps(f, SIZES)[0].sum(), f, create_graph=True)
    with pytest.raises(RuntimeError):
        torch.autograd.grad(grad.sum(), f)


def bytes_per_pixel(sizes, height=1500, width=100):
    """The most that is allocated at once in a forward and a backward pass, beyond the forces and the gradient given."""
    f = torch.zeros(1, 2, height, width).index_fill_(2, torch.arange(0, height, 3), 1).requires_grad_()
    grad = torch.ones(1, height, width)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as record:
        value, _ = tensors.value_and_scale_maps(f, sizes)
        value.backward(grad)
    alive = peak = 0
    for event in record.profiler.kineto_results.events():
        if event.name() == "[memory]":
            alive += event.nbytes()
            peak = max(peak, alive)
    return peak / (height * width)


def test_maps_need_little_memory_whatever_the_number_of_sizes():
    one, many = bytes_per_pixel((45,)), bytes_per_pixel(range(3, 46, 6))
    assert max(one, many) <= 24
    assert abs(one - many) < 1
