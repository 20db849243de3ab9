"""Time minimum cuts on grids beside PyMaxflow, where that is installed: the same problems, in one run.

python benchmarks/max_flow.py [--images FOLDER]

Object and ground by colour histograms with links by contrast, four and eight neighbours, 481 x 321 pixels; and the ring
of 360 x 290 that cutting out the object under a click is, with a seed on one side and the rim on the other. Last, many
labels whose costs are the same at all pixels.
"""

import argparse
import json
import os
import platform
import time
from pathlib import Path

import numpy as np
from PIL import Image
from scipy import ndimage

import imtorque

RESULTS = Path(__file__).parent / "results" / "max_flow.json"
WIDTH, HEIGHT = 481, 321
BINS, SMOOTHNESS = 8, 10.0
ANGLES, RADII = 360, 290
LABELS = 8


def read_images(folder, toy):
    size = (60, 40) if toy else (WIDTH, HEIGHT)
    if folder is None:
        found = [Image.fromarray(imtorque.datasets.sample("hopper"))]
    else:
        found = [Image.open(path) for path in sorted(folder.glob("*.jpg"))[::25]]
    return [np.asarray(image.convert("RGB").resize(size, Image.Resampling.BICUBIC)) / 255.0 for image in found]


def colour_problem(image, diagonal):
    """What is in the middle against the rest, by colour, with links that are weak across edges."""
    height, width = image.shape[:2]
    y, x = np.ogrid[:height, :width]
    middle = ((y / height - 0.5) / 0.3) ** 2 + ((x / width - 0.5) / 0.3) ** 2 < 1
    bins = np.minimum(image * BINS, BINS - 1).astype(int) @ [BINS**2, BINS, 1]
    inside, outside = (np.bincount(bins[part], minlength=BINS**3) + 1.0 for part in (middle, ~middle))
    problem = {"source": -np.log(outside / outside.sum())[bins], "sink": -np.log(inside / inside.sum())[bins]}
    ends = {"right": np.s_[:, 1:], "down": np.s_[1:]}, {"right": np.s_[:, :-1], "down": np.s_[:-1]}
    if diagonal:
        ends[0].update(down_right=np.s_[1:, 1:], down_left=np.s_[1:, :-1])
        ends[1].update(down_right=np.s_[:-1, :-1], down_left=np.s_[:-1, 1:])
    squares = {name: ((image[ends[0][name]] - image[ends[1][name]]) ** 2).sum(axis=2) for name in ends[0]}
    beta = np.mean([squares["right"].mean(), squares["down"].mean()])
    for name, square in squares.items():
        problem[name] = SMOOTHNESS * np.exp(-square / (2 * beta)) / (np.sqrt(2) if "_" in name else 1)
    return problem


def ring_problem(image, decay, smooth):
    """A closed line around the middle along strong edges, in polar coordinates."""
    gradient = np.hypot(*np.gradient(ndimage.gaussian_filter(image.mean(axis=2), 1.4)))
    gradient /= np.quantile(gradient, 0.99)
    angle, radius = np.deg2rad(np.arange(ANGLES))[:, None], np.arange(RADII)
    places = [image.shape[0] / 2 - radius * np.sin(angle), image.shape[1] / 2 + radius * np.cos(angle)]
    edge = ndimage.map_coordinates(gradient, places, order=1).clip(0, 1)

    def link(mean):
        return np.where(mean >= 5 / 255, np.exp(-decay * mean), smooth)

    source, sink = np.zeros(edge.shape), np.zeros(edge.shape)
    source[:, 0], sink[:, -9:] = 1e4, 1e4
    down = link((edge + np.roll(edge, -1, axis=0)) / 2)
    right = link((edge[:, 1:] + edge[:, :-1]) / 2)
    return {"source": source, "sink": sink, "right": right, "down": down, "wrap": 0}


def ours(problem):
    start = time.perf_counter()
    _, flow = imtorque.grid_max_flow(**problem)
    return {"flow": flow, "total": time.perf_counter() - start}


STEPS = {"right": (1, 2), "down": (2, 1), "down_right": (2, 2), "down_left": (2, 0)}


def pymaxflow(problem):
    import maxflow

    height, width = shape = problem["source"].shape
    diagonal = "down_right" in problem
    start = time.perf_counter()
    graph = maxflow.Graph[float](height * width, height * width * (4 if diagonal else 2))
    nodes = graph.add_grid_nodes(shape)
    for name, step in STEPS.items():
        if name in problem:
            structure = np.zeros((3, 3), int)
            structure[step] = 1
            ring = problem.get("wrap") == 0 and name != "right"
            weights = np.zeros(shape)
            weights[: height - (name != "right" and not ring), int(name == "down_left") :][
                :, : problem[name].shape[1]
            ] = problem[name]
            graph.add_grid_edges(nodes, weights, structure, symmetric=True, periodic=[True, False] if ring else False)
    graph.add_grid_tedges(nodes, problem["source"], problem["sink"])
    built = time.perf_counter()
    flow = graph.maxflow()
    solved = time.perf_counter()
    graph.get_grid_segments(nodes)
    return {"flow": flow, "solve": solved - built, "total": time.perf_counter() - start}


def measure(problem, methods, repeats):
    """Fastest of several runs of each method, in turn."""
    best = {}
    for _ in range(repeats):
        for name, method in methods.items():
            taken = method(problem)
            kept = best.setdefault(name, taken)
            best[name] = {key: min(kept[key], taken[key]) for key in taken}
    return best


def expansion_rows(shape, with_peer, repeats):
    """Many labels whose costs are the same at all pixels: from the cheapest label, and from noise."""
    rng = np.random.default_rng(0)
    links = np.ones((shape[0], shape[1] - 1)), np.ones((shape[0] - 1, shape[1]))
    costs = np.repeat(rng.random(LABELS), shape[0] * shape[1]).reshape(LABELS, *shape)
    last = np.ascontiguousarray(np.moveaxis(costs, 0, 2))
    rows = []
    for kind, start in (("from the cheapest label", None), ("from noise", rng.integers(0, LABELS, shape))):
        calls = {"imtorque": lambda start=start: imtorque.alpha_expansion(costs, *links, start=start)}
        if with_peer:
            from maxflow.fastmin import aexpansion_grid

            def theirs(start=start):
                return aexpansion_grid(last, 1.0 - np.eye(LABELS), labels=None if start is None else start.copy())

            calls["PyMaxflow"] = theirs
        best = dict.fromkeys(calls, float("inf"))
        for _ in range(repeats):
            for name, call in calls.items():
                begin = time.perf_counter()
                call()
                best[name] = min(best[name], time.perf_counter() - begin)
        rows.append({"start": kind} | {f"{name}_ms": round(1e3 * seconds, 2) for name, seconds in best.items()})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=Path, help="Folder of photographs, of which every 25th is used.")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--toy", action="store_true", help="A small image, to see that it runs.")
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()

    methods = {"imtorque": ours}
    try:
        import maxflow

        methods["PyMaxflow"] = pymaxflow
        peers = {"PyMaxflow": maxflow.__version__}
    except ImportError:
        peers = {}
    images = read_images(arguments.images, arguments.toy)
    kinds = {
        "colour, 4 neighbours": lambda image: colour_problem(image, diagonal=False),
        "colour, 8 neighbours": lambda image: colour_problem(image, diagonal=True),
        "ring, exp(-5 m) or 20": lambda image: ring_problem(image, 5, 20),
        "ring, exp(-20 m) or 50": lambda image: ring_problem(image, 20, 50),
    }
    rows = []
    for kind, make in kinds.items():
        found = [measure(make(image), methods, arguments.repeats) for image in images]
        row = {"problem": kind, "images": len(images)}
        for name in methods:
            times = {key: [one[name][key] for one in found] for key in found[0][name] if key != "flow"}
            row[name] = {f"{key}_ms": [round(1e3 * value, 2) for value in values] for key, values in times.items()}
        if "PyMaxflow" in methods:
            flows = np.array([[one[name]["flow"] for name in methods] for one in found])
            row["largest_relative_difference_of_flows"] = float(np.abs(flows[:, 0] / flows[:, 1] - 1).max())
            mine = np.array(row["imtorque"]["total_ms"])
            for key in ("solve", "total"):
                theirs = np.array(row["PyMaxflow"][f"{key}_ms"])
                row[f"times_faster_than_its_{key}"] = round(float(np.exp(np.mean(np.log(theirs / mine)))), 2)
        rows.append(row)
    machine = {"machine": platform.machine(), "cores": os.cpu_count()}
    result = {"benchmark": "max_flow", "version": imtorque.__version__, **machine, "peers": peers}
    result |= {"repeats": arguments.repeats, "rows": rows}
    result["expansion of constant costs"] = expansion_rows(images[0].shape[:2], bool(peers), arguments.repeats)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
