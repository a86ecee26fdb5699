"""One mapped layer, compiled and run as a whole."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from mapper.codegen.modulo_schedule.network.layout import shapes_of
from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.kind.modulo_schedule.network_program import compiled, weights_of
from mapper.models.modulo_schedule.network.cost import evaluate_layer
from mapper.models.modulo_schedule.network.mapping import LayerMapping
from mapper.sim.modulo_schedule.network.driver import Driver
from mapper.sim.modulo_schedule.network.reference import layer_reference
from mapper.sim.modulo_schedule.report import largest_error
from mapper.workloads.document import InputError
from mapper.workloads.network.network_layer import LayerInput, LayerNetwork, NetworkLayer
from mapper.workloads.network.operator_network import OperatorNetwork
from mapper.workloads.network.weight import seeded_inputs

MOST_CYCLES = 1 << 30
"""A layer of more is not run as a whole, which would take minutes."""


def with_whole_run(
    found: dict[str, Any], network: LayerNetwork, problem: LayerProblem, mapping: LayerMapping, seed: int
) -> dict[str, Any]:
    """What the simulator ``found`` of a layer's loops, and whether the layer's program computes the reference's
    words in the model's cycles with the model's actions; ``notes`` say what was not run."""
    layer, algorithm = problem.layer, problem.choice(mapping.algorithm)
    model = evaluate_layer(algorithm, layer.op, problem.machine, mapping)
    if not algorithm.nests:
        note = (
            f"{layer.name}: {layer.op} runs in VLIW mode for {model.cycles:,} cycles; no loop was simulated"
        )
        return {**found, "notes": [note]}
    if model.cycles > MOST_CYCLES:
        return {**found, "notes": [f"{layer.name}: the beginning of every loop was run, not the whole layer"]}
    try:
        run = _run(network, problem, mapping, seed)
    except InputError as error:
        return {**found, "notes": [f"{layer.name} was not run as a whole: {error}"]}
    known = found["max_error"]
    worst = None if known is None else max(run["max_error"], known)
    return {
        **found,
        "outputs_equal": found["outputs_equal"] and run["outputs_equal"],
        "max_error": worst if worst is not None and math.isfinite(worst) else None,
        "agrees": found["agrees"]
        and run["cycles"] == model.cycles
        and model.activity in (None, run["activity"]),
        "whole": {"outputs_equal": run["outputs_equal"], "cycles": run["cycles"]},
    }


def _run(network: LayerNetwork, problem: LayerProblem, mapping: LayerMapping, seed: int) -> dict[str, Any]:
    alone = _alone(network, problem.layer)
    (layer,) = alone.layers
    program, constants = compiled(alone, [(replace(problem, layer=layer), mapping)], seed)
    weights, _ = weights_of(alone, seed)
    given = seeded_inputs(alone.operators, seed)
    run = Driver(program, alone, constants).run(given)
    inputs = tuple(
        given[one.memory].reshape(-1)[one.offset : one.offset + math.prod(one.shape)].reshape(one.shape)
        for one in layer.inputs
    )
    expected, made = {}, {}
    wanted = layer_reference(layer, inputs, weights, mapping.algorithm)
    for tensor, (name, shape), result in zip(program.outputs, layer.outputs, wanted, strict=True):
        expected[name] = result.reshape(-1)
        made[name] = run.memory[tensor.at : tensor.at + math.prod(shape)]
    return {
        "outputs_equal": all(words.tobytes() == made[name].tobytes() for name, words in expected.items()),
        "max_error": largest_error(expected, made),
        "cycles": run.total,
        "activity": run.activity[layer.name],
    }


def _alone(network: LayerNetwork, layer: NetworkLayer) -> LayerNetwork:
    """The network of one layer, which is given what others make."""
    shapes = shapes_of(network)
    given = tuple(dict.fromkeys(one.memory for one in layer.inputs))
    own = replace(layer, inputs=tuple(replace(one, layer=None) for one in layer.inputs))
    operators = (layer.operator, *layer.merged)
    named = (name for one in operators for name in (*one.inputs, *one.outputs))
    tensors = {name: network.operators.tensors[name] for name in named if name in network.operators.tensors}
    tensors |= {name: shapes[name] for name in given} | dict(layer.outputs)
    outputs = tuple(tensor for tensor, _ in layer.outputs)
    files, batch = network.operators.files, network.operators.batch
    alone = OperatorNetwork(layer.name, operators, tensors, given, outputs, files, batch)
    read = tuple(LayerInput(tensor, shape, tensor, layer.name) for tensor, shape in layer.outputs)
    return LayerNetwork(alone, (own,), read)
