"""Options that the commands share, one by one."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mapper.api.limit import (
    LARGEST_BATCH,
    LARGEST_BUFFER,
    LARGEST_SEED,
    LONGEST_LATENCY,
    LONGEST_SECONDS,
    MOST_FRAMES,
    MOST_PES,
    MOST_WORKERS,
)
from mapper.cli.completion import names
from mapper.cli.listing import Listing

if TYPE_CHECKING:
    from mapper.store import Store

Workload = Annotated[
    str | None,
    typer.Argument(
        help="A catalogue name, name/part, or a file (.onnx, .yaml, .json). Default: resnet-dmazerunner.",
        autocompletion=names(
            Listing.workloads,
            (
                ".onnx",
                ".yaml",
                ".yml",
                ".json",
                ".c",
                ".ll",
                ".bc",
                ".dot",
                ".graphml",
                ".mlir",
                ".xml",
                ".in",
            ),
        ),
    ),
]
Arch = Annotated[
    str | None,
    typer.Option(
        "--arch",
        help="A machine: a preset's name or a YAML file.",
        autocompletion=names(Listing.archs, (".yaml", ".yml", ".json")),
    ),
]
Objective = Annotated[
    str | None,
    typer.Option(
        help="edp, energy, latency, ii, throughput, pes, dsps or traffic; each kind has a default.",
        autocompletion=names(Listing.objectives),
    ),
]
MethodName = Annotated[
    str,
    typer.Option(
        "--method",
        help="The method to use; see mapper list methods.",
        autocompletion=names(Listing.methods),
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(min=0.0, max=LONGEST_SECONDS, help="Seconds for the whole command (compare: per method)."),
]
Workers = Annotated[
    int | None, typer.Option(min=1, max=MOST_WORKERS, help="Threads to use. Default: all processors.")
]
Seed = Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Seed for searches and test data.")]
Output = Annotated[
    Path | None, typer.Option("-o", "--output", help="File for the solution; it grows as parts finish.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print comma-separated values.")]
AsMarkdown = Annotated[bool, typer.Option("--markdown", help="Print a Markdown table.")]
Wide = Annotated[bool, typer.Option("--wide", help="Print tables whole, however narrow the terminal is.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress.")]
Log = Annotated[Path | None, typer.Option(help="Write progress to this file as JSON lines.")]
Batch = Annotated[int | None, typer.Option(min=1, max=LARGEST_BATCH, help="Images processed at once.")]
Dim = Annotated[
    list[str] | None,
    typer.Option(help="Size of an open dimension of an ONNX file, NAME=SIZE (seq=197). Repeatable."),
]
Include = Annotated[
    list[str] | None, typer.Option(help="Folder of headers for a C file (utilities). Repeatable.")
]
Define = Annotated[
    list[str] | None, typer.Option(help="Macro for a C file, NAME or NAME=VALUE (N=64). Repeatable.")
]
WithoutPass = Annotated[
    list[str] | None,
    typer.Option(help="Leave out a pass over a loop of C or LLVM IR (explain lists them). Repeatable."),
]
WithPass = Annotated[
    list[str] | None, typer.Option(help="Add a pass over a loop of C or LLVM IR (sharing). Repeatable.")
]
Fix = Annotated[
    list[str] | None,
    typer.Option(
        help="Pin a decision, KEY=VALUE (spatial=Oy,Ox; spatial.rows=C; M.rf=8; order.dram=M,N,C). Repeatable."
    ),
]
MinThroughput = Annotated[
    float | None, typer.Option(min=0.0, max=MOST_FRAMES, help="Required throughput in frames per second.")
]
MaxPes = Annotated[int | None, typer.Option(min=1, max=MOST_PES, help="Limit on the number of PEs.")]
MaxBuffer = Annotated[int | None, typer.Option(min=0, max=LARGEST_BUFFER, help="Limit on buffers, in bytes.")]
MaxLatency = Annotated[
    float | None, typer.Option(min=0.0, max=LONGEST_LATENCY, help="Limit on the latency, in ms.")
]
Model = Annotated[str | None, typer.Option(help="The model to use, if the kind has several.")]
Pareto = Annotated[
    bool, typer.Option("--pareto", help="Find all trade-offs instead of one optimum, if the kind has them.")
]
FrontPlot = Annotated[
    Path | None, typer.Option("--plot", help="With --pareto: draw the trade-offs (.png or .svg).")
]


CertificateFile = Annotated[
    Path | None,
    typer.Option("--certificate", help="Write proofs to this file and run their checker on it."),
]
StorePath = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="PATH|none",
        help="Where answers are kept. Default: a file in the user's cache folder.",
    ),
]


class Format(StrEnum):
    """How ``explain`` writes."""

    text = "text"
    markdown = "markdown"
    latex = "latex"
    html = "html"


class Engine(StrEnum):
    """Where a sweep is solved."""

    local = "local"
    dask = "dask"


class ExportFormat(StrEnum):
    """How ``explain --export`` writes the model."""

    lp = "lp"
    mps = "mps"
    cpsat = "cpsat"


def store_at(path: str | None) -> Store | None:
    """The store that ``--store`` names: the user's own by default, None for ``none``."""
    from mapper.store import Store, default_path

    if path == "none":
        return None
    return Store(default_path() if path is None else Path(path))


def check_writable(path: Path | None, option: str = "-o") -> None:
    """Fail before the search rather than after it if the result cannot be written."""
    from mapper.workloads.process.whole_file import check_writable as check

    if path is not None:
        check(path, option)


def check_plot(path: Path | None) -> None:
    """Fail before the search if its result cannot be drawn there."""
    if path is not None:
        from mapper.cli.plot import check_form

        check_form(path)
        check_writable(path, "--plot")


def dumped(document: Any) -> str:
    return json.dumps(document, indent=1, allow_nan=False) + "\n"
