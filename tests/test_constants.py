"""A number of a module says where it comes from."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CALLS = ("math.ceil", "math.exp", "math.log", "math.sqrt", "np.array")
ORIGIN = re.compile(
    r"\b(tuned|untuned|chosen|measured|unrecorded|convention|derived|paper,|paper's|Sec\.|bound:|format:)",
    re.IGNORECASE,
)


def test_numbers_say_where_they_come_from():
    paths = [path for folder in ("src", "reproduce/src") for path in (ROOT / folder).rglob("*.py")]
    numbers = [(path.relative_to(ROOT), *found) for path in paths for found in numbers_of(path.read_text())]
    assert len(numbers) > 600
    assert [f"{path}: {name}" for path, name, comment in numbers if not ORIGIN.search(comment)] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("STEPS = 3  # of a walk", [("STEPS", " of a walk")]),
        ("# Convention.\nLOW, HIGH = -1, 2.5", [("LOW", "# Convention.\n"), ("HIGH", "# Convention.\n")]),
        ("ROOT: float = math.sqrt(2.0)", [("ROOT", "")]),
        ("SIZES = (  # derived\n    3,\n    2**4,\n)", [("SIZES", " derived")]),
        ("NAME = 'a'\nON = True\nTWICE = 2 * NAME\ndef f():\n    K = 2", []),
    ],
)
def test_numbers_and_their_comments_are_found(text, expected):
    assert list(numbers_of(text)) == expected


def numbers_of(text: str) -> Iterator[tuple[str, str]]:
    """Yield the names that a module gives numbers, with the comment above and beside each."""
    lines = text.splitlines()
    for node in ast.parse(text).body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or not is_number(node.value):
            continue
        first = node.lineno - 1
        while first and lines[first - 1].startswith("#"):
            first -= 1
        comment = "".join(f"{line}\n" for line in lines[first : node.lineno - 1])
        comment += "".join(line.partition("#")[2] for line in lines[node.lineno - 1 : node.end_lineno])
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from ((name.id, comment) for to in targets for name in ast.walk(to) if isinstance(name, ast.Name))


def is_number(node: ast.expr | None) -> bool:
    match node:
        case ast.Constant():
            return type(node.value) in (int, float)
        case ast.UnaryOp():
            return is_number(node.operand)
        case ast.BinOp():
            return is_number(node.left) and is_number(node.right)
        case ast.Tuple() | ast.List():
            return bool(node.elts) and all(map(is_number, node.elts))
        case ast.Call():
            return ast.unparse(node.func) in CALLS and is_number(node.args[0])
    return False
