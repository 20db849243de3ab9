"""The package as users meet it: names, import, threads, wheel contents."""

import ast
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import imtorque
from imtorque.core import deprecation

HERE = Path(__file__).parent


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}, check=False
    )


PUBLIC = [
    "Blobs",
    "BoundaryModel",
    "Boxes",
    "ContourTree",
    "EdgeRecipe",
    "Edges",
    "Extrema",
    "ForceStatistics",
    "Moments",
    "ObjectFinder",
    "OrientedMap",
    "OwnershipModel",
    "ShapeTorque",
    "TorqueVolume",
    "alpha_expansion",
    "blend_saliency",
    "border_ownership",
    "boundary_map",
    "boundary_strength",
    "contribution_map",
    "default_sizes",
    "dense_contribution",
    "detect_edges",
    "edge_cue",
    "edges_from_depth",
    "edges_from_map",
    "edges_from_motion",
    "explore",
    "find_blobs",
    "find_extrema",
    "gbvs_saliency",
    "get_num_threads",
    "gradient_edges",
    "gradient_torque",
    "grid_max_flow",
    "itti_saliency",
    "optical_flow",
    "patch_moments",
    "pattern_edges",
    "propose_objects",
    "scan_path",
    "segment_figure",
    "segment_objects",
    "segment_regions",
    "set_num_threads",
    "smooth_volume",
    "strengthen_edges",
    "suppress_overlaps",
    "torque_coherence",
    "torque_map",
    "torque_saliency",
    "torque_spectrum",
    "torque_volume",
    "ultrametric_contours",
    "value_and_scale_maps",
]


def test_the_public_names_are_these():
    """A name added or lost shows here, and belongs in the changelog."""
    assert imtorque.__all__ == PUBLIC == sorted(PUBLIC)
    for name in PUBLIC:
        assert getattr(imtorque, name).__doc__


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'torqe'"):
        _ = imtorque.torqe


def test_importing_loads_no_plotting_and_no_command_line():
    heavy = {"matplotlib", "typer", "rich", "PIL", "torch", "dask", "distributed", "pyarrow", "av"}
    code = f"import sys, imtorque; print(sorted({heavy} & set(sys.modules)))"
    assert run(code).stdout.strip() == "[]"


def test_the_environment_sets_the_number_of_threads():
    code = "import imtorque; print(imtorque.get_num_threads())"
    assert run(code, IMTORQUE_NUM_THREADS="3").stdout.strip() == "3"
    assert int(run(code, IMTORQUE_NUM_THREADS="").stdout) >= 1
    wrong = run(code, IMTORQUE_NUM_THREADS="many")
    assert wrong.returncode != 0
    assert "IMTORQUE_NUM_THREADS must be a number from 1 to 1024, got 'many'" in wrong.stderr


def test_the_oracle_imports_numpy_only():
    tree = ast.parse((HERE / "naive.py").read_text())
    imported = {
        alias.name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in (node.names if isinstance(node, ast.Import) else [ast.alias(node.module or "")])
    }
    assert imported <= {"numpy", "math"}


WRITERS = {  # where files are written, and what else has calls of these names
    "cli/train_detector.py": "calls ObjectFinder.save",
    "cli/count_page.py": "encodes into memory",
    "cli/data.py": "calls save of SketchTokens and BoundaryNetwork",
    "cli/demo.py": "the demo's page, by replacing()",
    "cli/evaluate.py": "draws into memory",
    "cli/train_classifier.py": "calls Recogniser.save",
    "core/types.py": "TorqueVolume.save, by replacing()",
    "datasets/published.py": "encodes into memory",
    "detection/finder.py": "saves into memory",
    "edges/network.py": "saves into memory",
    "edges/token_forest.py": "saves into memory",
    "explorer/counting.py": "calls ObjectFinder.save, in a temporary folder",
    "explorer/handlers.py": "saves into memory",
    "files.py": "the helpers themselves",
    "io/atomic.py": "the helpers themselves",
    "jobs/files.py": "the list of files, by replacing()",
    "jobs/tables.py": "parts and tables, by replacing()",
    "tiling/counting.py": "objects of tiles and outlines, by replacing()",
    "tiling/job.py": "arrays between passes, by replacing()",
    "video/overlay.py": "the overlay, by replacing()",
    "video/tables.py": "the table of a video, by replacing()",
}


def writes(call):
    """Whether a call is one that can write a file by itself."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name in ("open", "fdopen"):
        modes = [*call.args, *(keyword.value for keyword in call.keywords)]
        texts = [mode.value for mode in modes if isinstance(mode, ast.Constant) and isinstance(mode.value, str)]
        return any(set(text) <= set("rwaxbt+") and set(text) & set("wax+") for text in texts)
    method = isinstance(call.func, ast.Attribute) and getattr(call.func.value, "id", "") != "files"
    names = ("write_text", "write_bytes", "save", "savez", "savez_compressed", "savetxt", "savefig", "tofile", "dump")
    return method and name in names


@cache
def nodes_of_source():
    """Every module of the source by its path, with all the nodes of its tree."""
    source = Path(imtorque.__file__).parent
    return {path.relative_to(source): list(ast.walk(ast.parse(path.read_text()))) for path in source.rglob("*.py")}


def test_files_are_written_only_where_it_is_said():
    """Everything else writes through imtorque.files, so that a file is complete or not there."""
    found = {
        path.as_posix()
        for path, nodes in nodes_of_source().items()
        if any(isinstance(node, ast.Call) and writes(node) for node in nodes)
    }
    assert found == set(WRITERS)


def importers(package):
    """The folders and modules of the source that import a package, also inside functions."""
    found = set()
    for place, nodes in nodes_of_source().items():
        for node in nodes:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            if any(name == package or name.startswith(f"{package}.") for name in names):
                found.add(place.parts[0] if len(place.parts) > 1 else place.name)
    return found


def test_drawing_is_done_where_it_is_said():
    assert importers("matplotlib") == {"plotting"}
    assert importers("PIL.ImageDraw") == {"render", "datasets", "synthetic"}  # the last two: outlines become masks


def test_pixels_become_grey_at_one_door():
    source = Path(imtorque.__file__).parent
    users = {path.name for path in source.rglob("*.py") if "_native.to_grey" in path.read_text()}
    assert users == {"images.py"}


def test_the_version_is_a_version():
    assert imtorque.__version__.split(".")[0].isdigit()


def test_everything_that_says_a_version_says_the_same():
    root = HERE.parent
    said = {
        "pyproject.toml": r'^version = "(.+)"',
        "reproduce/pyproject.toml": r'^version = "(.+)"',
        "CITATION.cff": r"^version: (.+)$",
        "plugins/napari-imtorque/pyproject.toml": r'^version = "(.+)"',
        "plugins/napari-imtorque/src/napari_imtorque/__init__.py": r'^__version__ = "(.+)"',
    }
    found = {re.search(form, (root / path).read_text(), re.MULTILINE)[1] for path, form in said.items()}
    assert len(found) == 1


def test_the_changelog_lists_every_old_module_that_still_works():
    changes = (HERE.parent / "CHANGELOG.md").read_text()
    assert [name for name in deprecation.MODULES if f"`{name}`" not in changes] == []
