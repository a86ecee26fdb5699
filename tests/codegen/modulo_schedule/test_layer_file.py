"""A mapped layer becomes C and configuration words."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from mapper.codegen.modulo_schedule import read_configuration
from mapper.codegen.modulo_schedule.layer import generate_layer
from mapper.codegen.modulo_schedule.nest_program import nest_program, nest_words
from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.models.modulo_schedule.network.mapping import LayerMapping, LoopMapping, kernel_of
from mapper.models.modulo_schedule.network.nest import Box
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.network.heuristic.loop_schedule import loop_schedule
from mapper.workloads.document import InputError
from tests.codegen.modulo_schedule.layer_program import machine
from tests.codegen.modulo_schedule.small_layer import (
    convolution_layer,
    drawn_cover,
    driven,
    layer_of,
    window_of,
)

SHAPE = (2, 3, 4, 5)


def scheduled() -> tuple[LayerProblem, LayerMapping]:
    """A layer of one nest in two boxes."""
    problem = LayerProblem(layer_of("activation", "Relu", SHAPE, SHAPE), machine())
    (algorithm,) = problem.choices
    (nest,) = algorithm.nests
    loops = []
    for box in (Box((0,), (117,), (3,), "p"), Box((117,), (3,), (1,), "p")):
        schedule = loop_schedule(kernel_of(nest, box), problem.machine, Effort()).mapping
        assert schedule is not None
        loops.append(LoopMapping(0, box, None, schedule))
    return problem, LayerMapping(algorithm.name, tuple(loops))


def test_a_layer_becomes_one_file_of_c_and_the_words_of_every_kernel() -> None:
    problem, mapping = scheduled()
    files = generate_layer(problem, mapping)
    made = ("configuration.json", "listing.txt", "schedule.svg")
    kernels = [f"activation.{box}.{name}" for box in (0, 1) for name in made]
    assert list(files) == ["program.txt", "activation.c", *kernels]
    for number, loop in enumerate(mapping.loops):
        document = json.loads(files[f"activation.{number}.configuration.json"])
        assert read_configuration(document, "test").trip_count == (39, 3)[number]
        assert f"static void activation_{number}(" in files["activation.c"]
        assert read_configuration(document, "test").ii == loop.schedule.ii


def test_the_program_names_its_steps_and_what_has_no_code() -> None:
    problem, mapping = scheduled()
    program = generate_layer(problem, mapping)["program.txt"].splitlines()
    assert program[0] == "layer (Relu) on srp-4x4 by direct:"
    assert program[1:] == [
        "1. activation.c: activation.0, activation.1 on the array, the loops around in VLIW mode"
    ]
    softmax = LayerProblem(layer_of("softmax", "Softmax", (1, 10), (1, 10)), machine())
    files = generate_layer(softmax, LayerMapping("vliw", ()))
    assert list(files) == ["program.txt"]
    assert files["program.txt"].splitlines()[1] == (
        "No code: 10 elements of Softmax run in VLIW mode; the cost has its cycles."
    )


def test_an_algorithm_that_the_layer_does_not_have_is_an_error() -> None:
    problem, mapping = scheduled()
    with pytest.raises(InputError, match="algorithm"):
        generate_layer(problem, replace(mapping, algorithm="gemm"))


@pytest.mark.parametrize("place", [0, 1])
def test_a_nest_touches_exactly_the_words_that_its_file_names(place: int) -> None:
    layer = convolution_layer((1, 3, 7, 6), 5, window_of(3))
    nest = driven(layer, machine())[place].nests[1]
    boxes = drawn_cover(nest, nest.names[-1], 3)
    reached = dict.fromkeys(nest_words(nest), 0)
    for box in boxes:
        for array in kernel_of(nest, box).arrays:
            access = next(one for one in (*nest.inputs, nest.output) if one.array == array.name)
            first = {
                name: start if name == box.innermost else start + count - unroll
                for name, start, count, unroll in zip(
                    nest.names, box.start, box.count, box.unroll, strict=True
                )
            }
            reached[array.name] = max(reached[array.name], access.offsets(first) + array.words)
    wanted = nest_words(nest)
    assert reached | ({"a": wanted["a"]} if nest.window else {}) == wanted
    assert "Words touched: " + ", ".join(f"{name} {words}" for name, words in wanted.items()) in nest_program(
        nest, boxes
    )
