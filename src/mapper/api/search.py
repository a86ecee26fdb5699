"""How to search: what every command that searches is told."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace

from mapper.api.limit import LARGEST_SEED, LONGEST_SECONDS, MOST_WORKERS
from mapper.models.limit import Standing
from mapper.models.plain import nobody_hears
from mapper.solver.certificate import Stop
from mapper.solver.method import Effort, Interrupt, Progress
from mapper.store.database import Store
from mapper.workloads.document import InputError

Listener = Callable[[str, Progress], None]
"""Hears of progress: the part's name and where its search stands."""


def nobody(part: str, progress: Progress) -> None:
    """Nobody listens."""


def nobody_complains(reason: str) -> None:
    """Nobody hears why a store is not used."""


@dataclass(frozen=True)
class Search:
    """How to search: method, seconds for all parts together, workers, seed, listeners, and what ends the search.

    ``time_limit`` is in seconds from ``started`` on. ``executor`` runs independent parts; without one, threads do (the
    searches release the interpreter). ``store`` keeps answers and returns those that are already proven; if it cannot
    be used, ``complain`` is told why, once. Parts share the time limit, unless each may use all that is left of it
    (``in_turn``). Until ``begun`` is set, an interrupt has nothing to keep. ``compiling`` hears how far machine code
    is, which is compiled once per computer.
    """

    method: str = "auto"
    time_limit: float | None = None
    workers: int | None = None
    seed: int = 0
    started: float = field(default_factory=time.monotonic, repr=False)
    interrupt: threading.Event = field(default_factory=Interrupt, repr=False)
    listener: Listener = field(default=nobody, repr=False)
    executor: Executor | None = None
    store: Store | None = None
    complain: Callable[[str], None] = field(default=nobody_complains, repr=False)
    in_turn: bool = False
    begun: threading.Event = field(default_factory=threading.Event, repr=False)
    compiling: Callable[[Standing], None] = field(default=nobody_hears, repr=False)

    def stopped(self) -> Stop | None:
        """Why no search may go on, if it may not."""
        return Effort(self.deadline, interrupt=self.interrupt).stopped()

    def __post_init__(self) -> None:
        if not 0 <= self.seed <= LARGEST_SEED:
            raise InputError("--seed", "", f"must be a whole number from 0 to {LARGEST_SEED}")
        if self.workers is not None and not 1 <= self.workers <= MOST_WORKERS:
            raise InputError("--workers", "", f"must be a whole number from 1 to {MOST_WORKERS}")
        if self.time_limit is not None and not 0 <= self.time_limit <= LONGEST_SECONDS:
            raise InputError("--time-limit", "", f"must be a number of seconds from 0 to {LONGEST_SECONDS:g}")

    @property
    def used_workers(self) -> int:
        return self.workers or os.cpu_count() or 1

    @property
    def deadline(self) -> float | None:
        return None if self.time_limit is None else self.started + self.time_limit

    @property
    def seconds_left(self) -> float:
        return math.inf if self.deadline is None else self.deadline - time.monotonic()

    def for_share(self, share: float) -> Search:
        """The same until such a share of the time that is left has passed."""
        if self.time_limit is None:
            return self
        spent = min(self.time_limit, time.monotonic() - self.started)
        return replace(self, time_limit=spent + (self.time_limit - spent) * share)
