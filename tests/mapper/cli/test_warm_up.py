"""What commands would compile when they first need it is compiled ahead on request."""

from __future__ import annotations

import re
from typing import Any

import pytest

from mapper.api import warming
from mapper.kind import ENTRIES, imported


def test_it_does_one_step_after_another_and_says_how_long_each_took(
    mapper: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    steps = [
        ("tiling: auto", lambda: done.append("first")),
        ("gemm on srp-4x4", lambda: done.append("second")),
    ]
    monkeypatch.setattr(warming, "steps", lambda _: iter(steps))
    code, out, err = mapper("warm-up")
    assert code == 0 and done == ["first", "second"] and re.fullmatch(r"ready after \d+\.\d s\n", out)
    assert [line.partition(":")[0] for line in err.splitlines()] == ["1/2 tiling", "2/2 gemm on srp-4x4"]


def test_what_every_method_prepares_is_among_its_steps() -> None:
    steps = [step for _, step in warming.steps()]
    for entry in ENTRIES:
        assert all(method.prepare in steps for method in imported(entry).methods().values())


def test_there_is_a_sample_for_every_kind_of_machine() -> None:
    from mapper.arch.source import load_machine

    for entry in ENTRIES:
        if entry.schema is not None:
            posed = {load_machine(arch)[0].schema_name for _, arch in warming.SAMPLES[entry.name]}
            assert posed == {entry.schema}


def test_kinds_that_are_named_are_compiled_alone() -> None:
    own = [name for name, _ in warming.steps(["hierarchy"])]
    assert "matmul on gemmini-16" in own and len(own) < len(list(warming.steps())) / 4
    assert not any(name.startswith("tiling") for name in own)


def test_a_kind_that_there_is_not_is_refused_in_a_line(mapper: Any) -> None:
    code, out, err = mapper("warm-up", "hierachy")
    assert code == 2 and not out
    assert "hierachy" in err and "did you mean hierarchy?" in err and len(err.splitlines()) == 1
