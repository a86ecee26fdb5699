"""Every number that an option takes has a range, and what is beyond it is refused in one line."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import UnionType
from typing import Any, get_args

import pytest
import typer

import mapper
from mapper.api.limit import LARGEST_SEED, MOST_WORKERS
from mapper.api.solving import Search
from mapper.cli import entry
from mapper.cli.app import app
from mapper.workloads.document import InputError

HOSTILE = (
    "-1", "0", "1", "2147483648", str(1 << 63), str(1 << 64), str(10**30), "nan", "inf", "-inf", "9" * 5000, "1e3",
    "1e999", "\N{FULLWIDTH DIGIT ZERO}", "0x10", "", "one",
)  # fmt: skip


def numeric_options() -> Iterator[tuple[str, str, type, Any]]:
    """Every option of every command that takes a number: command, flag, type and what typer knows of it."""
    for command in app.registered_commands:
        callback: Callable[..., Any] | None = command.callback
        assert callback is not None
        name = command.name or callback.__name__.replace("_", "-")
        for parameter in inspect.signature(callback, eval_str=True).parameters.values():
            option = next((one for one in getattr(parameter.annotation, "__metadata__", ())), None)
            typed = get_args(parameter.annotation)[:1]
            kinds = [
                one for one in typed for one in (get_args(one) if isinstance(one, UnionType) else (one,))
            ]
            for kind in kinds:
                if kind in (int, float):
                    flag = f"--{parameter.name.replace('_', '-')}"
                    yield name, flag, kind, option


OPTIONS = list(numeric_options())


def in_range(text: str, kind: type, option: Any) -> bool:
    """Whether an option takes ``text``; typer takes what Python reads as a number."""
    try:
        return bool(text.isascii() and option.min <= kind(text) <= option.max)
    except ValueError:
        return False


def refused(words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """The one line with which a command refuses its words."""
    monkeypatch.setattr(sys, "argv", ["mapper", *words])
    with pytest.raises(SystemExit) as ended:
        entry.main()
    said = capsys.readouterr()
    assert ended.value.code == 2, said.err
    assert said.out == "" and said.err.count("\n") == 1
    assert len(said.err) < 700 and said.err[:-1].isprintable()
    return said.err


def test_the_commands_with_numbers_are_found() -> None:
    found = {(command, flag) for command, flag, _, _ in OPTIONS}
    assert {
        ("solve", "--seed"),
        ("compare", "--workers"),
        ("sweep", "--time-limit"),
        ("generate", "--seed"),
    } <= found
    assert len(found) >= 20


@pytest.mark.parametrize(("command", "flag", "kind", "option"), OPTIONS)
def test_a_number_has_a_range(command: str, flag: str, kind: type, option: typer.models.OptionInfo) -> None:
    assert isinstance(option, typer.models.OptionInfo)
    assert option.min is not None and option.max is not None


@pytest.mark.parametrize(("command", "flag", "kind", "option"), OPTIONS)
def test_what_is_beyond_its_range_is_refused_in_one_line(
    command: str,
    flag: str,
    kind: type,
    option: typer.models.OptionInfo,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    beyond = [text for text in HOSTILE if not in_range(text, kind, option)]
    assert len(beyond) >= 8
    for text in beyond:
        assert flag in refused([command, f"{flag}={text}"], monkeypatch, capsys)


@pytest.mark.parametrize("value", ["-1", "nan", str(1 << 63), str(10**30), "9" * 5000, "1e3", "٣", "", "0"])
@pytest.mark.parametrize(
    ("workload", "arch", "key"),
    [
        ("dot", "srp-2x2", "ii"),
        ("matmul", "dmazerunner-256", "I.rf"),
        ("mnist-tcpa", "tcpa-4x4", "conv0.pes"),
        ("lenet5/conv1", "snowflake-1cc", "conv1.rows"),
        ("lenet5/conv1", "dynamap-u200", "array"),
    ],
)
def test_a_pinned_count_beyond_reason_is_refused_in_one_line(
    workload: str,
    arch: str,
    key: str,
    value: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    refused(["explain", workload, "--arch", arch, "--fix", f"{key}={value}"], monkeypatch, capsys)


@pytest.mark.parametrize(
    "name", ["mesh-99999x99999", f"mesh-{'9' * 300}x4", "x" * 5000, f"srp-{'9' * 300}", "tcpa-0x0"]
)
def test_a_name_that_no_machine_or_file_can_have_is_refused_in_one_line(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    refused(["solve", "dot", "--arch", name], monkeypatch, capsys)
    refused(["solve", "dot", "--arch", f"{name}.yaml"], monkeypatch, capsys)


@pytest.mark.parametrize(
    "suffix", ["", ".onnx", ".yaml", ".json", ".c", ".dot", ".graphml", "_edges", ".in", ".c:f:7"]
)
@pytest.mark.parametrize("command", ["solve", "simulate", "report", "show", "generate"])
def test_a_workload_whose_name_is_too_long_is_refused_in_one_line(
    command: str, suffix: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = ["-o", "x"] if command in ("report", "generate") else []
    refused([command, "n" * 300 + suffix, *output], monkeypatch, capsys)


def test_files_to_write_whose_names_are_too_long_are_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    long = str(tmp_path / ("n" * 300))
    for words in (["-o", long], ["--log", long], ["--pareto", "--plot", f"{long}.svg"]):
        refused(["solve", "mnist-tcpa", *words], monkeypatch, capsys)


@pytest.mark.parametrize(
    "value", ["9" * 5000, "1:30", ":".join("1" * 50_000), "nan", "1e999", "[1", "!!python/x 1"]
)
def test_a_varied_number_beyond_reason_is_refused_in_one_line(
    value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    refused(["sweep", "matmul", "--vary", f"rf.bytes={value}"], monkeypatch, capsys)


@pytest.mark.parametrize(
    ("workload", "arch", "method"),
    [
        ("matmul", "dmazerunner-256", "random"),
        ("dot", "srp-2x2", "cp-sat"),
        ("mnist-tcpa", "tcpa-4x4", "ilp"),
        ("lenet5/conv1", "dynamap-u200", "random"),
        ("lenet5/conv1", "snowflake-1cc", "annealing"),
    ],
)
def test_the_largest_seed_is_one_that_every_solver_takes(workload: str, arch: str, method: str) -> None:
    search = Search(method, time_limit=2.0, workers=2, seed=LARGEST_SEED)
    assert mapper.solve(workload, arch, search=search).certificate.seed == LARGEST_SEED


@pytest.mark.parametrize(
    "given", [{"seed": LARGEST_SEED + 1}, {"seed": -1}, {"workers": 0}, {"workers": MOST_WORKERS + 1},
              {"time_limit": float("nan")}, {"time_limit": float("inf")}, {"time_limit": -1.0}],
)  # fmt: skip
def test_a_search_from_python_has_the_same_ranges(given: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="must be a"):
        Search(**given)
