"""A network whose layers are mapped becomes a program."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from mapper.codegen.modulo_schedule.network.layer_steps import layer_steps
from mapper.codegen.modulo_schedule.network.layout import layout_of, shapes_of
from mapper.codegen.modulo_schedule.network.operand import words_of
from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.models.modulo_schedule.configuration.word import Configuration
from mapper.models.modulo_schedule.network.mapping import LayerMapping
from mapper.models.modulo_schedule.network.way.activation import SCALES
from mapper.models.modulo_schedule.program.constant import Values, Weights, constants_of
from mapper.models.modulo_schedule.program.program import Program, Tensor
from mapper.models.modulo_schedule.program.step import MOST_WORDS, Step
from mapper.workloads.document import InputError
from mapper.workloads.network.network_layer import LayerNetwork, NetworkLayer

Mapped = Mapping[str, tuple[LayerProblem, LayerMapping]]
"""By name every layer that takes time, with its mapping."""
ON_HOST = "of an operator"
"""Stands where constants of arrays name the array."""


def compile_network(
    network: LayerNetwork, mapped: Mapped, weights: Weights, structure: Mapping[str, Any], data: str
) -> tuple[Program, Values]:
    """The program and its constants. ``structure`` is the document of the network's operators, ``data`` says where the
    weights are from.

    Raises: InputError if a layer has no program, or memory has too many words.
    """
    constants: dict[tuple[str, str], Values] = {}
    hosted: dict[str, tuple[int, ...]] = {}
    for layer in network.layers:
        if layer.name not in mapped:
            continue
        problem, mapping = mapped[layer.name]
        algorithm = problem.choice(mapping.algorithm)
        for array, values in constants_of(layer, algorithm, weights).items():
            constants[layer.name, array] = values
        for name in _read_by_host(layer, bool(algorithm.nests)):
            values = np.asarray(weights[name])
            constants[ON_HOST, name] = np.ascontiguousarray(values, np.float32).reshape(-1)
            hosted[name] = values.shape
    layout = layout_of(network, constants)
    kernels: dict[Configuration, int] = {}
    steps: list[Step] = []
    end = layout.buffer
    for problem, mapping in mapped.values():
        steps += layer_steps(problem, mapping, layout, lambda one: kernels.setdefault(one, len(kernels)))
        algorithm = problem.choice(mapping.algorithm)
        if algorithm.nests:
            end = max(end, layout.buffer + words_of(problem.layer, algorithm, layout).buffer_words)
    if end >= MOST_WORDS:
        raise InputError(
            network.name, "", f"has {end} words of memory; at most {MOST_WORDS - 1} can be named"
        )
    content = np.concatenate(list(constants.values()) or [np.zeros(0, np.float32)])
    machine = next(iter(mapped.values()))[0].machine
    shapes = shapes_of(network)
    program = Program(
        name=network.name,
        machine=machine.model_dump(mode="json", by_alias=True),
        structure=dict(structure),
        words=end,
        constants=content.size,
        constants_sha256=hashlib.sha256(content.tobytes()).hexdigest(),
        data=data,
        inputs=tuple(
            Tensor(name=name, shape=shapes[name], at=layout.tensors[name])
            for name in network.operators.inputs
        ),
        outputs=tuple(
            Tensor(name=one.tensor, shape=one.shape, at=layout.place(one)) for one in network.outputs
        ),
        tensors=tuple(
            Tensor(name=name, shape=shape, at=layout.tensors[name]) for name, shape in shapes.items()
        ),
        weights=tuple(
            Tensor(name=name, shape=shape, at=layout.constants[ON_HOST, name])
            for name, shape in hosted.items()
        ),
        kernels=tuple(kernels),
        steps=tuple(steps),
    )
    return program, content


def _read_by_host(layer: NetworkLayer, on_array: bool) -> list[str]:
    """Weights that operators in VLIW mode read: all of a layer that is not on the array; else those of merged operators
    that no constant of a nest has taken up."""
    folds = layer.work in ("convolution", "fully_connected")
    operators = [one for one in layer.merged if not (on_array and folds and one.op in SCALES)]
    names = [name for operator in operators for name, _ in operator.weights]
    return names if on_array else [*(name for name, _ in layer.operator.weights), *names]
