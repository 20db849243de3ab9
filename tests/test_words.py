"""One word for one meaning: words that docs/concepts/glossary.md replaced do not come back."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
REPLACED = re.compile(
    r"\b(pictures?|films?|lessons?|splats|cutting up|strengthened_as_printed|linear ?machines|edge ?strengthener)\b",
    re.IGNORECASE,
)
OLD_NAMES = ("deprecation.py", "deprecated.py")  # which translate them
READ = (
    "src/**/*.py",
    "src/**/*.js",
    "src/**/*.html",
    "native/**/*.?pp",
    "reproduce/src/**/*.py",
    "plugins/*/src/**/*.py",
    "web/**/*.js",
    "examples/*.py",
    "benchmarks/*.py",
    "docs/*/*.md",
    "*.md",
)


def test_words_that_were_replaced_do_not_come_back():
    paths = [path for pattern in READ for path in ROOT.glob(pattern) if path.name not in (*OLD_NAMES, "CHANGELOG.md")]
    assert len(paths) > 500
    found = [f"{path.relative_to(ROOT)}: {word[0]}" for path in paths for word in REPLACED.finditer(path.read_text())]
    assert found == []
