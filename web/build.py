"""Make the explorer's page into one HTML file that needs no server: `make page` runs this.

The page's own scripts and styles stay as they are. Only `engine.js`, which asks the server, is replaced by the one
here, which asks the kernels in a worker. What the library defines (samples, colours, names) is written into the file.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import imtorque
from imtorque.datasets import SAMPLES
from imtorque.edges import DEFAULT_DETECTOR, DETECTORS
from imtorque.explorer.image_store import MAX_PIXELS, MAX_SIDE, WORKING_PIXELS, image_of_sample
from imtorque.explorer.results import LINE_COLOURS, opacity_of_lines
from imtorque.explorer.server import _detector_info
from imtorque.files import encode_png
from imtorque.render.torque import SCALE_COLOURS, VALUE_COLOURS, colour_table

HERE = Path(__file__).parent
PAGE = HERE.parent / "src/imtorque/explorer/page"
INSTALL = "pip install 'imtorque[explore]', then imtorque explore"
TARGETS = "--target=chrome90,firefox113,safari16.4"  # the first that unpack gzip and draw in workers


def facts() -> dict[str, Any]:
    """Return what the page needs of the library: samples as the explorer shows them, colours, names, bounds."""
    samples = {}
    for name in SAMPLES:
        image = image_of_sample(name)
        png = base64.b64encode(encode_png(image.image)).decode()
        grey = image.image.ndim == 2
        samples[name] = {"png": png, "grey": grey, "recipe": image.recipe, "original": image.original_shape}
    return {
        "version": imtorque.__version__,
        "installed": INSTALL,
        "samples": samples,
        "detectors": [
            {**_detector_info(one), "needs": "" if name == DEFAULT_DETECTOR else "the installed version"}
            for name, one in DETECTORS.items()
        ],
        "bounds": {"pixels": MAX_PIXELS, "working": WORKING_PIXELS, "side": MAX_SIDE},
        "colours": colours(),
    }


def colours() -> dict[str, list[int]]:
    """Return the tables by which layers are coloured."""
    return {
        "value": colour_table(VALUE_COLOURS).ravel().tolist(),
        "scale": colour_table(SCALE_COLOURS).ravel().tolist(),
        "line": list(LINE_COLOURS["edges"]),
        "lineOpacities": opacity_of_lines(255).tolist(),
    }


def bundle(script: Path, *options: str) -> str:
    """Return a script and all that it imports as one, for browsers."""
    command = ["esbuild", script, "--bundle", "--format=iife", "--minify", "--charset=utf8", "--log-level=warning"]
    return subprocess.run([*command, TARGETS, *options], check=True, capture_output=True, text=True).stdout


def build(kernels: Path, out: Path) -> None:
    """Write the page."""
    work = out.parent / "scripts"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(PAGE, work)
    for script in HERE.glob("*.js"):
        shutil.copy(script, work)
    (work / "facts.json").write_text(json.dumps(facts(), separators=(",", ":")))
    (work / "kernels.gz").write_bytes(gzip.compress(kernels.read_bytes(), mtime=0))
    (work / "worker.txt").write_text(bundle(work / "worker.js"))
    script = bundle(work / "main.js", "--loader:.gz=base64").replace("</script", r"<\/script")
    icon = "data:image/svg+xml;base64," + base64.b64encode((PAGE / "icon.svg").read_bytes()).decode()
    html = (PAGE / "index.html").read_text()
    html, styles = re.subn(
        r'<link rel="stylesheet"[^>]*>', f"<style>{(PAGE / 'explorer.css').read_text()}</style>", html
    )
    html, scripts = re.subn(r'<script type="module"[^>]*></script>\n', "", html)
    assert styles == scripts == 1, "the page's head must have one style sheet and one script"
    html = html.replace("page/icon.svg", icon).replace("</body>", f"<script>{script}</script>\n</body>")
    out.write_text(html)
    packed = len(gzip.compress(html.encode(), mtime=0))
    print(f"{out}: {len(html.encode()) // 1000} KB, {packed // 1000} KB gzipped, of which the kernels "
          f"{(work / 'kernels.gz').stat().st_size // 1000} KB")  # fmt: skip


if __name__ == "__main__":
    page = Path(sys.argv[1])
    build(page.with_name("kernels.wasm"), page)
