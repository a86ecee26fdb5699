"""A network step by step on the Verilog, beside the functional model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.models.algorithm_selection.control.sequence import Control, ConvolutionStep, OtherStep
from mapper.sim.algorithm_selection.data import parameters
from mapper.sim.algorithm_selection.network import Overlay
from mapper.sim.algorithm_selection.rtl.machine import RtlMachine, gemm_cycles
from mapper.workloads.network.network_layer import LayerNetwork

STOP = "00000100"
"""The control word after which the overlay stops."""
CYCLES = 100_000_000
"""No step of a network that is run as Verilog takes longer."""


@dataclass(frozen=True)
class RtlStep:
    """A step on the Verilog: ``equal`` to the functional model in every word it leaves in DRAM; cycles of its products
    and of its moves, and ``terms``, which the former should add up to."""

    name: str
    equal: bool
    array_cycles: int
    move_cycles: int
    terms: dict[str, int]

    @property
    def agrees(self) -> bool:
        return self.equal and self.array_cycles == sum(self.terms.values())


def report_rtl(
    control: Control, network: LayerNetwork, files: Mapping[str, str], seed: int = 0
) -> dict[str, Any]:
    """What ``mapper simulate --rtl`` says: ``files`` are those generated for ``control``; ``agrees`` if every step that
    has a program leaves in DRAM what the functional model leaves, and its products take the cycles of Eq. 9 and the
    named terms.

    Raises: InputError if the array has more than 64 PEs, Verilator is missing or fails, or a layer has no form in
    integers.
    """
    verilog = {name.removeprefix("rtl/"): text for name, text in files.items() if name.startswith("rtl/")}
    dram_words = max(2, json.loads(files["overlay.json"])["dram_words"])
    with RtlMachine(control.array, verilog, dram_words) as machine:
        steps = run_network(machine, control, network, files, seed)
    ran = {one.name for one in steps}
    return {
        "outputs_equal": all(one.equal for one in steps),
        "agrees": all(one.agrees for one in steps),
        "steps": [asdict(one) for one in steps],
        "beside": [step.name for step in control.steps if step.name not in ran],
    }


def run_network(
    machine: RtlMachine, control: Control, network: LayerNetwork, files: Mapping[str, str], seed: int
) -> tuple[RtlStep, ...]:
    """Every step that has a program in ``files`` on ``machine``, the others in the functional model; what a step leaves
    in DRAM is what the next one finds there.

    Raises: InputError if the overlay does not stop, or a layer has no form in integers.
    """
    places = json.loads(files["overlay.json"])
    lines = files["control.hex"].splitlines()
    programs = {
        one["name"]: "\n".join([*lines[one["first"] : one["first"] + one["words"]], STOP, ""])
        for one in places["steps"]
    }
    scales = {one["name"]: one["scales"] for one in places["steps"] if one["scales"] is not None}
    work = Overlay(network, control, seed)
    for _ in work.run():
        pass
    dram = np.zeros(places["dram_words"], np.int64)
    for step, layer in zip(control.steps, network.layers, strict=True):
        if isinstance(step, ConvolutionStep) and step.name in programs:
            own = parameters(layer, seed)
            _place(dram, step.weight_address, own.kernels)
            _place(dram, scales[step.name], np.concatenate([own.bias, own.factor]))
    for name in network.operators.inputs:
        _place_tensor(dram, control, work, name)
    done: list[RtlStep] = []
    for step, layer in zip(control.steps, network.layers, strict=True):
        made = [name for name, _ in layer.outputs]
        if step.name not in programs:
            for name in made:
                _place_tensor(dram, control, work, name)
            continue
        run = machine.run(programs[step.name], dram, CYCLES)
        dram = run.dram
        wanted = dram.copy()
        for name in made:
            _place_tensor(wanted, control, work, name)
        operations = next(one["operations"] for one in places["steps"] if one["name"] == step.name)
        products = sum(count for count, one in zip(run.cycles, operations, strict=True) if one == "gemm")
        equal = bool(np.array_equal(dram, wanted))
        moves = sum(run.cycles) - products
        done.append(RtlStep(step.name, equal, products, moves, _terms(step, control.array)))
    return tuple(done)


def _terms(step: ConvolutionStep | OtherStep, array: tuple[int, int]) -> dict[str, int]:
    if isinstance(step, OtherStep):
        return {}
    call, images = step.calls[0], step.shape.batch
    terms = gemm_cycles(array, step.dataflow, (call.a, call.b, call.c), len(step.calls))
    return {name: images * count for name, count in terms.items()}


def _place_tensor(dram: npt.NDArray[np.int64], control: Control, work: Overlay, name: str) -> None:
    _place(dram, control.region(name).address, np.stack(work.memory[name]))


def _place(dram: npt.NDArray[np.int64], address: int, words: npt.NDArray[np.generic]) -> None:
    dram[address : address + words.size] = words.ravel().astype(np.int64)
