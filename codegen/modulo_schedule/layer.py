"""What a mapped layer becomes: C around its kernels, and the kernels as configuration words."""

from __future__ import annotations

from mapper.codegen.modulo_schedule.nest_program import nest_program
from mapper.codegen.modulo_schedule.program import generate
from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.models.modulo_schedule.network.mapping import LayerMapping, kernel_of


def generate_layer(problem: LayerProblem, mapping: LayerMapping) -> dict[str, str]:
    """File names and their text: for every nest of the algorithm, in the order in which they run, ``<nest>.c`` with
    the loops that run in VLIW mode, and for every box of it ``<nest>.<number>.configuration.json``, its
    ``listing.txt`` and its ``schedule.svg``, numbered as the kernels in that C.

    Raises: InputError if the layer has no such algorithm, or a schedule cannot be assembled.
    """
    algorithm = problem.choice(mapping.algorithm)
    files: dict[str, str] = {}
    for position, nest in enumerate(algorithm.nests):
        loops = [loop for loop in mapping.loops if loop.nest == position]
        files[f"{nest.name}.c"] = nest_program(nest, [loop.box for loop in loops])
        for number, loop in enumerate(loops):
            kernel = kernel_of(nest, loop.box, loop.pointer_uses)
            made = generate(kernel, problem.machine, loop.schedule)
            files |= {f"{nest.name}.{number}.{name}": text for name, text in made.items()}
    return files
