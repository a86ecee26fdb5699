"""The steps of one mapped layer: copies, kernels with what each start takes, and operators in VLIW mode."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from mapper.arch.cgra import CgraMachine
from mapper.codegen.modulo_schedule.nest_program import LIVE_IN, POINTER, access_of, parameters, place_of
from mapper.codegen.modulo_schedule.network.copying import copies_after, copies_before
from mapper.codegen.modulo_schedule.network.layout import Layout
from mapper.codegen.modulo_schedule.network.operand import LayerWords, Operand, words_of
from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.models.modulo_schedule.configuration.assembly import assemble
from mapper.models.modulo_schedule.configuration.live_in import with_live_ins
from mapper.models.modulo_schedule.configuration.word import Configuration
from mapper.models.modulo_schedule.network.algorithm import Algorithm
from mapper.models.modulo_schedule.network.cost import element_cycles, vliw_mode
from mapper.models.modulo_schedule.network.mapping import LayerMapping, LoopMapping, kernel_of
from mapper.models.modulo_schedule.network.nest import Access, Box, Nest
from mapper.models.modulo_schedule.network.way.activation import SCALES
from mapper.models.modulo_schedule.network.way.pool import rim_elements
from mapper.models.modulo_schedule.program.step import Host, Load, Place, Run, Step
from mapper.workloads.c.way import ASSUMED_FLOAT

ACTIVATION = "activation"
Numbered = Callable[[Configuration], int]
"""Gives a kernel its number among those of the program."""


def layer_steps(
    problem: LayerProblem, mapping: LayerMapping, layout: Layout, numbered: Numbered
) -> Iterator[Step]:
    """What the driver does for a layer, in order.

    Raises: InputError if a schedule cannot be assembled, or the layer's operands cannot be placed.
    """
    layer, algorithm = problem.layer, problem.choice(mapping.algorithm)
    mode = vliw_mode(problem.machine)
    if not algorithm.nests:
        if algorithm.elements:
            each = element_cycles(layer.op, problem.machine)
            yield Host(layer=layer.name, what="whole", elements=algorithm.elements, cycles=each)
        else:
            cycles = mode.word_cycles
            yield Host(layer=layer.name, what="whole", elements=algorithm.copied_words, cycles=cycles)
        return
    words = words_of(layer, algorithm, layout)
    yield from copies_before(layer, algorithm, words, layout)
    last = [position for position, nest in enumerate(algorithm.nests) if nest.name == ACTIVATION]
    for position, nest in enumerate(algorithm.nests):
        if position in last:
            yield from _hosted(problem, algorithm)
        for loop in (loop for loop in mapping.loops if loop.nest == position):
            number = numbered(configured(nest, loop, problem.machine))
            yield Load(layer=layer.name, kernel=number)
            yield _run(layer.name, number, nest, loop.box, words)
    yield from copies_after(layer, algorithm, words, layout)
    if not last:
        yield from _hosted(problem, algorithm)


def configured(nest: Nest, loop: LoopMapping, machine: CgraMachine) -> Configuration:
    """The words of a loop's kernel, live-ins by name.

    Raises: InputError if the schedule cannot be assembled.
    """
    kernel = kernel_of(nest, loop.box, loop.pointer_uses)
    given = [found[1] for one in parameters(nest, loop.box) if (found := LIVE_IN.fullmatch(one))]
    # The front end numbers parameters in their order; no nest with constants of its own has any.
    assert not (given and nest.numbers)
    names = {ASSUMED_FLOAT * (1 + place): name for place, name in enumerate(given)}
    return with_live_ins(assemble(kernel, machine, loop.schedule), names)


def _hosted(problem: LayerProblem, algorithm: Algorithm) -> Iterator[Host]:
    """Elements that the array does not compute: rims of averages, then operators that are merged into the layer."""
    layer, rim = problem.layer, rim_elements(problem.layer)
    each = element_cycles(layer.op, problem.machine)
    if rim:
        yield Host(layer=layer.name, what="rim", elements=rim, cycles=each)
    if algorithm.elements > rim:
        folds = layer.work in ("convolution", "fully_connected")
        inlined = 1 if any(nest.name == ACTIVATION for nest in algorithm.nests) else 0
        left = layer.merged[: len(layer.merged) - inlined]
        operators = tuple(one.name for one in left if not (folds and one.op in SCALES))
        elements = algorithm.elements - rim
        yield Host(layer=layer.name, what="merged", elements=elements, cycles=each, operators=operators)


def _run(layer: str, number: int, nest: Nest, box: Box, words: LayerWords) -> Run:
    repeats = words.repeats_of(nest)
    loops = [(0, count, 1) for count in repeats]
    loops += [
        (start, start + count, unroll)
        for name, start, count, unroll in zip(nest.names, box.start, box.count, box.unroll, strict=True)
        if name != box.innermost
    ]
    arrays, live_ins = {}, {}
    for parameter in parameters(nest, box):
        if (pointer := POINTER.fullmatch(parameter)) is not None:
            access = access_of(nest, pointer[1] or pointer[2])
            operand = words.operands[access.array]
            arrays[access.array] = _place(nest, box, access, 0, operand, len(repeats))
        elif (live_in := LIVE_IN.fullmatch(parameter)) is not None:
            access, offset = place_of(nest, live_in[1])
            operand = words.operands[access.array]
            live_ins[live_in[1]] = _place(nest, box, access, offset, operand, len(repeats))
    return Run(
        layer=layer,
        kernel=number,
        iterations=box.trip_count(nest),
        loops=tuple(loops),
        arrays=arrays,
        live_ins=live_ins,
    )


def _place(nest: Nest, box: Box, access: Access, offset: int, operand: Operand, repeats: int) -> Place:
    """The word of an access when the kernel starts, in terms of its repeats and the loops around the kernel."""
    at, strides = operand.at + offset, [*operand.strides(repeats)]
    for name, start in zip(nest.names, box.start, strict=True):
        if name == box.innermost:
            at += access.stride(name) * start
        else:
            strides.append(access.stride(name))
    return Place(at=at, strides=tuple(strides))
