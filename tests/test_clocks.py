"""No test's verdict depends on a clock: how fast anything is, the benchmarks measure."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CLOCKS = re.compile(r"perf_counter|process_time|monotonic|time\.time\b|sleep\(|wait_for_timeout|getrusage|setitimer")
ALLOWED = {  # who looks at a clock or waits for a while, and why no verdict depends on it
    "tests/core/test_threads.py": "a signal comes at any time, which must change nothing",
    "tests/explorer/test_right.py": "answers are made slow; so many of them are awaited",
    "tests/parallel_work.py": "tasks take long, so that there are some under way",
    "tests/test_clocks.py": "names them",
    "tests/waiting.py": "waits for conditions, and gives up in the end",
}


def test_clocks_are_read_only_where_no_verdict_depends_on_them():
    files = [path for folder in ("tests", "reproduce/tests") for path in (ROOT / folder).rglob("*.py")]
    found = {str(path.relative_to(ROOT)) for path in files if CLOCKS.search(path.read_text())}
    assert found == set(ALLOWED)


def test_no_request_gives_up_after_the_five_seconds_that_httpx_waits_by_itself():
    calls = [
        (path.relative_to(ROOT), node)
        for path in (ROOT / "tests").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and re.match(r"httpx\.(get|post|Client)$", ast.unparse(node.func))
    ]
    assert len(calls) > 10
    assert [f"{path}:{one.lineno}" for path, one in calls if "timeout" not in {key.arg for key in one.keywords}] == []
