"""Running the items one after another, each in a process of its own, so that none can take the page with it."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection

from docs.papers.row import Found, Item, Paper

NAMES = ("dmazerunner", "cgra", "tcpa", "dynamap", "snowflake", "promise")
"""The papers, and what simulators say of the kinds: a module each."""


@dataclass(frozen=True)
class Outcome:
    """What became of an item: what it found or why it failed, and its wall seconds, start of the process included."""

    item: Item
    found: Found | None
    error: str
    seconds: float


def paper_named(name: str) -> Paper:
    """The paper that the module ``name`` recomputes."""
    paper: Paper = import_module(f"docs.papers.{name}").PAPER
    return paper


def outcome(paper: Paper, place: int) -> Outcome:
    """Compute one item of ``paper`` within its seconds."""
    item = paper.items[place]
    started = time.monotonic()
    found = bounded(item.seconds, compute, paper.name, place)
    spent = time.monotonic() - started
    return Outcome(item, None, found, spent) if isinstance(found, str) else Outcome(item, found, "", spent)


def compute(name: str, place: int) -> Found:
    """An item, known by its paper's name and its place among the items."""
    return paper_named(name).items[place].compute()


def bounded(seconds: float, call: Callable[[str, int], Found], name: str, place: int) -> Found | str:
    """What ``call`` returns in another process, or in words why it did not."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=answer, args=(sender, call, name, place), daemon=False)
    process.start()
    sender.close()
    try:
        if not receiver.poll(seconds):
            return f"not done after {seconds:g} s"
        found: Found | str = receiver.recv()
        return found
    except EOFError:
        process.join()
        return f"the process ended with code {process.exitcode} and no answer"
    finally:
        process.kill()
        process.join()
        receiver.close()


def answer(sender: Connection, call: Callable[[str, int], Found], name: str, place: int) -> None:
    """In the other process: send what ``call`` returns, or its exception in one line."""
    try:
        sender.send(call(name, place))
    except Exception as error:
        sender.send(" ".join(f"{type(error).__name__}: {error}".split()))
