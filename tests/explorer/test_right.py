"""The explorer is right or silent: results belong to the page's controls, or are dimmed."""

import itertools
import re
import time

import numpy as np
import pytest

import imtorque
from explorer_browser import library_torque, photograph
from explorer_client import file_bytes
from imtorque.explorer import image_store, results

STALE = "body.stale"


def forget_all(store):
    for key in list(store._images):
        store.remove(key)


def gone(tab):
    """What the browser notes of images that are gone is no complaint."""
    assert [text for text in tab.complaints if "410" not in text] == []
    tab.complaints.clear()


# ---- images that were let go -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["16 bits", "shrunk"])
def test_after_a_reload_an_image_is_sent_again_as_the_bytes_that_were_opened(tab, store, kind, monkeypatch):
    image = photograph(100, 140)
    if kind == "16 bits":
        image = np.uint16(30_000) + image  # in 8 bits little is left
    else:
        monkeypatch.setattr(image_store, "WORKING_PIXELS", 5000)
    tab.open().drop(file_bytes(image, "TIFF"), "mine.tif")
    tab.page.click("#tab-save")
    before = (tab.wait().torque, tab.page.inner_text("#code"))
    tab.page.wait_for_url(re.compile("tab=save"))
    tab.page.reload()
    tab.wait()
    forget_all(store)
    tab.page.locator("#canvas").press("ArrowLeft")
    tab.wait().page.locator("#canvas").press("ArrowRight")
    tab.page.click("#tab-settings")
    tab.slide("sigma", 3)
    tab.page.click("#defaults")
    tab.page.click("#tab-save")
    assert (tab.wait().torque, tab.page.inner_text("#code")) == before
    assert tab.torque == library_torque(imtorque.images.shrink_image(image, 2 if kind != "16 bits" else 1), tab.place)
    assert ("shrink_image" in before[1]) == (kind != "16 bits")
    gone(tab)


def test_an_image_that_was_shrunk_is_said_to_be(tab, monkeypatch):
    monkeypatch.setattr(image_store, "WORKING_PIXELS", 5000)
    tab.open().drop(file_bytes(photograph(100, 140)), "large.png")
    assert tab.page.inner_text("#facts") == "70 × 50:\n1/2 of 140 × 100"


def test_the_size_of_a_shrunk_image_leaves_room_for_the_time_of_the_answer(tab):
    tab.open("#image=sample:hopper")
    assert tab.page.locator("#status").is_visible()
    assert tab.page.locator("#bar").evaluate("(bar) => bar.scrollWidth <= bar.clientWidth")


# ---- slow answers and failures -------------------------------------------------------------------------------------


def slowed(monkeypatch, seconds):
    """Make each new answer take so long."""
    quick = results.detect_edges

    def slow(*arguments, **options):
        time.sleep(seconds)
        return quick(*arguments, **options)

    monkeypatch.setattr(results, "detect_edges", slow)


def test_slow_answers_update_the_page_during_a_drag_and_are_dimmed(tab, monkeypatch):
    tab.open("#image=sample:hopper&tab=settings")
    slowed(monkeypatch, 0.4)
    shown = tab.page.evaluate(
        """async () => {
            const { page } = await import("/page/page.js");
            const slider = document.getElementById("sigma");
            const seen = new Set();
            const dimmed = [];
            for (let k = 0; k < 1000 && seen.size < 5; k++) {
                slider.value = 2 + (k % 40) / 10;
                slider.dispatchEvent(new Event("input", { bubbles: true }));
                await new Promise((done) => setTimeout(done, 50));
                if (!seen.has(page.view)) dimmed.push(document.body.classList.contains("stale"));
                seen.add(page.view);
            }
            return [seen.size - 1, dimmed.slice(1).every(Boolean)];
        }"""
    )
    assert shown == [4, True]
    tab.wait()
    assert tab.page.locator(STALE).count() == 0
    sigma = float(tab.page.locator("#sigma").input_value())
    image = imtorque.images.shrink_image(imtorque.datasets.sample("hopper"), 2)
    assert tab.torque == library_torque(image, tab.place, sigma=sigma)


def test_after_a_failure_the_numbers_are_dimmed_until_a_retry_succeeds(tab):
    tab.open("#image=sample:hopper&tab=settings")
    tab.page.route("**/view?*", lambda route: route.abort())
    tab.slide("sigma", 5)
    assert "does not answer" in tab.page.inner_text("#toast")
    assert "Trying again" in tab.page.inner_text("#toast")
    assert tab.page.inner_text("#stale") == "outdated: no answer, trying again"
    tab.page.wait_for_selector(STALE)
    tab.still()
    faded = [tab.page.evaluate(f"getComputedStyle({name}).opacity") for name in ("torque", "dial", "curve", "stale")]
    assert [float(opacity) > 0.5 for opacity in faded] == [False, False, False, True]
    tab.page.unroute("**/view?*")
    tab.page.wait_for_selector("body:not(.stale)")
    image = imtorque.images.shrink_image(imtorque.datasets.sample("hopper"), 2)
    assert tab.wait().torque == library_torque(image, tab.place, sigma=5.0)
    assert all("ERR_FAILED" in text for text in tab.complaints)
    tab.complaints.clear()


# ---- one range of sizes --------------------------------------------------------------------------------------------


def test_the_curves_peak_is_what_the_maps_show_at_every_pixel(tab):
    tab.open("#image=sample:hopper")
    image = imtorque.images.shrink_image(imtorque.datasets.sample("hopper"), 2)
    edges = imtorque.detect_edges(image)
    value, scale = imtorque.value_and_scale_maps(edges, imtorque.default_sizes(edges.shape))
    places = [list(map(int, place)) for place in np.random.default_rng(0).integers(0, image.shape[:2], (200, 2))]
    peaks = tab.page.evaluate(
        """async (places) => {
            const { page, state } = await import("/page/page.js");
            const { spectrum } = await import("/page/torque.js");
            const { strongest } = await import("/page/readout.js");
            const { sizes } = page.view.head;
            return places.map(([y, x]) => {
                const torques = spectrum(page.view.field, { ...state, y, x }, sizes.at(-1));
                const size = strongest(torques, sizes);
                return size === null ? [0, 0] : [torques[(size - 1) / 2], size];
            });
        }""",
        places,
    )
    rows, columns = np.transpose(places)
    np.testing.assert_array_equal(np.float32([peak[0] for peak in peaks]), value[rows, columns])
    np.testing.assert_array_equal([peak[1] for peak in peaks], np.abs(scale[rows, columns]))
    curve = tab.page.locator("#curve")
    sizes = imtorque.default_sizes(edges.shape)
    assert [int(curve.get_attribute(f"aria-value{end}")) for end in ("min", "max")] == [sizes[0], sizes[-1]]


def test_the_sketchs_curve_is_not_clipped(tab):
    tab.open("#image=sketch")
    tab.page.click("#wipe")
    tab.page.locator("#pen").fill("24")
    tab.wait().drag((80, 119), (80, 121))
    highest, limit = tab.page.evaluate(
        """async () => {
            const { page, state } = await import("/page/page.js");
            const { spectrum } = await import("/page/torque.js");
            const torques = spectrum(page.view.field, state, page.view.head.sizes.at(-1));
            return [Math.max(...torques.map(Math.abs)), page.curveLimit];
        }"""
    )
    assert 0.5 < highest <= limit


def test_the_needle_stays_on_its_scale_beyond_the_sizes_of_the_maps(tab):
    tab.open("#image=sample:disc&y=80&x=120&size=107")
    limit = tab.page.evaluate("import('/page/page.js').then(({ page }) => page.curveLimit)")
    assert abs(tab.torque) > tab.page.evaluate("import('/page/page.js').then(({ page }) => page.view.head.limit)")
    assert abs(tab.torque) <= limit


# ---- controls ------------------------------------------------------------------------------------------------------


def test_a_trackpad_turns_the_wheel_by_pixels(tab):
    tab.open()
    tab.page.evaluate(
        "window.turned = 0; addEventListener('wheel', (event) => { turned += event.deltaX + event.deltaY; })"
    )
    tab.page.mouse.move(*tab.on_screen(98, 119))
    tab.page.keyboard.down("Shift")
    for _ in range(30):
        tab.page.mouse.wheel(0, -2)
    tab.page.wait_for_function("turned <= -60")
    tab.page.keyboard.up("Shift")
    assert 67 <= tab.wait().place[2] <= 71


def test_unticking_automatic_thresholds_begins_with_their_values(tab):
    tab.open("#image=sample:hopper&tab=settings")
    before = (tab.torque, tab.page.text_content("#edge-count"))
    low, high = (float(tab.page.inner_text(f"#{name}-out")) for name in ("low", "high"))
    assert 0 < low < high < 0.1
    tab.page.uncheck("#auto")
    assert (tab.wait().torque, tab.page.text_content("#edge-count")) == before
    assert (float(tab.page.inner_text("#low-out")), float(tab.page.inner_text("#high-out"))) == (low, high)


def test_sigma_goes_back_to_the_square_root_of_two(tab):
    tab.open("#image=sample:hopper&tab=settings")
    before = tab.torque
    tab.slide("sigma", 3)
    tab.slide("sigma", 1.4)
    assert tab.page.inner_text("#sigma-out") == "√2"
    assert tab.torque == before
    assert not any("sigma=1.4&" in url for url in tab.requests)


def test_an_address_with_another_image_brings_its_own_patch(tab):
    tab.open("#image=sample:hopper&y=20&x=30&size=21&sigma=3")
    tab.page.evaluate("location.hash = '#image=sample:shapes'")
    tab.shows("#image option:checked", "shapes").wait()
    assert tab.place == (98, 119, 67)
    tab.page.evaluate("location.hash = '#image=sample:disc&sigma=2'")
    tab.shows("#image option:checked", "disc").wait()
    assert tab.torque == library_torque(imtorque.datasets.sample("disc"), tab.place, sigma=2.0) < -0.4


def at_step(tab, number):
    """Wait until the page is at a step of its history, and has come to rest there."""
    tab.page.wait_for_function("(number) => (history.state?.step ?? 0) === number", arg=number)
    return tab.rest()


def test_back_and_forward_go_through_the_states(tab):
    tab.open().rest()
    states = [(tab.place, tab.torque)]
    for change in (lambda: tab.drag((98, 119), (60, 60)), lambda: tab.page.select_option("#image", "sample:disc")):
        change()
        at_step(tab, len(states))
        states.append((tab.place, tab.torque))
    assert len(set(states)) == 3
    ways = [
        *((1, lambda: tab.page.go_back()), (0, lambda: tab.page.go_back())),
        *((1, lambda: tab.page.go_forward()), (2, lambda: tab.page.go_forward())),
        *((1, lambda: tab.page.keyboard.press("Control+z")), (2, lambda: tab.page.click("#forward"))),
        *((1, lambda: tab.page.click("#back")), (2, lambda: tab.page.keyboard.press("Control+Shift+z"))),
    ]
    for number, go in ways:
        go()
        at_step(tab, number)
        assert (tab.place, tab.torque) == states[number]
    assert tab.page.title() == "imtorque explorer"


def test_a_gesture_right_after_the_page_came_is_a_step(tab):
    # What the page did by itself is written down so late that the gesture comes before.
    tab.page.add_init_script("const own = setTimeout; setTimeout = (f, ms) => own(f, ms === 250 ? 2000 : ms)")
    tab.open().rest()
    tab.drag((98, 119), (60, 60))
    at_step(tab, 1)


def test_an_image_dropped_on_a_page_that_a_link_opened_is_undone_to_the_links(tab):
    tab.open("#image=sample:shapes&y=98&x=119&size=67").rest()
    tab.drop(file_bytes(np.kron(np.eye(9, dtype=np.uint8) * 200, np.ones((9, 9), np.uint8))))
    at_step(tab, 1)
    tab.page.go_back()
    tab.page.wait_for_selector("#image option[value='sample:shapes']:checked", state="attached")
    assert tab.wait().place == (98, 119, 67)


def test_strokes_of_the_sketch_are_undone(tab):
    tab.open("#image=sketch").rest()
    before = tab.torque
    tab.drag((60, 60), (60, 180))
    at_step(tab, 1)
    assert tab.torque != before
    tab.page.keyboard.press("Control+z")
    assert at_step(tab, 0).torque == before
    gone(tab)


def test_keys_go_from_mark_to_mark_under_the_extrema_tool(tab):
    tab.open("#tab=extrema&tool=extrema")
    chosen = tab.page.locator("#extrema [aria-pressed=true]")
    for key, number in (("ArrowRight", 1), ("ArrowDown", 2), ("ArrowLeft", 1), ("ArrowUp", 12), ("Home", 1)):
        tab.page.locator("#canvas").press(key)
        assert tab.wait().page.locator("#extrema [aria-pressed=true] b").inner_text() == str(number)
    before = tab.place
    tab.page.locator("#canvas").press("+")
    assert tab.wait().place == before
    tab.page.locator("#canvas").press("Escape")
    assert chosen.count() == 0


def test_extrema_kept_apart_are_as_far_apart_as_it_says(tab):
    tab.open("#image=sample:hopper&tab=extrema&tool=extrema&count=60")
    assert "at most half of the smaller one shared" in tab.page.get_attribute("label:has(#nms) span", "title")
    found = tab.page.evaluate("import('/page/page.js').then(({ page }) => page.view.head.extrema)")
    for one, other in itertools.combinations(found, 2):
        shared = [
            max(0, min(one[a] + one["size"] // 2, other[a] + other["size"] // 2)
                - max(one[a] - one["size"] // 2, other[a] - other["size"] // 2) + 1)
            for a in "yx"
        ]  # fmt: skip
        if one["value"] * other["value"] > 0:
            assert shared[0] * shared[1] <= 0.5 * min(one["size"], other["size"]) ** 2


def test_the_gap_opens_with_a_patch_around_its_ring(tab):
    assert tab.open("#image=sample:gap").place[2] > 40


def test_copying_works_where_the_browser_gives_no_clipboard(tab):
    """As over plain http from another machine."""
    tab.page.context.grant_permissions(["clipboard-read"])
    tab.page.add_init_script("Object.defineProperty(navigator, 'clipboard', { value: undefined });")
    tab.open("#image=sample:disc&y=80&x=120&size=61&tab=save")
    tab.page.click("#copy")
    tab.shows("#toast", "Python copied.")
    tab.page.evaluate("document.body.append(Object.assign(document.createElement('textarea'), { id: 'paste' }))")
    tab.page.locator("#paste").focus()
    tab.page.keyboard.press("Control+v")
    assert tab.page.locator("#paste").input_value() == tab.page.inner_text("#code")
    tab.page.click("#link")
    tab.shows("#toast", "Link copied.")


def test_one_live_region_speaks_once_for_each_key(tab):
    tab.open()
    live = "output, [aria-live], [role=status], [role=alert], [role=log], [role=timer], [role=marquee]"
    assert tab.page.locator(live).count() == 1
    tab.page.locator("#canvas").focus()
    tab.page.evaluate(
        """() => { window.spoken = []; new MutationObserver(() => window.spoken.push(document.getElementById("live")
            .textContent)).observe(document.getElementById("live"), { childList: true }); }"""
    )
    said = []
    for keys, place in (
        (["ArrowLeft", "ArrowLeft", "ArrowUp", "+"], "size 69, y 97, x 117"),
        (["+"], "size 71, y 97, x 117"),
    ):
        tab.page.evaluate(
            """(keys) => { for (const key of keys) document.getElementById("canvas")
                .dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })); }""",
            keys,
        )
        tab.page.wait_for_function("(count) => window.spoken.length > count", arg=len(said))
        said.append(f"torque {tab.page.inner_text('#torque')}, {place}")
    assert tab.page.evaluate("window.spoken") == said


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_automatic_thresholds_are_as_readable_as_the_rest(tab, scheme):
    tab.page.emulate_media(color_scheme=scheme)
    tab.open("#tab=settings")
    colours = [
        tab.page.evaluate(f"getComputedStyle(document.getElementById('{name}-out')).color") for name in ("low", "sigma")
    ]
    assert colours[0] == colours[1]
    for at in ("#low-out", "#high-out"):
        opacity = tab.page.evaluate(
            """(at) => { let all = 1;
                for (let e = document.querySelector(at); e; e = e.parentElement) all *= getComputedStyle(e).opacity;
                return all; }""",
            at,
        )
        assert opacity == 1
