"""Tensors given to functions of arrays: those in this memory are arrays, those with a gradient are refused by name."""

import pytest
import torch
from numpy.testing import assert_array_equal

from array_habits import IMAGE_TAKERS, OTHER_TAKERS, numbers

takers = pytest.mark.parametrize(
    "taker", [t for t in IMAGE_TAKERS + OTHER_TAKERS if t.name != "optical_flow"], ids=lambda taker: taker.name
)


@takers
def test_tensors_give_what_arrays_give(taker):
    results = [taker.function(given) for given in (torch.from_numpy(taker.array.copy()), taker.array)]
    for comp, ref in zip(*map(numbers, results), strict=True):
        assert_array_equal(comp, ref)


@takers
def test_tensors_with_a_gradient_are_refused_by_name(taker):
    tensor = torch.from_numpy(taker.array.astype(float)).requires_grad_()
    with pytest.raises(TypeError, match=r"must be an array in this machine's memory, got a torch\.Tensor: Can't call"):
        taker.function(tensor)
