"""Arrays of other libraries, and masked ones, are taken rightly or refused by name, by functions of every kind."""

import dask.array
import numpy as np
import pytest
import xarray
from numpy.testing import assert_array_equal

from array_habits import IMAGE_TAKERS, OTHER_TAKERS, numbers

takers = pytest.mark.parametrize("taker", IMAGE_TAKERS + OTHER_TAKERS, ids=lambda taker: taker.name)


class Elsewhere:
    """Stands for what is not in this memory, as a tensor on a card."""

    shape, ndim = (48, 64), 2

    def __array__(self, dtype=None, copy=None):
        raise TypeError("can't convert a tensor of a card\nsee the manual")


@takers
def test_labelled_and_lazy_arrays_give_what_plain_ones_give(taker):
    expected = list(numbers(taker.function(taker.array)))
    with dask.config.set(scheduler="synchronous"):  # whatever cluster other tests have left behind
        for made in (xarray.DataArray(taker.array), dask.array.from_array(taker.array), np.ma.array(taker.array)):
            for comp, ref in zip(numbers(taker.function(made)), expected, strict=True):
                assert_array_equal(comp, ref)


@takers
def test_what_is_not_in_this_memory_is_refused_by_name(taker):
    message = r"^\w+(\[0\])? must be an array in this machine's memory, got a \w+.Elsewhere: can't convert .* card$"
    with pytest.raises(TypeError, match=message):
        taker.function(Elsewhere())


@pytest.mark.parametrize("taker", OTHER_TAKERS, ids=lambda taker: taker.name)
def test_masked_elements_are_refused_where_they_cannot_be_left_out(taker):
    hidden = np.arange(taker.array.size).reshape(taker.array.shape) == 1
    with pytest.raises(ValueError, match=r"^\w+(\[0\])? must be an array without masked elements, got .* with 1 of"):
        taker.function(np.ma.array(taker.array, mask=hidden))


@pytest.mark.parametrize("taker", IMAGE_TAKERS, ids=lambda taker: taker.name)
def test_what_lies_under_a_mask_does_not_matter(taker):
    hidden = np.zeros(taker.array.shape, bool)
    hidden[10:14, 20:30] = True
    other = np.where(hidden, taker.array.max(), taker.array)
    results = [taker.function(np.ma.array(array, mask=hidden)) for array in (taker.array, other)]
    for one, two in zip(*map(numbers, results), strict=True):
        assert_array_equal(one, two)
