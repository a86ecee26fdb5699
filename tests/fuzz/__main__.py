"""``python -m tests.fuzz``: hostile inputs to every reader; exit code 1 if one is not met with one line."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

KEEP = Path("build/fuzz")


def main() -> int:
    """Fuzz all readers, or repeat one input."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--reader", action="append", help="only this one; repeatable")
    parser.add_argument(
        "--inputs", type=int, default=10_000, help="for each reader, half of them by each engine"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", action="append", choices=("hypothesis", "atheris"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="readers at once")
    parser.add_argument("--repeat", type=Path, help="give this file to the reader and say what comes of it")
    parser.add_argument("--keep", type=Path, default=KEEP, help="where inputs that go wrong are written")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        return _child(given)
    if given.repeat:
        return _repeat(given.reader[0], given.repeat)
    return _all(given)


def _child(given: argparse.Namespace) -> int:
    from tests.fuzz.catalogue import READERS
    from tests.fuzz.engine import Report, drawn_inputs, guided_inputs
    from tests.fuzz.guard import Guard

    _own_cache()
    reader = READERS[given.reader[0]]
    report = Report(reader, given.keep)
    if given.child == "atheris":
        guided_inputs(
            Guard(reader, reader.guided or reader.read, given.folder), given.inputs, given.seed, report
        )
    else:
        guard = Guard(reader, reader.read, given.folder)
        guard.warm_up()
        guard.limit_memory()
        drawn_inputs(guard, given.inputs, given.seed, report)
    return 0


def _repeat(name: str, path: Path) -> int:
    from tests.fuzz.catalogue import READERS
    from tests.fuzz.guard import Guard, scratch

    _own_cache()
    reader = READERS[name]
    folder = scratch()
    guard = Guard(reader, reader.read, folder)
    guard.warm_up()
    guard.limit_memory()
    # Where a reader hangs in compiled code nothing but a signal ends it.
    signal.alarm(round(6 * reader.seconds))
    try:
        find = guard.trial(0, path.read_bytes())
    finally:
        shutil.rmtree(folder)
    print(find.text if find else "read, or refused with one line")
    return 1 if find else 0


def _all(given: argparse.Namespace) -> int:
    from tests.fuzz.catalogue import READERS
    from tests.fuzz.watch import ENGINES, command, tried

    names = given.reader or list(READERS)
    engines = given.engine or ENGINES
    began = time.monotonic()
    print(f"{given.inputs:,} inputs for each reader, seed {given.seed}", flush=True)
    finds = 0
    # A whole command is mostly the search, whose lines atheris does not watch.
    runs = [
        (READERS[name], engine, max(1, given.inputs // len(engines) // READERS[name].share))
        for name in names
        for engine in engines
        if READERS[name].share == 1 or engine == "hypothesis"
    ]
    with ThreadPoolExecutor(given.jobs) as pool:
        outcomes = pool.map(lambda run: tried(run[0], run[1], run[2], given.seed, given.keep), runs)
        for outcome in outcomes:
            finds += len(outcome.finds)
            line = (
                f"{outcome.reader:22} {outcome.engine:10} {outcome.inputs:7,} inputs {outcome.seconds:7.1f} s"
            )
            print(f"{line} {len(outcome.finds):4} finds", flush=True)
            for place, (path, text) in outcome.finds.items():
                print(f"\n{place}\n{text}\nrepeat: {command(outcome.reader, path)}\n", flush=True)
    print(f"{finds} finds in {time.monotonic() - began:.0f} s", flush=True)
    return 1 if finds else 0


def _own_cache() -> None:
    """No answer of the user's own store hides what a reader does."""
    os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="fuzz-cache-")


if __name__ == "__main__":
    sys.exit(main())
