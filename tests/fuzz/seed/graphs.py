"""Valid kernels: in C, as LLVM IR, and as data-flow graphs in every form that is read."""

from __future__ import annotations

from functools import cache
from typing import Any

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


@cache
def c_files() -> tuple[bytes, ...]:
    from mapper.workloads.graph.kernel_catalogue import KERNELS, kernel_bytes

    return (LOOPS, *(kernel_bytes(name) for name in KERNELS))


@cache
def graph_documents() -> tuple[dict[str, Any], ...]:
    from mapper.workloads.graph.document import kernel_document
    from mapper.workloads.graph.kernel_source import load_kernel

    return tuple(kernel_document(load_kernel(name)[0]) for name in ("dot", "histogram", "isqrt"))
