"""Write the public names with their signatures, a line each: `make names` writes docs/public_names.txt.

`make check` compares: a name that is gone or changed is an error until the file says so, and then it shows in the diff.
"""

import ast
import inspect
import re
import sys
from importlib import import_module
from pathlib import Path

import typer

import imtorque
from imtorque.cli import app

SOURCE = Path(imtorque.__file__).parent
NOT_IMPORTED = ("torch",)  # needs PyTorch; its names are read from the source


def main():
    """Write the list, of Python first, then of the command line."""
    lines = [line for name in modules() for line in sorted(set(lines_of(name)))]
    Path(sys.argv[1]).write_text("\n".join([*lines, *commands()]) + "\n", encoding="utf-8")


def modules():
    """Yield the public modules."""
    yield "imtorque"
    yield from (f"imtorque.{name}" for name in sorted(imtorque._SUBMODULES))


def lines_of(module):
    """Yield the public names of a module, those of classes with their members."""
    if module.removeprefix("imtorque.") in NOT_IMPORTED:
        yield from (f"{module}.{name}" for name in listed(module))
        return
    held = import_module(module)
    names = getattr(held, "__all__", None) or [n for n, v in vars(held).items() if made_in(v, module)]
    for name in names:
        member = getattr(held, name)
        yield f"{module}.{name}{signature(member)}"
        if inspect.isclass(member):
            yield from (f"{module}.{name}.{line}" for line in members(member))


def listed(module):
    """Return __all__ of a module that is not imported."""
    tree = ast.parse((SOURCE / module.removeprefix("imtorque.") / "__init__.py").read_text(encoding="utf-8"))
    (found,) = (
        n.value for n in tree.body if isinstance(n, ast.Assign) and getattr(n.targets[0], "id", "") == "__all__"
    )
    return ast.literal_eval(found)


def made_in(member, module):
    """Return whether a public function or class comes from a module without __all__."""
    public = not getattr(member, "__name__", "_").startswith("_")
    return public and (inspect.isfunction(member) or inspect.isclass(member)) and member.__module__.startswith(module)


def members(cls):
    """Yield the public methods and properties that imtorque gives a class."""
    for name in dir(cls):
        member = inspect.getattr_static(cls, name)
        owner = next((base for base in cls.__mro__ if name in vars(base)), cls)
        if name.startswith("_") or not owner.__module__.startswith("imtorque"):
            continue
        if isinstance(member, property):
            yield f"{name} (property)"
        elif callable(getattr(cls, name, None)):
            yield f"{name}{signature(getattr(cls, name))}"


def signature(member):
    """Return the parameters of something that is called, with defaults that are the same on every machine."""
    if not callable(member):
        return ""
    try:
        given = inspect.signature(member)
    except (TypeError, ValueError):
        return "(...)"
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in given.parameters.values()]
    text = str(given.replace(parameters=bare, return_annotation=inspect.Signature.empty))
    return re.sub(r" at 0x[0-9a-f]+", "", text)


def commands():
    """Yield the verbs of the command line with their options."""
    group = typer.main.get_command(app)
    for verb, command in sorted(group.commands.items()):
        given = [parameter for parameter in command.params if parameter.param_type_name == "option"]
        options = sorted(name for option in given for name in (*option.opts, *option.secondary_opts))
        yield f"$ imtorque {verb} {' '.join(options)}"


if __name__ == "__main__":
    main()
