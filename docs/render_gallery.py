"""Run every example and write its figure to docs/gallery, small enough to be committed.

python docs/render_gallery.py [NAME ...]
"""

import ast
import io
import runpy
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

import matplotlib

matplotlib.use("agg")

from matplotlib import pyplot
from matplotlib.figure import Figure
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))
LARGEST = 200_000  # bytes
OPENING = """# Gallery

See what torque does on drawn shapes and photographs: the paper's figures redone, and what came after them. Each is a
short script to start from; `make gallery` draws them all."""


def needs_torch(example: Path) -> bool:
    """Whether an example imports torch, which has an environment of its own: make test-torch."""
    return "import torch\n" in example.read_text()


def draw(example: Path) -> Figure:
    """Run an example and return its figure."""
    pyplot.close("all")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive")  # said by plt.show()
        runpy.run_path(str(example), run_name="__main__")
    return pyplot.gcf()


def compress(figure: Figure) -> bytes:
    """Return a figure as a PNG that may be committed, as large and with as many colours as that allows."""
    for dpi, colours in ((90, None), (80, None), (90, 256), (75, 256), (60, 256)):
        drawn, small = io.BytesIO(), io.BytesIO()
        figure.savefig(drawn, format="png", dpi=dpi)
        with Image.open(drawn) as image:
            plain = image.convert("RGB")
            fewer = plain if colours is None else plain.quantize(colours, dither=Image.Dither.NONE)
            fewer.save(small, "png", optimize=True)
        if small.tell() <= LARGEST:
            return small.getvalue()
    raise SystemExit(f"an image must stay below {LARGEST} bytes, got {small.tell()}")


def page() -> str:
    """Return the gallery's page: each example's title, story, image and code."""
    parts = [OPENING]
    for example in EXAMPLES:
        title, _, story = ast.get_docstring(ast.parse(example.read_text())).split("\n", 2)
        image = f"![{title}](../gallery/{example.stem}.png)"
        code = f'??? example "examples/{example.name}"\n\n    ```python\n    --8<-- "examples/{example.name}"\n    ```'
        parts += [f"## {title}", story.strip().replace("``", "`"), image, code]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Render the examples named, or all, and the page."""
    (ROOT / "docs" / "start" / "gallery.md").write_text(page())
    names = sys.argv[1:]
    for example in EXAMPLES:
        if (names and example.stem not in names) or (needs_torch(example) and not find_spec("torch")):
            continue
        image = compress(draw(example))
        (ROOT / "docs" / "gallery" / f"{example.stem}.png").write_bytes(image)
        print(f"docs/gallery/{example.stem}.png: {len(image)} bytes")


if __name__ == "__main__":
    main()
