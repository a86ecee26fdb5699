"""Inference from Python: a compiled program on the functional simulator."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mapper.arch.snowflake import SnowflakeMachine
from mapper.arch.source import load_machine
from mapper.models.trace_partition.isa.program import HostCall, Program
from mapper.workloads.document import InputError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from mapper.kind.algorithm_selection.inference import OverlayInference
    from mapper.kind.modulo_schedule.inference import CgraInference
    from mapper.kind.pe_allocation.inference import ArrayInference
    from mapper.models.trace_partition.isa.program import Words
    from mapper.models.trace_partition.lowering.layer import TensorView

    Image = npt.NDArray[Any] | Mapping[str, npt.NDArray[Any]]
    Answer = npt.NDArray[np.float32] | dict[str, npt.NDArray[np.float32]]

BINARY, CONFIGURATION, PROGRAM = "program.snow", "configuration.json", "program.json"
PLACES = "overlay.json"


@dataclass(frozen=True)
class Inference:
    """A program and the machine that it runs on."""

    program: Program
    machine: SnowflakeMachine

    @property
    def images(self) -> int:
        """Images that one run takes: those of one accelerator, times their number."""
        return self.program.accelerators * len(self.program.inputs)

    def run(self, *images: Image) -> Answer | tuple[Answer, ...]:
        """What the network makes of an image: an array for a network of one input, or the arrays of all inputs by
        name. Each has ONNX's shape, or that without leading ones, and is rounded to Q8.8. What comes out is Q8.8 as
        floats in ONNX's shape: an array, or a dictionary by ONNX's names where there are several outputs. A program for
        several images, or of several accelerators, takes as many and answers so many.

        Raises: InputError if the number of images, a name or a shape is another.
        """
        from mapper.sim.trace_partition.functional.simulation import run
        from mapper.sim.trace_partition.host import run_call

        program, each = self.program, len(self.program.inputs)
        if len(images) != self.images:
            raise InputError(program.name, "image", f"runs on {self.images} at a time; give as many")
        given = [self._given(image, place % each) for place, image in enumerate(images)]
        answers: list[Answer] = []
        for first in range(0, len(images), each):
            words = {
                (place, name): array
                for place, named in enumerate(given[first : first + each])
                for name, array in named.items()
            }
            memory = run(program, self.machine, words, run_call)
            answers += [
                self._answer({name: memory.view(view) for name, view in made}) for made in program.outputs
            ]
        return answers[0] if len(answers) == 1 else tuple(answers)

    @cached_property
    def cycles(self) -> int:
        """Cycles of a run, which do not depend on the images: of the cycle simulator, and for the host's operators as
        the model has them."""
        from mapper.sim.trace_partition.cycle.simulation import simulate_cycles

        hosted = sum(self._host_cycles(call) for call in self.program.calls)
        return simulate_cycles(self.program, self.machine).cycles + hosted

    def _host_cycles(self, call: HostCall) -> int:
        """One host has the calls of all accelerators."""
        elements = sum(view.height * view.width * view.channels for view in (*call.inputs, call.output))
        products = dict(call.attributes).get("mapper.macs", 0)
        macs = products if isinstance(products, int) else 0
        taken = self.program.accelerators * self.machine.host.seconds(elements, macs)
        return math.ceil(taken * self.machine.clock_hz)

    def _given(self, image: Image, place: int) -> dict[str, Words]:
        """The words of an image's inputs."""
        wanted = dict(self.program.inputs[place])
        if not isinstance(image, Mapping):
            if len(wanted) > 1:
                remedy = f"has the inputs {', '.join(wanted)[:80]}; give their arrays by name"
                raise InputError(self.program.name, "image", remedy)
            image = dict.fromkeys(wanted, image)
        for name in {*wanted, *image} - (wanted.keys() & image.keys()):
            remedy = "is missing" if name in wanted else f"is no input; there are {', '.join(wanted)[:80]}"
            raise InputError(self.program.name, f"input {name[:60]!r}", remedy)
        return {name: self._words(name, view, image[name]) for name, view in wanted.items()}

    def _words(self, name: str, view: TensorView, image: npt.NDArray[Any]) -> Words:
        import numpy as np

        from mapper.models.trace_partition.data.fixed_point import words

        array, size = np.asarray(image), (view.channels, view.height, view.width)
        shape = dict(self.program.shapes).get(name, size)
        ones = next((at for at, one in enumerate(shape) if one != 1), len(shape))
        if array.size != math.prod(size) or array.shape not in {shape[at:] for at in range(ones + 1)}:
            remedy = f"has the shape {array.shape}; give {tuple(shape)}"
            raise InputError(self.program.name, f"input {name[:60]!r}", remedy)
        return words(np.moveaxis(array.reshape(size), 0, 2))

    def _answer(self, made: Mapping[str, Words]) -> Answer:
        import numpy as np

        from mapper.models.trace_partition.data.fixed_point import ONE

        shapes = dict(self.program.shapes)
        found = {}
        for name, words in made.items():
            values = np.moveaxis(words.astype(np.float32) / np.float32(ONE), 2, 0)
            found[name] = values.reshape(shapes.get(name, values.shape))
        return found if len(found) > 1 else next(iter(found.values()))


def load(
    binary: Path | str, arch: str | None = None
) -> Inference | ArrayInference | CgraInference | OverlayInference:
    """What the folder that ``mapper generate`` wrote holds, or its program file: a Snowflake program, to be run on
    ``arch`` (by default the preset with as many clusters), or a TCPA's configuration, a CGRA's program or an overlay,
    which say their machine.

    Raises: InputError if there is neither, or the machine is none that runs it.
    """
    from mapper.models.trace_partition.isa.program_file import load_program

    path = Path(binary)
    if path.name == CONFIGURATION or (path / CONFIGURATION).is_file():
        from mapper.kind.pe_allocation.inference import load_array

        if arch is not None:
            raise InputError("arch", arch, "is not asked for; the configuration says its machine")
        return load_array(path.parent if path.name == CONFIGURATION else path)
    if path.name == PROGRAM or (path / PROGRAM).is_file():
        from mapper.kind.modulo_schedule.inference import CgraInference

        if arch is not None:
            raise InputError("arch", arch, "is not asked for; the program says its machine")
        return CgraInference(path if path.name == PROGRAM else path / PROGRAM)
    if path.name == PLACES or (path / PLACES).is_file():
        from mapper.kind.algorithm_selection.inference import load_overlay

        if arch is not None:
            raise InputError("arch", arch, "is not asked for; the overlay says its machine")
        return load_overlay(path.parent if path.name == PLACES else path)
    program = load_program(path / BINARY if path.is_dir() else path)
    clusters = next((count for count in (1, 2, 4) if count >= len(program.clusters)), len(program.clusters))
    name = arch or f"snowflake-{clusters}cc"
    machine, _ = load_machine(name)
    if not isinstance(machine, SnowflakeMachine) or machine.clusters < len(program.clusters):
        raise InputError(
            "arch", name, f"does not run a Snowflake program of {len(program.clusters)} clusters"
        )
    if machine.accelerators < program.accelerators:
        raise InputError("arch", name, f"has fewer than the program's {program.accelerators} accelerators")
    return Inference(program, machine)
