"""Metadata of LLVM IR keeps pointers apart where nothing else does, and only where it holds."""

from __future__ import annotations

import pytest

from mapper.workloads.llvm.kernel import kernel_from_llvm

LOOP = """declare void @llvm.experimental.noalias.scope.decl(metadata)
define void @f(ptr %x, ptr %y, i64 %n) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  {inside}
  %p = getelementptr inbounds i32, ptr %x, i64 %i
  %q = getelementptr inbounds i32, ptr %y, i64 %i
  %l = load i32, ptr %p, align 4{load}
  %h = ashr i32 %l, 2
  store i32 %h, ptr %q, align 4{store}
  %i.next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %i.next, %n
  br i1 %done, label %exit, label %loop
exit:
  ret void
}}
!0 = !{{!1}}
!1 = distinct !{{!1, !2, !"own, first"}}
!2 = distinct !{{!2}}
!3 = !{{!4}}
!4 = distinct !{{!4, !2, !"own, second"}}
!5 = !{{!6, !6, i64 0}}
!6 = !{{!"int", !7, i64 0}}
!7 = !{{!"omnipotent char", !8, i64 0}}
!8 = !{{!"Simple C/C++ TBAA"}}
!9 = !{{!10, !10, i64 0}}
!10 = !{{!"float", !7, i64 0}}
!11 = !{{!7, !7, i64 0}}
!12 = !{{!13, !13, i64 0}}
!13 = !{{!"int", !14, i64 0}}
!14 = !{{!"another tree"}}
"""
DECLARED = "call void @llvm.experimental.noalias.scope.decl(metadata !3)"


@pytest.mark.parametrize(
    ("load", "store", "inside", "apart"),
    [
        ("", "", "", False),
        (", !alias.scope !0, !noalias !3", ", !alias.scope !3, !noalias !0", "", True),
        (", !noalias !3", ", !alias.scope !3", "", True),
        (", !alias.scope !3", ", !alias.scope !3", "", False),
        (", !noalias !3", ", !alias.scope !0", "", False),
        (", !noalias !3", ", !alias.scope !3", DECLARED, False),
        (", !tbaa !5", ", !tbaa !9", "", True),
        (", !tbaa !5", ", !tbaa !5", "", False),
        (", !tbaa !5", ", !tbaa !11", "", False),
        (", !tbaa !9", ", !tbaa !12", "", False),
        (", !tbaa !5", "", "", False),
    ],
)
def test_accesses_are_apart_where_scopes_or_types_are(
    load: str, store: str, inside: str, apart: bool
) -> None:
    text = LOOP.format(load=load, store=store, inside=inside)
    kernel = kernel_from_llvm(text.encode(), "f.ll", "f")
    ordered = [edge for edge in kernel.graph.edges if edge.operand is None]
    assert (not ordered) == apart
    assert any("may lead to the same memory" in note for note in kernel.notes) != apart
