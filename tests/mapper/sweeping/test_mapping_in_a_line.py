"""Sweeps show a mapping of every machine in a line, of whatever kind it is."""

from __future__ import annotations

import re
from typing import Any

import pytest

import mapper

SHOWN = {
    ("lenet5", "dmazerunner-256"): r"(conv|gemm)\d: .* \| .* \| .* \| .*",
    ("lenet5/gemm1", "gemmini-16"): r"L\d\[.*\] .* - L0\[.*",
    ("lenet5", "dynamap-u200"): r"\d+x\d+: \d+ \w+/[A-Z]{2}.*",
    ("mnist-tcpa", "tcpa-4x4"): r"conv0 \d+, pool1 1, .*",
    ("lenet5", "snowflake-1cc"): r"(conv|gemm)\d: (coop|indp) \d+x\d+x\d+>\d+ (maps|weights)",
}


@pytest.mark.parametrize("pair", SHOWN, ids="-on-".join)
def test_of_each_kind(pair: tuple[str, str]) -> None:
    workload, arch = pair
    (row,) = mapper.sweep(workload, arch, {"clock_mhz": [100]}, search=mapper.Search(time_limit=20)).rows
    assert row.in_a_line is not None
    assert re.fullmatch(SHOWN[pair], row.in_a_line)


def test_it_is_said_of_which_layer_it_is(mapper: Any) -> None:
    words = (
        "sweep",
        "lenet5",
        "--arch",
        "dmazerunner-256",
        "--vary",
        "clock_mhz=100",
        "--objective",
        "latency",
    )
    code, out, _ = mapper(*words)
    assert code == 0 and "mapping: of the layer with most of the latency" in out
    code, out, _ = mapper(*words, "--csv")
    assert "mapping: of" not in out and ",mapping," in out
