"""What the array's program does, beside the reference and the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mapper.arch.dataflow import DataflowMachine
from mapper.models.tiling.cost import evaluate
from mapper.models.tiling.mapping import TilingMapping
from mapper.sim.tiling.array_run import ArrayRun, rows
from mapper.sim.tiling.footprint import shape_of
from mapper.sim.tiling.reference import initial_tensors, reference_output, within, zero_padded
from mapper.sim.tiling.report import beside_model
from mapper.sim.tiling.simulation import charged, ledger_of
from mapper.sim.tiling.size import check_size
from mapper.sim.tiling.statement import number_type
from mapper.sim.tiling.walk import walk
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.tensor import tensors


def array_report(
    nest: LoopNest, machine: DataflowMachine, mapping: TilingMapping, files: Mapping[str, str], seed: int = 0
) -> dict[str, Any]:
    """Run the tables of ``files`` on seeded integers, and charge the transfers that they make: as ``report``, with
    ``programs``, how many PEs, DMA transfers and moves there are. ``agrees`` also says that DMA's bytes and bursts are
    those of the model.

    Raises: InputError if a table is none, or the nest is too large.
    """
    written, nest = nest, nest.padded(dict(mapping.padded))
    check_size(nest)
    inputs = initial_tensors(written, seed)
    expected, kind = reference_output(written, inputs), number_type(nest)
    inputs = zero_padded(written, nest, inputs)
    owner = {position: tensor for tensor in tensors(nest) for position in tensor.operands}
    flat = {
        tensor.name: inputs[tensor.name]
        .astype(kind if tensor.written else inputs[tensor.name].dtype)
        .reshape(-1)
        for tensor in tensors(nest)
    }
    run = ArrayRun(nest, files, [flat[owner[k].name] for k in range(len(nest.operands))], kind)
    run.run()
    result = next(tensor for tensor in tensors(nest) if tensor.written)
    output = within(written, nest, flat[result.name].reshape(result.shape).astype(np.int64))
    shape, passes = shape_of(nest, mapping), walk(nest, mapping)
    ledger = ledger_of(nest, machine, shape, passes, run.counts.traffic)
    model = evaluate(nest, machine, mapping)
    found = beside_model(charged(ledger, mapping, output, expected), model)
    names = [operand.name for operand in nest.operands]
    sizes = {name: model.words[name]["dram"] * machine.word_bytes for name in names}
    equal = {
        "bytes": dict(zip(names, run.counts.bytes, strict=True)) == sizes,
        "bursts": dict(zip(names, run.counts.bursts, strict=True)) == found["bursts"],
    }
    return {
        **found,
        "agrees": found["agrees"] and all(equal.values()),
        "disagreements": [
            *found["disagreements"],
            *(quantity for quantity, same in equal.items() if not same),
        ],
        "programs": {
            "pes": len(rows(files, "pe.inc")),
            "dma": len(rows(files, "dma.inc")),
            "noc": len(rows(files, "noc.inc")),
            "bytes": dict(zip(names, run.counts.bytes, strict=True)),
        },
    }


def program_line(found: Mapping[str, Any]) -> str:
    """What was run, for people."""
    programs = found["programs"]
    moved = sum(programs["bytes"].values())
    return (
        f"{programs['pes']} PEs ran their programs: {programs['dma']:,} DMA transfers of {moved:,} bytes, "
        f"{programs['noc']:,} moves in each scratch-pad pass"
    )
