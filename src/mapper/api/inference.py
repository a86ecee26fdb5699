"""Inference from Python: a compiled program on the functional simulator."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mapper.arch.snowflake import SnowflakeMachine
from mapper.arch.source import load_machine
from mapper.models.trace_partition.isa.program import Program
from mapper.workloads.document import InputError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True)
class Inference:
    """A program and the machine that it runs on."""

    program: Program
    machine: SnowflakeMachine

    def run(self, *images: npt.NDArray[Any]) -> npt.NDArray[np.float32] | tuple[npt.NDArray[np.float32], ...]:
        """Run the network on an image, a float array (channels, height, width) or (1, channels, height, width), which
        is rounded to Q8.8. Returns the first output as floats with Q8.8 values: (channels, height, width), or a row
        where height and width are 1. A program for several images takes as many images and returns as many outputs.

        Raises: InputError if the number or the shape of the images is wrong.
        """
        import numpy as np

        from mapper.kind.trace_partition.run import words_of
        from mapper.models.trace_partition.data.quantisation import ONE
        from mapper.sim.trace_partition.functional.simulation import run
        from mapper.sim.trace_partition.host import run_call

        program = self.program
        if len(images) != len(program.inputs) or any(len(inputs) != 1 for inputs in program.inputs):
            raise InputError(program.name, "image", f"takes {len(program.inputs)} images of one input each")
        given = {}
        for place, (image, ((name, view),)) in enumerate(zip(images, program.inputs, strict=True)):
            array = np.asarray(image)
            given[place, name] = words_of(array, view.channels, view.height, view.width, program.name)
        memory = run(program, self.machine, given, run_call)
        answers = []
        for outputs in program.outputs:
            view = outputs[0][1]
            values = memory.view(view).astype(np.float32) / np.float32(ONE)
            answers.append(values.reshape(-1) if view.height * view.width == 1 else np.moveaxis(values, 2, 0))
        return answers[0] if len(answers) == 1 else tuple(answers)


def load(binary: Path | str, arch: str | None = None) -> Inference:
    """The program in the file ``binary``, written by ``mapper generate``, to be run on ``arch`` (by default the preset
    with as many clusters).

    Raises: InputError if the file holds no program, or the machine is none that runs it.
    """
    from mapper.models.trace_partition.isa.program_file import load_program

    program = load_program(Path(binary))
    clusters = next((count for count in (1, 2, 4) if count >= len(program.clusters)), len(program.clusters))
    name = arch or f"snowflake-{clusters}cc"
    machine, _ = load_machine(name)
    if not isinstance(machine, SnowflakeMachine) or machine.clusters < len(program.clusters):
        raise InputError(
            "arch", name, f"does not run a Snowflake program of {len(program.clusters)} clusters"
        )
    return Inference(program, machine)
