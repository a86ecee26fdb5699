"""One network on several machines side by side."""

from __future__ import annotations

import json
from typing import Any

import pytest

import mapper.api.side_by_side as module
from mapper import solve
from mapper.api.problem import PosedProblem
from mapper.api.side_by_side import MachineRow, SideBySide, side_by_side
from mapper.api.solution import Solution
from mapper.api.solving import Search, run
from mapper.cli.machine_table import machine_rows
from mapper.kind.part import Options
from mapper.workloads.document import InputError

MACHINES = ("dmazerunner-256", "tcpa-16x16", "dynamap-u200")


@pytest.fixture(scope="module")
def lenet() -> SideBySide:
    # Long enough for the compilation of kernels on a machine that has none yet; the search takes seconds.
    return side_by_side("lenet5", MACHINES, search=Search(time_limit=300.0))


def test_there_is_a_row_for_each_machine_in_the_order_of_their_names(lenet: SideBySide) -> None:
    assert [row.arch for row in lenet.rows] == list(MACHINES)
    assert [row.kind.name for row in lenet.rows] == ["tiling", "pe_allocation", "algorithm_selection"]


def test_latency_is_what_is_compared_unless_another_objective_is_given(lenet: SideBySide) -> None:
    assert lenet.objective == "latency"
    assert {row.solution.posed.objective.name for row in lenet.rows if row.solution is not None} == {
        "latency"
    }


def test_every_row_is_a_solution_of_its_own_that_the_referee_accepts(lenet: SideBySide) -> None:
    for row in lenet.rows:
        assert row.certificate.found and row.certificate.verified


def test_utilisation_is_the_networks_products_over_those_the_machine_could_do(lenet: SideBySide) -> None:
    tcpa = lenet.rows[1]
    assert tcpa.cost is not None
    # 256 PEs with two multipliers each.
    assert tcpa.utilisation == pytest.approx(tcpa.macs / (512 * tcpa.cost["cycles"]))


def test_a_row_that_counts_the_host_says_its_share_and_never_uses_more_than_there_is() -> None:
    row = side_by_side("lenet5", ["snowflake-1cc"], search=Search(time_limit=60.0)).rows[0]
    assert row.solution is not None and row.cost is not None
    assert f"on the host, {row.solution.host_share:.1%} of the time: Softmax" in row.warnings
    assert row.cost["cycles"] > sum(part.cost["cycles"] for part in row.solution.shown if part.cost)
    assert row.utilisation == row.cost["efficiency"]


def test_two_images_are_counted_once_each() -> None:
    one, two = (
        side_by_side("lenet5", ["dynamap-u200"], None, Options(batch=batch)).rows[0] for batch in (None, 2)
    )
    assert two.macs == 2 * one.macs
    assert one.utilisation is not None and two.utilisation is not None
    # Fewer than twice the cycles for twice the products, but no multiplier does two at once.
    assert one.utilisation <= two.utilisation < 1


def test_all_machines_together_get_no_more_than_their_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    searched, limit, dues = module._solved, 100.0, list[float]()

    def heard(problem: PosedProblem, search: Search, due: float, known: Any = None) -> Solution:
        dues.append(due)
        return searched(problem, search, due, known)

    monkeypatch.setattr(module, "_solved", heard)
    search = Search(time_limit=limit)
    side_by_side("lenet5", ["dynamap-u200", "tcpa-16x16"], search=search)
    assert dues[0] <= search.started + limit
    # What the first one left is for those that are cut, not for the next.
    assert dues[1] <= search.started + 2 * limit - 1


def test_every_row_says_what_its_figures_leave_out(lenet: SideBySide) -> None:
    tiling, tcpa, overlay = (row.warnings for row in lenet.rows)
    assert "clock 500 MHz" in tiling and "clock 50 MHz" in tcpa and "clock 286 MHz" in overlay
    assert "not mapped: Gemm, Softmax" in tcpa
    assert any("no time" in warning for warning in overlay)


def test_layers_stand_beside_each_other_under_the_names_of_the_network(lenet: SideBySide) -> None:
    assert lenet.layer_names[:2] == ("conv1", "conv2")
    assert all({"conv1", "conv2"} <= set(row.layers) for row in lenet.rows)
    assert "gemm1" in lenet.rows[0].layers and "gemm1" not in lenet.rows[1].layers
    assert all(milliseconds > 0 for row in lenet.rows for milliseconds in row.layers.values())


def test_the_document_has_a_row_for_each_machine_and_is_json(lenet: SideBySide) -> None:
    document = json.loads(json.dumps(lenet.to_json(), allow_nan=False))
    assert document["schema"] == "mapper.comparison/1"
    assert document["problem"] == {"workload": "lenet5", "objective": "latency", "archs": list(MACHINES)}
    assert [entry["arch"] for entry in document["rows"]] == list(MACHINES)
    assert all(entry["leaves_out"] and entry["layers"] and entry["certificate"] for entry in document["rows"])


@pytest.mark.parametrize(
    "archs", [("tcpa-4x4", "tcpa-4x4"), ("tcpa-4x4", ""), ("tcpa-4x4", "no-such-machine")]
)
def test_machines_must_be_known_and_different(archs: tuple[str, ...]) -> None:
    with pytest.raises(InputError):
        side_by_side("lenet5", archs)


def test_the_workload_must_be_a_network() -> None:
    with pytest.raises(InputError):
        side_by_side("gemm", ["srp-4x4", "dmazerunner-256"])


def test_a_machine_that_cannot_run_the_network_has_a_row_that_says_why() -> None:
    found = side_by_side("lenet5", ["mesh-4x4", "dynamap-u200"])
    refused, mapped = found.rows
    assert refused.arch == "mesh-4x4" and refused.solution is None and mapped.certificate.found
    assert "vliw: is missing" in " ".join(refused.warnings)
    entry = found.to_json()["rows"][0]
    assert (entry["cost"], entry["utilisation"], entry["layers"]) == (None, None, {})
    assert not entry["certificate"]["found"] and not entry["certificate"]["proven"]
    _, lines = machine_rows(found)
    assert lines[0][:2] == ["mesh-4x4", "modulo_schedule"] and "cannot run it" in lines[0]


def test_a_network_that_no_machine_can_run_is_refused() -> None:
    with pytest.raises(InputError, match="vliw: is missing"):
        side_by_side("lenet5", ["mesh-4x4", "mesh-2x2"])


def test_a_search_that_has_no_time_still_gives_every_layer_a_mapping() -> None:
    cgra = side_by_side("lenet5", ["srp-4x4"], search=Search(time_limit=0.0)).rows[0]
    assert cgra.certificate.found and cgra.certificate.verified and cgra.certificate.stop == "time_limit"
    assert {"conv1", "conv2", "gemm1"} <= set(cgra.layers)


def test_what_others_leave_of_their_time_goes_to_those_that_were_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str | None, str, float | None]] = []
    answers: dict[str | None, Solution] = {}

    def noted(posed: PosedProblem, search: Search, **known: Any) -> Solution:
        asked.append((posed.arch, search.method, search.time_limit))
        # The second time at once, however busy the computer is.
        if posed.arch not in answers:
            answers[posed.arch] = run(posed, search, **known)
        return answers[posed.arch]

    monkeypatch.setattr("mapper.api.side_by_side.run", noted)
    side_by_side("lenet5", ["srp-2x2", "dynamap-u200"], search=Search(time_limit=1.0))
    asked.clear()
    side_by_side("lenet5", ["srp-2x2", "dynamap-u200"], search=Search(time_limit=2.0))
    methods = [(method, limit) for arch, method, limit in asked if arch == "srp-2x2"]
    assert [method for method, _ in methods] == ["auto", "auto"]
    # Both machines together end at twice the limit.
    assert all(limit is not None and 0 <= limit <= 4.0 for _, limit in methods)


def test_an_interrupt_keeps_the_rows_that_are_begun() -> None:
    search = Search()
    archs = ["dynamap-u200", "tcpa-16x16"]
    found = side_by_side("lenet5", archs, search=search, finished=lambda done, of: search.interrupt.set())
    assert [row.arch for row in found.rows] == archs[:1]
    assert found.rows[0].certificate.proven


def test_an_objective_that_a_machine_lacks_is_refused() -> None:
    with pytest.raises(InputError, match="dsps"):
        side_by_side("lenet5", MACHINES, "dsps")


def test_the_command_prints_rows_warnings_and_layers(mapper: Any) -> None:
    code, out, _ = mapper("compare", "lenet5", "--arch", ",".join(MACHINES[1:]), "--store", "none", "--quiet")
    assert code == 0
    assert "tcpa-16x16" in out and "dynamap-u200" in out
    assert "what the figures leave out:" in out and "clock 50 MHz" in out
    assert "layer, ms" in out and "conv2" in out


def test_the_command_prints_rows_as_csv_and_as_one_json_document(mapper: Any) -> None:
    words = ("compare", "lenet5", "--arch", ",".join(MACHINES[1:]), "--store", "none", "--quiet")
    assert mapper(*words, "--csv")[1].startswith("machine,kind,latency_ms")
    assert len(json.loads(mapper(*words, "--json")[1])["rows"]) == 2


def test_methods_are_not_chosen_by_hand_for_machines_of_several_kinds(mapper: Any) -> None:
    code, _, errors = mapper("compare", "lenet5", "--arch", "tcpa-4x4,dynamap-u200", "--method", "ilp")
    assert code == 2 and "--method" in errors and len(errors.splitlines()) == 1


@pytest.mark.slow
def test_all_five_machines_stand_side_by_side() -> None:
    machines = ("dmazerunner-256", "srp-4x4", "tcpa-16x16", "dynamap-u200", "snowflake-1cc")
    found = side_by_side("lenet5", machines, search=Search(time_limit=20.0))
    assert [row.arch for row in found.rows] == list(machines)
    assert all(row.certificate.found for row in found.rows)


@pytest.mark.parametrize(("machines", "code"), [("tcpa-4x4,srp-4x4", 1), ("tcpa-4x4,srp-4x4,srp-2x2", 3)])
def test_a_network_is_infeasible_if_that_is_proven_on_every_machine_that_can_run_it(
    mapper: Any, monkeypatch: pytest.MonkeyPatch, machines: str, code: int
) -> None:
    proven = solve("mnist-tcpa", "tcpa-4x4", "pes", Options(min_throughput=5000.0))
    kind = proven.posed.kind
    rows = (MachineRow("tcpa-4x4", kind, 1, proven), MachineRow("srp-4x4", kind, 1, None, "has no such unit"))
    monkeypatch.setattr(
        "mapper.api.side_by_side.side_by_side", lambda *given: SideBySide("mnist-tcpa", "pes", rows)
    )
    assert mapper("compare", "mnist-tcpa", "--arch", machines)[0] == code
