"""Link the names under See Also in docstrings to their entries: an extension of griffe, named in mkdocs.yml."""

import re
from typing import Any

from griffe import Extension, Object

SECTION = re.compile(r"(?<=See Also\n--------\n)(.+)")


class LinkSeeAlso(Extension):
    """Make links of the names under See Also, which are relative to the package."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Rewrite an object's docstring."""
        if obj.docstring is not None:
            obj.docstring.value = SECTION.sub(lambda names: linked(names[1]), obj.docstring.value)


def linked(names: str) -> str:
    """Return names with commas between them as links."""
    return ", ".join(f"[`{name}`][imtorque.{name}]" for name in names.split(", "))
