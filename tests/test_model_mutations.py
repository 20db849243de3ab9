"""Model files are data: a thousand damaged and forged ones are refused in one line, or harmless, in little memory."""

import re
import struct
import tracemalloc
import zlib
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import imtorque
from drawn_classes import draw_image
from imtorque import synthetic
from imtorque.detection import ObjectFinder
from imtorque.edges import BoundaryNetwork
from imtorque.edges.token_forest import SketchTokens
from imtorque.edges.token_training import Drawn, TokenSettings, train_tokens
from imtorque.io.errors import describe_error
from model_mutations import mutated, read, with_member, written
from random_network import random_network

pytest.importorskip("sklearn")
from imtorque.recognition import Recogniser
from imtorque.recognition import model as recogniser_files

QUICK, ALL = 60, 334  # files of each kind
SPARE = 4 << 20  # bytes of small things that reading takes


def scene(seed):
    rng = np.random.default_rng(seed)
    image, boxes = np.full((70, 70), 0.4), []
    for cy, cx in ((16, 18), (18, 50), (50, 18), (48, 50)):
        radius = int(rng.integers(7, 10))
        image = synthetic.paint(image, synthetic.disc(image.shape, (cy, cx), radius), 0.8)
        boxes.append((cy - radius, cx - radius, cy + radius + 1, cx + radius + 1))
    return image + rng.normal(0, 0.01, image.shape), np.array(boxes)


def a_finder(folder):
    images, boxes = zip(*map(scene, range(3)), strict=True)
    ObjectFinder([("torque", "threshold")]).fit(images, boxes).save(folder / "good")


def a_recogniser(folder):
    model = Path(__file__).parent / "recognition" / "models" / "format-1.model"
    (folder / "good").write_bytes(model.read_bytes())


def a_forest(folder):
    drawn = [Drawn(np.dstack([scene(k)[0].clip(0, 1)] * 3), [scene(k)[0] > 0.6]) for k in range(4)]
    settings = TokenSettings(tokens=4, trees=2, of_token=60, background=80, from_drawing=200, features=200, tried=20)
    train_tokens([lambda own=own: own for own in drawn], settings).save(folder / "good")


def a_network(folder):
    random_network(0).save(folder / "good")


def sealed(content):
    """Return a recogniser's file with a valid checksum, as a forger would."""
    try:
        arrays = read(content)
        header = recogniser_files.json.loads(arrays.pop("header").tobytes())
        header["sha256"] = recogniser_files._checksum(arrays)
        text = np.frombuffer(recogniser_files.json.dumps(header).encode(), np.uint8)
    except Exception:  # damaged beyond that
        return content
    return written({"header": text, **arrays})


KINDS = {
    "finder": (a_finder, ObjectFinder.load, lambda model: model.predict(scene(9)[0]).score, bytes),
    "recogniser": (a_recogniser, Recogniser.load, lambda m: m.recognise(draw_image("disc", 50)).scores, sealed),
    "network": (a_network, BoundaryNetwork.load, lambda model: model(scene(9)[0]).strengths, bytes),
    "tokens": (a_forest, SketchTokens.load, lambda model: model(scene(9)[0]).strengths, bytes),
}


@pytest.fixture(scope="module", params=KINDS)
def kind(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    KINDS[request.param][0](folder)
    return folder, *KINDS[request.param][1:]


def peak_of(call):
    tracemalloc.start()
    try:
        return call(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seeds", [range(QUICK), pytest.param(range(QUICK, ALL), marks=pytest.mark.slow)], ids=str)
def test_mutated_files_are_refused_or_harmless(kind, seeds):
    folder, load, use, seal = kind
    good = (folder / "good").read_bytes()
    _, most = peak_of(lambda: load(folder / "good"))
    refused = used = 0
    for seed in seeds:
        (folder / "bad").write_bytes(seal(mutated(np.random.default_rng(seed), good)))

        def load_bad():
            try:
                return load(folder / "bad")
            except (OSError, ValueError) as error:
                return error

        found, peak = peak_of(load_bad)
        assert peak <= 2 * most + SPARE, seed
        if isinstance(found, Exception):
            told = describe_error(found)
            assert re.fullmatch(r"[^\n]*bad: must [^\n]*", told), seed
            refused += 1
            continue
        with suppress(ValueError):
            assert np.isfinite(use(found)).all(), seed
        used += 1
    assert refused > len(seeds) // 3
    assert used > 0


@pytest.mark.parametrize("name", ["spare.npy", "about2.npy", "spare"])
def test_a_spare_array_is_not_unpacked(kind, name):
    folder, load, _, _ = kind
    header = b"\x93NUMPY\x01\x00" + struct.pack("<H", 118)
    header += b"{'descr': '<f8', 'fortran_order': False, 'shape': (8000000,), }".ljust(117) + b"\n"
    (folder / "bad").write_bytes(with_member((folder / "good").read_bytes(), name, header + bytes(64_000_000)))

    def load_bad():
        with pytest.raises(ValueError, match="an array that is none of its own, "):
            load(folder / "bad")

    assert peak_of(load_bad)[1] < SPARE


def test_a_size_that_the_archive_does_not_have_is_refused(kind):
    folder, load, _, _ = kind
    content = (folder / "good").read_bytes()
    name = next(name for name in ("root", "header", "weights") if name in read(content))
    dtype = {"root": "<i4", "weights": "<f4", "header": "|u1"}[name]
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': (2305843009213693952,), }}".ljust(117) + "\n"
    member = b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header.encode() + bytes(80)
    (folder / "bad").write_bytes(with_member(content, f"{name}.npy", member))
    with pytest.raises(ValueError, match="another size than it has"):
        load(folder / "bad")


def test_a_volume_of_torque_holds_its_own_arrays_alone(tmp_path):
    volume = imtorque.torque_volume(imtorque.detect_edges(synthetic.scene("shapes", (21, 31))), [3, 5])
    path = volume.save(tmp_path / "a.npz")
    np.testing.assert_array_equal(imtorque.TorqueVolume.load(path).tau, volume.tau)
    path.write_bytes(with_member(path.read_bytes(), "spare.npy", zlib.compress(b"")))
    with pytest.raises(ValueError, match="an array that is none of its own, spare"):
        imtorque.TorqueVolume.load(path)
