"""Damaged files are refused in one line: what fuzzing has found, and a few new ones of each kind."""

import importlib.util
import multiprocessing
import os
import random
import sys
import warnings
from pathlib import Path

import pytest

from waiting import until

FUZZ = Path(__file__).parents[1] / "fuzz"


def module(name):
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, FUZZ / f"{name}.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


mutate, _, readers, run = (module(name) for name in ("mutate", "explorer_requests", "targets", "run"))
CORPUS = sorted((FUZZ / "corpus").glob("*~*"))


@pytest.fixture(scope="module")
def known():
    return readers.targets()


@pytest.mark.parametrize("found", CORPUS, ids=lambda path: path.name)
def test_what_was_found_is_refused_or_read(found, known, tmp_path):
    target = known[found.name.split("~")[0]]
    case = tmp_path / f"case{target.ending}"
    case.write_bytes(found.read_bytes())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert run.try_case(target, case) is None


@pytest.mark.slow
def test_new_damage_is_refused_or_read(known, tmp_path):
    wrong = {}
    rng = random.Random(22)
    for name, target in known.items():
        for _ in range(10):
            case = tmp_path / f"case{target.ending}"
            case.write_bytes(mutate.damaged(rng.choice(target.seeds), rng))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                what = run.try_case(target, case)
            if what is not None:
                wrong[name] = what
    assert wrong == {}


def test_the_files_that_are_damaged_can_be_read_whole(known, tmp_path):
    for target in known.values():
        for seed in target.seeds:
            case = tmp_path / f"case{target.ending}"
            case.write_bytes(seed)
            target.read(case)


def test_what_is_found_is_kept_under_the_readers_name(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "FOUND", tmp_path)
    kept = run.keep("seg", b"abc")
    assert kept.read_bytes() == b"abc"
    assert kept.name.startswith("seg~")


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are looked up in /proc")
def test_a_process_that_gets_no_turn_is_told_from_one_that_waits():
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    waiting = context.Process(target=theirs.__class__.recv, args=(theirs,), daemon=True)
    waiting.start()
    try:
        until(lambda: not run.wants_processor(waiting.pid))
        assert run.wants_processor(os.getpid())
    finally:
        ours.send(None)
        waiting.join()
