"""The explorer's server: what it answers to good questions, and how it refuses bad ones."""

import http.client
import io
import json
import logging
import logging.handlers
import queue
import re
import struct
import threading
import zlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image

import imtorque
from explorer_browser import photograph
from explorer_client import client, file_bytes, unpack
from imtorque.explorer import access, image_store
from imtorque.explorer import server as server_module
from imtorque.explorer.image_store import ImageStore, StoredImage, image_of_array, image_of_sample, start_image
from imtorque.explorer.python_code import python_code
from imtorque.explorer.results import extrema_of
from imtorque.explorer.settings import LAYERS, read_settings
from waiting import GIVEN_UP

LAYER_FILES = [f"{layer}.{kind}" for layer in LAYERS for kind in ("png", "npy")]
LAST = {"connection": "close"}  # where the server hangs up after its answer
IMAGE_PATHS = [
    "",
    "view",
    "contribution",
    "figure",
    "figure.png",
    "extrema.csv",
    "code",
    "image.png",
    *LAYER_FILES,
]


@pytest.fixture(scope="module")
def server():
    with client() as open_client:
        yield open_client


@pytest.fixture(scope="module")
def disc(server):
    return server.post("/api/images?sample=disc").json()["key"]


def ask(server, key, what, **query):
    response = server.get(f"/api/images/{key}/{what}".rstrip("/"), params=query)
    assert response.status_code == 200, response.text
    return response


def refusal(response, status):
    assert response.status_code == status
    assert list(response.json()) == ["error"]
    return response.json()["error"]


def noise(height=60, width=80, seed=0):
    rng = np.random.default_rng(seed)
    return np.asarray(Image.fromarray(rng.integers(0, 256, (9, 12, 3), np.uint8)).resize((width, height)))


# ---- the page ------------------------------------------------------------------------------------------------------


def test_the_page_and_everything_it_loads_is_served_and_nothing_from_elsewhere(server):
    seen, waiting = set(), ["/"]
    while waiting:
        path = waiting.pop()
        response = server.get(path)
        assert response.status_code == 200, path
        seen.add(path)
        text = response.text
        assert not re.findall(r"""(?:src|href|from|import|url)\s*[=(]?\s*["'(](?:https?:)?//""", text), path
        named = [f"/{name}" for name in re.findall(r'(?:src|href)="(page/[^"]+)"', text)]
        named += [f"/page/{name}" for name in re.findall(r'from "\./([^"]+)"', text)]
        waiting += [name for name in named if name not in seen]
    assert {"/page/main.js", "/page/torque.js", "/page/explorer.css", "/page/icon.svg"} <= seen


def test_every_answer_tells_the_browser_to_load_and_frame_nothing_foreign(server, disc):
    for path in ("/", "/page/main.js", "/api/start", f"/api/images/{disc}/view", "/nowhere"):
        headers = server.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"


def test_every_control_of_the_page_has_a_label(server):
    html = server.get("/").text
    labelled = set(re.findall(r'<label[^>]* for="([\w-]+)"', html))
    for tag in re.findall(r"<(?:input|select)[^>]*>", html):
        name = re.search(r'id="([\w-]+)"', tag)
        inside = re.search(r"<label[^>]*>(?:(?!</label>).)*" + re.escape(tag), html, re.DOTALL)
        assert inside or "aria-label=" in tag or (name and name[1] in labelled), tag
    for tag, text in re.findall(r"(<button[^>]*>)(.*?)</button>", html):
        assert "aria-label=" in tag or text.strip(), tag


def test_the_page_offers_the_drawn_scenes(server):
    assert set(server.get("/api/start").json()["samples"]) >= {"disc", "triangle", "overlap", "hole", "texture"}


# ---- good questions ------------------------------------------------------------------------------------------------


def test_the_forces_sent_are_the_librarys_rounded_ones(server, disc):
    head, arrays = unpack(ask(server, disc, "view").content)
    edges = imtorque.detect_edges(imtorque.datasets.sample("disc"))
    assert_array_equal(arrays["place"], np.flatnonzero(edges.mask))
    assert head["steps"] == edges.steps
    y, x = np.divmod(arrays["place"].astype(np.int64), head["width"])
    centre, size = (80, 120), 97
    near = (np.abs(y - centre[0]) <= size // 2) & (np.abs(x - centre[1]) <= size // 2)
    moment = ((x - centre[1]) * arrays["fy"] - (y - centre[0]) * arrays["fx"])[near].sum()
    expected = imtorque.torque_spectrum(edges, centre, [size])[0]
    assert np.float32(2 * moment) * np.float32(1 / (4 * size**2 * head["steps"])) == expected


def test_turned_forces_are_sent_beside_the_true_ones(server, disc):
    head, arrays = unpack(ask(server, disc, "view", pattern="30").content)
    edges = imtorque.detect_edges(imtorque.datasets.sample("disc"))
    turned = imtorque.pattern_edges(edges, np.radians(30))
    for name, force in (("fx", edges.fx), ("fy", edges.fy), ("gx", turned.fx), ("gy", turned.fy)):
        assert_array_equal(arrays[name], np.rint(force[edges.mask] * np.float32(head["steps"])))
    assert "gx" not in unpack(ask(server, disc, "view").content)[1]


@pytest.mark.parametrize(
    ("query", "of_edges", "of_patches", "of_sizes"),
    [
        ({}, {}, {}, {}),
        ({"sigma": "2.5", "force": "strength"}, {"sigma": 2.5, "force": "strength"}, {}, {}),
        ({"low": "0.01", "high": "0.05", "alpha": "1.5"}, {"low": 0.01, "high": 0.05}, {"alpha": 1.5}, {}),
        ({"patch": "disk", "smallest": "7", "largest": "41"}, {}, {"patch": "disk"}, {"smallest": 7, "largest": 41}),
        ({"pattern": "saddle"}, {}, {"pattern": "saddle"}, {}),
        ({"pattern": "-45", "polarity": "free"}, {}, {"pattern": -np.pi / 4, "polarity": "free"}, {}),
    ],
)
def test_maps_and_extrema_are_the_librarys(server, query, of_edges, of_patches, of_sizes):
    image = noise()
    key = server.post("/api/images?name=a.png", content=file_bytes(image)).json()["key"]
    edges = imtorque.detect_edges(image, **of_edges)
    sizes = imtorque.default_sizes(edges.shape, **of_sizes)
    value, scale = imtorque.value_and_scale_maps(edges, sizes, **of_patches)
    for name, expected in (("value", value), ("scale", scale), ("edges", np.stack([edges.fx, edges.fy]))):
        assert_array_equal(np.load(io.BytesIO(ask(server, key, f"{name}.npy", **query).content)), expected)

    extrema = imtorque.find_extrema(edges, sizes=sizes, **of_patches)
    assert len(extrema) > 12
    assert ask(server, key, "extrema.csv", nms="0", count="10", **query).text == extrema[:10].to_csv()
    apart = imtorque.suppress_overlaps(extrema)[:7]
    assert ask(server, key, "extrema.csv", count="7", **query).text == apart.to_csv()

    head, _ = unpack(ask(server, key, "view", count="7", **query).content)
    assert_array_equal([e["value"] for e in head["extrema"]], apart.value)
    assert [e["size"] for e in head["extrema"]] == apart.size.tolist()
    assert head["sizes"] == sizes.tolist()
    assert head["limit"] == np.abs(value).max()


def test_the_edges_of_a_detector_are_its_own(server):
    image = noise()
    key = server.post("/api/images?name=a.png", content=file_bytes(image)).json()["key"]
    edges = imtorque.edges.RECIPES["pb"].edges(image)
    value, _ = imtorque.value_and_scale_maps(edges, imtorque.default_sizes(edges.shape))
    likely = imtorque.boundary_strength(image, "pb")
    layers = {"edges": np.stack([edges.fx, edges.fy]), "value": value, "strengthened": likely.astype(np.float32)}
    for name, expected in layers.items():
        assert_array_equal(np.load(io.BytesIO(ask(server, key, f"{name}.npy", detector="pb").content)), expected)
    canny = np.load(io.BytesIO(ask(server, key, "value.npy").content))
    assert np.abs(canny - value).max() > 0.1  # neither is kept for the other


def test_saliency_and_strengthened_edges_are_the_librarys(server):
    image = noise()
    key = server.post("/api/images?name=a.png", content=file_bytes(image)).json()["key"]
    saliency = np.load(io.BytesIO(ask(server, key, "saliency.npy").content))
    assert_array_equal(saliency, imtorque.torque_saliency(image).astype(np.float32))
    for sigma, preset, scale in ((np.sqrt(2), "learned", 0.13), (2.0, "learned-sigma-2", 0.105)):
        weak = imtorque.detect_edges(image, sigma=sigma, low=0.004, high=0.004, force="strength", strength_scale=scale)
        expected = imtorque.strengthen_edges(
            np.minimum(weak.strength, 1), imtorque.dense_contribution(weak), coefficients=preset
        )
        answer = ask(server, key, "strengthened.npy", sigma=repr(float(sigma)))
        assert_array_equal(np.load(io.BytesIO(answer.content)), expected.astype(np.float32))


def test_a_disks_maps_too_large_for_the_memory_set_aside_are_the_same(server, monkeypatch):
    key = server.post("/api/images?sample=shapes").json()["key"]
    once = ask(server, key, "extrema.csv", patch="disk").text
    monkeypatch.setattr("imtorque.explorer.results.MAX_VOLUME_BYTES", 0)
    again = server.post("/api/images?sample=shapes").json()["key"]
    assert ask(server, again, "extrema.csv", patch="disk").text == once


@pytest.mark.slow
@pytest.mark.parametrize("enough", [False, True])
def test_the_strongest_extrema_of_disks_are_those_of_all(enough):
    image = photograph() if enough else imtorque.datasets.sample("disc")
    edges = imtorque.detect_edges(image)
    every = imtorque.find_extrema(edges, sizes=imtorque.default_sizes(edges.shape), patch="disk")
    checked = image_of_array(image, "a.png", "")
    found = extrema_of(checked, read_settings({"patch": "disk", "count": "200"}))
    assert found.to_csv() == imtorque.suppress_overlaps(every)[:200].to_csv()
    found = extrema_of(checked, read_settings({"patch": "disk", "count": "200", "nms": "0"}))
    assert found.to_csv() == every[:200].to_csv()
    (kept,) = [result[1] for key, result in checked._results.items() if key[0] == "torque"]
    assert (len(kept) < len(every)) == enough


def test_the_contribution_is_that_of_the_chosen_extremum(server, disc):
    image = imtorque.datasets.sample("disc")
    edges = imtorque.detect_edges(image)
    extrema = imtorque.suppress_overlaps(imtorque.find_extrema(edges, sizes=imtorque.default_sizes(edges.shape)))
    _, arrays = unpack(ask(server, disc, "contribution", number="1").content)
    expected = imtorque.contribution_map(edges, extrema[:1])[edges.mask].astype(np.float32)
    assert_array_equal(arrays["moment"], expected)
    # What lies in the patch adds up to the extremum's torque.
    assert_allclose(expected.sum() / (2 * extrema.size[0] ** 2), abs(extrema.value[0]), rtol=1e-3)


def test_the_figure_is_the_librarys(server, disc):
    image = imtorque.datasets.sample("disc")
    expected = imtorque.segment_figure(image, (80, 120), add=[(70, 110)], remove=[(5, 5)])
    query = {"clicks": "80,120 +70,110 -5,5"}
    head, arrays = unpack(ask(server, disc, "figure", **query).content)
    assert_array_equal(arrays["mask"], expected)
    assert head["pixels"] == expected.sum()
    saved = np.asarray(Image.open(io.BytesIO(ask(server, disc, "figure.png", **query).content)))
    assert_array_equal(saved, expected * np.uint8(255))
    _, arrays = unpack(ask(server, disc, "figure", clicks="80,120", figure_size="torque").content)
    assert_array_equal(arrays["mask"], imtorque.segment_figure(image, (80, 120), size="torque"))


def test_the_figure_of_a_larger_image_is_the_librarys(server):
    """The library cuts such images at a smaller size, and so must the page."""
    image = noise(500, 620)
    key = server.post("/api/images?name=large.png", content=file_bytes(image)).json()["key"]
    _, arrays = unpack(ask(server, key, "figure", clicks="250,300").content)
    assert_array_equal(arrays["mask"], imtorque.segment_figure(image, (250, 300)))


def test_layers_come_as_images_to_lay_over_and_as_files(server, disc):
    _, arrays = unpack(ask(server, disc, "view", layers=",".join(LAYERS)).content)
    value = np.load(io.BytesIO(ask(server, disc, "value.npy").content))
    for layer in LAYERS:
        assert arrays[layer].shape == (161, 241, 4)
        assert arrays[layer].dtype == np.uint8
        assert arrays[layer][..., 3].max() == 255
        response = ask(server, disc, f"{layer}.png")
        assert Image.open(io.BytesIO(response.content)).size == (241, 161)
        assert response.headers["content-disposition"] == f'attachment; filename="disc.{layer}.png"'
    assert np.all(arrays["value"][value == 0][..., 3] == 0)  # no torque, nothing to lay over
    y, x = np.unravel_index(np.abs(value).argmax(), value.shape)
    assert arrays["value"][y, x, 2] > arrays["value"][y, x, 0]  # a dark disc: blue


def test_the_image_shown_is_the_one_sent(server):
    image = noise()
    key = server.post("/api/images?name=a.png", content=file_bytes(image)).json()["key"]
    answer = ask(server, key, "image.png")
    assert_array_equal(np.asarray(Image.open(io.BytesIO(answer.content))), image)
    assert answer.headers["content-disposition"] == 'attachment; filename="a.png"'  # as the code reads it


def test_an_image_that_is_not_the_file_itself_is_saved_under_another_name(server, disc):
    key = server.post("/api/images?sample=hopper").json()["key"]
    for key_, name in ((disc, "disc.image.png"), (key, "hopper.image.png")):
        disposition = ask(server, key_, "image.png").headers["content-disposition"]
        assert disposition == f'attachment; filename="{name}"'


@pytest.mark.parametrize(
    ("pixels", "kind"),
    [
        (noise()[:, :, 0], "PNG"),
        (noise()[:, :, 0] > 128, "PNG"),
        (noise()[:, :, 0].astype(np.uint16) * 257, "PNG"),
        (noise()[:, :, 0].astype(np.float32) * 10 - 500, "TIFF"),
        (np.dstack([noise(), noise(seed=1)[:, :, 0]]), "PNG"),
        (noise(), "JPEG"),
        (noise(), "WEBP"),
        (noise(), "GIF"),
    ],
)
def test_images_of_all_kinds_are_taken(server, pixels, kind):
    response = server.post("/api/images?name=a", content=file_bytes(pixels, kind))
    assert response.status_code == 201, response.text
    assert (response.json()["height"], response.json()["width"]) == (60, 80)
    head, arrays = unpack(ask(server, response.json()["key"], "view", layers="value,strengthened").content)
    assert len(arrays["place"]) > 100
    assert head["extrema"]


def test_an_image_without_edges_is_fine(server):
    key = server.post("/api/images?name=a.png", content=file_bytes(np.full((5, 7), 9, np.uint8))).json()["key"]
    head, arrays = unpack(ask(server, key, "view", layers=",".join(LAYERS)).content)
    assert (head["extrema"], head["limit"], len(arrays["place"])) == ([], 0.0, 0)
    assert "boundary_strength(image)" in ask(server, key, "code", layers="strengthened").text
    one = server.post("/api/images?name=a.png", content=file_bytes(np.zeros((1, 1), np.uint8))).json()["key"]
    assert unpack(ask(server, one, "view", layers=",".join(LAYERS)).content)[0]["width"] == 1


def test_a_large_image_is_shrunk_and_the_code_says_so(server, tmp_path, monkeypatch):
    monkeypatch.setattr(image_store, "WORKING_PIXELS", 1000)
    monkeypatch.chdir(tmp_path)
    image = noise()
    (tmp_path / "large.png").write_bytes(file_bytes(image))
    facts = server.post("/api/images?name=large.png", content=file_bytes(image)).json()
    assert (facts["height"], facts["width"]) == (20, 26)  # by 3
    names = {}
    exec(ask(server, facts["key"], "code", layers="value", count="0").text, names)
    value = np.load(io.BytesIO(ask(server, facts["key"], "value.npy").content))
    assert_array_equal(names["value"], value)


def test_a_long_image_is_shrunk_to_what_the_page_can_show(server):
    facts = server.post("/api/images?name=a.png", content=file_bytes(np.zeros((9, 5001), np.uint8))).json()
    assert (facts["height"], facts["width"]) == (4, 2500)
    assert ask(server, facts["key"], "view", layers=",".join(LAYERS), patch="disk")


# ---- the code ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query",
    [
        {"y": "30", "x": "41", "size": "21", "count": "0"},
        {"sigma": "2.5", "low": "0.01", "high": "0.02", "force": "strength", "layers": ",".join(LAYERS), "count": "3"},
        {"patch": "disk", "alpha": "1.5", "smallest": "7", "largest": "31", "y": "30", "x": "41", "size": "21"},
        {"nms": "0", "count": "9", "number": "4", "layers": "scale", "patch": "disk"},
        {"pattern": "spiral", "count": "9", "number": "2", "layers": "value", "y": "30", "x": "41", "size": "21"},
        {"polarity": "free", "count": "9", "number": "3", "patch": "disk", "y": "30", "x": "41", "size": "21"},
        {"clicks": "30,40 +20,20 -10,10", "count": "0"},
        {"clicks": "30,40", "figure_size": "torque", "count": "0"},
        {"detector": "pb", "layers": ",".join(LAYERS), "count": "3"},
    ],
)
def test_the_code_runs_and_makes_what_is_shown(server, query, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    content = file_bytes(noise())
    (tmp_path / 'it\'s "mine".png').write_bytes(content)
    response = server.post("/api/images", params={"name": 'it\'s "mine".png'}, content=content)
    key = response.json()["key"]
    code = ask(server, key, "code", **query).text
    names = {}
    exec(compile(code, "copied.py", "exec"), names)
    printed = capsys.readouterr().out
    if query.get("count") != "0":
        assert ask(server, key, "extrema.csv", **query).text in printed
    if "size" in query:
        assert f"torque {names['torque']:+.4f}" in printed
    for layer in query.get("layers", "").split(","):
        if layer in ("value", "scale", "saliency", "strengthened"):
            answered = np.load(io.BytesIO(ask(server, key, f"{layer}.npy", **query).content))
            assert_array_equal(np.asarray(names[layer], answered.dtype), answered)
    if "number" in query:
        moment = unpack(ask(server, key, "contribution", **query).content)[1]["moment"]
        assert_array_equal(names["contribution"][names["edges"].mask].astype(np.float32), moment)
    if "clicks" in query:
        mask = unpack(ask(server, key, "figure", **query).content)[1]["mask"]
        assert_array_equal(names["mask"], mask.astype(bool))


def test_a_name_cannot_break_out_of_the_code():
    image = image_of_array(noise(), "x", image_store.read_expression('a.png"); import os; os.abort() #\n'))
    code = python_code(image, read_settings({}))
    assert len(code.splitlines()) == len(python_code(image_of_sample("disc"), read_settings({})).splitlines())
    assert "os.abort() #\\n'" in code


# ---- bad questions -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"sigma": "0"}, "sigma must be a number from 0.3 to 20, got '0'"),
        ({"sigma": "nan"}, "sigma must be a number"),
        ({"sigma": "1e999"}, "sigma must be a number"),
        ({"low": "-1"}, "low must be a number from 0 to 10, got '-1'"),
        ({"high": "inf"}, "high must be a number from 0 to 10, got 'inf'"),
        ({"low": "0.5", "high": "0.1"}, "low must not exceed high, got low 0.5 and high 0.1"),
        ({"force": "strong"}, "force must be one of unit, strength, got 'strong'"),
        ({"detector": "hed"}, "detector must be one of canny, pb, mpb, gpb, ucm, sketch-tokens, network, got 'hed'"),
        ({"alpha": "9"}, "alpha must be a number from 0 to 4, got '9'"),
        ({"patch": "hexagon"}, "patch must be one of square, disk, got 'hexagon'"),
        (
            {"pattern": "sprial"},
            "pattern must be one of circle, star, spiral, saddle, saddle-diagonal or degrees from",
        ),
        ({"pattern": "361"}, "or degrees from -360 to 360, got '361'"),
        ({"polarity": "both"}, "polarity must be one of signed, free, got 'both'"),
        ({"smallest": "4"}, "smallest must be odd, from 3 to 4095, got '4'"),
        ({"smallest": "99", "largest": "9"}, "smallest must not exceed largest, got 99 and 9"),
        ({"largest": "١١"}, "largest must be odd"),
        ({"count": "201"}, "count must be an integer, from 0 to 200, got '201'"),
        ({"count": "-1"}, "count must be an integer"),
        ({"nms": "yes"}, "nms must be one of 0, 1, got 'yes'"),
        ({"layers": "value,depth"}, "layers must be one of value, scale, edges, saliency, strengthened, got 'depth'"),
        ({"number": "0"}, "number must be an integer, from 1 to 200, got '0'"),
        ({"y": "3"}, "y, x and size must be given together"),
        ({"figure_size": "half"}, "figure_size must be one of any, torque, got 'half'"),
        ({"clicks": "3"}, "clicks must be like \"80,120 +40,60 -10,20\" (y,x), got '3'"),
        ({"clicks": "+3,4"}, "clicks must be a plain one first and then added or removed ones, got '+3,4'"),
        ({"clicks": "3,4 5,6"}, "clicks must be a plain one first"),
        ({"clicks": "3,x"}, "clicks must be an integer"),
        ({"clicks": "1,1 " * 51}, "clicks must be at most 50, got 51"),
        ({"path": "/etc/passwd"}, "parameters must be among sigma, low,"),
    ],
)
def test_a_wrong_parameter_is_refused_everywhere_with_a_sentence(server, disc, query, message):
    for what in IMAGE_PATHS:
        assert message in refusal(server.get(f"/api/images/{disc}/{what}".rstrip("/"), params=query), 400)


def test_numbers_and_places_outside_the_image_are_refused(server, disc):
    path = f"/api/images/{disc}"
    assert "number must be that of one of the 3 extrema, got 4" in refusal(
        server.get(f"{path}/contribution?number=4&count=3"), 400
    )
    outside = "fixation must lie in the image of 161 x 241, got (y, x) = (161, 0)"
    assert outside in refusal(server.get(f"{path}/figure?clicks=161,0"), 400)
    assert "clicks must be given, got none" in refusal(server.get(f"{path}/figure.png"), 400)
    both = refusal(server.get(f"{path}/figure", params={"clicks": "80,120 +9,9 -9,9"}), 400)
    assert "a point must be added or removed, not both" in both


def test_an_image_that_is_not_stored_is_gone(server):
    for what in IMAGE_PATHS:
        message = refusal(server.get(f"/api/images/no-such/{what}".rstrip("/")), 410)
        assert message == "this image is no longer stored: open it again"


def bomb(width, height):
    """A PNG of a few bytes that says it has so many pixels."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")


def pages():
    file = io.BytesIO()
    Image.fromarray(noise()).save(file, "TIFF", save_all=True, append_images=[Image.fromarray(noise(seed=1))])
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no image format that is known"),
        (b"not an image", "no image format that is known"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "no image format that is known"),
        (file_bytes(noise())[:300], "must be an image that can be read"),
        (file_bytes(noise(), "JPEG")[:500], "must be an image that can be read"),
        (bomb(60_000, 60_000), "must have at most 50000000 pixels, got 60000 x 60000"),
        (bomb(2_000_000_000, 2_000_000_000), "must have at most 50000000 pixels"),
        (file_bytes(np.zeros((1, 5000), np.uint8)), "must be less narrow to be shown, got 1 x 5000 pixels"),
        (file_bytes(np.full((4, 4), np.nan, np.float32), "TIFF"), "image must be finite"),
    ],
)
def test_a_file_that_is_no_good_image_is_refused_with_a_sentence(server, content, message):
    assert message in refusal(server.post("/api/images?name=bad.png", content=content), 400)


@pytest.mark.parametrize(
    ("plane", "message"),
    [
        ("page=2", "page must be one of the file's 2"),
        ("page=-1", "page must be a number from 0"),
        ("channel=3", "channel must be one of"),
    ],
)
def test_a_plane_that_a_stack_does_not_have_is_refused(server, plane, message):
    assert message in refusal(server.post(f"/api/images?name=two.tif&{plane}", content=pages()), 400)


def test_of_a_stack_the_first_page_is_open_until_another_is_asked_for(server):
    facts = server.post("/api/images?name=two.tif", content=pages()).json()
    assert (facts["page"], facts["pages"], facts["channel"], facts["channels"]) == (0, 2, None, 1)
    other = server.post("/api/images?name=two.tif&page=1", content=pages()).json()
    assert "imtorque.files.read_image('two.tif', page=1)" in ask(server, other["key"], "code").text


def test_a_file_of_too_many_bytes_is_refused_before_it_is_read(server, monkeypatch):
    monkeypatch.setattr(access, "MAX_UPLOAD_BYTES", 2**20)
    monkeypatch.setattr("imtorque.explorer.limits.MAX_UPLOAD_BYTES", 2**20)
    large = bytes(2**20 + 1)
    message = refusal(server.post("/api/images?name=a", content=large, headers=LAST), 413)
    assert message == "an image must have at most 1 MiB, got 1048577 bytes"
    parts = iter([large[: 2**19]] * 3)  # sent without its length
    message = refusal(server.post("/api/images?name=a", content=parts, headers=LAST), 413)
    assert message == "an image must have at most 1 MiB, got more"


@pytest.mark.parametrize("query", ["", "sample=nothing", "sample=disc&name=a", "start=1", "path=a.png"])
def test_an_image_asked_for_in_no_known_way_is_refused(server, query):
    assert refusal(server.post(f"/api/images?{query}"), 400)


@pytest.mark.parametrize(
    "path", ["/nowhere", "/page/server.py", "/page/../server.py", "/page/%2e%2e/server.py", "/page//etc/passwd", "/api"]
)
def test_other_paths_lead_nowhere(server, path):
    connection = http.client.HTTPConnection(server.base_url.host, server.base_url.port)  # sends paths as they are
    connection.request("GET", path)
    answer = connection.getresponse()
    assert (answer.status, json.loads(answer.read())) == (404, {"error": "Not Found"})
    connection.close()


def test_other_methods_are_refused(server, disc):
    assert refusal(server.post("/"), 405)
    assert refusal(server.put(f"/api/images/{disc}/view"), 405)


def test_a_name_is_no_more_than_a_name(server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    facts = server.post("/api/images", params={"name": '../../x\r\n"é.png'}, content=file_bytes(noise())).json()
    disposition = ask(server, facts["key"], "value.png").headers["content-disposition"]
    assert disposition == 'attachment; filename=".._.._x____.png.value.png"'
    assert list(tmp_path.iterdir()) == []


def test_a_failure_of_our_own_is_logged_and_answered_without_a_traceback(server, monkeypatch):
    disc = server.post("/api/images?sample=disc").json()["key"]

    def fail(*_):
        raise RuntimeError("secret")

    records = queue.SimpleQueue()
    monkeypatch.setattr(logging.getLogger("imtorque.explorer"), "handlers", [logging.handlers.QueueHandler(records)])
    monkeypatch.setattr("imtorque.explorer.results.detect_edges", fail)
    message = refusal(server.get(f"/api/images/{disc}/view", headers=LAST), 500)
    assert message == "the explorer failed: RuntimeError"
    record = records.get(timeout=GIVEN_UP)  # the answer comes first
    assert (record.name, record.getMessage().splitlines()[0]) == (
        "imtorque.explorer",
        f"request failed: /api/images/{disc}/view",
    )
    assert "RuntimeError: secret" in record.getMessage()


# ---- who may ask ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["127.0.0.1:8745", "localhost", "LOCALHOST:80", "[::1]:8745", "192.168.0.7"])
def test_addresses_and_localhost_are_answered(server, host):
    assert server.get("/api/start", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", ""])
def test_foreign_names_are_not(server, host):
    assert "must be asked for by its address" in refusal(server.get("/api/start", headers={"host": host}), 421)


def test_a_name_the_server_was_started_with_is_answered():
    with client(names=("lab.example",)) as server:
        assert server.get("/api/start", headers={"host": "Lab.example:80"}).status_code == 200


def test_other_sites_are_refused(server):
    sent = file_bytes(noise())
    for headers in ({"origin": "http://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"}):
        response = server.post("/api/images?name=a.png", content=sent, headers=headers)
        assert "must come from the explorer's own page" in refusal(response, 403)
    own = server.post("/api/images?name=a.png", content=sent, headers={"origin": str(server.base_url).rstrip("/")})
    assert own.status_code == 201
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert server.get("/", headers=link).status_code == 200  # a link from elsewhere may be followed


# ---- what is stored ------------------------------------------------------------------------------------------------


def test_the_image_the_server_was_started_with_is_there():
    with client(
        start=[start_image(image_of_array(noise(), "cat.png", image_store.read_expression("photos/cat.png")))]
    ) as server:
        assert server.get("/api/start").json()["start"] == ["cat.png"]
        keys = {server.post("/api/images?start=0").json()["key"] for _ in range(2)}
        assert len(keys) == 2
        assert "read_image('photos/cat.png')" in ask(server, keys.pop(), "code").text


def test_a_tab_that_closes_frees_its_image_unless_it_comes_back():
    now = [0.0]
    store = ImageStore(lambda: now[0])
    with client(store=store) as server:
        closed, reloaded = (server.post("/api/images?sample=disc").json()["key"] for _ in range(2))
        for key in (closed, reloaded):
            assert server.post(f"/api/images/{key}/close").status_code == 204
        assert ask(server, reloaded, "")
        now[0] += image_store.CLOSE_GRACE + 1
        store.evict()
        assert ask(server, reloaded, "")
        assert server.get(f"/api/images/{closed}").status_code == 410
        assert server.delete(f"/api/images/{reloaded}").status_code == 204
        assert len(store) == 0
        assert server.post("/api/images/no-such/close").status_code == 204


def test_images_go_when_they_are_idle_or_too_many(monkeypatch):
    now = [0.0]
    store = ImageStore(lambda: now[0])
    monkeypatch.setattr(image_store, "MAX_BYTES", 25_000)
    old, used, new = (StoredImage("x", np.zeros((100, 100), np.uint8), ()) for _ in range(3))
    store.add(old)
    store.add(used)
    store.get(old.key)
    store.add(new)  # more than fits: the one used least recently goes
    with pytest.raises(KeyError):
        store.get(used.key)
    now[0] += image_store.IDLE_TIMEOUT - 1
    store.get(new.key)
    now[0] += 2
    store.evict()
    assert len(store) == 1


@pytest.mark.parametrize("going", ["closed", "removed", "kept"])
def test_memory_is_given_back_after_images_went(going, monkeypatch):
    given_back = threading.Event()
    monkeypatch.setattr(server_module, "EVICTION_INTERVAL", 0.02)
    monkeypatch.setattr(server_module, "return_memory", given_back.set)
    monkeypatch.setattr(image_store, "CLOSE_GRACE", 0)
    with client() as server:
        key = server.post("/api/images?sample=disc").json()["key"]
        if going == "closed":
            server.post(f"/api/images/{key}/close")
        if going == "removed":
            server.delete(f"/api/images/{key}")
        assert given_back.wait(0.3 if going == "kept" else GIVEN_UP) == (going != "kept")


def test_results_count_as_memory_and_only_the_latest_are_kept():
    image = StoredImage("x", np.zeros((10, 10), np.uint8), ())
    for k in range(image_store.MAX_RESULTS + 5):
        assert image.cached(k, lambda: np.zeros(1000, np.uint8)).nbytes == 1000
    assert image.nbytes == 100 + 1000 * image_store.MAX_RESULTS
    marker = image.cached(k, lambda: pytest.fail("it is kept"))
    assert marker.nbytes == 1000


@pytest.mark.slow
def test_twenty_tabs_at_once_each_get_their_own_answers(server):
    def tab(k):
        image = noise(60 + k, 80, seed=k)
        sigma = 1 + k / 10
        key = server.post(f"/api/images?name={k}.png", content=file_bytes(image)).json()["key"]
        answers = []
        for patch in ("square", "disk", "square"):
            query = {"sigma": repr(sigma), "patch": patch, "layers": "value,saliency"}
            head, arrays = unpack(ask(server, key, "view", **query).content)
            answers.append((head["limit"], arrays["place"], arrays["saliency"].shape))
        server.delete(f"/api/images/{key}")
        return image, sigma, answers

    with ThreadPoolExecutor(20) as pool:
        tabs = list(pool.map(tab, range(20)))
    for image, sigma, answers in tabs:
        edges = imtorque.detect_edges(image, sigma=sigma)
        for (limit, place, shape), patch in zip(answers, ("square", "disk", "square"), strict=True):
            value, _ = imtorque.value_and_scale_maps(edges, imtorque.default_sizes(edges.shape), patch=patch)
            assert limit == np.abs(value).max()
            assert_array_equal(place, np.flatnonzero(edges.mask))
            assert shape == (*edges.shape, 4)
