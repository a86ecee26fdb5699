"""What of LLVM IR cannot be mapped is one line with the instruction."""

from __future__ import annotations

from random import Random

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
        ("", "no function has a loop"),
        ("define void @f() {\n ret void\n}\n", "no function has a loop"),
        (LOOP.format(line="call void @g(i32 %i)"), "calls of g cannot be mapped"),
        (LOOP.format(line="store i64 1, ptr %p"), "steps by what cannot be mapped"),
        (LOOP.format(line="store volatile i32 1, ptr %x"), "volatile and atomic"),
        (LOOP.format(line="%v = load atomic i32, ptr %x seq_cst, align 4"), "volatile and atomic"),
        (LOOP.format(line="store i128 1, ptr %x"), "type i128"),
        (LOOP.format(line="call void @llvm.memset.p0.i64(ptr %x, i8 1, i64 999, i1 false)")
         + "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n", "no known number of whole words"),
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


def test_text_that_llvm_cannot_read_is_named_with_line_and_column() -> None:
    with pytest.raises(
        InputError, match=r"^f\.ll:3:2: .*LLVM [\d.]+ cannot read it .*give IR of that version"
    ):
        kernel_from_llvm(b"; nothing\ndefine void @f( {\n}", "f.ll", "f")


def test_bitcode_that_ends_early_is_said_to_be_broken() -> None:
    with pytest.raises(InputError) as caught:
        kernel_from_llvm(b"BC\xc0\xde" + bytes(60), "f.bc", "f")
    assert "raise" not in str(caught.value) and "cannot read it (" in str(caught.value)


TABLE = (
    LOOP.format(line="store i32 %t, ptr %x").replace(
        "%p = getelementptr inbounds { i32, i64 }, ptr %x, i32 %i, i32 1",
        "%q = getelementptr inbounds i32, ptr @table, i32 %i\n  %t = load i32, ptr %q",
    )
    + "@table = global [64 x i32] zeroinitializer\n"
)


def test_a_global_is_an_array_of_its_name() -> None:
    kernel = kernel_from_llvm(TABLE.encode(), "f.ll", "f")
    assert {array.name for array in kernel.arrays} == {"table", "x"}


def test_bitcode_is_read_as_its_text_is() -> None:
    import llvmlite.binding as llvm

    bitcode = llvm.parse_assembly(TABLE).as_bitcode()
    assert kernel_from_llvm(bitcode, "f.bc", "f").graph == kernel_from_llvm(TABLE.encode(), "f.ll", "f").graph


@pytest.mark.parametrize("seed", [7, 17, 30, 84])
def test_broken_bitcode_is_one_line_even_where_llvm_would_end_the_process(seed: int) -> None:
    import llvmlite.binding as llvm

    random, broken = Random(seed), bytearray(llvm.parse_assembly(TABLE).as_bitcode())
    broken[random.randrange(4, len(broken))] = random.randrange(256)
    del broken[random.randrange(len(broken) // 2, len(broken)) :]
    with pytest.raises(InputError, match="cannot read it") as caught:
        kernel_from_llvm(bytes(broken), "f.bc", "f")
    assert "\n" not in str(caught.value)
