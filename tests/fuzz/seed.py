"""Valid inputs of every reader, from which the hostile ones are made."""

from __future__ import annotations

import json
import sqlite3
import struct
import tempfile
from collections.abc import Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.fuzz.mutation.document import as_json, as_yaml

MACHINES = ("dmazerunner-256", "srp-2x2", "tcpa-4x4", "dynamap-u200", "snowflake-1cc", "eyeriss-like")
PROBLEMS = (
    ("matmul", "dmazerunner-256", "auto"),
    ("dot", "srp-2x2", "auto"),
    ("mnist-tcpa", "tcpa-4x4", "greedy"),
    ("lenet5/conv1", "dynamap-u200", "auto"),
    ("lenet5/conv1", "snowflake-1cc", "greedy"),
    ("lenet5/pool2", "srp-2x2", "baseline"),
)
"""A small problem of every kind, a CGRA's layers too, and the method that is quick: workload, machine, method."""

CONVOLUTIONS = {
    "schema": "mapper.convolutions/1",
    "name": "two",
    "batch": 2,
    "layers": [
        {"name": "a", "out_channels": 8, "in_channels": 3, "size": 14, "kernel": 3, "stride": 1, "pad": 1},
        {"name": "b", "out_channels": 4, "in_channels": 8, "size": 14, "kernel": 1},
    ],
}
PBQP = {
    "schema": "mapper.pbqp/1",
    "name": "small",
    "vertices": [[1, 2], [3, "inf", 5], [0, 4]],
    "edges": [
        {"ends": [0, 1], "costs": [[1, 2, 3], [4, "inf", 6]]},
        {"ends": [1, 2], "costs": [[0, 1], [2, 3], [4, 5]]},
        {"ends": [2, 2], "costs": [[0, 9], [9, 0]]},
    ],
}
LOOPS = b"""#define N 64
int a[N], b[N];
float x[64];
void two(int k) {
  for (int i = 1; i < N - 1; i++) {
    int t = a[i - 1] * k + (a[i] >> 2);
    if (t > 100) { b[i] = t % 7; } else { b[i] ^= a[i + 1]; }
  }
  for (int j = 0; j < 8; j += 2)
    for (int i = 0; i < 8; ++i) x[8 * j + i] = fmaxf(x[8 * j + i] / 2.0f, x[i]);
}
"""
DOT = b"""digraph g { node [opcode=add]; a [opcode=load]; b; "c d" [opcode="mul"]
a -> b [operand=0, distance=1]; b -> "c d" [latency=2]; subgraph s { b -> b [distance=2] } a -> "c d" }
"""
EDGES = (b"0 1 0 1\n1 2\n2 3 0 2\n3 1 1 1\n# end\n", b"a, b, 0, 1\nb; c\nc b 2 1\n")
NODES = b"0 load\n1 add.x\n2 mul two\n3 store\n"
GRAPHML = b"""<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d0" for="node" attr.name="opcode" attr.type="string"><default>add</default></key>
<key id="d1" for="edge" attr.name="distance" attr.type="int"/>
<key id="d2" for="edge" attr.name="operand" attr.type="int"/>
<graph id="g" edgedefault="directed">
<node id="a"><data key="d0">load</data></node><node id="b"/><node id="c"/>
<edge source="a" target="b"><data key="d2">0</data></edge>
<edge source="b" target="b"><data key="d1">1</data></edge><edge source="b" target="c"/>
</graph></graphml>
"""
MLIR = b"""func.func @total(%arg0: !llvm.ptr) -> !llvm.void attributes {mapping_info = {compiled_ii = 2 : i32}} {
%0 = "neura.grant_once"() <{constant_value = 0 : i64}> {dfg_id = 0 : i32} : () -> !neura.data<i64, i1>
%1 = neura.reserve {dfg_id = 1 : i32} : !neura.data<i64, i1>
%2 = "neura.data_mov"(%0) {dfg_id = 3 : i32} : (!neura.data<i64, i1>) -> !neura.data<i64, i1>
%3 = neura.phi_start %2, %1 {dfg_id = 4 : i32} : !neura.data<i64, i1>, !neura.data<i64, i1>
%4 = "neura.load"(%3) {dfg_id = 5 : i32, lhs_value = "%arg0"} : (!neura.data<i64, i1>) -> !neura.data<i32, i1>
%5 = "neura.add"(%3) {dfg_id = 6 : i32, rhs_value = 1 : i64} : (!neura.data<i64, i1>) -> !neura.data<i64, i1>
neura.ctrl_mov %5 -> %1 {dfg_id = 7 : i32} : !neura.data<i64, i1> !neura.data<i64, i1>
neura.yield {dfg_id = 2 : i32}
}
"""
MORPHER = b"""<DFG count="3">
<Node idx="0" ASAP="0" ALAP="0"BB="a"CONST="1"><OP>LOAD</OP><Outputs><Output idx="1" nextiter="0" type="I1"/></Outputs>
</Node><Node idx="1" ASAP="1" ALAP="1"BB="a"><OP>ADD</OP><Outputs><Output idx="1" nextiter="1" type="I2"/>
<Output idx="2" nextiter="0" type="I1"/></Outputs></Node><Node idx="2"BB="a"><OP>STORE</OP><Outputs></Outputs>
<RecParents><RecParent idx="0"/></RecParents></Node></DFG>
"""
LLVM = b"""define void @f(ptr %a, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %j, %loop ]
  %p = getelementptr inbounds float, ptr %a, i32 %i
  %x = load float, ptr %p
  %y = fmul float %x, 2.0
  store float %y, ptr %p
  %j = add nsw i32 %i, 1
  %c = icmp slt i32 %j, %n
  br i1 %c, label %loop, label %out
out:
  ret void
}
"""


RECURRENCES: tuple[dict[str, Any], ...] = (
    {
        "schema": "mapper.recurrence/1",
        "name": "solver",
        "loops": {"i": 6, "j": 6},
        "statements": [
            "p[i, j] = s[i, j - 1] * r[i] if i == j and j > 0",
            "p[i, j] = p[i - 1, j] if j < i",
            "s[i, j] = min(s[i, j - 1], -3) - L[i, 2 * j + 1] * p[i, j] if 0 < j <= i",
            "x[i] = p[i, j] if i == j",
        ],
        "local": ["p", "s"],
    },
    {
        "schema": "mapper.nest/1",
        "name": "stencil",
        "loops": {"t": 4, "i": 8},
        "operands": [
            {"tensor": "A", "name": "new", "index": ["t + 1", "i"], "access": "write"},
            {"tensor": "A", "name": "left", "index": ["t", "i - 1"]},
        ],
        "operation": "add",
    },
)


@cache
def workload_documents() -> tuple[dict[str, Any], ...]:
    """Loop nests and lists of convolutions."""
    from mapper.workloads.catalogue import entry_bytes

    names = ("matmul", "conv3d", "depthwise", "mttkrp")
    return (*(yaml.safe_load(entry_bytes(name)) for name in names), CONVOLUTIONS)


@cache
def machine_documents() -> tuple[dict[str, Any], ...]:
    """A machine of every kind."""
    from mapper.arch.source import preset_text

    return tuple(yaml.safe_load(preset_text(name) or "") for name in MACHINES)


def foreign_machines() -> tuple[bytes, ...]:
    """Machines as Timeloop, ZigZag and AccelForge write them."""
    from tests.arch.foreign import test_accelforge_machine, test_zigzag_machine
    from tests.arch.timeloop import test_machine_file

    texts = (
        test_machine_file.NEW,
        test_machine_file.OLD,
        test_zigzag_machine.MACHINE,
        test_accelforge_machine.MACHINE,
    )
    return tuple(text.encode() for text in texts)


def in_json(documents: Sequence[Any]) -> tuple[bytes, ...]:
    return tuple(as_json(document) for document in documents)


def in_yaml(documents: Sequence[Any]) -> tuple[bytes, ...]:
    return tuple(as_yaml(document) for document in documents)


@cache
def c_files() -> tuple[bytes, ...]:
    from mapper.workloads.graph.kernel_catalogue import KERNELS, kernel_bytes

    return (LOOPS, *(kernel_bytes(name) for name in KERNELS))


@cache
def graph_documents() -> tuple[dict[str, Any], ...]:
    from mapper.workloads.graph.document import kernel_document
    from mapper.workloads.graph.kernel_source import load_kernel

    return tuple(kernel_document(load_kernel(name)[0]) for name in ("dot", "histogram", "isqrt"))


@cache
def pbqp_files(suffix: str) -> tuple[bytes, ...]:
    """The same small instances, exact and in floats, in each of the forms."""
    from mapper.workloads.pbqp.binary import pbqp_binary
    from mapper.workloads.pbqp.document import pbqp_document, pbqp_from_document
    from mapper.workloads.pbqp.text import pbqp_text

    halves = json.loads(json.dumps(PBQP))
    halves["vertices"][0] = [0.5, 2]
    found = [pbqp_from_document(document, "seed") for document in (PBQP, halves)]
    if suffix == ".in":
        return tuple(pbqp_text(one).encode() for one in found)
    if suffix == ".pbqp":
        return tuple(pbqp_binary(one) for one in found)
    return in_json([pbqp_document(one) for one in found])


@cache
def onnx_models() -> tuple[bytes, ...]:
    """Small networks with most of the operators that are read, one with weights in a file beside it."""
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    from mapper.workloads.network.published import lenet5

    node = helper.make_node
    nodes = [
        node("Conv", ["x", "w"], ["a"], kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[1, 1], group=1),
        node("BatchNormalization", ["a", "s", "s", "s", "s"], ["b"]),
        node("Relu", ["b"], ["c"]),
        node("Conv", ["c", "w2"], ["d"], auto_pad="SAME_UPPER", dilations=[2, 2], group=2),
        node("Add", ["c", "d"], ["e"]),
        node("MaxPool", ["e"], ["f"], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
        node("AveragePool", ["e"], ["g"], kernel_shape=[2, 2], strides=[2, 2], count_include_pad=1),
        node("Concat", ["f", "g"], ["h"], axis=1),
        node("GlobalAveragePool", ["h"], ["i"]),
        node("Shape", ["i"], ["shape"]),
        node("Gather", ["shape", "zero"], ["batch"]),
        node("Concat", ["batch", "minus"], ["target"], axis=0),
        node("Reshape", ["i", "target"], ["j"]),
        node("Gemm", ["j", "m", "bias"], ["k"], transB=1),
        node("Unsqueeze", ["k", "zero"], ["l"]),
        node("MatMul", ["l", "m3"], ["n"]),
        node("Softmax", ["n"], ["y"], axis=-1),
    ]
    sizes = {"w": [4, 3, 3, 3], "s": [4], "w2": [4, 2, 3, 3], "m": [5, 8], "bias": [5], "m3": [5, 6]}
    weights = [numpy_helper.from_array(np.ones(size, np.float32), name) for name, size in sizes.items()]
    shapes = {"zero": [0], "minus": [-1]}
    weights += [numpy_helper.from_array(np.array(value, np.int64), key) for key, value in shapes.items()]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    apart = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    tensor = apart.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", "beside.bin"), ("offset", "4"), ("length", str(4 * 108))):
        tensor.external_data.add(key=key, value=value)
    square = numpy_helper.from_array(np.ones((4, 4), np.float32), "t")
    inner = helper.make_graph(
        [node("Relu", ["p"], ["q"])], "body", [], [helper.make_tensor_value_info("q", 1, None)]
    )
    branch = helper.make_model(
        helper.make_graph(
            [
                node("If", ["c"], ["r"], then_branch=inner, else_branch=inner),
                node("MatMul", ["r", "t"], ["y"]),
            ],
            "branch",
            [helper.make_tensor_value_info("p", 1, [4, 4]), helper.make_tensor_value_info("c", 9, [])],
            [helper.make_tensor_value_info("y", 1, None)],
            [square],
        ),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
    )
    function = helper.make_function(
        "own",
        "Product",
        ["u", "s"],
        ["v"],
        [node("MatMul", ["u", "s"], ["v"])],
        [helper.make_opsetid("", 17)],
    )
    called = helper.make_model(
        helper.make_graph(
            [node("Product", ["p", "t"], ["y"], domain="own")],
            "called",
            [helper.make_tensor_value_info("p", 1, [4, 4])],
            [helper.make_tensor_value_info("y", 1, None)],
            [square],
        ),
        functions=[function],
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("own", 1)],
        ir_version=8,
    )
    models = (model, apart, branch, called)
    small = lenet5()
    for weight in small.graph.initializer:
        # The shapes are what is read; data of the right size would only make inputs slow.
        weight.ClearField("raw_data")
        weight.ClearField("float_data")
    return tuple(one.SerializeToString() for one in (*models, small))


@cache
def solved(place: int) -> Any:
    """The solution of the small problem of the kind ``place``."""
    import mapper
    from mapper.api.solving import Search

    workload, arch, method = PROBLEMS[place]
    return mapper.solve(workload, arch, search=Search(method, workers=1))


@cache
def solutions() -> tuple[bytes, ...]:
    """A solution of every kind, a PBQP instance's, a comparison, a sweep and trade-offs."""
    import mapper
    from mapper.api.solving import Search

    documents = [solved(place).to_json() for place in range(len(PROBLEMS))]
    with tempfile.TemporaryDirectory() as folder:
        # Several parts, each of which becomes a folder of its own.
        several = Path(folder) / "two.json"
        several.write_bytes(as_json(CONVOLUTIONS))
        documents.append(mapper.solve(str(several), search=Search(workers=1)).to_json())
        path = Path(folder) / "small.in"
        path.write_bytes(pbqp_files(".in")[0])
        documents.append(mapper.solve(str(path)).to_json())
        documents.append(
            mapper.compare(str(path), search=Search(workers=1), methods=["elimination", "fixing"]).to_json()
        )
    grid = {"rf.bytes": [256, 512]}
    documents.append(mapper.sweep("matmul", "dmazerunner-256", grid).to_json())
    first, second = documents[0], documents[2]
    row = {"arch": "a", "kind": "tiling", "method": "m", "cost": first["cost"], "certificate": first["certificate"],
           "utilisation": 0.5, "leaves_out": ["clocks"], "layers": {"a": 1.5}}  # fmt: skip
    documents.append({"schema": "mapper.comparison/1", "problem": first["problem"], "rows": [row, row]})
    point = {key: second["parts"][0][key] for key in ("mapping", "cost", "certificate")}
    documents.append(
        {"schema": "mapper.front/1", "problem": second["problem"], "points": [point], "complete": True}
    )
    return in_json(documents)


@cache
def generating() -> tuple[bytes, ...]:
    """The solutions that code is generated from."""
    found = [data for data in solutions() if b'"mapper.solution/1"' in data and b'"pbqp"' not in data]
    assert len(found) >= len(PROBLEMS)
    return tuple(found)


@cache
def mappings() -> tuple[bytes, ...]:
    """The bare mapping of every kind."""
    return in_json([solved(place).to_json()["parts"][0]["mapping"] for place in range(len(PROBLEMS))])


@cache
def snowflake_programs() -> tuple[bytes, ...]:
    """A compiled layer, with its segments cut short so that bytes of the header are hit often enough."""
    from mapper.kind.trace_partition.run import compiled
    from mapper.models.trace_partition.isa.program_file import write_program

    solution = solved(4)
    part, found = solution.posed.parts[0], solution.parts[0]
    program, _, _ = compiled(part.problem, found.mapping.partition, part.workload, 0)
    return (write_program(program),)


@cache
def cgra_program() -> tuple[bytes, bytes]:
    """A network compiled for a CGRA, and its constants."""
    import mapper

    with tempfile.TemporaryDirectory() as folder:
        mapper.generate(solved(5).to_json(), Path(folder))
        return (Path(folder) / "program.json").read_bytes(), (Path(folder) / "constants.bin").read_bytes()


@cache
def array_files() -> dict[str, bytes]:
    """What is generated of a small network on a TCPA, the files by which it is run."""
    from mapper.api.solving import Search
    from mapper.api.verb import solve

    solution = solve("mnist-tcpa", "tcpa-3x3", search=Search(method="greedy", workers=1))
    part, found = solution.posed.parts[0], solution.parts[0]
    kind = solution.posed.kind
    mapping: Any = found.mapping
    files = kind.generate(part, mapping.allocation, 0)
    wanted = ("network.json", "constants.npz", "configuration.json")
    return {name: text if isinstance(text := files[name], bytes) else text.encode() for name in wanted}


@cache
def overlay_files() -> dict[str, bytes]:
    """What is generated of a small quantised network on the overlay, the files by which it is run."""
    import mapper
    from tests.sim.algorithm_selection.quantised import integer_operator_file

    with tempfile.TemporaryDirectory() as folder:
        path, out = integer_operator_file(Path(folder), 1), Path(folder) / "out"
        options, search = mapper.Options(fix={"array": "4x4"}), mapper.Search(method="greedy", workers=1)
        mapper.generate(
            mapper.solve(str(path), "dynamap-u200", options=options, search=search).to_json(), out
        )
        wanted = ("network.json", "constants.npz", "overlay.json", "dram.bin", "control.hex")
        return {name: (out / name).read_bytes() for name in wanted}


@cache
def instructions() -> int:
    """How many instructions the first cluster of the compiled layer has, those of whole banks."""
    return int(json.loads(snowflake_parts(snowflake_programs()[0])[1])["clusters"][0]["instructions"])


def snowflake_parts(data: bytes) -> tuple[bytes, bytes, bytes]:
    """A program's first bytes, its header and what lies behind."""
    start = struct.calcsize("<8sII")
    length = struct.unpack_from("<I", data, start - 4)[0] if len(data) >= start else 0
    return data[:start], data[start : start + length], data[start + length :]


@cache
def pe_programs() -> tuple[bytes, ...]:
    """The programs of PEs of a convolution, an average pool and an addition."""
    from mapper.models.pe_allocation.configuration.configuration import configure
    from mapper.models.pe_allocation.word.encoding import write_programs
    from mapper.models.pe_allocation.word.program import words_of_all
    from tests.models.pe_allocation.word.test_program import constants
    from tests.sim.pe_allocation.example import Net, allocated, array

    network = Net((4, 4), 3).convolution(4, 2).pool(3, op="AveragePool").elementwise("Add", 1, 1).network()
    configuration = configure(network, array(), allocated(network, 3, 2, 2), "streaming")
    made = words_of_all(configuration, [constants(1, -2, 3, -4)] * 3, array().processing_element)
    codes = ([None if one is None else one.code for one in layer.pes] for layer in made)
    return tuple(write_programs(own, 48) for own in codes)


@cache
def stores() -> tuple[bytes, ...]:
    """A store with an answer of every kind."""
    import mapper
    from mapper.api.solving import Search
    from mapper.store import Store

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.sqlite"
        for place in (0, 1, 3):
            workload, arch, method = PROBLEMS[place]
            mapper.solve(workload, arch, search=Search(method, workers=1, store=Store(path)))
        with closing(sqlite3.connect(path)) as connection:
            # As one file: a log beside it would not be part of the seed.
            connection.execute("PRAGMA journal_mode = DELETE")
        return (path.read_bytes(),)
