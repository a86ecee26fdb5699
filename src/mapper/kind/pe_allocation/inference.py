"""Inference on a TCPA from Python: a generated configuration, run in the event simulator."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from mapper.arch.tcpa import TcpaMachine
from mapper.models.pe_allocation.configuration.program import Configuration
from mapper.models.pe_allocation.number.plan import NumberPlan
from mapper.workloads.document import InputError, parse_document, read_bytes

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Image = npt.NDArray[Any] | Mapping[str, npt.NDArray[Any]]
    Answer = npt.NDArray[np.float32] | dict[str, npt.NDArray[np.float32]]

LARGEST_FILE = 1 << 30


@dataclass
class ArrayInference:
    """A configured array with the numbers of a network. ``saturated``: numbers of the last run's inputs that are
    beyond those that words hold."""

    configuration: Configuration
    machine: TcpaMachine
    plan: NumberPlan
    saturated: int = field(default=0, init=False)
    _taken: int | None = field(default=None, init=False)
    images: ClassVar[int] = 1

    def run(self, image: Image) -> Answer:
        """What the network makes of an image: an array for a network of one input, or the arrays of all inputs by name,
        each of ONNX's shape or without leading ones. What comes out has ONNX's shape: an array, or a dictionary by
        ONNX's names where there are several outputs.

        Raises: InputError if a name or a shape is another, or something goes wrong in the array.
        """
        import numpy as np

        from mapper.sim.pe_allocation.data import Data
        from mapper.sim.pe_allocation.own.processor import Processor
        from mapper.sim.pe_allocation.simulation import simulate

        frame = self._given(image)
        processor = Processor(self.plan, [frame])
        data = Data({}, tuple(layer.data for layer in self.plan.layers), processor)
        run = simulate(self.configuration, self.machine, data, 1)
        if run.violations:
            first = run.violations[0]
            raise InputError(self.configuration.network, first.place, f"{first.rule}; generate it again")
        self._taken = max(ends[0] for ends in run.ends) - min(starts[0] for starts in run.starts)
        self.saturated = self._beyond(frame)
        (found,) = processor.outputs(run.made)
        answer = {name: np.asarray(values, np.float32) for name, values in found.items()}
        return answer if len(answer) > 1 else next(iter(answer.values()))

    @property
    def cycles(self) -> int:
        """Cycles of a run, one frame, which do not depend on the image."""
        if self._taken is None:
            tensors = self.plan.network.operators.tensors
            import numpy as np

            self.run({name: np.zeros(tensors[name]) for name in self.plan.network.operators.inputs})
        assert self._taken is not None
        return self._taken

    def _given(self, image: Image) -> dict[str, npt.NDArray[np.float32]]:
        from mapper.kind.image import given_arrays

        operators = self.plan.network.operators
        return given_arrays(
            operators.name, {name: operators.tensors[name] for name in operators.inputs}, image
        )

    def _beyond(self, frame: Mapping[str, npt.NDArray[Any]]) -> int:
        """How many numbers of the inputs are beyond the words of the layers that read them."""
        import numpy as np

        most: dict[str, float] = {}
        for stream, plan in zip(self.plan.streams.layers, self.plan.layers, strict=True):
            for one, bits in zip(self.plan.network.layer(stream.name).inputs, plan.operands, strict=True):
                limit = math.ldexp(1 << (self.plan.bits - 1), -bits)
                most[one.tensor] = min(limit, most.get(one.tensor, limit))
        return sum(int((np.abs(values) > most[name]).sum()) for name, values in frame.items() if name in most)


def load_array(folder: Path) -> ArrayInference:
    """The configuration in a folder that ``mapper generate`` wrote.

    Raises: InputError if its files are not those of one network.
    """
    from mapper.arch.source import machine_from_document
    from mapper.codegen.pe_allocation.document import document
    from mapper.codegen.pe_allocation.program import (
        CONFIGURATION,
        CONSTANTS,
        NETWORK,
        NETWORK_SCHEMA,
        configured,
    )
    from mapper.formulations.pe_allocation.problem import AllocationProblem
    from mapper.formulations.pe_allocation.referee.verify import verify
    from mapper.kind.operator_structure import read_operator_structure
    from mapper.models.pe_allocation.cost import MODELS
    from mapper.models.pe_allocation.mapping_file import allocation_from_json
    from mapper.models.pe_allocation.number.plan_file import read_plan
    from mapper.models.pe_allocation.stream.layer import stream_network

    source = str(folder / NETWORK)
    if not (folder / NETWORK).is_file() and (folder / CONFIGURATION).is_file():
        remedy = "is missing: the network had no numbers of its own; mapper simulate says why"
        raise InputError(source, "", remedy)
    fields = parse_document(read_bytes(folder / NETWORK, LARGEST_FILE), source, LARGEST_FILE)
    parts = [fields.get(name) for name in ("machine", "mapping", "numbers")]
    if fields.get("schema") != NETWORK_SCHEMA or not all(isinstance(part, dict) for part in parts):
        raise InputError(source, "schema", f"is not {NETWORK_SCHEMA}; generate it again")
    machine = machine_from_document(fields["machine"], source)
    if not isinstance(machine, TcpaMachine) or fields.get("model") not in MODELS:
        raise InputError(source, "machine", "is no TCPA with a model; generate it again")
    network = read_operator_structure(fields, source)
    streams = stream_network(network)
    allocation = allocation_from_json(fields["mapping"], streams.names, source)
    constants = read_bytes(folder / CONSTANTS, LARGEST_FILE)
    plan = read_plan(network, streams, fields["numbers"], constants, str(folder / CONSTANTS))
    problem = AllocationProblem(
        streams,
        machine,
        model=fields["model"],
        mode=allocation.mode,
        sharing=bool(allocation.shared),
        free_delta=True,
    )
    broken = verify(problem, allocation).broken
    if broken:
        raise InputError(
            source, f"mapping.{broken[0].place}", f"breaks a rule: {broken[0].rule}; generate it again"
        )
    configuration = configured(problem, allocation, plan)
    written = folder / CONFIGURATION
    held = parse_document(read_bytes(written, LARGEST_FILE), str(written), LARGEST_FILE)
    if held != document(configuration, machine):
        raise InputError(str(written), "", f"is not what {NETWORK} says; generate it again")
    return ArrayInference(configuration, machine, plan)
