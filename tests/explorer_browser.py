"""The explorer in a real browser: a tab, and what its user does."""

import base64
import os
import re
import shutil

import numpy as np
import pytest

import imtorque
from imtorque import synthetic
from waiting import until

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
ARGUMENTS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
IDLE = "#stage[aria-busy=false]"


def need_browser(found, name, package):
    """Skip where a browser is not there, unless it must be."""
    if found is None and os.environ.get("IMTORQUE_REQUIRE_BROWSER"):
        pytest.fail(f"IMTORQUE_REQUIRE_BROWSER is set, and there is no {name} on the path")
    if found is None:
        pytest.skip(f"no {name} on the path (Debian: apt-get install {package})")


class Tab:
    """A tab of the explorer, and what its user does."""

    def __init__(self, page, address, frame=None):
        self.page, self.address, self.complaints, self.requests = page, address, [], []
        self.frame = page.main_frame if frame is None else frame  # that shows the explorer
        page.on("console", lambda message: self.complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))

    def open(self, state=""):
        self.page.goto(f"{self.address}/{state}")
        return self.wait()

    def wait(self):
        """Wait until no request is in flight and the frame is drawn."""
        self.page.wait_for_selector(IDLE)
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return self

    def rest(self):
        """Wait until the state is in the page's address, so that the next change is a step of the history."""
        self.wait()
        until(  # not wait_for_function, to which any promise is true
            lambda: self.page.evaluate(
                """async () => {
                    const { page, state } = await import(new URL("page/page.js", document.baseURI).href);
                    const { writeAddress } = await import(new URL("page/state.js", document.baseURI).href);
                    return !page.replaceHistory && location.hash === writeAddress(state);
                }"""
            )
        )
        return self

    def still(self):
        """Wait until nothing moves or fades, and all images of the page have come."""
        self.page.wait_for_function(
            """() => !document.getAnimations().some((one) => one.playState === "running")
                && [...document.images].every((image) => image.complete)"""
        )
        return self

    def frames(self, count):
        """Let so many frames be drawn."""
        self.page.evaluate(
            """async (count) => { while (count--) await new Promise((done) => requestAnimationFrame(done)); }""", count
        )
        return self

    def shows(self, selector, text):
        """Wait until an element shows a text."""
        self.page.locator(selector, has_text=re.compile(f"^{re.escape(text)}$")).wait_for(state="attached")
        return self

    @property
    def torque(self):
        return float(self.page.inner_text("#torque").replace("−", "-"))

    @property
    def place(self):
        y, x = map(int, re.findall(r"\d+", self.page.text_content("#place-out")))
        (size,) = map(int, re.findall(r"\d+", self.page.text_content("#size-out")))
        return y, x, size

    def on_screen(self, y, x):
        """Where a pixel of the image lies in the frame."""
        return self.frame.evaluate(
            """async ([y, x]) => {
                const { page } = await import(new URL("page/page.js", document.baseURI).href);
                const box = page.stage.canvas.getBoundingClientRect();
                return [box.left + page.stage.left + (x + 0.5) * page.stage.scale,
                        box.top + page.stage.top + (y + 0.5) * page.stage.scale];
            }""",
            [y, x],
        )

    def colour(self, y, x):
        """The colour shown at a pixel of the image."""
        left, top = self.on_screen(y, x)
        return self.page.evaluate(
            """([x, y]) => {
                const canvas = document.getElementById("canvas");
                const box = canvas.getBoundingClientRect();
                const at = [x - box.left, y - box.top].map((place) => place * canvas.width / box.width);
                return [...canvas.getContext("2d").getImageData(...at, 1, 1).data];
            }""",
            [left, top],
        )

    def click(self, y, x, modifier=None):
        if modifier:
            self.page.keyboard.down(modifier)
        self.page.mouse.click(*self.on_screen(y, x))
        if modifier:
            self.page.keyboard.up(modifier)
        return self.wait()

    def drag(self, start, end, steps=4):
        self.page.mouse.move(*self.on_screen(*start))
        self.page.mouse.down()
        self.page.mouse.move(*self.on_screen(*end), steps=steps)
        self.page.mouse.up()
        return self.wait()

    def slide(self, name, value):
        self.page.locator(f"#{name}").evaluate(
            "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input', { bubbles: true })); }",
            value,
        )
        return self.wait()

    def drop(self, content, name="dropped.png", kind="drop"):
        self.page.evaluate(
            """([data, name, kind]) => {
                const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
                const transfer = new DataTransfer();
                transfer.items.add(new File([bytes], name, { type: "image/png" }));
                const event = kind === "drop" ? new DragEvent(kind, { dataTransfer: transfer, bubbles: true })
                                              : new ClipboardEvent(kind, { clipboardData: transfer, bubbles: true });
                document.body.dispatchEvent(event);
            }""",
            [base64.b64encode(content).decode(), name, kind],
        )
        return self.wait()


def photograph(height=321, width=481):
    """An image of a photograph's size and density of edges."""
    return np.round(255 * synthetic.scene("shapes", (height, width)) * synthetic.texture((height, width))).astype(
        np.uint8
    )


def library_torque(image, place, **options):
    y, x, size = place
    of_patches = {key: options.pop(key) for key in ("patch", "alpha", "pattern", "polarity") if key in options}
    edges = imtorque.detect_edges(image, **options)
    return round(float(imtorque.torque_spectrum(edges, (y, x), [size], **of_patches)[0]), 4)
