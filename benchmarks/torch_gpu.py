"""imtorque.torch on a CUDA device: are the bits the library's, how fast is it, how near to what the card can do.

    python benchmarks/torch_gpu.py expect build/torch_expected.npz     # where the library is built: its results
    python benchmarks/torch_gpu.py exact build/torch_expected.npz      # on the device: compare
    python benchmarks/torch_gpu.py library build/torch_library.json    # the library's times on all cores
    python benchmarks/torch_gpu.py times out.json [--library FILE]     # on the device: times, bounds, memory
    python benchmarks/torch_gpu.py table benchmarks/results/torch_gpu.json    # the table of docs/guides/torch.md
    compute-sanitizer --tool memcheck python benchmarks/torch_gpu.py sanitize
    ncu --kernel-name torque_volume --launch-skip 1 --launch-count 1 python benchmarks/torch_gpu.py kernels

It runs from a checkout without the native module, which only `expect` and `library` need. The committed results are
benchmarks/results/torch_gpu.json.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

from torch_exact import SIZES, as_tensor, drawn_scene, exact, expect, load_torch_part, random_field

PAGE = Path(__file__).parent.parent / "docs" / "guides" / "torch.md"
BEGIN, END = "<!-- times: benchmarks/torch_gpu.py table -->", "<!-- end of times -->"
REPEATS, WARM_UP = 50, 10


def milliseconds(call, repeats=REPEATS):
    """Median, smallest and largest time of a call by CUDA events."""
    import torch

    for _ in range(WARM_UP):
        call()
    times = []
    for _ in range(repeats):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        call()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
    return {"ms": statistics.median(times), "ms_min": min(times), "ms_max": max(times)}


def copy_bandwidth(device):
    """Bytes read and written per second by a copy of 1 GiB."""
    import torch

    source = torch.empty(1 << 28, device=device)
    target = torch.empty_like(source)
    return 2 * 4 * source.numel() / (milliseconds(lambda: target.copy_(source))["ms"] / 1e3)


def clock(device):
    """Cycles per second of the multiprocessors, at most."""
    import torch

    asked = subprocess.run(
        ["nvidia-smi", "--query-gpu=clocks.max.sm", "--format=csv,noheader,nounits"], capture_output=True, text=True
    )
    if asked.returncode == 0 and asked.stdout.strip():
        return float(asked.stdout.split()[0]) * 1e6
    return torch.cuda.get_device_properties(device).clock_rate * 1e3


def bounds(batch, height, width, sizes, card, written):
    """Least times in ms: bytes of forces and results over the copy's bandwidth; 5 loads over shared memory's."""
    pixels = batch * height * width
    loads = 5 * pixels * sizes / (card["processors"] * 32 * card["clock"])
    return {"bytes_ms": 1e3 * pixels * (8 + written) / card["copy_bandwidth"], "shared_memory_ms": 1e3 * loads}


def row(name, timing, bound):
    """A row of the results: time, bounds, and the share of the larger bound that is reached."""
    found = {"name": name, **timing, **bound}
    if bound:
        found["share_of_bound"] = max(bound.values()) / timing["ms"]
    print(f"{name:44s} {timing['ms']:8.3f} ms  " + "  ".join(f"{k} {v:.3f}" for k, v in bound.items()), flush=True)
    return found


def map_rows(part, device, card):
    import torch

    frames = {"1080p": (1, 1080, 1920), "4K": (1, 2160, 3840), "8 x 1080p": (8, 1080, 1920)}
    for name, (batch, height, width) in frames.items():
        forces = torch.from_numpy(random_field(height, width)).to(device)[None].repeat(batch, 1, 1, 1)
        call = lambda forces=forces: part.value_and_scale_maps(forces, SIZES, exact=True)  # noqa: E731
        yield row(
            f"value and scale maps, 45 sizes, {name}", milliseconds(call), bounds(batch, height, width, 45, card, 8)
        )
    forces = torch.from_numpy(random_field(2160, 3840)).to(device)[None]
    volume = torch.empty(1, 45, 2160, 3840, device=device)
    call = lambda: part.torque_volume(forces, SIZES, out=volume, exact=True)  # noqa: E731
    timing, bound = milliseconds(call), bounds(1, 2160, 3840, 45, card, 180)
    least = 1e3 * volume.numel() * 4 / card["copy_bandwidth"]
    yield row("torque volume, 45 sizes, 4K", timing | {"share_of_copy_bandwidth": least / timing["ms"]}, bound)
    alone = kernel_milliseconds(call, "torque_volume")
    yield row("torque volume, its kernel alone", {"ms": alone, "share_of_copy_bandwidth": least / alone}, bound)
    far = [*range(3, 92, 2), 111, 151, 201]
    yield row(
        "value and scale maps, 48 sizes to 201, 4K",
        milliseconds(lambda: part.value_and_scale_maps(forces, far, exact=True), 10),
        {},
    )
    soft = forces.clone().requires_grad_()

    def step():
        value, _ = part.value_and_scale_maps(soft, SIZES)
        value.backward(torch.ones_like(value))
        soft.grad = None

    yield row("value and scale maps, forward and backward, 4K", milliseconds(step, 10), {})


def end_to_end_rows(part, device):
    import torch

    for name, height, width in (("1080p", 1080, 1920), ("4K", 2160, 3840)):
        grey = torch.from_numpy(drawn_scene(height, width)).to(device)[None, None]
        for kind, frame in (("grey", grey), ("colour", grey.repeat(1, 3, 1, 1))):
            edges = part.detect_edges(frame, exact=True)
            share = float((edges != 0).any(1).float().mean())
            found = lambda frame=frame: part.find_extrema(  # noqa: E731
                part.detect_edges(frame, exact=True), SIZES, count=50, exact=True
            )
            yield row(f"uint8 {kind} {name} to 50 extrema", milliseconds(found) | {"edge_share": share}, {})
        yield row(f"edges of uint8 grey {name}", milliseconds(lambda g=grey: part.detect_edges(g, exact=True)), {})
        edges = part.detect_edges(grey, exact=True)
        yield row(
            f"50 extrema of edges, {name}",
            milliseconds(lambda e=edges: part.find_extrema(e, SIZES, count=50, exact=True)),
            {},
        )
        yield row(
            f"all extrema of edges, {name}",
            milliseconds(lambda e=edges: part.find_extrema(e, SIZES, exact=True), 10),
            {},
        )


def memory_rows(part, device):
    """Peak memory of forward and backward, in bytes per pixel beyond the forces and the gradient that are given."""
    import torch

    for count in (3, 10, 45):
        forces = torch.from_numpy(random_field(2160, 3840)).to(device)[None].requires_grad_()
        grad = torch.ones(1, 2160, 3840, device=device)
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        value, _ = part.value_and_scale_maps(forces, range(93 - 2 * count, 92, 2))
        value.backward(grad)
        peak = (torch.cuda.max_memory_allocated() - before) / (2160 * 3840)
        del value, forces, grad
        print(f"memory of forward and backward, {count} sizes: {peak:.1f} bytes per pixel")
        yield {"name": "forward and backward of value and scale maps", "sizes": count, "bytes_per_pixel": peak}


def kornia_rows(device):
    """Edges and detectors of kornia with the settings they come with on the same card, where it is installed."""
    import torch

    try:
        import kornia
        from kornia import feature
    except ImportError:
        return []
    frames = {"1080p": drawn_scene(1080, 1920), "4K": drawn_scene(2160, 3840)}
    found = []
    for name, image in frames.items():
        frame = torch.from_numpy(image).to(device)[None, None].float() / 255
        single = feature.SIFTFeature(50, upright=True, device=device).detector
        space = feature.SIFTFeatureScaleSpace(50, upright=True, device=device).detector
        with torch.inference_mode():
            calls = {
                "Canny": lambda frame=frame: kornia.filters.canny(frame),
                "50 places of SIFTFeature": lambda frame=frame, d=single: d(frame),
                "50 places of SIFTFeatureScaleSpace": lambda frame=frame, d=space: d(frame),
            }
            for kind, call in calls.items():
                timing = milliseconds(call, 10) | {"kornia": kornia.__version__}
                found.append(row(f"kornia: {kind}, {name}", timing, {}))
    return found


def kernel_milliseconds(call, name, repeats=10):
    """Mean time of a kernel of this name alone, by the profiler."""
    import torch

    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        for _ in range(repeats):
            call()
        torch.cuda.synchronize()
    return sum(e.device_time_total for e in profile.key_averages() if name in e.key) / repeats / 1e3


def show_kernels(part, device):
    """Print what the kernels of one frame take, for those who make them faster."""
    import torch

    frame = torch.from_numpy(drawn_scene(2160, 3840)).to(device)[None, None]
    forces = torch.from_numpy(random_field(2160, 3840)).to(device)[None]
    volume = torch.empty(1, 45, 2160, 3840, device=device)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        for _ in range(5):
            part.find_extrema(part.detect_edges(frame, exact=True), SIZES, count=50, exact=True)
            part.torque_volume(forces, SIZES, out=volume, exact=True)
        torch.cuda.synchronize()
    print(profile.key_averages().table(sort_by="self_cuda_time_total", row_limit=40, max_name_column_width=60))


def table(path):
    """Write the times in docs/guides/torch.md from a file of results."""
    results = json.loads(Path(path).read_text())
    card, ratios = results["card"], results.get("ratios", {})
    lines = [
        f"One {card['name']}, torch {card['torch']}, CUDA events, median of {results['repeats']} after warm-up (10 for "
        "the slowest), surveys and tables included. The bound is what bytes take at the bandwidth of a copy "
        f"({card['copy_bandwidth'] / 1e12:.2f} TB/s), or 5 loads for each pixel and size from shared memory, "
        "whichever is more.",
        "",
        "| task | ms | bound, ms | share of it | times the library on 16 cores |",
        "| --- | --- | --- | --- | --- |",
    ]
    for found in results["rows"]:
        bound = max(found.get("bytes_ms", 0), found.get("shared_memory_ms", 0))
        shown = [f"{bound:.3f}", f"{100 * found['share_of_bound']:.0f} %"] if bound else ["", ""]
        ratio = f"{ratios[found['name']]:.0f}" if found["name"] in ratios else ""
        lines.append(f"| {found['name']} | {found['ms']:.3f} | {shown[0]} | {shown[1]} | {ratio} |")
    whole, alone = (100 * found["share_of_copy_bandwidth"] for found in results["rows"] if "volume" in found["name"])
    lines += ["", f"The volume is written at {alone:.0f} % of the copy's bandwidth, {whole:.0f} % with its survey."]
    if made := next((found["kornia"] for found in results["rows"] if "kornia" in found), None):
        lines[-1] += f" Kornia is {made} with the settings it comes with; its places are not the same as ours."
    for found in results["memory"]:
        lines += ["", f"{found['name']}, {found['sizes']} sizes: {found['bytes_per_pixel']:.1f} bytes a pixel."]
    before, _, rest = PAGE.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(before + BEGIN + "\n\n" + "\n".join(lines) + "\n\n" + END + after)


def kernels(device):
    """Run the kernels of maps and volume three times at 4K, for profilers."""
    import torch

    part = load_torch_part()
    forces = torch.from_numpy(random_field(2160, 3840)).to(device)[None]
    for _ in range(3):
        part.value_and_scale_maps(forces, SIZES, exact=True)
        part.torque_volume(forces, SIZES, exact=True)
    torch.cuda.synchronize()


def times(path, device, library, profile):
    import torch

    part = load_torch_part()
    properties = torch.cuda.get_device_properties(device)
    card = {
        "name": properties.name,
        "processors": properties.multi_processor_count,
        "clock": clock(device),
        "copy_bandwidth": copy_bandwidth(device),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
    }
    print(card, flush=True)
    rows = [*map_rows(part, device, card), *end_to_end_rows(part, device), *kornia_rows(device)]
    results = {"card": card, "repeats": REPEATS, "rows": rows, "memory": list(memory_rows(part, device))}
    if library:
        given = json.loads(Path(library).read_text())
        results["library"] = given
        ours = {found["name"]: found["ms"] for found in rows}
        results["ratios"] = {name: ms / ours[name] for name, ms in given["ms"].items() if name in ours}
    Path(path).write_text(json.dumps(results, indent=1) + "\n")
    if profile:
        show_kernels(part, device)


def library_times(path):
    """Write the library's times on this machine's cores for what `times` measures."""
    import imtorque

    found = {}
    for name, height, width in (("1080p", 1080, 1920), ("4K", 2160, 3840)):
        edges = imtorque.Edges(*random_field(height, width))
        frame = drawn_scene(height, width)
        calls = {
            f"value and scale maps, 45 sizes, {name}": lambda e=edges: imtorque.value_and_scale_maps(e, SIZES),
            f"uint8 grey {name} to 50 extrema": lambda f=frame: imtorque.find_extrema(
                imtorque.detect_edges(f), SIZES, count=50
            ),
        }
        for title, call in calls.items():
            call()
            measured = []
            for _ in range(9):
                start = time.perf_counter()
                call()
                measured.append(1e3 * (time.perf_counter() - start))
            found[title] = statistics.median(measured)
            print(f"{title:44s} {found[title]:8.2f} ms", flush=True)
    results = {"threads": imtorque.get_num_threads(), "ms": found}
    Path(path).write_text(json.dumps(results, indent=1) + "\n")


def sanitize(device):
    """Run every kernel once on small images, for compute-sanitizer."""
    import torch

    part = load_torch_part()
    image = as_tensor(drawn_scene(67, 101), device)
    part.detect_edges(image, exact=True)
    part.detect_edges(image.repeat(2, 3, 1, 1), exact=True)
    forces = as_tensor(random_field(67, 131), device).repeat(2, 1, 1, 1)
    for sizes in ((3, 5, 7, 9), SIZES):
        part.value_and_scale_maps(forces, sizes, exact=True)
        part.torque_volume(forces, sizes, exact=True)
        part.find_extrema(forces, sizes, count=10, exact=True)
        part.find_extrema(forces, sizes, exact=True)
    part.gradient_torque(image, [3, 9], exact=True)
    torch.cuda.synchronize()
    print("every kernel has run")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["expect", "exact", "library", "times", "table", "sanitize", "kernels"])
    parser.add_argument("file", nargs="?")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--library")
    parser.add_argument("--profile", action="store_true")
    given = parser.parse_args()
    if given.what == "expect":
        expect(given.file)
    elif given.what == "library":
        library_times(given.file)
    elif given.what == "sanitize":
        sanitize(given.device)
    elif given.what == "table":
        table(given.file)
    elif given.what == "kernels":
        kernels(given.device)
    elif given.what == "times":
        times(given.file, given.device, given.library, given.profile)
    else:
        return exact(given.file, given.device)
    return 0


if __name__ == "__main__":
    sys.exit(main())
