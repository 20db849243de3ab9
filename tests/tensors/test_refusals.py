"""What is refused, in one line that says what must hold and what was given."""

import pytest
import torch

import imtorque.torch as tensors
from imtorque.torch._checks import check_grid

FORCES = torch.zeros(1, 2, 9, 9)
IMAGE = torch.zeros(1, 1, 9, 9)
OF_FORCES = {
    "torque_map": lambda f, **o: tensors.torque_map(f, 3, **o),
    "torque_volume": lambda f, **o: tensors.torque_volume(f, [3], **o),
    "value_and_scale_maps": lambda f, **o: tensors.value_and_scale_maps(f, [3], **o),
    "find_extrema": lambda f, **o: tensors.find_extrema(f, [3], **o),
    "torque_coherence": lambda f, **o: tensors.torque_coherence(f, 3, **o),
    "dense_contribution": lambda f, **o: tensors.dense_contribution(f, [3], **o),
}
OF_IMAGES = {
    "detect_edges": tensors.detect_edges,
    "gradient_edges": tensors.gradient_edges,
    "gradient_torque": lambda i, **o: tensors.gradient_torque(i, [3], **o),
}


@pytest.mark.parametrize("name", OF_FORCES)
@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (torch.zeros(1, 3, 9, 9), ValueError, r"forces must have shape \(B, 2, H, W\) and not be empty, got \(1, 3"),
        (torch.zeros(2, 9, 9), ValueError, r"forces must have shape \(B, 2, H, W\)"),
        (torch.zeros(0, 2, 9, 9), ValueError, r"not be empty, got \(0, 2, 9, 9\)"),
        (torch.zeros(1, 2, 0, 9), ValueError, r"not be empty, got \(1, 2, 0, 9\)"),
        (torch.zeros(1, 2, 9, 9, dtype=torch.int32), TypeError, "forces must be float16, .* got torch.int32"),
        ("forces", TypeError, "forces must be a tensor of shape .* got str"),
    ],
)
def test_forces_of_a_wrong_kind(name, given, error, message):
    with pytest.raises(error, match=message):
        OF_FORCES[name](given)


@pytest.mark.parametrize("name", OF_IMAGES)
@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (torch.zeros(1, 2, 9, 9), ValueError, r"image must have shape \(B, 1 or 3, H, W\) and not be empty, got"),
        (torch.zeros(0, 1, 9, 9), ValueError, r"not be empty, got \(0, 1, 9, 9\)"),
        (torch.zeros(1, 1, 9, 9, dtype=torch.int64), TypeError, "image must be uint8, .* got torch.int64"),
        ([[0.0]], TypeError, "image must be a tensor of shape .* got list"),
        (torch.full((1, 1, 9, 9), torch.nan), ValueError, "image must be finite, got NaN or infinity"),
    ],
)
def test_images_of_a_wrong_kind(name, given, error, message):
    with pytest.raises(error, match=message):
        OF_IMAGES[name](given)


@pytest.mark.parametrize("name", OF_FORCES)
def test_gradients_of_rounded_forces(name):
    with pytest.raises(ValueError, match="forces must not require gradients with exact=True"):
        OF_FORCES[name](FORCES.clone().requires_grad_(), exact=True)
    with torch.no_grad():
        OF_FORCES[name](FORCES.clone().requires_grad_(), exact=True)


@pytest.mark.parametrize("name", OF_IMAGES)
def test_gradients_of_rounded_images(name):
    with pytest.raises(ValueError, match="image must not require gradients with exact=True"):
        OF_IMAGES[name](IMAGE.clone().requires_grad_(), exact=True)


@pytest.mark.parametrize("name", OF_FORCES)
@pytest.mark.parametrize("bad", [torch.nan, torch.inf, 1e31])
def test_forces_that_are_not_finite(name, bad):
    with pytest.raises(ValueError, match="forces must be finite and within ±1e\\+30"):
        OF_FORCES[name](torch.full((1, 2, 9, 9), bad), exact=True)


@pytest.mark.parametrize(
    ("sizes", "error", "message"),
    [
        ([4], ValueError, "sizes must be odd"),
        ([5, 3], ValueError, "sizes must be increasing"),
        ([], ValueError, "sizes must be a list of odd integers"),
        ([3.0], TypeError, "sizes must be odd integers"),
        (["3"], TypeError, "sizes must be odd integers"),
        ([(9, 9), (3, 3)], ValueError, "rectangles must come in order of area"),
    ],
)
def test_sizes(sizes, error, message):
    for function in (tensors.torque_volume, tensors.value_and_scale_maps, tensors.find_extrema):
        with pytest.raises(error, match=message):
            function(FORCES, sizes)
        with pytest.raises(error, match=message):
            function(FORCES, tuple(sizes))
    with pytest.raises(error, match=message):
        tensors.Torque(sizes)


def test_patches_and_exponents():
    with pytest.raises(ValueError, match='patch must be "square" on tensors'):
        tensors.torque_map(FORCES, 3, patch="disk")
    with pytest.raises(ValueError, match="alpha must be a number from -10 to 10, got 11"):
        tensors.torque_map(FORCES, 3, alpha=11)
    with pytest.raises(ValueError, match="alpha must keep the torque of these sizes below"):
        tensors.torque_map(FORCES + 1e29, 91, alpha=-10, exact=True)


def test_a_volume_that_cannot_be_written_to():
    for out, error, message in (
        (torch.zeros(1, 1, 9, 8), ValueError, "out must be contiguous of shape"),
        (torch.zeros(1, 1, 9, 9).double(), TypeError, "out must be a torch.float32 tensor"),
        (torch.zeros(1, 1, 9, 9, device="meta"), ValueError, "out and forces must be on one device, got meta and cpu"),
    ):
        with pytest.raises(error, match=message):
            tensors.torque_volume(FORCES, [3], out=out)
    with pytest.raises(ValueError, match="out must be left out where gradients are wanted"):
        tensors.torque_volume(FORCES.clone().requires_grad_(), [3], out=torch.zeros(1, 1, 9, 9))


def test_numbers_of_extrema():
    with pytest.raises(ValueError, match="count must not be negative, got -1"):
        tensors.find_extrema(FORCES, [3], count=-1)
    with pytest.raises(ValueError, match=r"sign must be \+1, -1 or None, got 2"):
        tensors.find_extrema(FORCES, [3], sign=2)


def test_settings_of_edges():
    for options, message in (
        ({"sigma": 0}, "sigma must be positive"),
        ({"force": "big"}, 'force must be "unit" or "strength"'),
        ({"directions": 4}, "directions must be 8 or None, got 4"),
        ({"strength_scale": -1}, "strength_scale must be positive"),
        ({"low": 0.9}, "low must be a gradient from 0 to 0.71, got 0.9"),
        ({"low": 0.2, "high": 0.1}, "low must not exceed high"),
        ({"low": 0.2, "use_quantiles": True}, "use_quantiles needs both low and high"),
        ({"value_range": (1, 0)}, "value_range must be finite, black below white"),
    ):
        with pytest.raises(ValueError, match=message):
            tensors.detect_edges(IMAGE, **options)


def test_votes_of_rectangles():
    with pytest.raises(ValueError, match="sizes must be sides of squares"):
        tensors.dense_contribution(FORCES, [(3, 5)])
    with pytest.raises(ValueError, match="sizes must be sides of squares"):
        tensors.BoundaryVotes([(3, 5)])


@pytest.mark.parametrize("shape", [(65_536, 2, 9, 9), (1, 2, 65_536, 9)])
def test_more_images_or_rows_than_a_grid_has(shape):
    check_grid("forces", (65_535, 2, 65_535, 1))
    with pytest.raises(ValueError, match=r"forces must have at most 65,535 images and rows on CUDA devices, got shape"):
        check_grid("forces", shape)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("shape", [(65_536, 2, 3, 3), (1, 2, 65_536, 3)])
def test_what_a_device_cannot_launch_is_refused(shape):
    with pytest.raises(ValueError, match="at most 65,535 images and rows"):
        tensors.value_and_scale_maps(torch.zeros(shape, device="cuda"), [3])


def test_a_negative_threshold_is_refused():
    with pytest.raises(ValueError, match="threshold must not be negative, got -1"):
        tensors.find_extrema(FORCES, [3], threshold=-1)
