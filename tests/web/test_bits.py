"""What the page without a server computes is what the library computes, to the bit: under node, without a browser."""

import importlib.util
import io
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from imtorque.explorer.handlers import HANDLERS
from imtorque.explorer.image_store import StoredImage, image_of_sample
from imtorque.explorer.results import layer_image
from imtorque.explorer.settings import read_settings
from imtorque.images import shrink_image
from web_page import made

pytestmark = pytest.mark.browser

HERE = Path(__file__).parent
VIEWS = (
    "",
    "layers=value,scale,edges",
    "sigma=2.5&low=0.01&high=0.05&count=40&nms=0",
    "force=strength&layers=edges,value&range=95.5",
    "patch=disk&layers=value,scale",
    "polarity=free&layers=value",
    "polarity=free&patch=disk&alpha=1.5",
    "pattern=star&layers=value,scale",
    "pattern=spiral&count=200",
    "pattern=-45&force=strength",
    "pattern=saddle&alpha=3",
    "pattern=saddle-diagonal&patch=disk",
    "alpha=0.85&smallest=9&largest=61&layers=value",
    "low=0.02",
    "high=0.04&sigma=0.7",
    "sigma=20",
)


def faint():
    return np.full((30, 40), 3, np.uint8) + (np.indices((30, 40))[1] > 20).astype(np.uint8)


def images():
    rng = np.random.default_rng(0)
    noisy = rng.integers(0, 256, (77, 101, 3), dtype=np.uint8)
    blank = np.full((40, 50), 7, np.uint8)
    made = {"noisy": noisy, "blank": blank, "faint": faint()}
    return {
        **{name: image_of_sample(name) for name in ("hopper", "shapes", "texture")},
        **{name: StoredImage(name, image, ("image = ?",), image.shape[:2]) for name, image in made.items()},
    }


@pytest.fixture(scope="module")
def kernels():
    return made("build/page/kernels.wasm")


@pytest.fixture(scope="module")
def ask(kernels, tmp_path_factory):
    """Return a function that gives the answers of the page to requests (image, what, query)."""
    folder = tmp_path_factory.mktemp("web")
    script = folder / "answers.cjs"
    command = ["esbuild", HERE / "node_answers.js", "--bundle", "--platform=node", f"--outfile={script}"]
    subprocess.run([*command, "--log-level=warning"], check=True)
    spec = importlib.util.spec_from_file_location("web_build", HERE.parents[1] / "web" / "build.py")
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    stored, described = images(), {}
    for name, image in stored.items():
        (folder / name).write_bytes(image.image.tobytes())
        height, width, *channels = image.image.shape
        facts = {"height": height, "width": width, "channels": channels[0] if channels else 1, "factor": image.factor}
        described[name] = {"key": name, "pixels": str(folder / name), "recipe": image.recipe, **facts}

    def answers(requests):
        out = folder / "answers"
        out.mkdir(exist_ok=True)
        files = {"kernels": str(kernels), "out": str(out)}
        asked = {**files, "colours": build.colours(), "images": described, "requests": requests}
        (folder / "asked.json").write_text(json.dumps(asked))
        subprocess.run(["node", script, folder / "asked.json"], check=True)
        return [(out / str(k)).read_bytes() for k in range(len(requests))]

    return answers, stored


def unpacked(answer):
    length = int.from_bytes(answer[:4], "little")
    head = json.loads(answer[4 : 4 + length])
    head.pop("milliseconds", None)
    arrays = {}
    for name, entry in head.pop("arrays").items():
        count = int(np.prod(entry["shape"]))
        arrays[name] = np.frombuffer(answer, entry["dtype"], count, 4 + length + entry["start"])
    return head, arrays


def query_of(text):
    return dict(part.split("=") for part in text.split("&") if part)


def library(image, what, query):
    return HANDLERS[f"/{what}"](image, read_settings(query_of(query))).body


@pytest.mark.parametrize("name", ["hopper", "shapes", "texture", "noisy", "blank", "faint"])
def test_views_have_the_librarys_bits(ask, name):
    answers, stored = ask
    requests = [{"image": name, "what": "view", "query": query} for query in VIEWS]
    for query, answer in zip(VIEWS, answers(requests), strict=True):
        assert not answer.startswith(b"error"), (query, answer[:200])
        head, arrays = unpacked(answer)
        expected_head, expected = unpacked(library(stored[name], "view", query))
        assert arrays.keys() == expected.keys()
        for key in expected:
            assert_array_equal(arrays[key], expected[key], err_msg=f"{query} {key}")
        assert head == expected_head, query


@pytest.mark.parametrize("name", ["hopper", "shapes", "texture"])
def test_contributions_tables_and_arrays_have_the_librarys_bytes(ask, name):
    answers, stored = ask
    requests = [
        {"image": name, "what": "contribution", "query": f"{query}&number=3".lstrip("&")} for query in VIEWS[2:9]
    ]
    for what in ("extrema.csv", "value.npy", "scale.npy", "edges.npy"):
        requests += [{"image": name, "what": what, "query": query} for query in (VIEWS[2], VIEWS[3], VIEWS[4])]
    for request, answer in zip(requests, answers(requests), strict=True):
        expected = library(stored[name], request["what"], request["query"])
        if request["what"] == "contribution":
            assert_array_equal(unpacked(answer)[1]["moment"], unpacked(expected)[1]["moment"])
        elif request["what"].endswith("npy"):
            assert_array_equal(np.load(io.BytesIO(answer)), np.load(io.BytesIO(expected)), strict=True)
        else:
            assert answer == expected, request


@pytest.mark.parametrize("name", ["hopper", "texture", "faint"])
def test_images_of_layers_have_the_librarys_pixels(ask, name):
    answers, stored = ask
    requests = [
        {"image": name, "what": f"{layer}.png", "query": query}
        for layer in ("value", "scale", "edges")
        for query in (VIEWS[0], VIEWS[3], VIEWS[5])
    ]
    for request, answer in zip(requests, answers(requests), strict=True):
        expected = layer_image(stored[name], read_settings(query_of(request["query"])), request["what"][:-4])
        assert answer == expected.tobytes(), request


def test_the_python_code_is_the_explorers(ask):
    answers, stored = ask
    queries = [f"{query}&y=80&x=120&size=41".lstrip("&") for query in VIEWS]
    queries += ["layers=value&count=0", "count=14&number=4", "low=0.00005&sigma=2"]
    requests = [{"image": "hopper", "what": "code", "query": query} for query in queries]
    for request, answer in zip(requests, answers(requests), strict=True):
        assert answer == library(stored["hopper"], "code", request["query"]), request


@pytest.mark.parametrize("factor", [1, 2, 3, 7])
def test_images_are_shrunk_as_by_the_library(ask, factor):
    answers, stored = ask
    names = ("hopper", "noisy", "shapes")
    requests = [{"image": name, "what": "shrink", "factor": factor} for name in names]
    for name, answer in zip(names, answers(requests), strict=True):
        assert answer == shrink_image(stored[name].image, factor).tobytes()


def test_what_needs_the_installed_version_says_so(ask):
    answers, _ = ask
    asked = {"figure": "clicks=9,9", "count": "annotations=9,9", "view": "layers=saliency", "code": "detector=gpb"}
    requests = [{"image": "shapes", "what": what, "query": query} for what, query in asked.items()]
    for name, answer in zip(("Cut out", "Count", "Saliency", "The detector gpb"), answers(requests), strict=True):
        assert answer.decode() == f"error: {name} needs the installed version: INSTALL"
