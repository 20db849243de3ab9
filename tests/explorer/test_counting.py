"""The explorer's tool Count: a few objects are clicked, and all others like them are found."""

import csv
import io

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image
from scipy.optimize import linear_sum_assignment
from typer.testing import CliRunner

import imtorque
from data_folder import data_folder
from explorer_browser import Tab, photograph
from explorer_client import client, file_bytes, running, unpack
from imtorque.cli import app
from imtorque.cli.explore import start_images
from waiting import GIVEN_UP

# The coins of scikit-image's image: y, x and diameter.
COINS = [
    *((198, 154, 38), (195, 102, 43), (124, 336, 39), (127, 154, 37), (125, 102, 37), (193, 212, 47), (266, 114, 42)),
    *((124, 205, 39), (124, 45, 41), (194, 274, 44), (119, 271, 49), (186, 347, 63), (51, 155, 45), (197, 44, 37)),
    *((56, 100, 37), (268, 358, 43), (52, 277, 39), (261, 172, 54), (51, 215, 45), (263, 301, 50), (263, 244, 47)),
    *((55, 44, 41), (44, 335, 57), (260, 46, 56)),
]
FIRST = (23, 22, 12, 0, 20, 4, 10)


def coins():
    return pytest.importorskip("skimage.data").coins()


def found_at(found, coin):
    y, x, diameter = coin
    return np.any(np.hypot(found[:, 0] - y, found[:, 1] - x) < diameter / 2)


def mark(tab, y, x, diameter):
    """Drag from the middle of an object to its border."""
    tab.page.mouse.move(*tab.on_screen(y, x))
    tab.page.mouse.down()
    tab.page.mouse.move(*tab.on_screen(y, x + diameter / 2), steps=2)
    tab.page.mouse.up()


def places(tab):
    """The middles of what is found, (n, 2)."""
    place = tab.wait().page.evaluate("import('/page/page.js').then(({ page }) => [...page.objects.place])")
    return np.reshape(place, (-1, 2))


def discs(missing=(), dim=()):
    """Bright discs on a grey ground, in rows; some are half as bright."""
    image = np.full((120, 160), 90, np.uint8)
    y, x = np.indices(image.shape)
    for k, (row, column) in enumerate((r, c) for r in (24, 60, 96) for c in (24, 60, 96, 132)):
        if k not in missing:
            image[np.hypot(y - row, x - column) <= 9 + k % 3] = 145 if k in dim else 200
    return image + (np.random.default_rng(0).random(image.shape) < 0.5).astype(np.uint8) * 4


def test_ten_clicks_on_the_coins_give_24_of_24(tab):
    tab.open("#tool=count&tab=count").drop(file_bytes(coins()), "coins.png")
    clicked = []

    def drag(coin):
        clicked.append(coin)
        mark(tab, *coin)

    for k in FIRST:
        drag(COINS[k])
    while True:
        found = places(tab)
        missed = [coin for coin in COINS if not found_at(found, coin) and coin not in clicked]
        if not missed or len(clicked) == 10:
            break
        drag(missed[-1])
    assert len(clicked) <= 10
    assert missed == []
    assert len(found) == 24
    assert tab.page.inner_text("#count-number") == "24 objects"


def test_fifteen_clicks_on_a_blood_smear_give_an_f1_of_at_least_70_per_cent(tab, capsys):
    folder = data_folder("counting") / "blood_cells"
    name = "BloodImage_00008.jpg"
    with open(folder / "objects.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["image"] == name]
    truth = np.array([[float(row[key]) for key in ("y0", "x0", "y1", "x1")] for row in rows])
    tab.open("#tool=count&tab=count").drop((folder / "images" / name).read_bytes(), name)

    found_places = []

    def inside():
        found_places.append(places(tab))
        y, x = found_places[-1].T[..., None]
        return (y >= truth[:, 0]) & (x >= truth[:, 1]) & (y < truth[:, 2]) & (x < truth[:, 3])

    def click(boxes, negatives=()):
        """Annotation objects and what is none, all at once: each by itself would be counted with."""
        annotations = [((y0 + y1) / 2, (x0 + x1) / 2, (y1 - y0 + x1 - x0) / 2, False) for y0, x0, y1, x1 in boxes]
        annotations += [(y, x, 0, True) for y, x in negatives]
        tab.page.evaluate(
            """async (annotations) => {
                const { state, store } = await import("/page/page.js");
                const more = annotations.map(([y, x, diameter, negative]) => ({ y, x, diameter, negative }));
                store.set({ annotations: [...state.annotations, ...more] });
            }""",
            [[round(float(y)), round(float(x)), round(float(size)), negative] for y, x, size, negative in annotations],
        )

    click(truth[::4][:5])
    met = inside()
    click(truth[~met.any(axis=0)][:5], found_places[-1][~met.any(axis=1)][:5])
    last = inside()
    hits = last[linear_sum_assignment(last, maximize=True)].sum()
    f1 = 2 * hits / sum(last.shape)
    with capsys.disabled():
        print(f"\n{name}: {len(truth)} marked in the set, {len(last)} found after 15 clicks at most, F1 {f1:.2f}")
    assert f1 >= 0.7


def test_what_is_right_clicked_goes_and_others_like_it_go_too(tab, tmp_path, monkeypatch, capsys):
    image = discs(dim=(0, 3, 6, 9))
    place = [(y, x) for y in (24, 60, 96) for x in (24, 60, 96, 132)]
    tab.open("#tool=count&tab=count").drop(file_bytes(image), "discs.png")
    for k in (1, 5, 10, 3):
        tab.drag(place[k], (place[k][0], place[k][1] + 10))
    assert {0, 3, 6, 9} < set(np.flatnonzero([found_at(places(tab), (y, x, 18)) for y, x in place]))
    tab.click(*place[3])  # the mark is taken back
    tab.page.mouse.click(*tab.on_screen(*place[3]), button="right")
    assert_array_equal(
        np.flatnonzero([found_at(places(tab), (y, x, 18)) for y, x in place]), [1, 2, 4, 5, 7, 8, 10, 11]
    )
    tab.page.click("#tab-save")
    code = tab.wait().page.inner_text("#code")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "discs.png").write_bytes(file_bytes(image))
    exec(compile(code, "copied.py", "exec"), {})
    assert "8 objects" in capsys.readouterr().out


def test_wrong_ones_are_left_out_until_that_is_undone(tab):
    tab.open("#tool=count&tab=count").drop(file_bytes(discs()), "discs.png")
    for y, x in ((24, 24), (60, 60), (96, 96)):
        mark(tab, y, x, 20)
    assert tab.wait().page.inner_text("#count-number") == "12 objects"
    tab.page.mouse.click(*tab.on_screen(24, 132), button="right")
    assert tab.wait().page.inner_text("#count-number") == "11 objects"
    tab.rest().page.keyboard.press("Control+z")
    tab.shows("#count-number", "12 objects")


@pytest.mark.slow
def test_the_table_the_masks_and_the_finder_are_those_of_teach_and_count(tmp_path):
    image = discs()
    query = {"annotations": "24,24,20 60,60,20 96,96,22 60,132 -24,96"}
    (tmp_path / "discs.png").write_bytes(file_bytes(image))
    with client() as server:
        key = server.post("/api/images?name=discs.png", content=file_bytes(image)).json()["key"]
        for name in ("objects.csv", "objects.png", "annotations.csv", "finder"):
            (tmp_path / name).write_bytes(server.get(f"/api/images/{key}/{name}", params=query).content)
        head, arrays = unpack(server.get(f"/api/images/{key}/count", params=query).content)
    clicks = [(24, 24, 20, False), (60, 60, 20, False), (96, 96, 22, False), (60, 132, 0, False), (24, 96, 0, True)]
    found = imtorque.detection.find_clicked(image, clicks)
    assert found.labels[24, 96] == 0
    assert (tmp_path / "objects.csv").read_text() == found.to_csv()
    assert_array_equal(np.asarray(Image.open(tmp_path / "objects.png")), found.labels)
    assert head["count"] == len(found) == len(arrays["diameter"])
    again = imtorque.ObjectFinder.load(tmp_path / "finder").predict(image)
    assert again.to_csv() == imtorque.detection.trained_on_clicks(image, clicks).predict(image).to_csv()
    command = [
        "train-detector",
        str(tmp_path / "discs.png"),
        "--clicks",
        "--annotations",
        str(tmp_path / "annotations.csv"),
    ]
    result = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "taught")])
    assert result.exit_code == 0, result.output
    assert imtorque.ObjectFinder.load(tmp_path / "taught").predict(image).to_csv() == again.to_csv()


def test_a_large_tiff_is_counted_alike_by_the_page_and_by_the_command_line(tmp_path):
    scene = np.full((1040, 1392), 90, np.uint8)
    y, x = np.indices(scene.shape)
    places = [(row, column) for row in range(130, 1000, 180) for column in range(130, 1300, 180)]
    for k, (row, column) in enumerate(places):
        scene[np.hypot(y - row, x - column) <= 30 + k % 4] = 200
    scene += np.random.default_rng(0).integers(0, 9, scene.shape, dtype=np.uint8)
    Image.fromarray(scene).save(tmp_path / "scene.tiff")
    query = {"annotations": " ".join(f"{places[k][0] // 2},{places[k][1] // 2},32" for k in (1, 9, 17, 30))}
    with client() as server:
        facts = server.post("/api/images?name=scene.tiff", content=(tmp_path / "scene.tiff").read_bytes()).json()
        assert facts["factor"] == 2
        for name in ("objects.csv", "objects.png", "annotations.csv", "finder", "original.png"):
            answer = server.get(f"/api/images/{facts['key']}/{name}", params=query)
            (tmp_path / name).write_bytes(answer.content)
    command = ["train-detector", str(tmp_path / "scene.tiff"), "--clicks", "--annotations"]
    result = CliRunner().invoke(app, [*command, str(tmp_path / "annotations.csv"), "-o", str(tmp_path / "taught")])
    assert result.exit_code == 0, result.output

    def table(path):
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
        return sorted(tuple(float(row[name]) for name in ("y", "x", "diameter", "area")) for row in rows)

    found = table(tmp_path / "objects.csv")
    assert len(found) == len(places)
    for model in ("finder", "taught"):
        command = ["count", str(tmp_path / "scene.tiff"), "--model", str(tmp_path / model), "-o", str(tmp_path / "out")]
        result = CliRunner().invoke(app, [*command, "--overwrite"])
        assert result.exit_code == 0, result.output
        assert table(tmp_path / "out" / "objects.csv") == found
    labels = np.asarray(Image.open(tmp_path / "objects.png"))
    assert labels.shape == scene.shape
    assert len({labels[place] for place in places} - {0}) == len(places)
    assert_array_equal(np.asarray(Image.open(tmp_path / "original.png"))[..., 0], scene)


def test_of_a_large_image_a_mask_and_a_cut_out_are_saved_whole():
    image = np.full((900, 901), 40, np.uint8)
    image[300:600, 301:603] = 200
    with client() as server:
        key = server.post("/api/images?name=a.png", content=file_bytes(image)).json()["key"]
        mask, cut = (
            np.asarray(Image.open(io.BytesIO(server.get(f"/api/images/{key}/{name}.png?clicks=200,200").content)))
            for name in ("figure", "cutout")
        )
        extrema = server.get(f"/api/images/{key}/extrema.csv?count=1").text.splitlines()[1].split(",")
    assert mask.shape == image.shape
    assert np.mean((mask > 0) == (image > 100)) > 0.99
    assert_array_equal(cut[..., :3], np.dstack([image] * 3))
    assert_array_equal(cut[..., 3], mask)
    assert np.abs(np.array(extrema[:2], float) - 450).max() < 20
    assert abs(int(extrema[2]) - 300) < 30


def test_the_next_image_is_counted_by_what_was_clicked_before(tab, store, tmp_path, monkeypatch, capsys):
    first, second = discs(), discs(missing=(1, 6, 11))
    for name, image in (("first.png", first), ("second.png", second)):
        (tmp_path / name).write_bytes(file_bytes(image))
    tab.open("#tool=count&tab=count").drop(file_bytes(first), "first.png")
    for y, x in ((24, 24), (60, 60), (96, 96)):
        tab.drag((y, x), (y, x + 10))
    assert tab.page.inner_text("#count-number") == "12 objects"
    tab.page.set_input_files("#file", tmp_path / "second.png")
    tab.shows("#image option:checked", "second.png").wait()
    assert tab.page.inner_text("#count-number") == "9 objects"
    assert tab.page.inner_text("#count-facts").endswith("In 2 images, each as last seen: 21.")
    for key in list(store._images):  # the server lets both go
        store.remove(key)
    tab.drag((24, 24), (24, 34))
    assert tab.page.inner_text("#count-number") == "9 objects"
    tab.page.click("#tab-save")
    code = tab.wait().page.inner_text("#code")
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(code, "copied.py", "exec"), names)
    assert "9 objects" in capsys.readouterr().out
    assert_array_equal(names["image_1"], first)
    assert all("410" in text for text in tab.complaints)
    tab.complaints.clear()


def test_the_images_of_a_folder_are_gone_through_with_what_was_taught(browser, tmp_path):
    for name, missing in (("a.png", ()), ("b.png", (1, 6, 11)), ("c.png", (2, 3))):
        (tmp_path / name).write_bytes(file_bytes(discs(missing)))
    with running(start=start_images([str(tmp_path)])) as address:
        tab = Tab(browser.new_page(viewport={"width": 1280, "height": 720}), address)
        tab.page.set_default_timeout(1000 * GIVEN_UP)
        tab.open("#tool=count&tab=count").shows("#image option:checked", "a.png")
        for y, x in ((24, 24), (60, 60), (96, 96)):
            mark(tab, y, x, 20)
        assert tab.wait().page.inner_text("#count-number") == "12 objects"
        tab.page.click("#next-image")
        tab.shows("#image option:checked", "b.png").wait()
        assert tab.page.inner_text("#count-number") == "9 objects"
        tab.page.keyboard.press("n")
        tab.shows("#image option:checked", "c.png").wait()
        assert tab.page.inner_text("#count-facts").endswith("In 3 images, each as last seen: 31.")
        assert tab.page.locator("#after").is_disabled()
        assert tab.page.evaluate("import('/page/page.js').then(({ page }) => page.trainingImages.length)") == 1
        tab.page.keyboard.press("Shift+N")
        tab.shows("#image option:checked", "b.png").wait()
        tab.page.click("#before")
        tab.shows("#image option:checked", "a.png").wait()
        lengths = "({ page, state }) => [page.trainingImages, state.annotations].map((marked) => marked.length)"
        assert tab.page.evaluate(f"import('/page/page.js').then({lengths})") == [0, 3]
        tab.page.click("#clear-annotations")
        assert tab.wait().page.inner_text("#count-facts") == "Nothing clicked yet."
        assert tab.complaints == []
        tab.page.close()


@pytest.mark.parametrize(
    ("annotations", "message"),
    [
        ("", "annotations must have an object, got none"),
        ("-3,4", "annotations must have an object, got none"),
        ("3", 'annotations must be like "80,120,34 40,60 -10,20" (y,x,diameter), got'),
        ("-3,4,5", "annotations must be like"),
        ("3,x", "annotations must be an integer"),
        ("500,3", "annotations must lie in the image of 50 x 60, got one outside"),
        ("1,1 " * 101, "annotations must be at most 100, got 101"),
    ],
)
def test_annotations_that_cannot_be_are_refused_with_a_sentence(annotations, message):
    with client() as server:
        key = server.post("/api/images?name=a.png", content=file_bytes(photograph(50, 60))).json()["key"]
        answer = server.get(f"/api/images/{key}/count", params={"annotations": annotations})
    assert (answer.status_code, message in answer.json()["error"]) == (400, True)


def test_by_keys_objects_are_marked_at_the_cross(tab):
    tab.open("#tool=count&tab=count").drop(file_bytes(discs()), "discs.png")
    tab.page.evaluate("import('/page/page.js').then(({ store }) => store.set({ y: 24, x: 24 }))")
    tab.page.locator("#canvas").press("Enter")
    assert tab.wait().page.evaluate("import('/page/page.js').then(({ state }) => state.annotations.length)") == 1


def test_a_pinch_zooms_and_marks_nothing(browser, address):
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    phone = Tab(context.new_page(), address).open("#image=sample:disc&tool=count&tab=count")
    session = context.new_cdp_session(phone.page)

    def touch(kind, *places):
        points = [dict(zip("xy", phone.on_screen(*place), strict=True), id=k) for k, place in enumerate(places)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", (80, 110))
    touch("touchStart", (80, 110), (80, 130))
    touch("touchMove", (80, 100), (80, 140))
    touch("touchEnd")
    state = "({ page, state }) => [page.stage.zoom, state.annotations.length]"
    zoomed, marks = phone.wait().page.evaluate(f"import('/page/page.js').then({state})")
    assert (zoomed > 1.5, marks) == (True, 0)
    context.close()


def test_several_files_are_gone_through_and_saved_in_one_table(tab, tmp_path):
    for name, missing in (("a.png", ()), ("b.png", (1, 6, 11))):
        (tmp_path / name).write_bytes(file_bytes(discs(missing)))
    tab.open("#tool=count&tab=count")
    tab.page.set_input_files("#file", [tmp_path / "a.png", tmp_path / "b.png"])
    tab.shows("#image option:checked", "a.png").wait()
    for y, x in ((24, 24), (60, 60), (96, 96)):
        tab.drag((y, x), (y, x + 10))
    tab.page.fill("#pixelSize", "0.5")
    tab.page.locator("#pixelSize").blur()
    tab.wait().page.click("#count-list li:nth-child(2) button")
    tab.shows("#image option:checked", "b.png").wait()
    assert tab.page.inner_text("#count-number") == "9 objects"
    assert [text.split() for text in tab.page.locator("#count-list button").all_inner_texts()] == [
        ["a.png", "12"],
        ["b.png", "9"],
    ]
    with tab.page.expect_download() as download:
        tab.page.click("#save-table")
    with open(download.value.path(), newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["image"] for row in rows] == ["a.png"] * 12 + ["b.png"] * 9
    assert all(float(row["diameter_um"]) == pytest.approx(float(row["diameter"]) / 2, rel=1e-5) for row in rows)


def test_a_click_on_a_mark_takes_it_back_and_the_pointer_names_the_object(tab):
    tab.open("#tool=count&tab=count").drop(file_bytes(discs()), "discs.png")
    for y, x in ((24, 24), (60, 60), (96, 96)):
        tab.drag((y, x), (y, x + 10))
    tab.page.mouse.move(*tab.on_screen(24, 132))
    tab.page.locator("#under-torque", has_text="across").wait_for()
    count = "({ state }) => state.annotations.length"
    tab.click(60, 60)
    assert tab.page.evaluate(f"import('/page/page.js').then({count})") == 2
    with tab.page.expect_download() as download:
        tab.page.click("#panel-count .save-image")
    with Image.open(download.value.path()) as saved:
        assert saved.size == (160, 120)
