"""``mapper show``: something of the catalogue, to edit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mapper.cli.option import AsJson, dumped
from mapper.workloads.document import InputError, parse_document
from mapper.workloads.text.nearest import meant


def show(
    name: Annotated[
        str, typer.Argument(help="A machine, document or kernel from the catalogue, or a Snowflake binary.")
    ],
    as_json: AsJson = False,
) -> None:
    """Print a preset as YAML or a kernel as C, to edit; or a Snowflake binary (.snow) as a listing."""
    from mapper.arch.source import machine_names, preset_text
    from mapper.workloads.catalogue import CATALOGUE, document_text
    from mapper.workloads.graph.kernel_catalogue import KERNELS, kernel_bytes

    if name.endswith(".snow"):
        from mapper.codegen.trace_partition.listing import listing
        from mapper.models.trace_partition.isa.program_file import load_program

        shown = listing(load_program(Path(name)))
        print(dumped({"name": name, "text": shown}) if as_json else shown, end="")
        return
    text = preset_text(name) or document_text(name)
    if text is not None and as_json:
        print(dumped(parse_document(text.encode(), name)), end="")
        return
    if text is None and name in KERNELS:
        text = kernel_bytes(name).decode()
    if text is None:
        if name in CATALOGUE:
            raise InputError("show", name, "is a network, which has no text; mapper explain tells of it")
        documents = (one for one, entry in CATALOGUE.items() if entry.origin == "document")
        close = meant(name, [*(one.name for one in machine_names()), *KERNELS, *documents])
        remedy = f"is no preset; {close}see mapper list archs and mapper list workloads"
        raise InputError("show", name, remedy)
    print(dumped({"name": name, "text": text}) if as_json else text, end="")
