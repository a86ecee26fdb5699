"""Small random layers and arrays with VLIW mode for tuning: windows above and below their stride, words of one, odd
latencies, units on a few PEs, free and dear set-up."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from mapper.arch.cgra import CgraMachine, cgra_from_document
from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.workloads.network.network_layer import NetworkLayer
from tests.codegen.modulo_schedule.small_layer import (
    activation,
    convolution_layer,
    layer_of,
    pool_layer,
    product_layer,
    window_of,
)


@st.composite
def tuned_machines(draw: st.DrawFn) -> CgraMachine:
    rows, columns = draw(st.sampled_from([(1, 1), (1, 2), (2, 2)]))
    pes: list[dict[str, Any]] = [{"at": "all", "classes": ["any"]}]
    if draw(st.booleans()):
        pes = [{"at": "all", "classes": ["integer"]}, {"at": [(0, 0)], "classes": ["memory", "float"]}]
    latency = st.sampled_from([1, 1, 2, 3, 7, 40])
    opcodes = ("load", "store", "add", "fadd", "fmul", "fmax", "fdiv", "ge", "select")
    cycles = st.sampled_from([0, 0, 1, 10, 1000])
    document = {
        "schema": "mapper.cgra/1", "name": "tuned", "rows": rows, "columns": columns, "links": ["mesh"], "pes": pes,
        "register_file": {"registers": draw(st.sampled_from([4, 32]))},
        "memory_ports": draw(st.sampled_from([None, 1])),
        "latency_cycles": {opcode: draw(latency) for opcode in opcodes},
        "vliw": {
            "set_up_cycles": draw(cycles), "live_in_cycles": draw(cycles), "word_cycles": draw(cycles),
            "address_cycles": draw(cycles), "fetch_cycles": draw(cycles),
            "element_cycles": {"other": draw(cycles)},
        },
        "configuration_memory": draw(st.sampled_from([None, {"contexts": 4096, "context_cycles": draw(cycles)}])),
    }  # fmt: skip
    return cgra_from_document(document, "test")


@st.composite
def layers(draw: st.DrawFn) -> NetworkLayer:
    form = draw(st.sampled_from(["convolution", "pool", "product", "elements"]))
    merged = draw(st.sampled_from([None, None, activation("Relu"), activation("LeakyRelu", alpha=0.1)]))
    if form == "product":
        rows, depth, columns = (draw(st.sampled_from([1, 1, 2, 3, 5, 7])) for _ in range(3))
        return product_layer(rows, depth, columns, merged)
    shape = (1, draw(st.sampled_from([1, 2, 3])), draw(st.integers(1, 7)), draw(st.integers(1, 7)))
    if form == "elements":
        return layer_of("activation", "Relu", shape, shape)
    kernel = draw(st.integers(1, min(3, *shape[2:])))
    window = window_of(kernel, draw(st.integers(1, 4)), draw(st.integers(0, kernel - 1)))
    if form == "pool":
        return pool_layer(draw(st.sampled_from(["MaxPool", "AveragePool"])), shape, window)
    return convolution_layer(shape, draw(st.integers(1, 3)), window, merged)


@st.composite
def layer_problems(draw: st.DrawFn) -> LayerProblem:
    return LayerProblem(draw(layers()), draw(tuned_machines()))
