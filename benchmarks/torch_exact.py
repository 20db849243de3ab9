"""Inputs of all kinds, what the library makes of them, and whether a device gives the same bits."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import numpy as np

SOURCE = Path(__file__).parent.parent / "src" / "imtorque"
SIZES = range(3, 92, 2)
SEED = 5


def load_torch_part():
    """Return imtorque.torch, also where the native module is not built: it needs none of it."""
    try:
        import imtorque.torch
    except ImportError:
        for name in [name for name in sys.modules if name.split(".")[0] == "imtorque"]:
            del sys.modules[name]
        package, native = types.ModuleType("imtorque"), types.ModuleType("imtorque._native")
        package.__path__ = [str(SOURCE)]
        package._native = native
        sys.modules.update({"imtorque": package, "imtorque._native": native})
        import imtorque.torch
    return imtorque.torch


def random_field(height, width, share=0.12, seed=SEED):
    """Unit forces in random directions at some of the pixels."""
    rng = np.random.default_rng(seed)
    angle = rng.random((height, width)) * 2 * np.pi
    there = rng.random((height, width)) < share
    return np.stack([np.cos(angle) * there, np.sin(angle) * there]).astype(np.float32)


def drawn_scene(height, width, seed=SEED):
    """Discs and boxes of many sizes and grey values over soft noise, uint8 (H, W)."""
    rng = np.random.default_rng(seed)
    image = np.full((height, width), 110.0, np.float32)
    for _ in range(height * width // 12000):
        r = int(rng.integers(4, 46))
        y, x = int(rng.integers(0, height)), int(rng.integers(0, width))
        top, left = max(0, y - r), max(0, x - r)
        part = image[top : y + r + 1, left : x + r + 1]
        v, u = np.ogrid[top - y : top - y + part.shape[0], left - x : left - x + part.shape[1]]
        inside = v * v + u * u <= r * r if rng.random() < 0.6 else np.ones(part.shape, bool)
        part[inside] = rng.integers(0, 256)
    return (image + rng.normal(size=image.shape) * 4).clip(0, 255).astype(np.uint8)


def inputs():
    """What exactness is tried on: images and fields of several kinds."""
    rng = np.random.default_rng(SEED)
    scene = drawn_scene(211, 333)
    colour = np.stack([scene, np.roll(scene, 3, 0), 255 - scene], 2)
    eighth = np.round(rng.random((97, 131)) * 8) * np.pi / 4
    there = rng.random((97, 131)) < 0.2
    towers = random_field(120, 90, seed=7)
    towers[:, 60, 40] = 3e5
    return {
        "scene": scene,
        "colour": colour,
        "soft": (scene / np.float32(255)).astype(np.float32),
        "mask": (scene > 128).astype(np.uint8),
        "flat": np.full((40, 50), 7, np.uint8),
        "field": random_field(197, 263),
        "sparse": random_field(300, 140, 0.02),
        "dense": rng.normal(size=(2, 150, 150)).astype(np.float32),
        "eighths": np.stack([np.cos(eighth) * there, np.sin(eighth) * there]).astype(np.float32),
        "towers": towers,
        "whole": rng.integers(-3, 4, size=(2, 64, 64)).astype(np.float32),
        "plateaus": np.tile(rng.integers(-1, 2, size=(2, 16, 16)), (1, 6, 6)).astype(np.float32),
        "tiny": random_field(5, 9, 0.5),
        "half": random_field(80, 100).astype(np.float16),
    }


IMAGES = ("scene", "colour", "soft", "mask", "flat")
FAR = (3, 9, 45, 91, 121, 201)
BOXES = ((3, 5), (7, 5), (9, 31), (33, 33))


def image_results(module, given, exact):
    """Results of the functions of images; module: the library, or imtorque.torch with exact={"exact": True}."""
    yield "edges", module.detect_edges(given, **exact)
    yield "edges_fixed", module.detect_edges(given, low=0.02, high=0.05, sigma=2.0, **exact)
    yield "edges_strength", module.detect_edges(given, force="strength", strength_scale=0.1, **exact)
    yield "edges_eight", module.detect_edges(given, directions=8, **exact)
    yield "edges_quantiles", module.detect_edges(given, low=0.6, high=0.9, use_quantiles=True, **exact)
    yield "gradient", module.gradient_edges(given, **exact)
    yield "gradient_torque", module.gradient_torque(given, [3, 9, 31], **exact)


def force_results(module, given, exact):
    """Results of the functions of forces."""
    yield "volume", module.torque_volume(given, (3, 5, 7, 21, 57, 91), **exact)
    yield "volume_far", module.torque_volume(given, FAR, alpha=1.5, **exact)
    yield "volume_boxes", module.torque_volume(given, BOXES, **exact)
    yield "maps", module.value_and_scale_maps(given, SIZES, **exact)
    yield "maps_some", module.value_and_scale_maps(given, (3, 7, 9, 11, 13, 25, 57), alpha=1.0, **exact)
    yield "maps_far", module.value_and_scale_maps(given, FAR, **exact)
    yield "maps_boxes", module.value_and_scale_maps(given, BOXES, **exact)
    yield "extrema", module.find_extrema(given, SIZES, count=50, **exact)
    yield "extrema_all", module.find_extrema(given, SIZES, **exact)
    yield "extrema_dark", module.find_extrema(given, SIZES, count=9, sign=-1, **exact)
    yield "extrema_inner", module.find_extrema(given, SIZES, count=30, end_scales=False, **exact)
    yield "extrema_far", module.find_extrema(given, FAR, count=20, **exact)
    yield "coherence", module.torque_coherence(given, 17, **exact)
    yield "contribution", module.dense_contribution(given, (5, 17, 97), **exact)


def as_arrays(result):
    """Arrays of a result of the library."""
    if hasattr(result, "fx"):
        return [np.stack([result.fx, result.fy])]
    if hasattr(result, "tau"):
        return [result.tau]
    if hasattr(result, "radius"):
        return [result.y, result.x, result.size, result.value]
    return list(result) if isinstance(result, tuple) else [result]


def as_tensor(array, device):
    import torch

    planes = np.moveaxis(array[:, :, None] if array.ndim == 2 else array, 2, 0) if array.dtype == np.uint8 else array
    planes = planes[None] if planes.ndim == 2 else planes
    return torch.from_numpy(np.ascontiguousarray(planes))[None].to(device)


def expect(path):
    """Write what the library makes of the inputs."""
    import imtorque

    stored = {}
    for name, array in inputs().items():
        image = name in IMAGES
        given = array if image else imtorque.Edges(*array.astype(np.float32))
        results = (image_results if image else force_results)(imtorque, given, {})
        for function, result in results:
            for i, part in enumerate(as_arrays(result)):
                stored[f"{name}/{function}/{i}"] = part
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, **stored)
    print(f"{len(stored)} arrays in {path}")


def exact(path, device):
    """Compare the device's bits with the library's; return how many results differ."""
    part, wrong, count = load_torch_part(), 0, 0
    expected = np.load(path)
    for name, array in inputs().items():
        given = as_tensor(array, device)
        results = image_results if name in IMAGES else force_results
        for function, result in results(part, given, {"exact": True}):
            for i, tensor in enumerate(result if isinstance(result, tuple) else [result]):
                wrong += not same(f"{name}/{function}/{i}", expected, tensor[0].cpu().numpy())
                count += 1
        wrong += not same_in_batch(part, name, given)
    print("different:", " ".join(key for key, _ in DIFFERENT) or "none")
    print("\n".join(detail for _, detail in DIFFERENT[:12]))
    print(f"{count - wrong} of {count} results equal the library's to the bit, on {device}")
    return wrong


DIFFERENT: list[tuple[str, str]] = []


def same(key, expected, array):
    wanted = expected[key]
    found = array[: len(wanted)] if "/extrema" in key else array  # rows of zeros follow where there are no more
    if found.shape == wanted.shape and (found == wanted).all() and not array[len(found) :].any():
        return True
    if found.shape != wanted.shape:
        DIFFERENT.append((key, f"{key}: shape {found.shape}, wanted {wanted.shape}"))
        return False
    at = np.argwhere(found != wanted)
    some = tuple(at[:4].T)
    places = f"rows {sorted(set(at[:, -2].tolist()))[:8]}" if wanted.ndim > 1 else ""
    values = f"found {found[some].tolist()} wanted {wanted[some].tolist()}"
    DIFFERENT.append((key, f"{key}: {len(at)} of {wanted.size} {places} at {at[:4].tolist()} {values}"))
    return False


def same_in_batch(part, name, given):
    """Whether an image among others, not contiguous, gives what it gives alone."""
    import torch

    if name in IMAGES:
        batch = torch.cat([given.flip(3), given, given * 0])
        alone, among = part.detect_edges(given, exact=True), part.detect_edges(batch, exact=True)[1:2]
    else:
        batch = torch.cat([given * 4, given, given.flip(2)]).transpose(2, 3).contiguous().transpose(2, 3)
        alone = part.value_and_scale_maps(given, SIZES, exact=True)[0]
        among = part.value_and_scale_maps(batch, SIZES, exact=True)[0][1:2]
    if torch.equal(alone, among):
        return True
    DIFFERENT.append((f"{name}/batch", f"{name} in a batch differs from {name} alone"))
    return False
