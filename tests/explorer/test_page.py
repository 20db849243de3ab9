"""The explorer in a real browser, as people use it."""

import io
import re
import subprocess
import sys
import urllib.parse

import numpy as np
import pytest
import tifffile
from numpy.testing import assert_array_equal
from PIL import Image

import imtorque
from explorer_browser import Tab, library_torque, photograph
from explorer_client import file_bytes, running
from imtorque.cli.explore import start_images
from imtorque.explorer import image_store
from waiting import until

# ---- the patch -----------------------------------------------------------------------------------------------------


def test_the_page_opens_on_an_object_with_the_librarys_torque(tab):
    tab.open()
    image = imtorque.datasets.sample("shapes")
    assert tab.page.title() == "imtorque explorer"
    assert tab.torque == library_torque(image, tab.place) > 0.9
    assert tab.place == (98, 119, 67)  # the strongest extremum


def test_the_patch_is_dragged_resized_and_moved_by_keys(tab):
    tab.open()
    image = imtorque.datasets.sample("shapes")
    tab.drag((98, 119), (60, 60))
    assert tab.place == (60, 60, 67)
    assert tab.torque == library_torque(image, tab.place)
    tab.click(140, 200)  # outside the patch: it comes
    assert tab.place == (140, 200, 67)
    tab.page.keyboard.down("Shift")
    tab.page.mouse.wheel(0, -100)
    tab.page.keyboard.up("Shift")
    tab.shows("#size-out", "size 69")
    for key in ("ArrowLeft", "ArrowUp", "Shift+ArrowUp", "-", "-", "+"):
        tab.page.keyboard.press(key)
    tab.wait()
    assert tab.place == (129, 199, 67)
    assert tab.torque == library_torque(image, tab.place)
    tab.page.keyboard.press("Home")
    assert tab.wait().place == (98, 119, 67)


@pytest.mark.parametrize(
    ("state", "options"),
    [
        ("patch=disk&alpha=1.5", {"patch": "disk", "alpha": 1.5}),
        ("force=strength&sigma=2.5&alpha=0.7", {"force": "strength", "sigma": 2.5, "alpha": 0.7}),
        ("patch=disk&low=0.02&high=0.05", {"patch": "disk", "low": 0.02, "high": 0.05}),
        ("pattern=spiral&patch=disk", {"pattern": "spiral", "patch": "disk"}),
        ("pattern=saddle&polarity=free&alpha=1.5", {"pattern": "saddle", "polarity": "free", "alpha": 1.5}),
        ("polarity=free&patch=disk&pattern=-45", {"polarity": "free", "patch": "disk", "pattern": -np.pi / 4}),
    ],
)
def test_the_value_is_the_librarys_wherever_the_patch_is(tab, state, options):
    image = imtorque.images.shrink_image(imtorque.datasets.sample("hopper"), 2)
    tab.open(f"#image=sample:hopper&y=100&x=130&size=101&{state}")
    for key in (None, "Shift+ArrowRight", "ArrowDown", "+", "Shift+ArrowLeft", "-"):
        if key:
            tab.page.locator("#canvas").press(key)
        assert tab.wait().torque == library_torque(image, tab.place, **options)


def test_a_detector_finds_the_edges(tab):
    image = imtorque.datasets.sample("disc")
    tab.open("#image=sample:disc&y=80&x=120&size=61&tab=settings")
    tab.page.select_option("#detector", "pb")
    tab.wait()
    assert tab.page.is_disabled("#sigma")
    assert tab.page.is_disabled("#force")
    edges = imtorque.edges.RECIPES["pb"].edges(image)
    y, x, size = tab.place
    expected = float(imtorque.torque_spectrum(edges, (y, x), [size])[0])
    assert tab.torque == pytest.approx(expected, abs=0.006)
    tab.page.wait_for_url(re.compile("detector=pb"))  # written once the page rests
    tab.page.click("#defaults")
    assert tab.wait().page.is_enabled("#sigma")
    assert tab.page.input_value("#detector") == "canny"


def test_dragging_on_the_curve_resizes_the_patch(tab):
    tab.open("#image=sample:disc&y=80&x=120&size=11")
    box = tab.page.locator("#curve").bounding_box()
    tab.page.mouse.move(box["x"] + 60, box["y"] + 40)
    tab.page.mouse.down()
    tab.page.mouse.move(box["x"] + 120, box["y"] + 40, steps=3)
    tab.page.mouse.up()
    y, x, size = tab.wait().place
    assert (y, x) == (80, 120)
    assert 31 <= size <= 71  # of 5 to 87, as the maps
    assert tab.torque == library_torque(imtorque.datasets.sample("disc"), (y, x, size))
    tab.page.locator("#curve").press("ArrowRight")
    assert tab.wait().place[2] == size + 2
    assert tab.page.locator("#curve").get_attribute("aria-valuenow") == str(size + 2)


def test_forces_are_coloured_by_the_sign_of_their_moment(tab):
    tab.open("#image=sample:disc&y=80&x=120&size=131")
    edges = imtorque.detect_edges(imtorque.datasets.sample("disc"))
    for y, x in np.argwhere(edges.mask)[::40]:
        red, _, blue, _ = tab.colour(int(y), int(x))
        assert blue > red  # a dark object: every force turns the other way


# ---- maps and settings ---------------------------------------------------------------------------------------------


def test_sliders_change_the_answer_and_how_long_it_takes_is_printed(tab, capsys):
    image = photograph()
    tab.open("#tab=settings").drop(file_bytes(image))
    tab.page.click("#tab-layers")
    tab.page.check("[data-layer=value]")
    tab.wait().page.click("#tab-settings")
    for name in ("auto", "defaults"):
        assert tab.page.locator(f"#{name}").is_visible()
    times = {}
    changes = [
        ("sigma", 2.5, {"sigma": 2.5}),
        ("alpha", 1.5, {"sigma": 2.5, "alpha": 1.5}),
        ("smallest", 9, {"sigma": 2.5, "alpha": 1.5}),
        ("largest", 91, {"sigma": 2.5, "alpha": 1.5}),
    ]
    for name, value, options in changes:
        tab.slide(name, value)
        times[name] = tab.page.inner_text("#status")
        assert tab.torque == library_torque(image, tab.place, **options), name
    options = {"sigma": 2.5, "alpha": 1.5, "force": "strength", "patch": "disk"}
    tab.page.select_option("#force", "strength")
    times["force"] = tab.wait().page.inner_text("#status")
    tab.page.select_option("#patch", "disk")
    times["disks"] = tab.wait().page.inner_text("#status")
    assert tab.torque == library_torque(image, tab.place, **options)
    tab.page.uncheck("#auto")
    times["thresholds"] = tab.wait().page.inner_text("#status")
    assert tab.torque == library_torque(image, tab.place, **options)  # they begin where they were
    tab.slide("low", 200)  # pushes the other end along
    assert tab.torque == library_torque(image, tab.place, low=0.5, high=0.5, **options)
    tab.page.click("#defaults")
    assert tab.wait().torque == library_torque(image, tab.place)
    tab.page.click("#tab-layers")
    for layer in ("scale", "edges", "strengthened", "saliency"):
        tab.page.check(f"[data-layer={layer}]")
        times[f"+ {layer}"] = tab.wait().page.inner_text("#status")
    with capsys.disabled():
        print("\nexplorer, 481 x 321, from a change to its answer:", ", ".join(f"{k} {v}" for k, v in times.items()))


def test_layers_lie_over_the_image_as_dense_as_asked_for(tab):
    tab.open("#image=sample:disc&y=10&x=10&size=5")
    plain = tab.colour(80, 120)
    tab.page.check("[data-layer=value]")
    shown = tab.wait().colour(80, 120)
    assert shown[2] > shown[0] + 30 > plain[0]  # a dark disc: blue
    tab.page.locator("[data-opacity=value]").fill("20")
    fainter = tab.wait().colour(80, 120)
    assert plain[2] < fainter[2] < shown[2]
    tab.page.uncheck("[data-layer=value]")
    assert tab.wait().colour(80, 120) == plain


def test_an_answer_that_has_become_old_is_dropped(tab):
    tab.open("#image=sample:hopper&tab=settings")
    held_back = []

    def hold(route):
        if "sigma=3&" in route.request.url:
            held_back.append(route)
        else:
            route.continue_()

    tab.page.route("**/view?*", hold)
    tab.page.locator("#sigma").fill("3")
    tab.page.wait_for_selector("#stage[aria-busy=true]")
    tab.page.locator("#sigma").fill("5")
    tab.wait()
    image = imtorque.images.shrink_image(imtorque.datasets.sample("hopper"), 2)
    expected = library_torque(image, tab.place, sigma=5.0)
    assert tab.torque == expected != library_torque(image, tab.place, sigma=3.0)
    for route in held_back:
        route.abort()
    assert len(held_back) == 1
    assert tab.wait().torque == expected


# ---- extrema and figures -------------------------------------------------------------------------------------------


def test_a_click_on_an_extremum_lights_up_the_edges_that_made_it(tab):
    tab.open("#tab=extrema&tool=extrema")
    image = imtorque.datasets.sample("shapes")
    edges = imtorque.detect_edges(image)
    found = imtorque.suppress_overlaps(imtorque.find_extrema(edges, sizes=imtorque.default_sizes(edges.shape)))
    listed = tab.page.locator("#extrema button")
    assert listed.count() == 12
    assert listed.nth(2).inner_text().split()[-1] == f"{found.value[2]:+.3f}".replace("-", "−")
    tab.click(int(found.y[0]), int(found.x[0]))
    assert listed.nth(0).get_attribute("aria-pressed") == "true"
    assert tab.torque == round(float(found.value[0]), 4)
    contribution = imtorque.contribution_map(edges, found[:1])
    inside = np.argwhere(contribution > 0.7 * contribution.max())
    outside = np.argwhere(edges.mask & (contribution == 0))
    lit = np.mean([sum(tab.colour(int(y), int(x))[:3]) for y, x in inside[::20]])
    dark = np.mean([sum(tab.colour(int(y), int(x))[:3]) for y, x in outside[::40]])
    assert lit > 2 * dark
    tab.page.locator("#canvas").press("Escape")
    assert tab.page.locator("#extrema [aria-pressed=true]").count() == 0
    tab.slide("count", 3)
    assert listed.count() == 3
    tab.page.uncheck("#nms")
    tab.wait()
    listed.nth(1).click()
    crowded = imtorque.find_extrema(edges, sizes=imtorque.default_sizes(edges.shape), count=3)
    assert tab.wait().torque == round(float(crowded.value[1]), 4)


def test_a_click_cuts_out_an_object_and_its_mask_is_saved(tab):
    tab.open("#image=sample:shapes&tool=cut&tab=cut")
    image = imtorque.datasets.sample("shapes")
    assert tab.page.locator("[data-figure='figure.png']").get_attribute("href") is None
    tab.click(98, 119)
    assert f"{imtorque.segment_figure(image, (98, 119)).sum():,} pixels" in tab.page.inner_text("#figure-facts")
    tab.page.select_option("#figure-size", "torque")
    sized = imtorque.segment_figure(image, (98, 119), size="torque")
    assert f"{sized.sum():,} pixels" in tab.wait().page.inner_text("#figure-facts")
    tab.page.select_option("#figure-size", "any")
    tab.wait().click(45, 41, "Shift")
    tab.click(20, 200, "Alt")
    expected = imtorque.segment_figure(image, (98, 119), add=[(45, 41)], remove=[(20, 200)])
    assert f"{expected.sum():,} pixels" in tab.page.inner_text("#figure-facts")
    assert sum(tab.colour(98, 100)) > 3 * sum(tab.colour(10, 10)[:3])  # what lies outside is dimmed
    with tab.page.expect_download() as download:
        tab.page.click("[data-figure='figure.png']")
    saved = np.asarray(Image.open(download.value.path()))
    assert_array_equal(saved > 0, expected)
    assert download.value.suggested_filename == "shapes.figure.png"
    tab.page.click("#undo")
    tab.wait().page.click("#undo")
    tab.wait().page.click("#clear-cut")
    assert tab.page.inner_text("#figure-facts") == "Nothing cut out yet."
    tab.page.locator("#canvas").press("Enter")  # by keys, at the cross
    assert "pixels" in tab.wait().page.inner_text("#figure-facts")


# ---- images ------------------------------------------------------------------------------------------------------


def test_images_are_dropped_pasted_and_chosen(tab):
    tab.open()
    for seed, way in ((1, "drop"), (2, "paste"), (3, "choose")):
        image = np.roll(photograph(90 + seed, 120), 7 * seed, axis=1)
        if way == "choose":
            with tab.page.expect_file_chooser() as chooser:
                tab.page.click("#open")
            chooser.value.set_files({"name": "mine.png", "mimeType": "image/png", "buffer": file_bytes(image)})
            tab.shows("#image option:checked", "mine.png").wait()
        else:
            tab.drop(file_bytes(image), f"{way}.png", way)
        assert tab.torque == library_torque(image, tab.place) != 0
    assert tab.page.locator("#image option:checked").inner_text() == "mine.png"
    for scene in ("disc", "triangle", "overlap", "hole", "texture"):
        tab.page.select_option("#image", f"sample:{scene}")
        assert tab.wait().torque == library_torque(imtorque.datasets.sample(scene), tab.place) != 0


def stack():
    """Four pages of two channels: each page has one disc more, and they are larger in the second channel."""
    y, x = np.indices((90, 120))
    pixels = np.full((4, 2, 90, 120), 700, np.uint16)
    for page, channel in np.ndindex(4, 2):
        for row, column in ((25, 30), (60, 90), (25, 90), (60, 30))[: page + 1]:
            pixels[page, channel][np.hypot(y - row, x - column) <= 12 + 3 * channel] = 900
    return pixels


def plane(tab):
    """The page and the channel that are open."""
    return tab.page.evaluate("import('/page/page.js').then(({ page: { image } }) => [image?.page, image?.channel])")


def test_the_page_of_a_stack_and_its_channel_are_chosen(tab, tmp_path):
    tifffile.imwrite(tmp_path / "cells.tif", stack(), imagej=True, metadata={"axes": "ZCYX"})

    def shown(page, channel):
        assert tab.page.input_value("#page") == str(page + 1)
        assert tab.page.input_value("#channel") == str(channel)
        assert tab.torque == library_torque(stack()[page, channel], tab.place)

    def choose(page):
        tab.page.fill("#page", str(page + 1))
        tab.page.press("#page", "Enter")
        until(lambda: plane(tab)[0] == page)
        tab.rest()

    tab.open().page.set_input_files("#file", tmp_path / "cells.tif")
    tab.page.wait_for_selector("#planes:not([hidden])")
    tab.rest()
    shown(0, 0)
    assert tab.page.inner_text("#pages") == "of 4"
    choose(3)
    tab.click(60, 30)
    tab.page.select_option("#channel", index=1)
    until(lambda: plane(tab) == [3, 1])
    tab.rest()
    shown(3, 1)
    assert tab.place[:2] == (60, 30)  # the patch stays
    tab.page.reload()
    tab.page.wait_for_selector("#planes:not([hidden])")
    tab.wait()
    shown(3, 1)
    tab.open("#image=sample:disc")
    assert not tab.page.is_visible("#planes")


def test_pages_of_images_that_it_was_started_with_are_in_the_address(browser, tmp_path):
    tifffile.imwrite(tmp_path / "cells.tif", stack(), imagej=True, metadata={"axes": "ZCYX"})
    with running(start=start_images([str(tmp_path / "cells.tif")])) as address:
        context = browser.new_context()
        tab = Tab(context.new_page(), address).open().rest()
        tab.page.select_option("#channel", index=1)
        until(lambda: plane(tab) == [0, 1])
        tab.rest()
        assert "image=start@0.1" in urllib.parse.unquote(tab.page.url)
        assert tab.torque == library_torque(stack()[0, 1], tab.place)
        tab.page.go_back()
        until(lambda: plane(tab) == [0, 0])
        tab.wait()
        assert tab.torque == library_torque(stack()[0, 0], tab.place)
        assert tab.complaints == []
        context.close()


def test_contrast_changes_what_is_shown_and_no_number(tab):
    tab.open("#tool=count&tab=count")
    image = np.full((60, 80), 100, np.uint8)
    image[20:40, 30:50] = 110
    tab.drop(file_bytes(image))
    tab.page.wait_for_selector("#image option[value^='upload:']", state="attached")
    tab.wait()
    before = tab.torque
    assert tab.colour(30, 40)[0] - tab.colour(5, 5)[0] == 10
    tab.slide("contrast", 2)
    assert tab.colour(30, 40)[0] - tab.colour(5, 5)[0] == 255
    assert tab.torque == before


def test_a_broken_file_is_refused_and_the_image_stays(tab):
    tab.open("#image=sample:disc")
    before = tab.torque
    tab.drop(b"no image at all", "broken.png")
    assert "broken.png: must be an image that can be read" in tab.page.inner_text("#toast")
    assert tab.torque == before
    tab.drag((80, 120), (70, 110))
    assert tab.torque == library_torque(imtorque.datasets.sample("disc"), tab.place)
    assert [text for text in tab.complaints if "400" not in text] == []  # the browser itself notes the refusal
    tab.complaints.clear()


def test_a_file_that_is_too_large_is_not_even_sent(tab, monkeypatch):
    monkeypatch.setattr("imtorque.explorer.server.MAX_UPLOAD_BYTES", 2**20)
    tab.open("#image=sample:disc")
    tab.drop(bytes(2**21), "huge.png")
    assert tab.page.inner_text("#toast") == "huge.png: an image must have at most 1 MiB, got 2 MiB."
    assert not any("huge.png" in url for url in tab.requests)


def test_on_the_sketch_pad_closure_fades_as_a_gap_opens(tab):
    tab.open("#image=sketch")
    closed = tab.torque
    assert closed < -0.1  # a dark ring
    tab.slide("gap", 50)
    assert 0.3 < tab.torque / closed < 0.7
    tab.slide("gap", 100)
    assert tab.torque == 0
    tab.page.click("#wipe")
    tab.wait()
    tab.drag((50, 60), (50, 180))
    assert tab.torque != 0
    tab.page.check("#eraser")
    tab.page.locator("#pen").fill("24")
    tab.drag((50, 40), (50, 200), steps=12)
    assert tab.torque == 0


# ---- taking away ---------------------------------------------------------------------------------------------------


def test_the_copied_code_runs_and_prints_what_is_shown(tab):
    tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.open(
        "#image=sample:overlap&sigma=2&y=70&x=100&size=61&tab=extrema&tool=extrema&number=2&layers=value.80,scale.20"
    )
    tab.page.click("#tab-save")
    tab.wait().page.click("#copy")
    tab.shows("#toast", "Python copied.")
    code = tab.page.evaluate("navigator.clipboard.readText()")
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert float(printed.split()[1]) == tab.torque
    assert len(printed.splitlines()) == 1 + 1 + 12 + 1  # the torque, the table's head, its rows and their end
    assert "value, scale = imtorque.value_and_scale_maps(edges, sizes)" in code
    assert "contribution_map(edges, extrema[1:2])" in code


def test_maps_and_the_table_are_downloaded(tab):
    tab.open("#image=sample:hole&tab=save&sigma=2&y=80&x=120&size=51")
    assert "torque_spectrum(edges, (80, 120), [51])" in tab.page.inner_text("#code")
    edges = imtorque.detect_edges(imtorque.datasets.sample("hole"), sigma=2)
    value, _ = imtorque.value_and_scale_maps(edges, imtorque.default_sizes(edges.shape))
    downloaded = {}
    for name in ("Value map as .npy", "Value map as PNG", "Extrema, the 12 strongest as CSV"):
        with tab.page.expect_download() as download:
            tab.page.get_by_label(name, exact=True).click()
        downloaded[download.value.suggested_filename] = download.value.path().read_bytes()
    assert_array_equal(np.load(io.BytesIO(downloaded["hole.value.npy"])), value)
    assert Image.open(io.BytesIO(downloaded["hole.value.png"])).size == (241, 161)
    assert downloaded["hole.extrema.csv"].startswith(b"y,x,size,torque\n")


def test_the_state_lives_in_the_address(tab):
    tab.open().drop(file_bytes(photograph(100, 140)), "mine.png")
    tab.drag((50, 70), (30, 40))
    tab.page.click("#tab-settings")
    tab.slide("sigma", 3)
    tab.page.select_option("#patch", "disk")
    before = (tab.wait().place, tab.torque)
    tab.page.wait_for_url(re.compile("sigma=3.*patch=disk"))
    tab.page.reload()
    assert (tab.wait().place, tab.torque) == before
    assert tab.page.locator("#sigma").input_value() == "3"
    assert tab.page.locator("#tab-settings").get_attribute("aria-selected") == "true"
    tab.page.evaluate("location.hash = '#image=sample:disc&y=80&x=120&size=97'")
    tab.shows("#image option:checked", "disc")
    assert tab.wait().torque == library_torque(imtorque.datasets.sample("disc"), (80, 120, 97))


def test_an_image_the_server_let_go_is_sent_again(tab, store):
    image = photograph(100, 140)
    tab.open().drop(file_bytes(image), "mine.png")
    for key in list(store._images):
        store.remove(key)
    tab.page.click("#tab-settings")
    tab.slide("sigma", 2)
    assert tab.torque == library_torque(image, tab.place, sigma=2.0)
    assert [text for text in tab.complaints if "410" not in text] == []
    tab.complaints.clear()


def test_an_image_that_is_gone_and_a_server_that_is_gone_are_said(tab):
    tab.open("#image=upload:nothing")
    assert tab.page.inner_text("#toast") == "this image is no longer stored: open it again"
    assert tab.torque == library_torque(imtorque.datasets.sample("shapes"), tab.place)
    tab.page.route("**/view?*", lambda route: route.abort())
    tab.page.click("#tab-settings")
    tab.slide("sigma", 2)
    assert "The explorer's server does not answer" in tab.page.inner_text("#toast")
    tab.page.unroute("**/view?*")
    tab.slide("sigma", 3)
    assert tab.torque == library_torque(imtorque.datasets.sample("shapes"), tab.place, sigma=3.0)
    assert all("410" in text or "ERR_FAILED" in text for text in tab.complaints)
    tab.complaints.clear()


def test_a_closed_tab_frees_its_image(browser, store, address, monkeypatch):
    for key in list(store._images):
        store.remove(key)
    context = browser.new_context()
    opened = Tab(context.new_page(), address).open()
    assert len(store) == 1
    opened.page.select_option("#image", "sample:disc")
    opened.wait()
    (image,) = store._images.values()
    opened.page.close(run_before_unload=False)
    until(lambda: image.closed_at is not None)  # the farewell comes after the tab has gone
    context.close()
    monkeypatch.setattr(image_store, "CLOSE_GRACE", -1)
    store.evict()
    assert len(store) == 0


# ---- for everyone --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 844)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_and_nothing_shifts(tab, width, height, scheme):
    tab.page.emulate_media(color_scheme=scheme)
    tab.page.set_viewport_size({"width": width, "height": height})
    tab.page.add_init_script(
        """window.shifted = 0; new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) window.shifted += entry.value;
        }).observe({ type: "layout-shift", buffered: true });"""
    )
    tab.open()
    for name in ("settings", "extrema", "cut", "save", "layers"):
        tab.page.locator(f"#tab-{name}").press("Enter")
        tab.wait()
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= width, name
        if width > 1000:
            assert tab.page.evaluate("document.documentElement.scrollHeight") <= height, name
    tab.page.locator("[name=tool][value=patch]").check()
    tab.page.locator("#canvas").press("ArrowLeft")
    tab.wait()
    assert tab.page.evaluate("window.shifted") < 0.01
    background = tab.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", background))) < 200) == (scheme == "dark")


def test_every_control_is_reached_by_the_tab_key_and_has_a_name(tab):
    tab.open("#tab=settings&low=0.02&high=0.05")
    reached = []
    tab.page.locator("#image").focus()
    for _ in range(60):
        facts = tab.page.evaluate(
            """() => {
                const at = document.activeElement;
                const name = at.ariaLabel || at.labels?.[0]?.textContent || at.textContent;
                return [at.id || at.name || at.tagName, name.trim()];
            }"""
        )
        if facts[0] == "BODY" or facts in reached:
            break
        reached.append(facts)
        tab.page.keyboard.press("Tab")
    names = [name for name, _ in reached]
    wanted = ["image", "open", "canvas", "tool", "smaller", "larger", "curve", "tab-settings", "sigma", "auto", "low"]
    assert [name for name in names if name in wanted] == wanted
    assert {"high", "force", "patch", "smallest", "largest", "alpha", "defaults"} <= set(names)
    assert all(label for _, label in reached)


def test_on_a_phone_a_finger_moves_the_patch_and_two_zoom(browser, address):
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    phone = Tab(context.new_page(), address).open("#image=sample:disc&y=80&x=120&size=41")
    session = context.new_cdp_session(phone.page)

    def touch(kind, *places):
        points = [dict(zip("xy", phone.on_screen(*place), strict=True), id=k) for k, place in enumerate(places)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", (80, 120))
    touch("touchMove", (70, 100))
    touch("touchEnd")
    assert phone.wait().place == (70, 100, 41)
    touch("touchStart", (70, 95))
    touch("touchStart", (70, 95), (70, 105))
    touch("touchMove", (70, 90), (70, 110))
    touch("touchEnd")
    assert phone.wait().place == (70, 100, 41)
    zoomed = phone.page.evaluate("import('/page/page.js').then(({ page }) => page.stage.zoom)")
    assert 1.6 <= zoomed <= 2.4  # twice as far apart, in whole pixels of the screen
    assert phone.torque == library_torque(imtorque.datasets.sample("disc"), phone.place)
    assert phone.complaints == []
    context.close()


def test_two_tabs_do_not_disturb_each_other(browser, address):
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    tabs = [Tab(context.new_page(), address) for _ in range(2)]
    scenes = ("disc", "hole")
    for opened, scene in zip(tabs, scenes, strict=True):
        opened.page.goto(f"{address}/#image=sample:{scene}&tab=settings")
    for k, (opened, scene) in enumerate(zip(tabs, scenes, strict=True)):
        opened.wait().slide("sigma", 2 + k)
        image = imtorque.datasets.sample(scene)
        assert opened.torque == library_torque(image, opened.place, sigma=2.0 + k)
    context.close()
