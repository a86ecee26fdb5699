"""Files of an overlay that runs one network: Verilog, its parameters, and the control sequence."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mapper.codegen.algorithm_selection.cutting import cuts
from mapper.codegen.algorithm_selection.image import image, tensor_places
from mapper.codegen.algorithm_selection.instruction import FETCH, Gemm
from mapper.codegen.algorithm_selection.layout.store_program import positions, staying_places
from mapper.codegen.algorithm_selection.piece import Limits
from mapper.codegen.algorithm_selection.program import (
    Parameters,
    StepProgram,
    dram_words,
    hexadecimal,
    log_banks,
    memory,
    parameters,
    programs,
    scale_addresses,
    timeline,
)
from mapper.codegen.algorithm_selection.resource import resources
from mapper.models.algorithm_selection.control.sequence import Control
from mapper.models.algorithm_selection.number.network_number import NetworkNumbers
from mapper.workloads.network.network_layer import LayerNetwork
from mapper.workloads.text.plain_text import plain

RTL = Path(__file__).parent / "rtl"
HOST = Path(__file__).parent / "host"


def verilog(sizes: Parameters) -> dict[str, str]:
    """The overlay's Verilog, a file for each module, all in one folder, and the header of its parameters."""
    files = {path.name: path.read_text() for path in RTL.rglob("*.sv")}
    return {**dict(sorted(files.items())), "parameters.svh": sizes.verilog()}


def host() -> dict[str, str]:
    """The host's side in C: the registers, and running a network."""
    return {path.name: path.read_text() for path in sorted(HOST.iterdir()) if path.suffix in (".c", ".h")}


def overlay_files(
    control: Control,
    network: LayerNetwork | None = None,
    numbers: NetworkNumbers | None = None,
    limits: Limits | None = None,
) -> dict[str, str | bytes]:
    """``control.json`` (steps in the model's words), ``control.hex`` (the controller's memory), ``overlay.json``
    (where each step's words begin in it, and its biases and factors in DRAM), ``listing.txt`` (which
    instructions a step became, or why it runs beside the overlay, which waits for ``resume``), ``parameters.svh`` and
    the Verilog; ``host/``: the host's side in C. Where ``numbers`` are a network's own, ``dram.bin`` is what DRAM holds
    before it runs (integers of 32 bits, the lowest byte first). Pieces and parts of kernels keep to ``limits``."""
    limits = limits or Limits()
    stays, made = _programs(control, network, numbers, limits)
    sizes = parameters(control, made)
    places = _places(control, made, sizes) | {"on_chip": _on_chip(control, stays)}
    own: dict[str, str | bytes] = {}
    if network is not None and numbers is not None:
        places |= tensor_places(control, network, numbers)
        if numbers.weights is not None:
            words = image(control, numbers, scale_addresses(control), places["dram_words"])
            own["dram.bin"] = words.astype("<i4").tobytes()
    return {
        "control.json": json.dumps(control.to_json(), indent=1) + "\n",
        "control.hex": hexadecimal(memory(made, sizes.room)),
        "overlay.json": json.dumps(places, indent=1) + "\n",
        "listing.txt": listing(control, made, sizes, stays),
        **{f"rtl/{name}": text for name, text in verilog(sizes).items()},
        **{f"host/{name}": text for name, text in host().items()},
        **own,
    }


def _programs(
    control: Control, network: LayerNetwork | None, numbers: NetworkNumbers | None, limits: Limits
) -> tuple[dict[str, int], tuple[StepProgram, ...]]:
    """Where maps stay on the chip, and the programs; what a step beside the overlay reads or makes is in DRAM."""
    beside: set[str] = set()
    room = limits.tensor, 1 << log_banks(control.array)
    while True:
        stays = staying_places(control, *room, beside)
        counts = cuts(control, timeline(control), limits, stays)
        made = programs(control, network, counts, numbers, limits, stays)
        beside |= {program.name for program in made if program.reason}
        if staying_places(control, *room, beside) == stays:
            return stays, made


def _on_chip(control: Control, stays: Mapping[str, int]) -> list[dict[str, Any]]:
    """Maps that are never in DRAM: their first word in every bank of the tensor buffer, and its rows."""
    return [
        {"tensor": name, "first": first, "rows": positions(control.region(name))}
        for name, first in stays.items()
    ]


def _places(control: Control, made: Sequence[StepProgram], sizes: Parameters) -> dict[str, Any]:
    """Where a step's instructions lie in the control memory, and the addresses that are not in the control sequence."""
    scales, first, steps = scale_addresses(control), 0, []
    for at, program in enumerate(made):
        if program.reason:
            if at and not made[at - 1].reason:
                first += 1  # The line that stops the overlay until it is resumed.
            continue
        lines = sum(len(one.words(sizes.room)) for one in program.instructions) // FETCH
        steps.append(
            {
                "name": program.name,
                "first": first,
                "lines": lines,
                "engines": [one.engine for one in program.instructions],
                "scales": scales.get(program.name),
                **({"pool": program.pool} if program.pool else {}),
            }
        )
        first += lines
    done = timeline(control).step_cycles(
        [None if program.reason else program.instructions for program in made]
    )
    for one, cycles in zip(steps, done, strict=True):
        one["cycles"] = cycles
    return {"dram_words": dram_words(control), "resources": vars(resources(sizes)), "steps": steps}


def listing(
    control: Control, made: Sequence[StepProgram], sizes: Parameters, stays: Mapping[str, int]
) -> str:
    """What the files are, and every step with its instructions."""
    (rows, columns), takes = control.array, resources(sizes)
    lines = [
        f"Overlay of {plain(control.network)}: {rows} x {columns} PEs, {1 << sizes.log_banks} banks a buffer.",
        f"It takes {takes.dsp:,} DSP slices, {takes.bram36:,} block memories, {takes.uram:,} UltraRAMs, "
        f"about {takes.lut:,} LUTs.",
        "",
        "rtl/overlay.sv     top module; rtl/parameters.svh says its sizes",
        "control.hex        the controller's memory, read by rtl/control_rom.sv from the folder it runs in",
        "overlay.json       where each step begins in it, and its biases and factors in DRAM",
        "control.json       the same steps in the model's words: layouts, calls, addresses in DRAM",
        "host/              registers and running in C; dram.bin (where weights are known) is what DRAM holds before",
        "",
        "DRAM holds a number a word. Sums are 32 bits, operands in the buffers 16 (Winograd's are longer than 8).",
        "",
    ]
    if stays:
        names = ", ".join(plain(one) for one in stays)
        lines += [f"Maps that stay on the chip, in the tensor buffer, and are never in DRAM: {names}.", ""]
    for program in made:
        lines.append(plain(program.name))
        if program.reason:
            lines.append(f"  beside the overlay, which waits for `resume`: {plain(program.reason)}")
        for one in program.instructions:
            if isinstance(one, Gemm):
                sizes_text = f"{one.a} x {one.b} by {one.b} x {one.c}"
                lines.append(f"  gemm {one.dataflow}  {len(one.calls)} products of {sizes_text}")
            else:
                unit = "" if one.unit == "none" else f" through {one.unit}"
                finish = "" if one.requantisation is None else f", divided by 2^{one.requantisation.shift}"
                lines.append(f"  move {one.source} -> {one.target}{unit}{finish}")
    return "\n".join(lines) + "\n"
