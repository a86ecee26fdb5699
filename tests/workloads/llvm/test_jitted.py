"""Loops of LLVM IR compute, bit by bit, what llvmlite's own JIT makes of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mapper.workloads.c.reading import AS_WRITTEN, SourceReading
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.graph.kernel_execution import execute
from mapper.workloads.llvm.alone import LoopModule, alone
from mapper.workloads.llvm.kernel import lowering_of
from mapper.workloads.reference.kernel import seeded_memory
from tests.workloads.llvm.in_process import run_in_process

COUNTED = """define void @f(i32 %n, float %a, ptr noalias %x, ptr noalias %y) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i2, %{latch} ]
{body}
  %i2 = add nuw nsw i64 %i, 1
  %d = icmp slt i64 %i2, 24
  br i1 %d, label %loop, label %exit
exit:
  ret void
}}
"""
LOOPS = {
    "axpy": COUNTED.format(
        latch="loop",
        body="""  %p = getelementptr inbounds float, ptr %x, i64 %i
  %v = load float, ptr %p
  %q = getelementptr inbounds float, ptr %y, i64 %i
  %w = load float, ptr %q
  %m = fmul float %a, %v
  %s = fadd float %m, %w
  store float %s, ptr %q""",
    ),
    "two sides": COUNTED.format(
        latch="next",
        body="""  %p = getelementptr inbounds [32 x i32], ptr %x, i64 1, i64 %i
  %v = load i32, ptr %p
  %c = icmp ugt i32 %v, 9
  br i1 %c, label %then, label %else
then:
  %q = getelementptr inbounds i32, ptr %y, i64 %i
  store i32 %v, ptr %q
  br label %next
else:
  %o = mul i32 %v, 77
  %z = getelementptr inbounds i32, ptr %y, i64 %i
  %z2 = getelementptr inbounds i32, ptr %z, i64 30
  store i32 %o, ptr %z2
  br label %next
next:
  %f = phi i32 [ %v, %then ], [ 7, %else ]
  store i32 %f, ptr %x""",
    ),
    "narrow integers": COUNTED.format(
        latch="loop",
        body="""  %p = getelementptr inbounds i8, ptr %x, i64 %i
  %v = load i8, ptr %p
  %w = add i8 %v, 100
  %u = zext i8 %w to i32
  %s = sext i8 %v to i32
  %h = udiv i8 %w, 3
  %g = icmp ult i8 %h, %v
  %k = select i1 %g, i32 %u, i32 %s
  %t = ashr i32 %k, 1
  %q = getelementptr inbounds i32, ptr %y, i64 %i
  store i32 %t, ptr %q""",
    ),
    "doubles": COUNTED.format(
        latch="loop",
        body="""  %p = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %p
  %b = fpext float %a to double
  %w = fdiv double %v, %b
  %r = call double @llvm.fabs.f64(double %w)
  %n1 = fneg double %r
  %c = fcmp ult double %n1, -5.000000e-01
  %k = select i1 %c, double %v, double %n1
  %z = fptosi double %k to i64
  %zf = sitofp i64 %z to double
  %s = fadd double %k, %zf
  store double %s, ptr %p""",
    )
    + "declare double @llvm.fabs.f64(double)\n",
    "a sum of a row": """define float @f(ptr noalias %x, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 3, %entry ], [ %i2, %loop ]
  %s = phi float [ 0.000000e+00, %entry ], [ %s2, %loop ]
  %e = sext i32 %i to i64
  %p = getelementptr inbounds [16 x float], ptr %x, i64 %e, i64 5
  %v = load float, ptr %p
  %s2 = fadd float %s, %v
  %i2 = add nsw i32 %i, 2
  %d = icmp sgt i32 %n, %i2
  br i1 %d, label %loop, label %exit
exit:
  ret float %s2
}
""",
    "a search": """define i32 @f(ptr noalias %x, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i2, %next ]
  %e = sext i32 %i to i64
  %p = getelementptr inbounds i32, ptr %x, i64 %e
  %v = load i32, ptr %p
  %c = icmp sgt i32 %v, 3000
  br i1 %c, label %exit, label %next
next:
  store i32 %i, ptr %p
  %i2 = add nsw i32 %i, 1
  %d = icmp slt i32 %i2, 15
  br i1 %d, label %loop, label %exit
exit:
  ret i32 0
}
""",
    "a pointer that steps": """define void @f(ptr noalias %x, ptr noalias %y) {
entry:
  br label %loop
loop:
  %p = phi ptr [ %x, %entry ], [ %p2, %loop ]
  %k = phi i32 [ 20, %entry ], [ %k2, %loop ]
  %v = load i16, ptr %p
  %w = sext i16 %v to i64
  %q = getelementptr inbounds i64, ptr %y, i32 %k
  %m = mul i64 %w, 100000000000
  store i64 %m, ptr %q
  %p2 = getelementptr inbounds i16, ptr %p, i64 2
  %k2 = add nsw i32 %k, -1
  %d = icmp ne i32 %k2, 0
  br i1 %d, label %loop, label %exit
exit:
  ret void
}
""",
    "copies": COUNTED.format(
        latch="loop",
        body="""  %k = mul nuw nsw i64 %i, 3
  %p = getelementptr inbounds i32, ptr %x, i64 %k
  %q = getelementptr inbounds i32, ptr %y, i64 %i
  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %p, ptr align 4 %q, i64 12, i1 false)
  %p1 = getelementptr inbounds i32, ptr %p, i64 1
  call void @llvm.memmove.p0.p0.i64(ptr %p1, ptr %p, i64 20, i1 false)
  call void @llvm.memset.p0.i64(ptr %q, i8 65, i64 24, i1 false)
  %v = load i32, ptr %p
  %w = add i32 %v, 1
  store i32 %w, ptr %q""",
    )
    + """declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
""",
    "a store that is read on": COUNTED.format(
        latch="loop",
        body="""  %p = getelementptr inbounds i32, ptr %x, i64 %i
  %v = load i32, ptr %p
  %v2 = mul i32 %v, 3
  %w = add i32 %v2, 1
  %q = getelementptr inbounds i8, ptr %p, i64 4
  store i32 %w, ptr %q""",
    ),
}


def both(text: str, reading: SourceReading = AS_WRITTEN) -> tuple[Kernel, LoopModule]:
    """The graph of a loop, and the loop alone for the JIT."""
    lowering = lowering_of(text.encode(), "loop.ll", "f", 0, reading)
    return lowering.kernel("f"), alone(lowering)


@pytest.mark.parametrize(
    "reading", [AS_WRITTEN, SourceReading(added=("sharing",))], ids=["usual", "all passes"]
)
@pytest.mark.parametrize("text", LOOPS.values(), ids=LOOPS)
def test_loops_compute_what_the_jit_makes_of_them(text: str, reading: SourceReading) -> None:
    kernel, module = both(text, reading)
    trips = kernel.trip_count or kernel.assumed_trips
    assert trips
    for seed in (0, 1):
        memory = seeded_memory(kernel, seed)
        wanted = run_in_process(module, memory)
        for array, words in execute(replace(kernel, trip_count=trips), memory).items():
            assert words.tobytes() == wanted[array].tobytes(), array
