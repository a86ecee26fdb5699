"""Inference on a CGRA from Python: a compiled network on the array's engine."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mapper.kind.operator_structure import read_operator_structure
from mapper.models.modulo_schedule.energy import energy_pj
from mapper.models.modulo_schedule.program.program import Program
from mapper.models.modulo_schedule.program.program_file import load_network_program
from mapper.workloads.document import InputError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from mapper.sim.modulo_schedule.network.driver import NetworkRun

    Image = npt.NDArray[Any] | Mapping[str, npt.NDArray[Any]]
    Answer = npt.NDArray[np.float32] | dict[str, npt.NDArray[np.float32]]


class CgraInference:
    """The program in a file. ``cycles``, ``layer_cycles`` (by layer and cause) and ``energy_pj`` are those of the last
    run."""

    def __init__(self, path: Path) -> None:
        from mapper.sim.modulo_schedule.network.driver import Driver

        self.program: Program
        self.program, constants = load_network_program(path)
        network = read_operator_structure(self.program.structure, str(path))
        self._driver = Driver(self.program, network, constants)
        self.layer_cycles: dict[str, dict[str, int]] = {}
        self._cycles: int | None = None
        self.energy_pj: float | None = None

    @property
    def images(self) -> int:
        """Images that one run takes."""
        return 1

    @property
    def cycles(self) -> int:
        """Cycles of the last run, counted as it passed.

        Raises: InputError if there was none.
        """
        if self._cycles is None:
            raise InputError(self.program.name, "cycles", "are counted by a run; run an image first")
        return self._cycles

    @property
    def notes(self) -> tuple[str, ...]:
        """What of the last run was not on the array."""
        hosted = {
            name: causes["unmapped"] for name, causes in self.layer_cycles.items() if causes.get("unmapped")
        }
        return tuple(
            f"in VLIW mode: {name}, {count:,} cycles ({count / self.cycles:.1%} of the time)"
            for name, count in hosted.items()
        )

    def run(self, *images: Image) -> Answer:
        """What the network makes of an image: an array for a network of one input, or the arrays of all inputs by name,
        each of ONNX's shape, or that without leading ones. What comes out is an array of ONNX's shape, or a
        dictionary by ONNX's names where there are several outputs.

        Raises: InputError if a name or a shape is another, or an operator cannot be computed.
        """
        if len(images) != 1:
            raise InputError(self.program.name, "image", "runs on one at a time; give it alone")
        run = self._driver.run(self._given(images[0]))
        self._cycles = run.total
        self.layer_cycles = {layer: dict(causes) for layer, causes in run.cycles.items()}
        self.energy_pj = self._energy(run)
        found = {}
        for tensor in self.program.outputs:
            words = run.memory[tensor.at : tensor.at + math.prod(tensor.shape)]
            found[tensor.name] = words.reshape(tensor.shape).copy()
        return found if len(found) > 1 else next(iter(found.values()))

    def _energy(self, run: NetworkRun) -> float | None:
        """Energy of what was done; None if the machine has neither energies nor a power."""
        machine = self._driver.machine
        layers = [
            energy_pj(machine, run.activity[name], sum(run.cycles[name].values())) for name in run.cycles
        ]
        found = [one for one in layers if one is not None]
        return sum(found) if found else None

    def _given(self, image: Image) -> dict[str, npt.NDArray[np.float32]]:
        from mapper.kind.image import given_arrays

        wanted = {tensor.name: tuple(tensor.shape) for tensor in self.program.inputs}
        return given_arrays(self.program.name, wanted, image)
