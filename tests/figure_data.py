"""Tiny drawn data for the experiments that cut objects out, and what their results must look like."""

import json

import numpy as np
from PIL import Image
from scipy.io import savemat
from typer.testing import CliRunner

from imtorque.cli import app
from imtorque.synthetic import texture

SHAPE = (60, 80)


def run(*arguments, status=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == status, result.output
    return result


def write_image(path, pixels):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.round(np.asarray(pixels) * 255).astype(np.uint8)).save(path)


def disc(radius=14):
    y, x = np.indices(SHAPE)
    return np.hypot(y - 28, x - 42) < radius


def write_data(tmp_path):
    """Write two outlined categories of two images, two horses, two photographs of each split; all small."""
    angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    contour = np.stack([14 + 14 * np.cos(angle), 14 + 14 * np.sin(angle)])
    image = np.where(disc(), 0.9, 0.3 * texture(SHAPE, density=0.05, seed=1))
    for category in ("cup", "hat"):
        folder = tmp_path / "caltech101" / "Annotations" / category
        folder.mkdir(parents=True)
        for k in range(1, 3):
            write_image(tmp_path / "caltech101" / "101_ObjectCategories" / category / f"image_000{k}.png", image)
            savemat(folder / f"annotation_000{k}.mat", {"box_coord": [[15, 43, 29, 57]], "obj_contour": contour})
    horses = tmp_path / "figure_ground" / "weizmann_horses"
    for k in range(2):
        write_image(horses / "images" / f"{k}.png", np.where(disc(18), 0.1, 0.8 + 0.1 * texture(SHAPE, seed=k)))
        write_image(horses / "masks" / f"{k}.png", disc(18))
    labels = np.ones((100, 150), np.uint16)
    people = np.empty((1, 1), dtype=object)
    people[0, 0] = {"Segmentation": labels, "Boundaries": np.zeros_like(labels, np.uint8)}
    for split in ("train", "val"):
        for k in range(2):
            name = f"{split}{k}"
            write_image(tmp_path / "bsds500" / "images" / split / f"{name}.png", texture((100, 150), seed=k))
            folder = tmp_path / "bsds500" / "groundTruth" / split
            folder.mkdir(parents=True, exist_ok=True)
            savemat(folder / f"{name}.mat", {"groundTruth": people})
    return tmp_path


def check_form(folder, experiment, metric):
    found = json.loads((folder / "results.json").read_text())
    assert found["experiment"] == experiment
    assert str(folder) not in json.dumps(found)
    assert len(found["data_sha256"]) == 64
    methods = {row["method"]: row for row in found["rows"]}
    assert all(0 <= row[metric] <= 1 for row in found["rows"])
    for d in found["differences"]:
        assert {d["a"], d["b"]} <= set(methods)
        assert d["low"] <= d["high"]
    assert all(f"| {method} |" in (folder / "table.md").read_text() for method in methods)
    return found, methods
