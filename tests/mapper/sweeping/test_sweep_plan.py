"""What a sweep would take, before it starts."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from mapper.api.part.search import solve_part
from mapper.api.solving import Search
from mapper.arch.source import preset_text
from mapper.kind.kind import AnyPart
from mapper.kind.part import Part
from mapper.store import Store
from mapper.sweeping import planning
from mapper.sweeping.planning import plan
from mapper.sweeping.sweep import sweep
from mapper.workloads.process.child_process import run

LAYER = "resnet-dmazerunner/conv5_2"
LAYERS = "resnet-dmazerunner"
BRIEF = """
from mapper.cli.entry import main
from mapper.sweeping import planning
planning.SECONDS_OF_SAMPLING = 0.0
main()
"""
"""The program, with a short sample."""


@pytest.fixture(autouse=True)
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is counted does not need a long sample."""
    monkeypatch.setattr(planning, "SECONDS_OF_SAMPLING", 0.0)


def test_machines_points_and_problems_are_counted() -> None:
    found = plan("resnet50", None, {"rf.bytes": [256, 512], "spm.bytes": [65536, 131072]})
    assert (found.machines, found.points, found.tasks) == (4, 4 * 54, 4)
    # ResNet-50 has 24 layers that differ.
    assert found.problems == 4 * 24


def test_a_machine_that_stands_twice_in_the_grid_is_solved_once() -> None:
    assert plan(LAYER, None, {"rf.bytes": [256, 256, 512]}).problems == 2


def test_the_estimate_is_that_of_the_whole_sweep_where_all_of_it_was_sampled() -> None:
    found = plan(LAYER, None, {"rf.bytes": [256, 512, 1024]})
    assert found.sampled == found.problems == 3
    assert found.core_seconds > 0 and found.core_seconds_error == 0


def test_one_problem_says_nothing_of_how_much_problems_differ() -> None:
    found = plan(LAYER, None, {"rf.bytes": [256]})
    assert found.sampled == 1 and found.core_seconds_error is None


def test_a_sample_of_many_problems_is_spread_over_layers_and_machines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(planning, "LEAST_SAMPLED", 12)
    tried: list[tuple[str, str]] = []

    def solve(kind: Any, method: Any, part: AnyPart, *others: Any, **named: Any) -> Part:
        tried.append((part.name, str(part.problem.machine.rf)))
        return solve_part(kind, method, part, *others, **named)

    monkeypatch.setattr(planning, "solve_part", solve)
    found = planning.plan(LAYERS, None, {"rf.bytes": [128, 256, 512, 1024]})
    assert found.sampled == 12 and found.core_seconds_error is not None
    assert len(set(tried)) == 12
    assert len({layer for layer, _ in tried}) == 6 and len({machine for _, machine in tried}) == 4


def test_what_the_store_has_proven_is_left_out(tmp_path: Path) -> None:
    search = Search(store=Store(tmp_path / "s.sqlite"))
    sweep(LAYERS, None, {"rf.bytes": [256]}, search=search)
    found = plan(LAYERS, None, {"rf.bytes": [256, 512]}, search=search)
    assert (found.machines, found.stored, found.tasks, found.problems) == (2, 1, 1, 6)
    assert plan(LAYERS, None, {"rf.bytes": [256]}, search=search).core_seconds == 0


def test_a_plan_keeps_nothing(tmp_path: Path) -> None:
    search = Search(store=Store(tmp_path / "s.sqlite"))
    plan(LAYER, None, {"rf.bytes": [256]}, search=search)
    assert not (tmp_path / "s.sqlite").exists()


@pytest.mark.slow
def test_the_command_says_what_a_sweep_of_ten_thousand_points_would_take() -> None:
    fields = yaml.safe_load(preset_text("dmazerunner-256-fine") or "")
    rf, spm = (
        f"{memory}.bytes={','.join(map(str, fields['energy_pj'][memory]['by_bytes']))}"
        for memory in ("rf", "spm")
    )
    words = ("--arch", fields["name"], "--vary", rf, "--vary", spm, "--dry-run", "--json")
    # A process of its own: the peak is that of all that a process has done.
    done = run([sys.executable, "-c", BRIEF, "sweep", "resnet50", *words], 600)
    found = json.loads(done.stdout)
    assert done.returncode == 0 and found["schema"] == "mapper.plan/1"
    assert (found["machines"], found["points"], found["problems"]) == (625, 33_750, 15_000)
    assert found["sampled"] >= 3 and found["core_seconds"] > 0 < found["core_seconds_error"]
    assert found["peak_bytes"] < 1 << 30


def test_the_peak_of_a_plan_is_not_that_of_the_program_that_started_it() -> None:
    large = "import subprocess, sys; kept = bytearray(3 << 29)"
    large += "; subprocess.run([sys.executable, *sys.argv[1:]], check=True)"
    words = ("-m", "mapper", "sweep", LAYER, "--vary", "rf.bytes=256", "--dry-run", "--json")
    done = run([sys.executable, "-c", large, *words], 600)
    assert json.loads(done.stdout)["peak_bytes"] < 1 << 30


def test_the_command_says_it_in_a_few_lines_for_people(mapper: Any) -> None:
    code, out, _ = mapper("sweep", LAYER, "--vary", "rf.bytes=256,512", "--dry-run", "--workers", "2")
    assert code == 0
    assert "2 machines, 2 points, 2 problems to solve" in out and "on 2 workers" in out
