"""The page on tensors says what is so."""

import re
from pathlib import Path

import imtorque.torch as tensors

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_its_code_runs(capsys):
    code = re.findall(r"```python\n(.*?)```", (DOCS / "guides" / "torch.md").read_text(), re.DOTALL)
    exec(compile("\n".join(code), "torch.md", "exec"), {})
    assert capsys.readouterr().out == "torch.Size([2, 50])\n"


def test_the_api_page_has_every_name():
    listed = re.findall(r"::: imtorque\.torch\.(\w+)", (DOCS / "reference" / "api" / "torch.md").read_text())
    assert sorted(listed) == tensors.__all__


def test_the_files_it_names_exist():
    for path in re.findall(r"`((?:tests|benchmarks)/[\w./]+)`", (DOCS / "guides" / "torch.md").read_text()):
        assert (DOCS.parent / path).exists(), path
