"""The pool of kernel threads by itself; tests/test_threads.py has it under Python."""

import shutil
import subprocess
from pathlib import Path

import pytest

from waiting import GIVEN_UP

HERE = Path(__file__).resolve().parent
NATIVE = HERE.parents[1] / "native"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("c++") is None, reason="needs a compiler")
def test_the_pool_holds_what_it_promises(tmp_path):
    program = tmp_path / "parallel_program"
    sources = [HERE / "parallel_program.cpp", NATIVE / "core" / "parallel.cpp"]
    subprocess.run(["c++", "-std=c++17", "-O1", "-pthread", f"-I{NATIVE}", *sources, "-o", program], check=True)
    done = subprocess.run([program], capture_output=True, text=True, timeout=GIVEN_UP)
    assert (done.stdout, done.returncode) == ("all hold\n", 0)
