"""Whoever mistypes a name or a key is told the one that is meant."""

from __future__ import annotations

from typing import Any

import pytest

CASES = {
    ("solve", "gogglenet"): "googlenet",
    ("solve", "resnet-dmazerunner/conv5_3"): "conv5_2",
    ("solve", "--arch", "dmazeruner-256"): "dmazerunner-256",
    ("solve", "--objective", "edpp"): "edp",
    ("solve", "--method", "branch-bound"): "branch-and-bound",
    ("solve", "--method", "branch"): "branch-and-bound",
    ("solve", "matmul", "--fix", "padding=of"): "off",
    ("solve", "matmul", "--arch", "gemmini-16", "--fix", "keep.scratch=A"): "keep.scratchpad",
    ("solve", "--model", "publish"): "published",
    ("solve", "matmul", "--fix", "spatail=I"): "spatial",
    ("solve", "matmul", "--fix", "I.rff=4"): "I.rf",
    ("solve", "lenet5", "--arch", "srp-4x4", "--fix", "con1.im2col=array"): "conv1.im2col",
    ("solve", "mnist-tcpa", "--fix", "mod=mixed"): "mode",
    ("solve", "mnist-tcpa", "--fix", "mode=layerparallel"): "layer-parallel",
    ("solve", "mnist-tcpa", "--fix", "conv0.pe=4"): "conv0.pes",
    ("solve", "lenet5", "--arch", "dynamap-u200", "--fix", "conv1.algoritm=im2col"): "conv1.algorithm",
    ("solve", "lenet5", "--arch", "snowflake-1cc", "--fix", "configration=1f2i2c"): "configuration",
    ("solve", "lenet5", "--arch", "snowflake-1cc", "--fix", "conv1.mod=coop"): "conv1.mode",
    ("sweep", "matmul", "--vary", "spm.byte=65536"): "spm.bytes",
    ("schema", "solutin"): "solution",
    ("list", "methods", "--kind", "tilng"): "tiling",
    ("list", "archz"): "archs",
    ("explain", "matmul", "--format", "htm"): "html",
    ("show", "dmazerunner-25"): "dmazerunner-256",
}


@pytest.mark.parametrize("words", CASES, ids=" ".join)
def test_a_mistyped_name_is_answered_with_the_right_one(words: tuple[str, ...], mapper: Any) -> None:
    code, _, error = mapper(*words)
    assert code == 2 and f"did you mean {CASES[words]}" in error
