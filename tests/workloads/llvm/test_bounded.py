"""Loops of other people run in a process of their own, which ends; what they call is refused."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

import mapper
from mapper.sim.modulo_schedule import jit
from mapper.sim.modulo_schedule.against import agreement
from mapper.workloads.document import InputError
from mapper.workloads.llvm.alone import LoopModule, alone
from mapper.workloads.llvm.kernel import lowering_of

SCALE = """define void @f(ptr noalias %x) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i2, %loop ]
  %p = getelementptr inbounds float, ptr %x, i64 %i
  %v = load float, ptr %p
  %w = {line}
  store float %w, ptr %p
  %i2 = add nuw nsw i64 %i, 1
  %d = icmp slt i64 %i2, 24
  br i1 %d, label %loop, label %exit
exit:
  ret void
}}
"""
HALVED = SCALE.format(line="fmul float %v, 5.000000e-01")


def test_simulating_a_loop_of_a_file_compares_it_with_the_jit(tmp_path: Path) -> None:
    path = tmp_path / "f.ll"
    path.write_text(HALVED)
    found = mapper.simulate(f"{path}:f:0", 3)
    assert found["outputs_equal"] and not found["failed"] and found["data"] == {"seed": 3}
    assert found["parts"][0]["iterations"] == 24


def test_a_graph_that_computes_something_else_is_told_from_the_compiled_loop() -> None:
    halved = lowering_of(HALVED.encode(), "f.ll", "f", 0).kernel("f")
    doubled = alone(lowering_of(HALVED.replace("5.0", "2.5").encode(), "f.ll", "f", 0))
    found = agreement(halved, partial(jit.run_jitted, doubled), 0)
    assert not found.equal and found.error > 0


@pytest.mark.parametrize(
    "body",
    ["a:\n  br label %a\n", "a:\n  store i8 1, ptr null\n  ret void\n"],
    ids=["never ends", "leaves its memory"],
)
def test_a_compiled_loop_that_does_not_end_well_leaves_nothing(
    body: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(jit.LIMITS, "RLIMIT_CPU", 1)
    module = LoopModule(f"define void @loop(ptr %x) {{\n  br label %a\n{body}}}\n", ("x",))
    assert jit.run_jitted(module, {"x": np.zeros(4, np.float32)}) is None


def test_the_other_process_opens_no_file() -> None:
    text = """declare ptr @fopen(ptr, ptr)
@name = constant [10 x i8] c"/dev/null\\00"
@mode = constant [2 x i8] c"r\\00"
define void @loop(ptr %x) {
  %f = call ptr @fopen(ptr @name, ptr @mode)
  %n = ptrtoint ptr %f to i64
  store i64 %n, ptr %x
  ret void
}
"""
    found = jit.run_jitted(LoopModule(text, ("x",)), {"x": np.ones(1, np.int64)})
    assert found is not None and found["x"][0] == 0


@pytest.mark.parametrize(
    "text",
    [
        SCALE.format(line="call float @system(float %v)") + "declare float @system(float)\n",
        SCALE.format(line="call float @fmaxf(float %v, float 1.000000e+00) nobuiltin")
        + "define float @fmaxf(float %v, float %u) noinline {\n  ret float %v\n}\n",
    ],
    ids=["outside", "with a body of its own"],
)
def test_a_loop_that_calls_something_is_refused_in_a_line(text: str, tmp_path: Path) -> None:
    path = tmp_path / "f.ll"
    path.write_text(text)
    with pytest.raises(InputError, match="cannot be mapped; inline it") as caught:
        mapper.simulate(f"{path}:f:0")
    assert "\n" not in str(caught.value)
