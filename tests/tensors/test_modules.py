"""Torque as layers of a network."""

import copy
import io

import pytest
import torch
from numpy.testing import assert_array_equal

import imtorque.torch as tensors


def forces():
    return torch.randn(2, 2, 14, 15, generator=torch.Generator().manual_seed(0))


def test_a_layer_gives_what_the_function_gives():
    assert_array_equal(tensors.Torque([3, 7], alpha=1.5)(forces()), tensors.torque_volume(forces(), [3, 7], alpha=1.5))
    value, scale = tensors.value_and_scale_maps(forces(), [3, 7], exact=True)
    found = tensors.Torque([3, 7], maps=True, exact=True)(forces())
    assert_array_equal(found, torch.stack([value, scale.float()], 1))


def test_a_layer_of_rectangles_shows_signed_areas():
    found = tensors.Torque([(3, 5), (7, 5)], maps=True)(forces())
    assert set(found[:, 1].abs().unique().tolist()) <= {15.0, 35.0}
    assert_array_equal(found[:, 1].sign(), found[:, 0].sign())


def test_votes_are_coherence_and_contribution_at_each_size():
    found = tensors.BoundaryVotes([5, 9])(forces())
    assert_array_equal(found[:, 1], tensors.torque_coherence(forces(), 9))
    assert_array_equal(found[:, 2:].sum(1), tensors.dense_contribution(forces(), [5, 9]))


@pytest.mark.parametrize("layer", [tensors.Torque([3, 7]), tensors.BoundaryVotes([5, 9])])
def test_a_layers_state_can_be_saved_loaded_and_copied(layer):
    stored = io.BytesIO()
    torch.save(layer.state_dict(), stored)
    stored.seek(0)
    other = copy.deepcopy(layer)
    other.load_state_dict(torch.load(stored))
    assert_array_equal(other(forces()), layer(forces()))
    assert "sizes=" in repr(layer)


def test_a_state_of_other_sizes_is_refused():
    for one, other in (
        (tensors.Torque([3, 7]), tensors.Torque([3, 9])),
        (tensors.BoundaryVotes([3, 7]), tensors.BoundaryVotes([3, 9])),
    ):
        with pytest.raises(ValueError, match="sizes of the state must be those of the layer"):
            one.load_state_dict(other.state_dict())


def test_a_network_with_a_torque_layer_learns():
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3, padding=1), tensors.Torque([3, 7]), torch.nn.Conv2d(2, 1, 1))
    image = torch.rand(4, 1, 16, 16)
    target = image.roll(1, 3)
    optimiser = torch.optim.Adam(network.parameters(), lr=0.05)
    losses = []
    for _ in range(30):
        loss = (network(image) - target).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 0.7 * losses[0]
