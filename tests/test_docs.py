"""The docs say what is so: their code runs, and what they name exists."""

import json
import re
import runpy
import shlex
import subprocess
import sys
from collections import Counter
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from typer.main import get_command
from typer.testing import CliRunner

import imtorque
from docs_given import given
from imtorque.cli import app
from imtorque.files import write_image

matplotlib.use("agg")
ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
COMMAND = get_command(app)


PAGES = {
    f"measured/{path.name}" if path.parent.name == "measured" else path.name: path
    for path in [ROOT / "README.md", *DOCS.glob("*.md"), *sorted(DOCS.glob("*/*.md"))]
    if path.name not in ("gallery.md", "torch.md")  # tested elsewhere
}


def blocks(page, *languages):
    """The code of a page in one of these languages."""
    text = PAGES[page].read_text()
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [code for language, code in fenced if language in languages]


def commands(page):
    """The lines of a page that call imtorque, without what is said of them."""
    lines = re.findall(r"^imtorque .*$", "\n".join(blocks(page, "", "sh")), re.MULTILINE)
    return [re.split(r"\s{3,}(?![-\s])|\s+#|\s>", line)[0] for line in lines]


def run(page, names):
    for code in blocks(page, "python"):
        exec(compile(code, page, "exec"), names)
    pyplot.close("all")
    return names


COMES_OUT = {  # what a page says comes of its code, from its names and what it prints
    "boundary.md": lambda names, _: 0.5 < names["boundary"].max() <= 1,
    "installing.md": lambda names, _: names["text"].startswith('{"type": "FeatureCollection"'),
    "large_images.md": lambda names, _: names["summary"].edge_pixels > 0,
    "tutorial.md": lambda _, printed: printed.startswith("y,x,diameter,area,"),
}


@pytest.mark.docs
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")])
def test_the_code_of_every_page_runs_from_top_to_bottom_and_what_it_says_comes_out(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = run(page, given(page, tmp_path, monkeypatch))
    if page in COMES_OUT:
        assert COMES_OUT[page](names, capsys.readouterr().out)


SCRIPT = """
import sys
from pathlib import Path
with open("runs.txt", "a") as runs:  # once more where a worker runs the script again
    runs.write("run\\n")
sys.path.insert(0, {tests!r})
import matplotlib
import pytest
from docs_given import given
matplotlib.use("agg")
globals().update(given({page!r}, Path.cwd(), pytest.MonkeyPatch()))
"""


@pytest.mark.docs
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python") and page != "clusters.md"])
def test_the_code_of_every_page_saved_and_run_works_and_runs_once(page, tmp_path):
    head = SCRIPT.format(tests=str(ROOT / "tests"), page=page)
    (tmp_path / "script.py").write_text("\n".join([head, *blocks(page, "python")]))
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "runs.txt").read_text() == "run\n"


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)])
def test_the_commands_of_every_page_are_understood(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for line in commands(page):
        command, words = COMMAND, shlex.split(line)[1:]
        for word in words:
            if word.endswith((".csv", ".finder", ".model")):
                Path(word).touch()  # some options ask for files that are there
        while hasattr(command, "commands") and not (command.invoke_without_command and words[0].startswith("-")):
            command = command.commands[words.pop(0)]
        command.make_context("imtorque", words)  # refuses options that are not there


@pytest.mark.docs
@pytest.mark.parametrize(
    "line", sorted({line for page in PAGES for line in commands(page) if "sample:" in line and "explore" not in line})
)
def test_commands_on_samples_run(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(app, shlex.split(line)[1:]).exit_code == 0


@pytest.mark.docs
@pytest.mark.cluster
def test_the_script_on_clusters_runs(tmp_path):
    pytest.importorskip("distributed")
    (tmp_path / "images").mkdir()
    write_image(tmp_path / "images" / "a.png", np.round(255 * imtorque.synthetic.scene("shapes")).astype(np.uint8))
    (tmp_path / "images" / "b.png").write_bytes(b"no image")
    (tmp_path / "script.py").write_text(blocks("clusters.md", "python")[0])
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "images/b.png: must be an image that can be read, got: no image format that is known\n"
    assert (tmp_path / "all.parquet").exists()


@pytest.mark.parametrize(
    "page",
    [
        "measured/paper_map.md",
        "explorer.md",
        "video.md",
        "beyond.md",
        "boundary.md",
        "clusters.md",
        "large_images.md",
        "recognition.md",
        "conventions.md",
        "how_it_works.md",
        "patterns.md",
        "tutorial.md",
    ],
)
def test_the_files_and_functions_named_exist(page):
    text = PAGES[page].read_text()
    names = set(re.findall(r"`([\w/]+)(?:\(.*?\))?`", text))
    for name in names:
        if name.rpartition("/")[2].startswith("test_"):
            assert (ROOT / "tests" / f"{name}.py").exists(), name
        elif name.startswith("plot_"):
            assert (ROOT / "examples" / f"{name}.py").exists(), name
    for path in re.findall(r"`((?:native|tests|benchmarks)/[\w./]+)`", text):
        assert (ROOT / path).exists(), path
    for module, name in re.findall(r"`(plotting|synthetic|evaluation|datasets|files|images)\.(\w+)", text):
        assert hasattr(getattr(imtorque, module), name), name


def test_the_paper_map_has_every_equation_figure_and_table():
    text = PAGES["measured/paper_map.md"].read_text()
    for title, count in (("Equations", 30), ("Figures", 19), ("Tables", 4)):
        rows = re.findall(r"^\| ([\d ,to]+) \|", text.split(f"## {title}")[1].split("## ")[0], re.MULTILINE)
        covered = set()
        for row in rows:
            first, _, last = row.partition(" to ")
            covered |= set(range(int(first), int(last) + 1)) if last else {int(part) for part in row.split(",")}
        assert covered == set(range(1, count + 1)), title


def test_the_api_pages_have_every_public_name_once():
    text = "".join(page.read_text() for page in (DOCS / "reference" / "api").glob("*.md"))
    listed = Counter(re.findall(r"::: imtorque\.(\w+)$", text, re.MULTILINE))
    assert set(imtorque.__all__) <= set(listed)
    assert not [name for name, count in listed.items() if count > 1]


CONTRACT = re.findall(  # other programs call these by name
    r"[\w.]+",
    """Edges TorqueVolume Extrema ObjectFinder detect_edges gradient_edges edges_from_map torque_map torque_volume
    value_and_scale_maps torque_coherence smooth_volume torque_spectrum gradient_torque find_extrema find_blobs
    files.read_image contribution_map dense_contribution strengthen_edges torque_saliency gbvs_saliency itti_saliency
    blend_saliency scan_path segment_regions segment_figure segment_objects propose_objects grid_max_flow
    alpha_expansion set_num_threads""",
)


@pytest.mark.parametrize("name", sorted({*CONTRACT, *imtorque.__all__}))
def test_what_a_docstring_points_to_is_there(name):
    described = attrgetter(name)(imtorque)
    sections = re.findall(r"See Also\n *-+\n *(.+)\n", described.__doc__ or "")
    assert len(sections) == 1 if name in CONTRACT else len(sections) <= 1
    for line in sections:
        names = line.split(", ")
        assert name not in names
        assert 1 <= len(names) <= 4
        assert all(attrgetter(other)(imtorque) for other in names)


def headings(text):
    """The anchors of a page's headings."""
    titles = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles]


def test_the_terms_of_the_glossary_are_used_where_their_links_lead():
    page = PAGES["glossary.md"]
    rows = re.findall(r"^\| (.*?) \| .* \| \[.*\]\((.*)\) \|$", page.read_text(), re.MULTILINE)
    assert len(rows) == page.read_text().count("\n| ") - 2 * page.read_text().count("| term |")
    for term, target in rows:
        name, _, anchor = target.partition("#")
        text = (page.parent / name).read_text()
        assert not anchor or anchor in headings(text) or f"::: {anchor}\n" in text, target
        words = [word.strip().lower() for word in re.split(r"[,()]", term) if word.strip()]
        assert anchor.startswith("imtorque.") or any(word in " ".join(text.lower().split()) for word in words), term


def test_the_site_lists_its_versions_newest_first(tmp_path):
    publish = runpy.run_path(str(DOCS / "publish.py"))["publish"]
    built = tmp_path / "built"
    built.mkdir()
    (built / "index.html").write_text("here")
    for version in ("0.2.0.dev0", "0.10.0", "0.2.0"):
        publish(built, tmp_path / "site", version)
    listed = json.loads((tmp_path / "site" / "versions.json").read_text())
    assert [entry["version"] for entry in listed] == ["0.10.0", "0.2.0", "0.2.0.dev0"]
    assert "0.10.0/index.html" in (tmp_path / "site" / "index.html").read_text()


def test_the_files_that_readme_links_to_exist():
    for target in re.findall(r"\]\(([\w./#-]+)\)", (ROOT / "README.md").read_text()):
        path, _, anchor = target.partition("#")
        assert (ROOT / path).exists(), target
        assert not anchor or anchor in headings((ROOT / path).read_text()), target


@pytest.mark.parametrize(
    ("page", "meta"),
    [
        ("results/counting/table.md", {"search": {"exclude": True}}),
        ("measured/counting.md", {"search": {"boost": 0.5}}),
        ("guides/counting.md", {}),
    ],
)
def test_guides_are_found_before_what_is_measured_and_tables_of_results_are_not(page, meta):
    shown = SimpleNamespace(file=SimpleNamespace(src_uri=page), meta={})
    hook = runpy.run_path(str(DOCS / "search.py"))["on_page_markdown"]
    assert hook("# Counting", page=shown) == "# Counting"
    assert shown.meta == meta
