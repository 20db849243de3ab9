"""Open the explorer in Chromium and write images of its main states to docs/explorer.

python docs/render_explorer.py [NAME ...]
"""

import io
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from PIL import Image
from playwright.sync_api import Page, sync_playwright
from skimage.data import coins

from imtorque.explorer.connections import server_config
from imtorque.explorer.launch import listen
from imtorque.explorer.server import make_app

FOLDER = Path(__file__).resolve().parent / "explorer"
LARGEST = 300_000  # bytes
DESK, PHONE, SIDE, PROJECTOR = (1280, 720), (390, 844), (844, 390), (1024, 768)
STATES = {
    "patch": ("#image=sample:hole&y=80&x=120&size=117&largest=131", DESK, "light"),
    "maps": ("#image=sample:hopper&y=40&x=40&size=3&layers=value.90&tab=layers", DESK, "dark"),
    "strengthened": ("#image=sample:hopper&y=5&x=5&size=3&layers=strengthened.100&tab=layers", DESK, "light"),
    "extrema": ("#image=sample:hopper&tab=extrema&tool=extrema&count=14&number=4", DESK, "light"),
    "cut": ("#image=sample:hopper&tab=cut&tool=cut&clicks=180,131", DESK, "dark"),
    "sketch": ("#image=sketch", DESK, "light"),
    "settings": ("#image=sample:shapes&tab=settings&layers=scale.80", DESK, "light"),
    "closure": (
        "#image=sample:gap&tab=settings&polarity=free&layers=value.75&y=80&x=120&size=99&largest=131",
        DESK,
        "light",
    ),
    "save": ("#image=sample:overlap&tab=save&patch=disk&y=99&x=101&size=81&layers=value.60", DESK, "dark"),
    "present": ("#image=sample:overlap&present=1&y=99&x=101&size=81", PROJECTOR, "light"),
    "steps": ("#image=sample:disc", DESK, "light"),
    "count": ("#tool=count&tab=count", DESK, "light"),
    "landscape": ("#image=sample:shapes&y=118&x=197&size=57", SIDE, "light"),
    "phone": ("#image=sample:shapes&y=118&x=197&size=57", PHONE, "light"),
    "phone-dark": ("#image=sample:hopper&layers=value.85&tab=extrema&tool=extrema", PHONE, "dark"),
}
COINS = [
    *((260, 46, 56), (44, 335, 57), (51, 155, 45), (198, 154, 38), (263, 244, 47), (125, 102, 37), (119, 271, 49)),
    *((263, 301, 50), (197, 44, 37)),
]
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


@contextmanager
def served() -> Iterator[str]:
    """Run the server in a thread and give its address."""
    listening = listen("127.0.0.1", 0)
    server = uvicorn.Server(server_config(make_app()))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
    server.should_exit = True
    thread.join()


def count_coins(page: Page) -> None:
    """Open scikit-image's coins and mark some of them."""
    file = io.BytesIO()
    Image.fromarray(coins()).save(file, "PNG")
    page.set_input_files("#file", {"name": "coins.png", "mimeType": "image/png", "buffer": file.getvalue()})
    page.locator("#image option:checked", has_text="coins.png").wait_for(state="attached")
    page.evaluate(
        """async (marks) => {
            const { store } = await import("/page/page.js");
            store.set({ annotations: marks.map(([y, x, diameter]) => ({ y, x, diameter, negative: false })) });
        }""",
        COINS,
    )
    page.locator("#count-number", has_text="objects").wait_for(timeout=120_000)


def compress(screenshot: bytes) -> bytes:
    """Return an image that may be committed: in all its colours, or in 256 where those take too much.

    Some of the 256 are kept for the page's own colours, which a photograph's would crowd out.
    """
    with Image.open(io.BytesIO(screenshot)) as image:
        plain = image.convert("RGB")
    page = plain.copy()
    page.paste("white", (0, page.height // 12, page.width * 2 // 3, page.height))  # where the image is
    own = page.quantize(96).getpalette()
    palette = Image.new("P", (1, 1))
    palette.putpalette((own or []) + (plain.quantize(160).getpalette() or []))
    for shown in (plain, plain.quantize(256, palette=palette, dither=Image.Dither.NONE)):
        small = io.BytesIO()
        shown.save(small, "png", optimize=True)
        if small.tell() <= LARGEST:
            return small.getvalue()
    raise SystemExit(f"an image must stay below {LARGEST} bytes, got {small.tell()}")


def main() -> None:
    """Take the images named, or all."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        raise SystemExit("screenshots need chromium on the path (Debian: apt-get install chromium)")
    FOLDER.mkdir(exist_ok=True)
    with served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        for name in sys.argv[1:] or STATES:
            state, (width, height), scheme = STATES[name]
            context = browser.new_context(
                viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
            )
            page = context.new_page()
            page.goto(address + state)
            page.wait_for_selector("#stage[aria-busy=false]")
            if name == "count":
                count_coins(page)
            if name == "steps":
                page.click("#play")
                page.get_by_label("Pause").wait_for()
                page.click("#step-pause")
                page.evaluate("import('/page/page.js').then(({ store }) => store.set({ size: 101 }))")
            page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            page.locator("#status").evaluate("(status) => { status.textContent = ''; }")  # of this machine, this moment
            image = compress(page.screenshot())
            (FOLDER / f"{name}.png").write_bytes(image)
            print(f"docs/explorer/{name}.png: {len(image)} bytes")
            context.close()
        browser.close()


if __name__ == "__main__":
    main()
