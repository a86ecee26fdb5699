"""``mapper show``: something of the catalogue, to edit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mapper.workloads.document import InputError


def show(
    name: Annotated[
        str, typer.Argument(help="A machine, document or kernel from the catalogue, or a Snowflake binary.")
    ],
) -> None:
    """Print a preset as YAML or a kernel as C, to edit; or a Snowflake binary (.snow) as a listing."""
    from mapper.arch.source import preset_text
    from mapper.workloads.catalogue import document_text
    from mapper.workloads.graph.kernel_catalogue import KERNELS, kernel_bytes

    if name.endswith(".snow"):
        from mapper.codegen.trace_partition.listing import listing
        from mapper.models.trace_partition.isa.program_file import load_program

        print(listing(load_program(Path(name))), end="")
        return
    text = preset_text(name) or document_text(name)
    if text is None and name in KERNELS:
        text = kernel_bytes(name).decode()
    if text is None:
        raise InputError("show", name, "is no preset; see mapper list archs and mapper list workloads")
    print(text, end="")
