"""What a mapped layer becomes: C around its kernels, the kernels as configuration words, and what runs when."""

from __future__ import annotations

from mapper.codegen.modulo_schedule.copy_program import copies_after, copies_before
from mapper.codegen.modulo_schedule.nest_program import nest_program
from mapper.codegen.modulo_schedule.network.layer_steps import configured
from mapper.codegen.modulo_schedule.program import configuration_files
from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.models.modulo_schedule.network.algorithm import Algorithm
from mapper.models.modulo_schedule.network.mapping import LayerMapping
from mapper.workloads.network.network_layer import NetworkLayer
from mapper.workloads.text.plain_text import plain


def generate_layer(problem: LayerProblem, mapping: LayerMapping) -> dict[str, str]:
    """File names and their text: ``program.txt``, which says in what order the others run and what has no code; for
    every nest of the algorithm ``<nest>.c`` with the loops that run in VLIW mode, and for every box of it
    ``<nest>.<number>.configuration.json``, its ``listing.txt`` and its ``schedule.svg``, numbered as the kernels in
    that C; before and after them the C of im2col, im2row, padding and cut rows where the algorithm copies words.

    Raises: InputError if the layer has no such algorithm, or a schedule cannot be assembled.
    """
    algorithm = problem.choice(mapping.algorithm)
    before, after = copies_before(problem.layer, algorithm), copies_after(problem.layer, algorithm)
    files = {"program.txt": _program(problem, algorithm, mapping, before, after)}
    files |= {f"{name}.c": text for name, text in before.items()}
    for position, nest in enumerate(algorithm.nests):
        loops = [loop for loop in mapping.loops if loop.nest == position]
        files[f"{nest.name}.c"] = nest_program(nest, [loop.box for loop in loops])
        for number, loop in enumerate(loops):
            made = configuration_files(configured(nest, loop, problem.machine), problem.machine)
            files |= {f"{nest.name}.{number}.{name}": text for name, text in made.items()}
    return files | {f"{name}.c": text for name, text in after.items()}


def _program(
    problem: LayerProblem,
    algorithm: Algorithm,
    mapping: LayerMapping,
    before: dict[str, str],
    after: dict[str, str],
) -> str:
    """The steps of a layer in the order in which they run, and what none of the files computes."""
    layer = problem.layer
    repeats = min((nest.repeats for nest in algorithm.nests), default=1)
    steps = [f"{name}.c: copies words in VLIW mode" for name in before]
    for position, nest in enumerate(algorithm.nests):
        kernels = ", ".join(
            f"{nest.name}.{number}"
            for number, _ in enumerate(loop for loop in mapping.loops if loop.nest == position)
        )
        points = nest.repeats // repeats
        again = f", at each of {points} points of the transformed tiles" if points > 1 else ""
        steps.append(f"{nest.name}.c: {kernels} on the array, the loops around in VLIW mode{again}")
    steps += [f"{name}.c: copies words in VLIW mode" for name in after]
    title = f"{layer.name} ({layer.op}) on {problem.machine.name} by {algorithm.name}"
    lines = [title + (f", {repeats} times (images and groups):" if repeats > 1 else ":")]
    lines += [f"{number}. {step}" for number, step in enumerate(steps, 1)]
    lines += [f"No code: {text}; the cost has its cycles." for text in _without_code(layer, algorithm)]
    return "\n".join(map(plain, lines)) + "\n"


def _without_code(layer: NetworkLayer, algorithm: Algorithm) -> list[str]:
    """What runs in VLIW mode and is not written out."""
    found = []
    if algorithm.elements:
        names = " and ".join(dict.fromkeys([layer.op, *(one.op for one in layer.merged)]))
        found.append(f"{algorithm.elements} elements of {names} run in VLIW mode")
    if algorithm.copied_words and not algorithm.nests:
        found.append(f"{algorithm.copied_words} words are moved in VLIW mode")
    return found
