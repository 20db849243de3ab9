"""Damage files and requests at random until the time is up: `make fuzz SECONDS=60`.

Each reader is tried in a process of its own, which says before every case what it is about to read; so what ends the
process or never returns is known too. What is found lies in build/fuzz/found, named after its reader: copied to
fuzz/corpus, it is read by the tests from then on.
"""

from __future__ import annotations

import argparse
import hashlib
import logging
import multiprocessing
import os
import random
import sys
import time
import traceback
import warnings
from collections import Counter
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory

from mutate import damaged
from targets import Target, check_refusal, targets

ROOT = Path(__file__).parents[1]
FOUND, CORPUS = ROOT / "build" / "fuzz" / "found", ROOT / "fuzz" / "corpus"
LONGEST = 60  # seconds of the processor's time for one case; a busy machine may be late in giving them
STILL = 1200  # seconds in which it does not even want the processor
SLICE = 15  # seconds for a reader at a time
MEMORY = 6 * 2**30  # bytes of address space for a process


def try_case(target: Target, path: Path) -> str | None:
    """Read one file, and return what is wrong with how that went and where, by which cases are told apart."""
    try:
        target.read(path)
    except MemoryError as error:
        # An image may have 2^30 pixels, whatever its file is like; nothing else may ask for more than it holds.
        return None if target.large else f"MemoryError at {where(error)}"
    except (ValueError, OSError) as error:
        try:
            check_refusal(error, path)
        except AssertionError:
            return f"{type(error).__name__} without the file's name or in several lines at {where(error)}"
    except Exception as error:
        return f"{type(error).__name__} at {where(error)}"
    return None


def where(error: BaseException) -> str:
    """Return the last line of ours that an error came through, by which cases are told apart."""
    ours = [frame for frame in traceback.extract_tb(error.__traceback__) if "imtorque" in frame.filename]
    return f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else "outside"


def work(name: str, seed: int, folder: Path, link: Connection) -> None:
    """Try a reader on case after case, and say of each what came of it."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    logging.disable()  # nibabel tells of every header it mends
    target = targets()[name]
    rng = random.Random(seed)
    corpus = [path.read_bytes() for path in sorted(CORPUS.glob(f"{name}~*"))]
    for k, seed in enumerate(target.seeds):
        path = folder / f"good{k}{target.ending}"
        path.write_bytes(seed)
        target.read(path)  # must be read: else nothing is tried
    path = folder / f"case{target.ending}"
    while True:
        data = damaged(rng.choice(target.seeds + corpus), rng)
        path.write_bytes(data)
        link.send(None)
        what = try_case(target, path)
        link.send((what, data if what else b""))


def try_reader(name: str, seconds: float, seed: int) -> tuple[int, dict[str, Path]]:
    """Try a reader for some time; return how many cases that were, and the files that went wrong by what did."""
    cases: int = 0
    wrong: dict[str, Path] = {}
    with TemporaryDirectory() as place:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=work, args=(name, seed, Path(place), theirs), daemon=True)
        process.start()
        theirs.close()
        end, begun = float("inf"), False  # the time counts from when the process has started
        while time.monotonic() < end:
            said = receive(ours, process.pid, begun)
            if isinstance(said, str):
                process.join(timeout=5)
                wrong[f"{name}: {said}, status {process.exitcode}"] = keep(name, last_case(Path(place)))
                break
            end = min(end, time.monotonic() + seconds)
            begun = said is None
            if said is not None:
                cases += 1
                if said[0] is not None:
                    wrong.setdefault(f"{name}: {said[0]}", keep(name, said[1]))
        process.kill()
        process.join()
    return cases, wrong


def receive(link: Connection, process: int, begun: bool) -> tuple[str | None, bytes] | str | None:
    """Return what a process says: None before a case, and a pair after it; or in words that it says nothing more."""
    try:
        used, still = processor_seconds(process), 0
        while not link.poll(1):
            still = 0 if wants_processor(process) else still + 1
            if processor_seconds(process) - used > LONGEST or still > STILL:
                return f"takes more than {LONGEST} s" if begun else "does not start"
        return link.recv()
    except EOFError:
        return "ends the process" if begun else "does not read its own seeds"


def processor_seconds(process: int) -> float:
    """Return how much of the processor's time a process has had; where that is not said, all the time there was."""
    try:
        numbers = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return time.monotonic()


def wants_processor(process: int) -> bool:
    """Return whether a thread of a process runs, or waits for its turn, as all do where much else is done."""
    states = []
    for path in Path(f"/proc/{process}/task").glob("*/stat"):
        with suppress(OSError):  # of a thread that has just ended
            states.append(path.read_text().rpartition(")")[2].split()[0])
    return "R" in states


def last_case(place: Path) -> bytes:
    """Return the file that was being read."""
    case = next(place.glob("case*"), None) or next(place.glob("good*"), None)
    return b"" if case is None else case.read_bytes()


def keep(name: str, data: bytes) -> Path:
    """Write a case to what was found."""
    FOUND.mkdir(parents=True, exist_ok=True)
    path = FOUND / f"{name}~{hashlib.sha256(data).hexdigest()[:12]}"
    path.write_bytes(data)
    return path


def main() -> None:
    """Go round the readers until the time is up."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=None, help="random by default")
    parser.add_argument("--only", metavar="TEXT", default="", help="readers with this in their names")
    options = parser.parse_args()
    names = [name for name in targets() if options.only in name]
    seed = random.SystemRandom().randrange(2**32) if options.seed is None else options.seed
    share = min(SLICE, max(1.0, options.seconds / len(names)))
    end, cases, wrong = time.monotonic() + options.seconds, Counter(), {}
    round_ = 0
    while round_ == 0 or time.monotonic() < end:
        for name in names:
            if round_ and time.monotonic() >= end:
                break
            count, found = try_reader(name, share, seed + round_)
            cases[name] += count
            for what, path in found.items():
                if what not in wrong:
                    print(f"FOUND {what}: {path.relative_to(ROOT)}", flush=True)
                wrong.setdefault(what, path)
        round_ += 1
        print(
            f"{time.strftime('%H:%M:%S')} round {round_}: {sum(cases.values())} cases, {len(wrong)} found", flush=True
        )
    print("cases:", ", ".join(f"{name} {count}" for name, count in cases.items()))
    sys.exit(f"{len(wrong)} found with seed {seed}, in {FOUND.relative_to(ROOT)}" if wrong else 0)


if __name__ == "__main__":
    main()
