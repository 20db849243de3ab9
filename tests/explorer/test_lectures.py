"""The explorer before an audience: large, by keys alone, with the formula, and with steps that play by themselves."""

import re

import numpy as np
import pytest

import imtorque
from explorer_browser import IDLE, Tab, library_torque


def box(tab, selector):
    return tab.page.locator(selector).bounding_box()


@pytest.mark.parametrize(("width", "height"), [(1920, 1080), (1024, 768)])
def test_p_gives_the_image_and_one_dial_the_screen(tab, width, height):
    tab.page.set_viewport_size({"width": width, "height": height})
    tab.open("#image=sample:shapes")
    tab.page.keyboard.press("p")
    tab.wait()
    image, dial = box(tab, "#canvas"), box(tab, "#dial")
    assert image["height"] == height
    assert image["width"] >= 0.7 * width
    assert dial["x"] >= image["x"] + image["width"]  # covers nothing
    assert dial["height"] > 0.17 * height
    assert box(tab, "#leave")["x"] >= image["x"] + image["width"]
    assert tab.page.evaluate("parseFloat(getComputedStyle(document.getElementById('torque')).fontSize)") > 0.05 * height
    assert not tab.page.locator("#bar, .tabs, header > :not(h1)").locator("visible=true").count()
    assert tab.page.evaluate("document.documentElement.scrollHeight") <= height
    tab.page.locator("#canvas").press("Shift+ArrowLeft")
    assert tab.wait().torque == library_torque(imtorque.datasets.sample("shapes"), tab.place)
    tab.page.keyboard.press("p")
    assert tab.wait().page.locator("#curve").is_visible()


def test_value_scale_and_torque_under_the_pointer_are_the_maps(tab):
    tab.open("#image=sample:hopper")
    image = imtorque.images.shrink_image(imtorque.datasets.sample("hopper"), 2)
    edges = imtorque.detect_edges(image)
    value, scale = imtorque.value_and_scale_maps(edges, imtorque.default_sizes(edges.shape))
    for y, x in ((40, 100), (150, 60), (250, 200)):
        tab.page.mouse.move(*tab.on_screen(y, x))
        tab.wait()
        assert tab.page.inner_text("#under-place") == f"y {y}, x {x}"
        strongest = f"strongest {value[y, x]:+.4f} at size {abs(scale[y, x])}".replace("-", "−")
        assert tab.page.inner_text("#under-value") == strongest
        here = library_torque(image, (y, x, tab.place[2]))
        assert tab.page.inner_text("#under-torque") == f"{here:+.4f} at size {tab.place[2]}".replace("-", "−")


@pytest.mark.parametrize("state", ["", "&patch=disk&alpha=1.5", "&polarity=free", "&pattern=spiral"])
def test_the_formulas_terms_make_the_torque(tab, state):
    tab.open(f"#image=sample:hopper&y=120&x=100&size=101{state}")
    numbers = {
        name: float(tab.page.inner_text(f"#term-{name}").replace("−", "-").replace(",", ""))
        for name in ("area", "plus", "minus", "torque")
    }
    assert numbers["torque"] == tab.torque
    rounding = 1.5 / (2 * numbers["area"])
    made = (numbers["plus"] + numbers["minus"]) / (2 * numbers["area"])
    assert made == pytest.approx(tab.torque, abs=1e-4 + rounding, rel=2e-3)


def test_terms_light_up_as_the_patch_moves_and_an_edge_that_is_pointed_at_shows_its_part(tab):
    tab.page.add_init_script(
        """window.lit = []; const own = Element.prototype.animate;
        Element.prototype.animate = function (...how) { lit.push(this.id); return own.apply(this, how); };"""
    )
    tab.open("#image=sample:disc&y=80&x=120&size=131").still()
    assert not tab.page.evaluate("document.getAnimations().map((one) => one.effect.target.id)")
    tab.page.evaluate("lit.length = 0")
    tab.page.locator("#canvas").press("+")
    tab.page.wait_for_function("lit.includes('term-area')")
    edges = imtorque.detect_edges(imtorque.datasets.sample("disc"))
    y, x = map(int, np.argwhere(edges.mask)[50])
    tab.page.mouse.move(*tab.on_screen(y, x))
    tab.wait()
    moment = (x - 120) * edges.fy[y, x] - (y - 80) * edges.fx[y, x]
    text = tab.page.inner_text("#lever").replace("−", "-")
    assert text.startswith(f"r = ({x - 120}, {y - 80})")
    assert float(re.search(r"r × F = ([-+\d.]+)", text)[1]) == pytest.approx(moment, abs=0.06)


def test_the_value_maps_colours_are_not_washed_out_by_one_outlier(tab):
    tab.open("#image=sample:hopper&layers=value.90")
    image = imtorque.images.shrink_image(imtorque.datasets.sample("hopper"), 2)
    edges = imtorque.detect_edges(image)
    value = np.abs(imtorque.value_and_scale_maps(edges, imtorque.default_sizes(edges.shape))[0])
    robust = np.quantile(value[value > 0], 0.99)
    assert robust < 0.85 * value.max()
    assert tab.page.inner_text("#limit") == f"−{robust:.2f} … +{robust:.2f}"
    tab.slide("range", 100)
    assert tab.page.inner_text("#limit") == f"−{value.max():.2f} … +{value.max():.2f}"
    tab.slide("range", 80)
    assert float(tab.page.inner_text("#limit").split("+")[1]) < robust


def test_the_image_is_zoomed_and_moved_and_the_patch_stays_where_it_is(tab):
    tab.open("#image=sample:shapes")
    before = tab.place
    at = tab.on_screen(98, 119)
    tab.page.mouse.move(*at)
    for _ in range(6):
        tab.page.mouse.wheel(0, -60)
    tab.page.wait_for_function("import('/page/page.js').then(({ page }) => page.stage.zoom > 3)")
    assert tab.on_screen(98, 119) == pytest.approx(at, abs=8)  # events come in whole pixels
    assert tab.wait().place == before
    tab.page.mouse.down(button="middle")
    tab.page.mouse.move(at[0] + 50, at[1] + 30)
    tab.page.mouse.up(button="middle")
    assert tab.on_screen(98, 119) == pytest.approx([at[0] + 50, at[1] + 30], abs=8)
    tab.drag((98, 119), (90, 110))
    assert tab.place == (90, 110, before[2])
    tab.page.locator("#canvas").press("0")
    assert tab.page.evaluate("import('/page/page.js').then(({ page }) => page.stage.zoom)") == 1


def test_space_and_a_drag_move_the_image_where_a_button_has_the_focus_too(tab):
    tab.open("#image=sample:shapes&y=98&x=119&size=67")
    tab.page.click("#zoom-in")
    tab.page.click("#zoom-in")
    at = tab.on_screen(98, 119)
    tab.page.keyboard.down(" ")
    tab.page.mouse.move(*at)
    tab.page.mouse.down()
    tab.page.mouse.move(at[0] - 40, at[1] - 30)
    tab.page.mouse.up()
    tab.page.keyboard.up(" ")
    assert tab.wait().place == (98, 119, 67)
    assert tab.on_screen(98, 119) == pytest.approx([at[0] - 40, at[1] - 30], abs=8)
    assert tab.page.inner_text("#zoom-fit") == "2.0 ×"


PLAYS = "#step-pause[aria-label=Pause]"  # the step's image is loaded, and it plays
LATER = 3_600_000  # milliseconds on the page's clock: long after it is open


def size_after(tab, milliseconds):
    """Let so much time pass on the page, whose clock stands still else; the size of its patch then."""
    tab.page.wait_for_selector(IDLE)
    tab.page.clock.run_for(milliseconds)
    return tab.place[2]


def test_steps_play_by_themselves_pause_and_are_no_steps_to_undo(tab):
    tab.page.clock.install(time=0)
    tab.open()
    entries = tab.page.evaluate("history.length")
    tab.page.clock.pause_at(LATER)
    tab.page.click("#play")
    tab.shows("#step-title", "1/5 A patch grows over a disc")
    tab.page.wait_for_selector(PLAYS)
    assert size_after(tab, 1_000) > 41
    tab.page.click("#step-pause")
    paused = size_after(tab, 0)
    assert size_after(tab, 1_000) == paused
    tab.page.click("#step-pause")
    assert size_after(tab, 1_000) > paused
    tab.page.clock.resume()
    for title in ("2/5 Texture cancels", "3/5 A hole turns back", "4/5 Alpha chooses the scale", "5/5 Other patterns"):
        tab.page.keyboard.press("PageDown")
        tab.shows("#step-title", title)
    tab.wait().click(98, 119)  # a touch of the image holds
    assert tab.page.get_attribute("#step-pause", "aria-label") == "Go on"
    tab.page.click("#step-end")
    assert not tab.page.locator("#player").is_visible()
    assert tab.page.evaluate("history.length") <= entries + 1


def test_one_step_follows_the_other_until_they_are_held(tab):
    tab.page.clock.install(time=0)
    tab.open()
    tab.page.clock.pause_at(LATER)
    tab.page.click("#play")
    tab.page.get_by_label("Pause").wait_for()
    tab.page.check("#step-auto")
    for title in ("2/5 Texture cancels", "3/5 A hole turns back"):
        tab.page.clock.run_for(9_500)
        tab.page.clock.run_for(3_000)
        tab.shows("#step-title", title)
        tab.page.get_by_label("Pause").wait_for()
    tab.page.clock.run_for(9_500)
    tab.page.click("#step-pause")
    tab.page.clock.run_for(30_000)
    tab.shows("#step-title", "3/5 A hole turns back")


def test_help_and_citation_are_on_the_page(tab):
    tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.open()
    tab.page.keyboard.press("?")
    assert tab.page.locator("#help").is_visible()
    tab.page.click("#cite")
    tab.page.wait_for_function("navigator.clipboard.readText().then((text) => text.includes('arXiv:1601.04669'))")
    tab.page.keyboard.press("Escape")
    assert not tab.page.locator("#help").is_visible()


@pytest.mark.parametrize("state", ["", "#tab=settings", "#tab=extrema&tool=extrema", "#image=sketch"])
def test_on_a_phone_on_its_side_image_and_numbers_are_seen_together(browser, address, state):
    context = browser.new_context(viewport={"width": 844, "height": 390}, has_touch=True, is_mobile=True)
    phone = Tab(context.new_page(), address).open(state)
    for selector in ("#canvas", "#torque", "#dial", "[name=tool][value=patch]"):
        place = box(phone, selector)
        assert place["y"] >= 0
        assert place["y"] + place["height"] <= 390
        assert place["x"] + place["width"] <= 844
    assert phone.page.evaluate("document.documentElement.scrollWidth") <= 844
    assert phone.complaints == []
    context.close()


def test_a_lecture_goes_by_keys_alone(tab):
    tab.page.clock.install(time=0)
    tab.open()
    tab.page.clock.pause_at(LATER)
    tab.page.keyboard.press("p")
    tab.page.keyboard.press("PageDown")
    tab.shows("#step-title", "1/5 A patch grows over a disc")
    tab.page.wait_for_selector(PLAYS)
    assert size_after(tab, 1_000) > 41
    tab.page.keyboard.press("Space")
    paused = size_after(tab, 0)
    assert size_after(tab, 1_000) == paused
    tab.page.keyboard.press("Escape")
    tab.page.locator("header").wait_for()


@pytest.mark.parametrize("pattern", ["circle", "star", "spiral", "-45", "saddle", "saddle-diagonal"])
@pytest.mark.parametrize(
    "others", ["", "&alpha=0.5", "&patch=disk&alpha=3", "&polarity=free", "&polarity=free&patch=disk&alpha=1"]
)
def test_the_formula_is_right_for_every_setting(tab, pattern, others):
    tab.open(f"#image=sample:hopper&y=120&x=100&size=101&pattern={pattern}{others}")
    shown = {
        name: tab.page.inner_text(f"#{name}").replace("−", "-").replace(",", "")
        for name in ("formula-divisor", "formula-sum")
    }
    disk = "disk" in others
    edges = imtorque.detect_edges(imtorque.images.shrink_image(imtorque.datasets.sample("hopper"), 2))
    y, x = np.indices(edges.shape)
    ry, rx, fy, fx = y - 120, x - 100, edges.fy.astype(float), edges.fx.astype(float)
    inside = rx**2 + ry**2 <= 50**2 if disk else np.maximum(abs(rx), abs(ry)) <= 50
    # The text of the sum, as Python.
    text = shown["formula-sum"].removeprefix("Σ ")
    for sign, code in (
        ("rₓFₓ", "(rx*fx)"), ("rᵧFᵧ", "(ry*fy)"), ("rₓFᵧ", "(rx*fy)"), ("rᵧFₓ", "(ry*fx)"),
        ("r × F", "cross"), ("r · F", "dot"),
        ("²", "**2"), ("√2", "2**.5"), ("2 (", "2*("), (") (", ")*("),
    ):  # fmt: skip
        text = text.replace(sign, code)
    names = {"rx": rx, "ry": ry, "fx": fx, "fy": fy, "cross": rx * fy - ry * fx, "dot": rx * fx + ry * fy}
    total = float(np.sum(eval(text, names)[inside]))
    half = 50.0 if disk else 50.5
    divisor = (
        shown["formula-divisor"]
        .removeprefix("1 / ")
        .replace("^", "**")
        .replace("|P|", "*area")
        .replace("π", "*pi")
        .replace(" h", "*h")
    )
    given = {"area": np.pi * 50**2 if disk else 101**2, "h": half, "pi": np.pi}
    assert total / eval(divisor, given) == pytest.approx(tab.torque, abs=2e-3 * (1 + abs(tab.torque)))
    assert float(tab.page.inner_text("#term-area").replace(",", "")) == pytest.approx(
        eval(divisor, given) / 2, rel=2e-3, abs=0.06
    )


def test_steps_give_back_the_work_they_interrupted(tab):
    tab.open("#image=sample:shapes&tool=cut&tab=cut").click(98, 119)
    tab.rest()
    before = tab.page.evaluate("location.hash")
    tab.page.click("#play")
    tab.shows("#step-title", "1/5 A patch grows over a disc").wait()
    tab.page.click("#step-end")
    tab.rest()
    assert tab.page.evaluate("location.hash") == before
    assert "pixels" in tab.page.inner_text("#figure-facts")
    assert tab.page.locator("#forward").is_disabled()


def test_a_lecturers_own_steps_are_read_from_a_text(tab, tmp_path):
    first = "A small disc\n#image=sample:disc&y=80&x=120&size=41\nsize 41 to 91\nIt grows."
    text = f"{first}\n\nA hole\n#image=sample:hole\nSee."
    (tmp_path / "mine.txt").write_text(text)
    tab.open()
    tab.page.set_input_files("#file", tmp_path / "mine.txt")
    tab.shows("#step-title", "1/2 A small disc")
    assert tab.page.inner_text("#step-text") == "It grows."
    tab.page.click("#step-on")
    tab.shows("#step-title", "2/2 A hole")


SCREENS = [(390, 844), (844, 390), (1024, 768), (1280, 720), (1440, 900)]
SCREENS += [(750, 720), (908, 720)]  # the frame on the front page of the documentation
# What of the page's text and controls is wider than its place, or reaches out of the window or the pane it is in.
CUT_OFF = """() => [...document.querySelectorAll("header *, #bar *, #panel *, #player *")].filter((one) => {
    const { left, right, width } = one.getBoundingClientRect();
    if (!width || one.closest("pre, .visually-hidden, label:has(+ #image)")) return false;
    if (!one.checkVisibility({ visibilityProperty: true })) return false;
    const place = one.parentElement.closest(".pane, #panel, body").getBoundingClientRect();
    const text = [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    const isBox = one.matches(":not(select, option)") && getComputedStyle(one).display !== "inline";
    return left < place.left - 1 || right > place.right + 1 || (text && isBox && one.scrollWidth > one.clientWidth + 1);
}).map((one) => `${one.tagName} ${one.id} ${one.textContent.slice(0, 20)}`)"""


def is_seen(tab, selector, width, height):
    """Whether an element is in the window, at least most of it."""
    place = box(tab, selector)
    return place["x"] >= 0 and place["x"] + place["width"] <= width and place["y"] + 0.7 * place["height"] <= height


@pytest.mark.parametrize(("width", "height"), SCREENS)
def test_nothing_is_cut_off_on_any_screen(browser, address, width, height):
    context = browser.new_context(viewport={"width": width, "height": height})
    tab = Tab(context.new_page(), address)
    for state in (
        "",
        "#tool=extrema&tab=extrema",
        "#image=sample:hopper&tool=cut&tab=cut&clicks=120,130",
        "#tool=count&tab=count&annotations=98,119,67",
        "#image=sketch",
        "#tab=settings",
        "#tab=save",
        "#present=1",
    ):
        tab.page.goto("about:blank")
        tab.open(state)
        both = "[document.documentElement, document.getElementById('bar')]"
        wide = f"() => {both}.map((one) => one.scrollWidth - one.clientWidth)"
        assert tab.page.evaluate(wide) == [0, 0], state
        assert tab.page.evaluate(CUT_OFF) == [], state
        seen = ["#count-number"] if "count" in state else ["#figure-facts"] if "cut" in state else ["#dial", "#torque"]
        if "present" not in state:
            seen.append("#story")
        for one in seen:
            assert is_seen(tab, one, width, height), (state, one)
    assert tab.complaints == []
    context.close()


@pytest.mark.parametrize(("width", "height"), SCREENS)
def test_in_a_lecture_image_dial_curve_and_text_are_seen_together(browser, address, width, height):
    context = browser.new_context(viewport={"width": width, "height": height})
    tab = Tab(context.new_page(), address)
    tab.open("#image=sample:disc&present=1")
    tab.page.keyboard.press("PageDown")
    tab.page.wait_for_selector("#player:not([hidden])")
    tab.wait()
    for one in ("#canvas", "#dial", "#torque", "#curve", "#step-title", "#step-on", "#step-text"):
        assert is_seen(tab, one, width, height), one
    curve, player, text = box(tab, "#curve"), box(tab, "#player"), box(tab, "#step-text")
    assert curve["y"] + curve["height"] <= player["y"] or curve["y"] >= player["y"] + player["height"]
    assert text["y"] + text["height"] <= height
    tab.page.click("#step-end")
    assert tab.complaints == []
    context.close()
