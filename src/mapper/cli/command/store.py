"""``mapper store``: what the result store holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mapper.cli.option import AsJson, StorePath, Wide, dumped, store_at
from mapper.workloads.document import InputError

if TYPE_CHECKING:
    from mapper.store import Entry, Store

app = typer.Typer(
    no_args_is_help=True, help="The result store keeps answers, so that no problem is solved twice."
)
SHOWN_KEY = 12
"""Digits of a key in lists."""
KeyPrefix = Annotated[str, typer.Argument(help="The first digits of an answer's key, as list shows it.")]


@app.command(name="list", epilog="Example: mapper store list")
def list_answers(store: StorePath = None, as_json: AsJson = False, wide: Wide = False) -> None:
    """List the answers in the store, oldest first."""
    from mapper.cli.table import print_table

    entries = _entries(_store(store), "")
    if as_json:
        print(dumped([entry.to_json() for entry in entries]), end="")
        return
    heading = ["key", "workload", "part", "arch", "objective", "value", "proven", "method", "stored"]
    print_table(heading, [_line(entry) for entry in entries], wide=wide)


@app.command(epilog="Example: mapper store show 3f2a")
def show(key: KeyPrefix, store: StorePath = None) -> None:
    """Print one answer as JSON: mapping and certificate."""
    found = _entries(_store(store), key)
    if len(found) != 1:
        remedy = (
            "no answer has such a key; see mapper store list"
            if not found
            else "several answers have such a key; give more digits"
        )
        raise InputError("store", key[:64], remedy)
    print(dumped(found[0].to_json()), end="")


@app.command(epilog="Example: mapper store export answers.json")
def export(
    output: Annotated[Path, typer.Argument(help="The file to write.")],
    store: StorePath = None,
) -> None:
    """Write all answers to one JSON file."""
    from mapper.workloads.process.whole_file import check_writable, is_stdout, write_whole

    check_writable(output, "export")
    entries = _entries(_store(store), "")
    document = {"schema": "mapper.store/1", "answers": [entry.to_json() for entry in entries]}
    write_whole(output, dumped(document), "export")
    if not is_stdout(output):
        print(f"{len(entries)} answers")


@app.command(epilog="Example: mapper store prune")
def prune(
    store: StorePath = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Remove all answers, not only those of other versions of mapper.")
    ] = False,
) -> None:
    """Remove the answers of other versions of mapper, which are never used again."""
    from mapper.store import StoreError, version_key

    kept = _store(store)
    try:
        removed = kept.prune(None if everything else version_key()) if kept.path.exists() else 0
    except StoreError as error:
        raise InputError("store", "", str(error)) from None
    print(f"{removed} answers removed")


def _store(path: str | None) -> Store:
    found = store_at(path)
    if found is None:
        raise InputError("--store", "none", "is not a store; give a file")
    return found


def _entries(store: Store, prefix: str) -> list[Entry]:
    from mapper.store import StoreError

    if not store.path.exists():
        return []
    try:
        return store.entries(prefix)
    except StoreError as error:
        raise InputError("store", "", str(error)) from None


def _line(entry: Entry) -> list[str]:
    from mapper.kind.cell import number

    certificate = entry.certificate
    return [
        entry.problem[:SHOWN_KEY],
        entry.workload,
        entry.part,
        entry.arch or "–",
        entry.objective,
        number(certificate.get("value")),
        "yes" if entry.proven else "no",
        str(certificate.get("method")),
        entry.stored[:19],
    ]
