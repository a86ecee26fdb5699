"""What of LLVM IR cannot be mapped is one line with the instruction."""

from __future__ import annotations

import pytest

from mapper.workloads.document import InputError
from mapper.workloads.llvm.kernel import kernel_from_llvm

LOOP = """define void @f(ptr %x, i32 %n) {{
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i2, %loop ]
  %p = getelementptr inbounds {{ i32, i64 }}, ptr %x, i32 %i, i32 1
  {line}
  %i2 = add i32 %i, 1
  %d = icmp slt i32 %i2, %n
  br i1 %d, label %loop, label %exit
exit:
  ret void
}}
declare void @g(i32)
"""


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("nonsense", "cannot read it"),
        ("", "several functions have loops, or none"),
        ("define void @f() {\n ret void\n}\n", "none"),
        (LOOP.format(line="call void @g(i32 %i)"), "calls of g cannot be mapped"),
        (LOOP.format(line="store i64 1, ptr %p"), "structure"),
        (LOOP.format(line="store i128 1, ptr %x"), "type i128"),
        (LOOP.format(line="%v = atomicrmw add ptr %x, i32 1 seq_cst"), "atomicrmw"),
    ],
)  # fmt: skip
def test_a_loop_that_cannot_be_mapped_is_one_line(text: str, word: str) -> None:
    with pytest.raises(InputError) as caught:
        kernel_from_llvm(text.encode(), "f.ll", "f")
    assert word in str(caught.value) and "\n" not in str(caught.value)


def test_a_function_and_a_loop_that_there_are_not_are_named() -> None:
    text = LOOP.format(line="store i32 1, ptr %x").encode()
    with pytest.raises(InputError, match="not a function"):
        kernel_from_llvm(text, "f.ll", "f", "g")
    with pytest.raises(InputError, match="1 innermost loops"):
        kernel_from_llvm(text, "f.ll", "f", "f", 3)
