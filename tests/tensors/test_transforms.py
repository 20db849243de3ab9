"""torch.compile, vmap and autocast: the same results, or a clear error."""

import pytest
import torch
from numpy.testing import assert_array_equal

import imtorque.torch as tensors

SIZES = (3, 5, 9)


def forces():
    return torch.randn(2, 2, 14, 15, generator=torch.Generator().manual_seed(0))


def images():
    return (torch.rand(2, 1, 24, 25, generator=torch.Generator().manual_seed(0)) * 255).to(torch.uint8)


FUNCTIONS = {
    "torque_volume": lambda f, exact: tensors.torque_volume(f, SIZES, exact=exact),
    "torque_map": lambda f, exact: tensors.torque_map(f, 5, exact=exact),
    "value_map": lambda f, exact: tensors.value_and_scale_maps(f, SIZES, exact=exact)[0],
    "scale_map": lambda f, exact: tensors.value_and_scale_maps(f, SIZES, exact=exact)[1],
    "extrema": lambda f, exact: tensors.find_extrema(f, SIZES, count=3, exact=exact).value,
    "coherence": lambda f, exact: tensors.torque_coherence(f, 5, exact=exact),
    "contribution": lambda f, exact: tensors.dense_contribution(f, SIZES, exact=exact),
}
OF_IMAGES = {
    "detect_edges": lambda p: tensors.detect_edges(p, exact=True, value_range=(0, 255)),
    "gradient_torque": lambda p: tensors.gradient_torque(p, SIZES, exact=True),
}


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_compiled_function_gives_the_same(name, exact):
    function = FUNCTIONS[name]
    compiled = torch.compile(function, backend="aot_eager", fullgraph=True)
    assert_array_equal(compiled(forces(), exact), function(forces(), exact))


@pytest.mark.parametrize("name", OF_IMAGES)
def test_a_compiled_function_of_images_gives_the_same(name):
    function = OF_IMAGES[name]
    compiled = torch.compile(function, backend="aot_eager", fullgraph=True)
    assert_array_equal(compiled(images()), function(images()))


def test_gradients_flow_through_a_compiled_function():
    compiled = torch.compile(FUNCTIONS["value_map"], backend="aot_eager", fullgraph=True)
    found, wanted = forces().requires_grad_(), forces().requires_grad_()
    compiled(found, False).sum().backward()
    FUNCTIONS["value_map"](wanted, False).sum().backward()
    assert_array_equal(found.grad, wanted.grad)


@pytest.mark.skipif(not hasattr(torch.library, "register_vmap"), reason="torch 2.5 is the first with rules for it")
@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_mapped_function_gives_what_it_gives_one_by_one(name, exact):
    function = FUNCTIONS[name]
    many = torch.stack([forces(), 2 * forces(), forces().flip(3)])
    mapped = torch.vmap(lambda f: function(f, exact))(many)
    assert_array_equal(mapped, torch.stack([function(f, exact) for f in many]))


def test_functional_gradients_are_refused_by_torch():
    with pytest.raises(RuntimeError, match="functorch"):
        torch.func.grad(lambda f: tensors.value_and_scale_maps(f, SIZES)[0].sum())(forces())


def test_all_extrema_cannot_be_compiled():
    compiled = torch.compile(lambda f: tensors.find_extrema(f, SIZES).value, backend="eager", fullgraph=True)
    with pytest.raises(Exception, match=r"count must be given under torch.compile and vmap"):
        compiled(forces())


def test_autocast_changes_nothing():
    for name, function in FUNCTIONS.items():
        with torch.autocast("cpu", dtype=torch.bfloat16):
            found = function(forces(), False)
        assert_array_equal(found, function(forces(), False), err_msg=name)
