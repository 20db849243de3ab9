"""The network that finds boundaries: its training, and that it answers the same without torch."""

import json

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from typer.testing import CliRunner

from berkeley_files import write_truth
from imtorque.cli import app
from imtorque.edges.network import BoundaryNetwork, turning
from imtorque.files import write_image
from imtorque.torch import network as tensors

TINY = tensors.NetworkSettings(
    widths=(6, 8, 8, 8, 8),
    depths=(1, 1, 1, 1, 1),
    decoder=(6, 8, 8, 8),
    steps=200,
    batch=4,
    crop=48,
    rate=0.01,
    dropout=0.0,
)


def drawn_scene(seed, shape=(64, 80)):
    """A disc of another colour than the ground, with some noise; which pixels are of it, and its contour."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[: shape[0], : shape[1]] - np.array(shape)[:, None, None] * rng.uniform(0.35, 0.65, (2, 1, 1))
    inside = np.hypot(y, x) < rng.uniform(14, 24)
    ground = rng.uniform(20, 235, 3)
    image = np.where(inside[:, :, None], (ground + 100) % 255, ground) + rng.normal(0, 5, (*shape, 3))
    contour = np.zeros(shape, bool)
    contour[:-1] |= inside[:-1] != inside[1:]
    contour[:, :-1] |= inside[:, :-1] != inside[:, 1:]
    return image.clip(0, 255).astype(np.uint8), inside, contour


def trained(**settings):
    scenes = [drawn_scene(seed) for seed in range(8)]
    told = []
    chosen = tensors.NetworkSettings(**{**vars(TINY), **settings})
    found = tensors.train_network([s[0] for s in scenes], [[s[2]] for s in scenes], chosen, told.append, "cpu")
    return found, told


def random_net(settings):
    """A network for use whose weights and statistics are not those it begins with, the same in every run."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net = tensors.BoundaryNet(settings)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, value in net.state_dict().items():
            if name.endswith("running_var"):
                value.uniform_(0.5, 2, generator=generator)
            elif value.is_floating_point() and value.ndim < 2:
                value.normal_(0.2, 0.3, generator=generator)
        net.head[0].weight *= 2  # so that no answer is all 0 or 1
    return net.eval()


def test_the_answer_without_torch_is_the_same():
    for settings in (TINY, tensors.NetworkSettings()):
        net, image = random_net(settings), drawn_scene(0, (50, 77))[0].transpose(2, 0, 1)
        expected = tensors.probabilities(net, torch.from_numpy(image.copy())[None], mirror=False)[0]
        found = tensors.for_use(net).answer(image / 255)
        assert np.ptp(found) > 0.02
        assert_allclose(found, expected, atol=1e-4)


def test_turning_without_torch_is_the_same():
    field = np.random.default_rng(0).normal(size=(4, 40, 50)).astype(np.float32)
    expected = tensors.turning(torch.from_numpy(field.astype(np.float64))[None], tensors.SIZES)[0]
    assert_allclose(turning(field), expected, atol=1e-6)


def test_a_trained_network_finds_the_contours_of_new_scenes():
    network, told = trained()
    scenes = [drawn_scene(seed) for seed in range(100, 108)]
    found, contours = np.stack([network(s[0]).strength for s in scenes]), np.stack([s[2] for s in scenes])
    assert found[contours].mean() > 2 * found[~contours].mean()
    assert told[0].startswith("training of 200 steps takes about ")
    assert told[0].endswith(" on cpu")


def test_crops_and_their_labels_show_the_same(monkeypatch):
    monkeypatch.setattr(tensors, "NOISE", 0.0)
    planes = torch.from_numpy(drawn_scene(0)[0].transpose(2, 0, 1).copy()[None])
    row = tensors.crops(tensors.NetworkSettings(steps=1, batch=8), 1, (64, 80))[0]
    row[:, 11] = 0  # no change of saturation, so that each colour stays by itself
    seen, same = tensors.cut(row, planes, planes[:, :2], 64)
    assert len({tuple(crop.ravel()[:9].tolist()) for crop in same}) == 8
    for crop, label in zip(seen, same, strict=True):
        for colour in range(2):
            assert np.corrcoef(crop[colour].ravel(), label[colour].ravel())[0, 1] > 0.9999


def test_training_gives_the_same_network_again():
    (first, _), (second, _), (other, _) = (trained(steps=3, dropout=0.1, seed=seed) for seed in (0, 0, 1))
    assert_array_equal(first.weights, second.weights)
    assert (first.weights != other.weights).mean() > 0.5


@pytest.mark.parametrize("context", tensors.CONTEXTS)
def test_every_context_is_trained_by_gradients(context):
    settings = tensors.NetworkSettings(**{**vars(TINY), "context": context})
    images = torch.stack([torch.from_numpy(drawn_scene(0)[0].transpose(2, 0, 1).copy())] * 2)
    labels = torch.from_numpy(np.stack([tensors.agreement([drawn_scene(0)[2]])] * 2))
    training = tensors.Training(settings, images, labels)
    before = {name: value.clone() for name, value in training.net.context.named_parameters()}
    for _ in range(2):
        training.step()
    assert any((value != before[name]).any() for name, value in training.net.context.named_parameters())


@pytest.mark.parametrize(
    ("wrong", "told"), [({"context": "all"}, "context must be one of"), ({"crop": 50}, "multiple of 16")]
)
def test_settings_that_make_no_network_are_refused(wrong, told):
    with pytest.raises(ValueError, match=told):
        tensors.NetworkSettings(**wrong)


def test_the_command_trains_once_and_the_detector_uses_it(tmp_path, monkeypatch):
    monkeypatch.setenv("IMTORQUE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for kind in ("images", "groundTruth"):
        (tmp_path / kind / "train").mkdir(parents=True)
    for k in range(2):
        image, inside, _ = drawn_scene(k)
        write_image(tmp_path / f"images/train/{k}.png", image)
        write_truth(tmp_path / f"groundTruth/train/{k}.mat", [inside + 1])
    line = [
        "data",
        "train",
        "network",
        "--data",
        str(tmp_path),
        "--set",
        "steps=2",
        "--set",
        "batch=1",
        "--set",
        "crop=32",
    ]
    first, again, other = (
        CliRunner().invoke(app, [*line, *more, "--json"]) for more in ([], [], ["--set", "rate=0.001"])
    )
    assert first.exit_code == 0, first.output
    assert "training of 2 steps takes about" in first.stderr
    assert [json.loads(done.stdout)["fresh"] for done in (first, again, other)] == [True, False, True]
    network = BoundaryNetwork.load(tmp_path / "cache" / "network.npz")
    assert network.about["settings"]["rate"] == 0.001
    assert len(network.about["data_sha256"]) == 64
    done = CliRunner().invoke(
        app, ["edges", str(tmp_path / "images/train/0.png"), "--detector", "network", "-o", str(tmp_path / "out")]
    )
    assert done.exit_code == 0, done.output
