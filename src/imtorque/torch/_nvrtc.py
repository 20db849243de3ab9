"""CUDA kernels compiled at first use by NVRTC, the compiler library that comes with torch, and launched on its streams.

Users need no CUDA toolkit and no C++ compiler. The price is a second or so at the first call in a process, and launches
through ctypes, a few microseconds each.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import sys
import sysconfig
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import torch

OPTIONS = ("--std=c++17", "--fmad=false")  # no contraction: the library's bits
OLDEST = (8, 0)  # compute capability: reductions over a warp; convention of CUDA
DYNAMIC_SHARED_SIZE = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES; convention of CUDA


@functools.cache
def is_available(device: torch.device) -> bool:
    """Whether kernels can be compiled for this device and launched on it."""
    if device.type != "cuda" or torch.version.cuda is None or torch.cuda.get_device_capability(device) < OLDEST:
        return False
    try:
        _nvrtc()
        _driver()
    except OSError:
        return False
    return True


@functools.cache
def shared_memory(device: torch.device) -> int:
    """Return how many bytes of shared memory a block may have."""
    return int(torch.cuda.get_device_properties(device).shared_memory_per_block_optin)


class Launch:
    """A launch of a kernel with its arguments as C values: those that are ctypes objects may change between calls."""

    def __init__(
        self, function: Any, first: tuple[Any, ...], values: list[Any], last: tuple[Any, ...], at: int
    ) -> None:
        """Hold the driver's function, what comes before and after the stream and the arguments, and the device."""
        self._function, self._first, self._last, self._at = function, first, last, at
        self._values = values  # alive as long as their addresses
        self._addresses = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))

    def __call__(self) -> None:
        """Launch on the device's current stream."""
        if torch._C._cuda_getDevice() != self._at:
            with torch.cuda.device(self._at):
                return self()
        stream = ctypes.c_void_p(torch._C._cuda_getCurrentRawStream(self._at))  # no object is made for it
        _check(self._function(*self._first, stream, self._addresses, *self._last))


class Kernel:
    """A kernel of a loaded module."""

    def __init__(self, handle: ctypes.c_void_p, device: torch.device) -> None:
        """Hold the driver's handle."""
        self._handle = handle
        self._device = device
        self._shared = 0

    def __call__(
        self,
        grid: tuple[int, int, int],
        threads: tuple[int, int, int],
        *arguments: Any,
        shared: int = 0,
        cooperative: bool = False,
    ) -> None:
        """Launch on the device's current stream: ints become C ints, floats C floats, tensors their addresses."""
        self.prepared(grid, threads, *arguments, shared=shared, cooperative=cooperative)()

    def prepared(
        self,
        grid: tuple[int, int, int],
        threads: tuple[int, int, int],
        *arguments: Any,
        shared: int = 0,
        cooperative: bool = False,
    ) -> Launch:
        """Return such a launch to be made once or often."""
        if shared > max(48 * 1024, self._shared):
            with torch.cuda.device(self._device):
                _check(_driver().cuFuncSetAttribute(self._handle, DYNAMIC_SHARED_SIZE, shared))
            self._shared = shared
        values = [_as_c(argument) for argument in arguments]
        first = (self._handle, *grid, *threads, shared)
        if cooperative:
            return Launch(_driver().cuLaunchCooperativeKernel, first, values, (), self._device.index)
        return Launch(_driver().cuLaunchKernel, first, values, (None,), self._device.index)


@functools.cache
def kernel(name: str, files: tuple[str, ...], macros: tuple[tuple[str, int], ...], device: torch.device) -> Kernel:
    """Return a kernel of the sources in these files, compiled for the device."""
    handle = ctypes.c_void_p()
    module = _module(files, macros, device)
    _check(_driver().cuModuleGetFunction(ctypes.byref(handle), module, name.encode()))
    return Kernel(handle, device)


def compile_source(files: tuple[str, ...], macros: tuple[tuple[str, int], ...], capability: tuple[int, int]) -> bytes:
    """Return machine code for devices of this compute capability, or PTX where NVRTC is older than the device."""
    nvrtc = _nvrtc()
    program = ctypes.c_void_p()
    source = "".join(_source(file) for file in files).encode()
    _check_compiler(nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, files[-1].encode(), 0, None, None))
    try:
        target, kind = _target(capability)
        options = [target, *OPTIONS, *(f"-D{name}={value}" for name, value in macros)]
        texts = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        if nvrtc.nvrtcCompileProgram(program, len(options), texts):
            raise RuntimeError(f"{', '.join(files)} must compile for {target}, got: {_log(program)}")
        size = ctypes.c_size_t()
        _check_compiler(getattr(nvrtc, f"nvrtcGet{kind}Size")(program, ctypes.byref(size)))
        code = ctypes.create_string_buffer(size.value)
        _check_compiler(getattr(nvrtc, f"nvrtcGet{kind}")(program, code))
        return code.raw
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


@functools.cache
def _module(files: tuple[str, ...], macros: tuple[tuple[str, int], ...], device: torch.device) -> ctypes.c_void_p:
    code = compile_source(files, macros, torch.cuda.get_device_capability(device))
    module = ctypes.c_void_p()
    with torch.cuda.device(device):
        torch.cuda.current_stream().synchronize()  # makes torch's context the current one
        _check(_driver().cuModuleLoadData(ctypes.byref(module), code))
    return module


def _target(capability: tuple[int, int]) -> tuple[str, str]:
    count = ctypes.c_int()
    _check_compiler(_nvrtc().nvrtcGetNumSupportedArchs(ctypes.byref(count)))
    known = (ctypes.c_int * count.value)()
    _check_compiler(_nvrtc().nvrtcGetSupportedArchs(known))
    wanted = 10 * capability[0] + capability[1]
    if wanted in known:
        return f"--gpu-architecture=sm_{wanted}", "CUBIN"
    return f"--gpu-architecture=compute_{max(arch for arch in known if arch <= wanted)}", "PTX"


@functools.cache
def _source(file: str) -> str:
    return (resources.files("imtorque.torch") / "kernels" / file).read_text()


def _log(program: ctypes.c_void_p) -> str:
    size = ctypes.c_size_t()
    _nvrtc().nvrtcGetProgramLogSize(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    _nvrtc().nvrtcGetProgramLog(program, text)
    return text.value.decode(errors="replace")


@functools.cache
def _nvrtc() -> ctypes.CDLL:
    for candidate in _nvrtc_paths():
        try:
            return ctypes.CDLL(candidate)
        except OSError:
            continue
    raise OSError("libnvrtc was not found; it comes with torch for CUDA")


def _nvrtc_paths() -> Iterator[str]:
    major = (torch.version.cuda or "12").split(".")[0]
    name = f"libnvrtc.so.{major}"
    if sys.platform == "win32":  # torch brings it
        yield from (str(path) for path in (Path(torch.__file__).parent / "lib").glob(f"nvrtc64_{major}*_0.dll"))
        return
    folders = [Path(torch.__file__).parent.parent / "nvidia", Path(sysconfig.get_paths()["purelib"]) / "nvidia"]
    found = itertools.chain.from_iterable(folder.glob(f"*/lib/{name}*") for folder in folders)
    yield from (str(path) for path in found)
    yield from (name, f"/usr/local/cuda/lib64/{name}", "libnvrtc.so")


@functools.cache
def _driver() -> ctypes.CDLL:
    return ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")


def _as_c(argument: Any) -> Any:
    kind = type(argument)
    if kind is int:
        return ctypes.c_int(argument)
    if isinstance(argument, torch.Tensor):
        return ctypes.c_void_p(argument.data_ptr())
    return ctypes.c_float(argument) if kind is float else argument


def _check(status: int) -> None:
    if status:
        text = ctypes.c_char_p()
        _driver().cuGetErrorString(status, ctypes.byref(text))
        raise RuntimeError(f"CUDA driver: {(text.value or b'unknown error').decode()} ({status})")


def _check_compiler(status: int) -> None:
    if status:
        _nvrtc().nvrtcGetErrorString.restype = ctypes.c_char_p
        raise RuntimeError(f"NVRTC: {_nvrtc().nvrtcGetErrorString(status).decode()} ({status})")
