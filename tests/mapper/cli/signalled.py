"""The program under signals: started, sent some at chosen moments, and looked at when it has ended."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SECONDS_TO_BEGIN = 300.0
SECONDS_TO_END = 120.0
SECONDS_OF_ORPHANS = 5.0
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass
class Running:
    """``mapper WORDS...`` in a process of its own, with its own temporary folder ``temporary`` and ``output`` folder.
    Signals that come before it answers them wait for it: nothing that it does may depend on how fast Python starts."""

    words: tuple[str, ...]
    folder: Path
    stdout: Any = subprocess.PIPE
    ignored: tuple[signal.Signals, ...] = ()
    mark: str = field(default_factory=lambda: os.urandom(8).hex())

    def __post_init__(self) -> None:
        self.temporary, self.output = self.folder / "temporary", self.folder / "output"
        self.temporary.mkdir(parents=True, exist_ok=True)
        self.output.mkdir(exist_ok=True)
        self.log = self.output / "log.jsonl"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mapper", *self.words],
            stdout=self.stdout,
            stderr=subprocess.PIPE,
            env=os.environ | {"TMPDIR": str(self.temporary), "MAPPER_MARK": self.mark},
            preexec_fn=self._dispose,
        )
        self.began = time.monotonic()

    def _dispose(self) -> None:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN if number in self.ignored else signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)

    def send(self, *numbers: signal.Signals) -> None:
        for number in numbers:
            self.process.send_signal(number)

    def wait_for(self, holds: Callable[[], bool]) -> None:
        """Wait until something ``holds`` while the program runs."""
        while not holds():
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < self.began + SECONDS_TO_BEGIN
            time.sleep(0.02)

    def heard(self, pattern: str) -> bool:
        """Whether the log has come to the ``pattern``."""
        return self.log.exists() and re.search(pattern, self.log.read_text()) is not None

    def relatives(self, name: str = "") -> list[int]:
        """The processes that it has started, or that those have, with ``name`` in their command."""
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            try:
                mine = f"MAPPER_MARK={self.mark}".encode() in (path / "environ").read_bytes()
                named = name.encode() in (path / "cmdline").read_bytes()
            except OSError:
                continue
            if mine and named and int(path.name) != self.process.pid:
                found.append(int(path.name))
        return found

    def ended(self) -> tuple[int, str, str]:
        """Exit code, stdout and stderr."""
        out, err = self.process.communicate(timeout=SECONDS_TO_END)
        return self.process.returncode, (out or b"").decode(), err.decode()

    def left(self) -> list[str]:
        """What it has left in its temporary folder."""
        return sorted(path.name for path in self.temporary.iterdir())

    def orphans(self) -> list[int]:
        """Its processes that live on, after they had time to end."""
        end = time.monotonic() + SECONDS_OF_ORPHANS
        while self.relatives() and time.monotonic() < end:
            time.sleep(0.05)
        return self.relatives()


def check_end(run: Running) -> tuple[int, dict[str, Any] | None]:
    """An answer, or one line that says why there is none, and nothing left behind; the exit code and the document.

    Raises: AssertionError if it is otherwise.
    """
    code, out, err = run.ended()
    said = f"{' '.join(run.words)}: {code}\n{out[-500:]}\n{err[-2000:]}"
    lines = err.splitlines()
    assert "Traceback" not in err, said
    assert code in (0, 3), said
    assert len(lines) == (code == 3) and all(line.startswith("mapper: ") for line in lines), said
    # A child may still be removing its folder when the command has ended.
    assert run.orphans() == [], said
    assert run.left() == [], said
    documents = [path for path in run.output.iterdir() if path != run.log]
    assert all(path.suffix == ".json" for path in documents), documents
    for path in documents:
        json.loads(path.read_text())
    return code, json.loads(out) if out else None


def hard_pbqp(path: Path, vertices: int, choices: int) -> None:
    """A complete graph of random costs, which takes exact methods long."""
    draw = random.Random(1)
    words = [vertices, vertices * (vertices - 1) // 2]
    for _ in range(vertices):
        words += [choices, *(draw.randint(0, 9) for _ in range(choices))]
    for one in range(vertices):
        for other in range(one):
            costs = [draw.randint(0, 9) for _ in range(choices**2)]
            words += [other, one, choices, choices, *costs]
    path.write_text(" ".join(map(str, words)))
