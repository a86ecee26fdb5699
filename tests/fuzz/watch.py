"""A process per reader, and somebody beside it who sees that it is stuck or dead, and keeps the input that did it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.engine import SPENT, kept
from tests.fuzz.guard import scratch
from tests.fuzz.reader import Reader

ENGINES = ("hypothesis", "atheris")
MOST_DEATHS = 25
"""Of one reader; what comes after would only say the same."""
FAULT = 1
"""Exit code of a process in which the fuzzing itself is wrong."""
SECONDS_TO_START = 300.0
PATIENCE = 12
"""So many times the processor time of an input may pass by the clock before its process is ended."""


@dataclass
class Outcome:
    """What came of one reader under one engine: inputs, seconds, and per fault the input kept and what it says."""

    reader: str
    engine: str
    inputs: int = 0
    seconds: float = 0.0
    finds: dict[str, tuple[Path, str]] = field(default_factory=dict)


def tried(reader: Reader, engine: str, count: int, seed: int, keep: Path) -> Outcome:
    """Give ``count`` inputs to ``reader``; a process that ends or hangs is replaced by another, which goes on."""
    outcome, began = Outcome(reader.name, engine), time.monotonic()
    for deaths in range(MOST_DEATHS):
        left = count - outcome.inputs
        if left <= 0:
            break
        folder = scratch()
        try:
            if not _one_process(reader, engine, left, seed + 1000 * deaths, keep, folder, outcome):
                break
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    outcome.seconds = time.monotonic() - began
    return outcome


def _one_process(
    reader: Reader, engine: str, count: int, seed: int, keep: Path, folder: Path, outcome: Outcome
) -> bool:
    """Whether there is a point in another process if inputs are left."""
    words = ("--child", engine, "--reader", reader.name, "--inputs", str(count), "--seed", str(seed))
    with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz", *words, "--keep", str(keep), "--folder", str(folder)],
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        hung = _hung(process, folder, reader.seconds * PATIENCE)
    number = _progress(folder)
    for find in _told(folder):
        outcome.finds[find["place"]] = (Path(find["file"]), find["text"])
    if not hung and process.returncode in (0, SPENT):
        outcome.inputs += number
        return True
    if number < 0 or process.returncode == FAULT:
        said = (folder / "err").read_text(errors="replace")[-3000:]
        outcome.finds["is not fuzzed"] = (keep, f"{said}({_ending(process.returncode)})")
        outcome.inputs += max(number, 0)
        return False  # another process would fail alike
    outcome.inputs += number + 1
    path = kept(reader, (folder / f"input{reader.suffix}").read_bytes(), keep)
    again = repeated(reader, path)
    if again is None:
        path.unlink()  # slow for want of a processor, or a process that others had worn out
        return True
    ended = "is stuck" if hung else f"ends the process ({_ending(process.returncode)})"
    outcome.finds.setdefault(f"{ended} {len(outcome.finds)}", (path, f"{ended}\n{again}"))
    return True


def command(reader: str, path: Path) -> str:
    """The one command that repeats an input."""
    return f"{Path(sys.executable)} -m tests.fuzz --reader {reader} --repeat {path}"


def repeated(reader: Reader, path: Path) -> str | None:
    """What a process of its own says of an input; None if there is nothing wrong with it."""
    process = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", "--reader", reader.name, "--repeat", str(path)],
        capture_output=True,
        check=False,
    )
    said = (process.stdout + process.stderr).decode("utf-8", "replace")[-4000:]
    return f"{said}({_ending(process.returncode)})" if process.returncode else None


def _hung(process: subprocess.Popen[bytes], folder: Path, patience: float) -> bool:
    """Wait for the process; True if an input took longer than ``patience`` and it was ended for that."""
    seen, since = -1, time.monotonic()
    while True:
        try:
            process.wait(0.5)
            return False
        except subprocess.TimeoutExpired:
            pass
        except BaseException:
            _end(process)
            raise
        number, now = _progress(folder), time.monotonic()
        if number != seen:
            seen, since = number, now
        elif now - since > (patience if seen >= 0 else SECONDS_TO_START):
            _end(process)
            return True


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process with all that it has started."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _progress(folder: Path) -> int:
    try:
        return int((folder / "progress").read_text() or -1)
    except (FileNotFoundError, ValueError):
        return -1


def _told(folder: Path) -> Iterator[dict[str, str]]:
    for line in (folder / "out").read_bytes().splitlines():
        if line.startswith(b'{"place"'):
            yield json.loads(line)


def _ending(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"
