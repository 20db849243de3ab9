"""The benchmarks run: once each, at toy size, so that none rots."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.bench
BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture
def run_here(monkeypatch, tmp_path):
    """Run a script in this process, which has loaded already what most of them need, and return what it writes."""

    def run(name, *options):
        out = tmp_path / "out.json"
        monkeypatch.setattr(sys, "argv", [name, *options, "--out", str(out)])
        monkeypatch.syspath_prepend(str(BENCHMARKS))
        monkeypatch.delitem(sys.modules, "run", raising=False)  # which may be another folder's
        runpy.run_path(str(BENCHMARKS / name), run_name="__main__")
        return json.loads(out.read_text())

    return run


def test_the_operator_benchmark_runs_and_measures_all_it_claims(tmp_path):
    pytest.importorskip("cv2")
    out = tmp_path / "operator.json"
    command = [sys.executable, str(BENCHMARKS / "run.py"), "--toy", "--repeats", "1", "--out", str(out)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "cv2 SIFT" in result.stdout
    runs = json.loads(out.read_text())["runs"]
    assert [(run["regime"], run["threads"]) for run in runs] == [
        ("default", 1),
        ("default", 2),
        ("warm", 1),
        ("warm", 2),
    ]
    assert runs[2]["largest_error"] < 1e-4
    assert [row["size"] for row in runs[2]["patterns"]] == [11, 31, 91]
    assert "all four moments take" in result.stdout
    assert [(row["image"], row["sizes"]) for row in runs[2]["strongest"]][:2] == [
        ("photographs", 45),
        ("photographs", 10),
    ]
    assert "share of the limit reached" in result.stdout
    assert len(runs[2]["large"]) == 2


def test_the_benchmark_of_the_strongest_extrema_runs_and_both_searches_agree(tmp_path):
    out = tmp_path / "strongest.json"
    command = [sys.executable, str(BENCHMARKS / "strongest.py"), "--images", "1", "--out", str(out)]
    subprocess.run(command, capture_output=True, text=True, check=True)
    report = json.loads(out.read_text())
    assert report["images"] == 1
    assert all(0 < row["share_of_patches"] < 1 for row in report["requests"])


def test_the_benchmark_of_boundary_edges_runs(run_here):
    assert set(run_here("boundary_edges.py", "--repeats", "1")["milliseconds"]) == {
        "edges",
        "dense contribution, 6 sizes",
        "both",
        "boundary_strength",
    }


def test_the_benchmark_of_edges_compares_with_other_detectors(run_here, capsys):
    pytest.importorskip("cv2")
    runs = run_here("edges.py", "--toy", "--repeats", "1")["runs"]
    assert [run["threads"] for run in runs] == [1, 2]
    assert "cv2 GaussianBlur + Canny" in capsys.readouterr().out
    assert all(ms["wall"] > 0 for run in runs for times in run["times"].values() for ms in times.values())


def test_the_benchmark_of_minimum_cuts_runs(run_here):
    report = run_here("max_flow.py", "--toy", "--repeats", "1")
    rows = report["rows"]
    assert [row["problem"][:6] for row in rows] == ["colour", "colour", "ring, ", "ring, "]
    assert all(row["imtorque"]["total_ms"][0] > 0 for row in rows)
    assert [row["imtorque_ms"] > 0 for row in report["expansion of constant costs"]] == [True, True]


def test_the_benchmark_of_videos_runs(tmp_path):
    pytest.importorskip("av")
    out = tmp_path / "videos.json"
    command = [sys.executable, str(BENCHMARKS / "video.py"), "--toy", "--out", str(out)]
    subprocess.run(command, capture_output=True, text=True, check=True)
    report = json.loads(out.read_text())
    assert list(report) == ["extrema", "blobs", "speed"]
    assert report["extrema"]["found"]["found"] > 0.5
    assert [row["sizes"] for row in report["speed"]["found"]] == [10, 45]
    before = report["speed"]
    subprocess.run([*command, "--only", "extrema"], capture_output=True, text=True, check=True)
    again = json.loads(out.read_text())
    assert again["speed"] == before
    assert again["extrema"]["found"] == report["extrema"]["found"]


def test_the_benchmark_of_spots_runs(tmp_path):
    pytest.importorskip("trackpy")
    out = tmp_path / "spots.json"
    command = [sys.executable, str(BENCHMARKS / "spots.py"), "--toy", "--out", str(out)]
    subprocess.run(command, capture_output=True, text=True, check=True)
    report = json.loads(out.read_text())
    assert report["videos"][0]["imtorque"]["found"] > 0.8
    assert [row["imtorque"] < 0.1 * row["links"] for row in report["links"]] == [True, True]


def test_the_benchmark_of_regions_runs(run_here):
    mean = run_here("regions.py", "--toy", "--repeats", "9")["mean"]
    assert mean["segment_regions"] > mean["alpha_expansion"] > 0


def test_the_benchmark_of_recognition_runs(run_here):
    pytest.importorskip("cv2")
    rows = run_here("recognition.py", "--runs", "1")["rows"]
    assert {row["method"] for row in rows if "method" in row} >= {"sift", "torque", "sift+torque"}
    assert {"opencv-sift", "sift"} <= {row.get("block") for row in rows}


def test_the_benchmark_of_machines_runs_and_both_come_near_the_same_objective(run_here):
    rows = run_here("machines.py", "--toy")["rows"]
    assert [row["solver"] for row in rows] == ["LinearSVM", "LinearSVC", "LinearSVC", "LinearSVC"]
    assert all(row["seconds"] > 0 and row["above_lowest"] < 0.01 for row in rows)


def test_the_benchmark_of_figures_runs(run_here):
    rows = run_here("figure.py", "--runs", "1")["rows"]
    assert {row["task"].split(",")[0] for row in rows} == {"segment_figure", "propose_objects", "segment_objects"}
    assert all(row["seconds"] > 0 for row in rows)


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux")
def test_the_benchmark_of_memory_runs(tmp_path):
    out = tmp_path / "memory.json"
    command = [sys.executable, str(BENCHMARKS / "memory.py"), "find_blobs", "--toy", "--out", str(out)]
    subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(out.read_text())["peak"]["find_blobs"] > 0


def test_the_benchmark_of_threads_runs(tmp_path):
    out = tmp_path / "threads.json"
    command = [sys.executable, str(BENCHMARKS / "threads.py"), "--toy", "--out", str(out)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout  # it forks
    report = json.loads(out.read_text())
    assert {"detect_edges", "find_extrema", "dense_contribution"} <= {row["kernel"] for row in report["rows"]}
    assert all(len(row["milliseconds"]) == len(report["threads"]) for row in report["rows"])
    assert f"worst ratio to one thread: {report['worst_ratio']:.2f}" in printed


def test_the_benchmark_of_volumes_runs(run_here):
    rows = run_here("volumes.py", "--toy", "--repeats", "1")["runs"][0]["rows"]
    assert {row["function"] for row in rows} == {"find_extrema", "value_and_scale_maps", "gradient_torque"}


def test_the_benchmark_of_finding_runs(run_here):
    pytest.importorskip("sklearn")
    result = run_here("finding.py", "--runs", "1", "--side", "140")
    assert result["rows"][0]["ratio"] > 0
    kinds = ("", ", by torque", ", by torque, threshold, log, radial")
    times = {f"predict, a megapixel, {threads} threads{name}" for threads in (1, 2) for name in kinds}
    assert set(result["learned"]) == {"train, 4 images", "kinds chosen", *times}


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux")
def test_the_benchmark_of_many_files_runs_and_both_tables_are_the_same(tmp_path):
    pytest.importorskip("distributed")
    out = tmp_path / "scale_files.json"
    toy = ["--count", "4", "--kinds", "table", "--workers", "1", "--out", str(out)]
    subprocess.run(
        [sys.executable, str(BENCHMARKS / "scale_files.py"), *toy], capture_output=True, text=True, check=True
    )
    rows = json.loads(out.read_text())["rows"]
    assert [(row["output"], row["where"]) for row in rows] == [("table", "jobs"), ("table", "cluster")]
    assert rows[1]["of"]["workers"] > 0


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux")
def test_the_benchmark_of_large_images_runs_and_no_value_differs(tmp_path):
    pytest.importorskip("distributed")
    out = tmp_path / "scale.json"
    toy = ["--side", "500", "--large-side", "900", "--memory-sides", "600", "--tile", "256", "--runs", "1"]
    subprocess.run(
        [sys.executable, str(BENCHMARKS / "scale.py"), *toy, "--out", str(out)],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = {row["figure"]: row["value"] for row in json.loads(out.read_text())["rows"]}
    different = [value for name, value in rows.items() if "values different" in name]
    assert different == [0, 0, 0, 0]
    assert len(rows) == 14


def test_the_benchmark_of_the_explorers_answers_runs(tmp_path):
    out = tmp_path / "explorer.json"
    command = [
        sys.executable,
        str(BENCHMARKS / "explorer.py"),
        "--runs",
        "1",
        "--size",
        "260",
        "180",
        "--out",
        str(out),
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert {"view", "view, saliency", "view, disks", "figure"} <= {
        row["view"] for row in json.loads(out.read_text())["rows"]
    }


def test_the_detectors_benchmark_has_time_and_memory_of_each(run_here, tmp_path, monkeypatch):
    monkeypatch.setenv("IMTORQUE_CACHE", str(tmp_path))
    found = run_here("detectors.py", "--toy", "--repeats", "1")
    assert list(found["detectors"]) == ["pb", "mpb", "gpb", "ucm"]  # nothing was trained there
    for one in found["detectors"].values():
        assert one["seconds"] > 0
        assert one["megabytes"] > one["megabytes_of_it"] >= 0
