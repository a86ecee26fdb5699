"""A network on the Verilog, beside the functional model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mapper.models.algorithm_selection.control.sequence import Control, ConvolutionStep
from mapper.models.algorithm_selection.layer_cause import Causes
from mapper.models.algorithm_selection.number.network_number import NetworkNumbers
from mapper.sim.algorithm_selection.agreement import agrees, beyond
from mapper.sim.algorithm_selection.network import Drawn, Overlay, Tensors, drawn
from mapper.sim.algorithm_selection.rtl.machine import RtlMachine, Span
from mapper.workloads.network.network_layer import LayerNetwork

STOP = f"{5 | 1 << 8 | 15 << 24:064x}"
"""The line of control memory after which the overlay stops when all is done."""
CYCLES = 100_000_000
"""No network that is run as Verilog takes longer."""
ENGINES = ("input", "kernel", "array", "output")


@dataclass(frozen=True)
class RtlStep:
    """A step on the Verilog: ``equal`` to the functional model in every word it leaves in DRAM, in which nothing is
    written of a map that stays on the chip; ``cycles`` from the end
    of the step before it to its own, those that the ``timeline`` of the generated program has, those in which each
    engine was busy, and the ``causes`` of the step's cycles."""

    name: str
    equal: bool
    cycles: int
    timeline: int
    busy: dict[str, int]
    causes: Causes


def report_rtl(
    control: Control,
    network: LayerNetwork,
    files: Mapping[str, str | bytes],
    model: int,
    said: Mapping[str, Causes],
    seed: int = 0,
    data: Drawn | None = None,
) -> dict[str, Any]:
    """What ``mapper simulate --rtl`` says: ``files`` are those generated for ``control``; ``outputs_equal`` if every
    step that has a program leaves in DRAM what the functional model leaves; ``agrees`` if all of them together take as
    many cycles as the ``model`` says, and each as many as ``said``, the model's causes by step, up to the tolerance
    (`agreement.py`); ``beyond`` has those that do not. The Verilog's causes stand beside the model's in ``layers``, and
    their sums in ``causes``. ``data``: drawn from ``seed`` if there are no others.

    Raises: InputError if Verilator is missing or fails, or a layer has no form in integers.
    """
    sources = {Path(name).name: text for name, text in files.items() if name.startswith(("rtl/", "host/"))}
    dram_words = max(2, json.loads(files["overlay.json"])["dram_words"])
    data = data or drawn(network, seed)
    with RtlMachine(sources, dram_words) as machine:
        steps = run_network(machine, control, network, files, data.numbers, data.inputs)
    ran = {one.name for one in steps}
    off = beyond({one.name: one.cycles for one in steps}, {name: one.cycles for name, one in said.items()})
    equal, cycles = all(one.equal for one in steps), sum(one.cycles for one in steps)
    return {
        "outputs_equal": equal,
        "agrees": equal and not off and agrees(cycles, model),
        "beyond": off,
        "cycles": cycles,
        "cycles_model": model,
        "steps": [asdict(one) for one in steps],
        "layers": {one.name: _beside_model(one.causes, said.get(one.name, Causes())) for one in steps},
        "causes": _beside_model(_total(one.causes for one in steps), _total(said.values())),
        "beside": [step.name for step in control.steps if step.name not in ran],
    }


def _beside_model(verilog: Causes, model: Causes) -> dict[str, Any]:
    """Cycles of the Verilog and of the model by cause, and by how much of the model's the former are more."""
    off = (verilog.cycles - model.cycles) / model.cycles if model.cycles else None
    return {"verilog": asdict(verilog), "model": asdict(model), "off": off}


def _total(every: Iterable[Causes]) -> Causes:
    causes = list(every)
    return Causes(*(sum(getattr(one, cause) for one in causes) for cause in ("array", "moves", "waits")))


def run_network(
    machine: RtlMachine,
    control: Control,
    network: LayerNetwork,
    files: Mapping[str, str | bytes],
    numbers: NetworkNumbers,
    inputs: Tensors,
) -> tuple[RtlStep, ...]:
    """Every run of steps that have programs in ``files`` on ``machine``, the others in the functional model; what a run
    leaves in DRAM is what the next one finds there.

    Raises: InputError if the overlay does not stop, or a layer has no form in integers.
    """
    places = json.loads(files["overlay.json"])
    lines = str(files["control.hex"]).splitlines()
    programs = {one["name"]: one for one in places["steps"]}
    work = Overlay(network, control, numbers, inputs)
    for _ in work.run():
        pass
    kept = {one["tensor"] for one in places["on_chip"]}
    dram = np.zeros(places["dram_words"], np.int64)
    image = files.get("dram.bin")
    if isinstance(image, bytes):
        dram = np.frombuffer(image, "<i4").astype(np.int64)
    for step, layer in zip(control.steps, network.layers, strict=True):
        if image is None and isinstance(step, ConvolutionStep) and step.name in programs:
            own = numbers.layers[layer.name]
            _place(dram, step.weight_address, own.kernels)
            _place(dram, programs[step.name]["scales"], np.concatenate([own.bias, own.factor]))
    for name in network.operators.inputs:
        _place_tensor(dram, control, work, name)
    outputs = {layer.name: [name for name, _ in layer.outputs] for layer in network.layers}
    done: list[RtlStep] = []
    for names in _runs([step.name for step in control.steps], programs):
        if names[0] not in programs:
            for name in outputs[names[0]]:
                _place_tensor(dram, control, work, name)
            continue
        own_lines = [
            line
            for one in names
            for line in lines[programs[one]["first"] : programs[one]["first"] + programs[one]["lines"]]
        ]
        before_run = dram
        run = machine.run("\n".join([*own_lines, STOP, ""]), dram, CYCLES)
        dram = run.dram
        spans, before = iter(run.spans), 0
        for name in names:
            own_spans = [next(spans) for _ in programs[name]["engines"]]
            # What a pool takes on its way is stored nowhere.
            equal = all(
                _untouched(before_run, dram, control, work, one)
                if one in kept
                else _same(dram, control, work, one)
                for one in outputs[programs[name].get("pool", name)]
            )
            end = max([before, *(span.end for span in own_spans if ENGINES[span.engine] == "output")])
            cycles, causes = programs[name]["cycles"], _causes(own_spans, before, end)
            done.append(RtlStep(name, equal, end - before, cycles, _busy(own_spans), causes))
            before = end
    return tuple(done)


def _runs(names: Sequence[str], programs: Mapping[str, Any]) -> Iterator[list[str]]:
    """Steps that run on the overlay one after another, and each other step by itself."""
    running: list[str] = []
    for name in names:
        if name in programs:
            running.append(name)
            continue
        if running:
            yield running
        running = []
        yield [name]
    if running:
        yield running


def _busy(spans: Sequence[Span]) -> dict[str, int]:
    found = dict.fromkeys(ENGINES, 0)
    for span in spans:
        found[ENGINES[span.engine]] += span.cycles
    return found


def _causes(spans: Sequence[Span], before: int, end: int) -> Causes:
    """Of the cycles between two ends: those in which the array was busy, those in which neither it nor a mover of maps
    was, before the first product, so that kernels were waited for, and the others."""
    array = sum(span.cycles for span in spans if ENGINES[span.engine] == "array")
    first = min((span.start for span in spans if ENGINES[span.engine] == "array"), default=before)
    maps = [span.end for span in spans if ENGINES[span.engine] != "kernel" and span.end <= first]
    kernels = [span for span in spans if ENGINES[span.engine] == "kernel" and span.start < first]
    waits = max(0, first - max([before, *maps])) if kernels or array else 0
    return Causes(array, end - before - array - waits, waits)


def _same(dram: npt.NDArray[np.int64], control: Control, work: Overlay, name: str) -> bool:
    wanted = np.stack(work.memory[name]).astype(np.int64).ravel()
    return bool(np.array_equal(dram[_words(control, work, name)], wanted))


def _untouched(
    before: npt.NDArray[np.int64],
    after: npt.NDArray[np.int64],
    control: Control,
    work: Overlay,
    name: str,
) -> bool:
    words = _words(control, work, name)
    return bool(np.array_equal(before[words], after[words]))


def _place_tensor(dram: npt.NDArray[np.int64], control: Control, work: Overlay, name: str) -> None:
    dram[_words(control, work, name)] = np.stack(work.memory[name]).astype(np.int64).ravel()


def _words(control: Control, work: Overlay, name: str) -> npt.NDArray[np.int64]:
    """Where the words of a tensor lie: side by side, or its channels inside those of a concatenation; in planes, where
    that channel of its image begins and as far on as the position is."""
    region, size = control.region(name), np.stack(work.memory[name]).size
    at = np.arange(size)
    if region.layout == "planes":
        plane = region.walk.height * region.walk.width
        position, channel = np.divmod(at, region.walk.channels)
        image, position = np.divmod(position, plane)
        return region.address + (image * region.whole_channels + channel) * plane + position
    if not region.pitch:
        return region.address + at
    return region.address + at // region.walk.channels * region.pitch + at % region.walk.channels


def _place(dram: npt.NDArray[np.int64], address: int, words: npt.NDArray[np.generic]) -> None:
    dram[address : address + words.size] = words.ravel().astype(np.int64)
