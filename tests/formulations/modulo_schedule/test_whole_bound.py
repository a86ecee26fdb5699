"""No mapping of a whole kernel takes fewer cycles than its bound, at whatever interval."""

from __future__ import annotations

from ortools.sat.python import cp_model

from mapper.arch.cgra import CgraMachine
from mapper.arch.source import load_machine
from mapper.formulations.modulo_schedule.whole.bound import (
    bound,
    least_loop_cycles,
    longest_path,
    loop_bound,
    outside_cycles,
)
from mapper.formulations.modulo_schedule.whole.mixed import with_mixed
from mapper.formulations.modulo_schedule.whole.problem import WholeProblem
from mapper.formulations.modulo_schedule.whole.program import WholeFormulation
from mapper.kind.modulo_schedule.whole.remark import whole_pass_remarks, whole_remarks
from mapper.workloads.c.reading import AS_WRITTEN
from mapper.workloads.c.whole.kernel import whole_from_c
from mapper.workloads.whole.program import AUTO, FLATTEN, HOST, MIXED

TEXT = (
    "void f(float x[64], float y[64], float z[64]) { int i, j; for (i = 0; i < 5; i++) for (j = 0; j < i; j++) "
    "y[i + j] = x[j] * 3.0f + z[i]; }"
)


def problem() -> WholeProblem:
    machine, _ = load_machine("srp-4x4")
    assert isinstance(machine, CgraMachine)
    return WholeProblem(whole_from_c(TEXT, "f.c", "f", "f")[0], machine)


def test_the_longest_path_goes_from_a_load_to_the_store() -> None:
    posed = problem()
    graph = posed.whole.kernels[0].graph
    # Pointer 1, load 16, product 3, sum 3.
    assert longest_path(graph, posed.machine, 1) == 23


def test_the_least_cycles_are_those_of_the_best_interval_however_large() -> None:
    posed = problem()
    tally = posed.tally
    assert (tally.starts(0), tally.iterations(0)) == (4, 10)
    every = {ii: loop_bound(posed, 0, ii) for ii in range(1, 100)}
    assert least_loop_cycles(posed, 0) == min(every.values())
    # 10 iterations and 4 * 23 intervals of filling, and the word of each PE.
    assert every[1] == (10 + 4 * 23) * 1 + 16
    assert every[24] == 10 * 24 + 24 * 16
    assert least_loop_cycles(posed, 0, 24) == min(value for ii, value in every.items() if ii >= 24)


def test_the_bound_is_what_is_outside_with_the_least_of_every_loop() -> None:
    posed = problem()
    assert bound(posed) == outside_cycles(posed) + least_loop_cycles(posed, 0)


def test_the_optimum_of_what_is_explained_is_the_bound_and_every_loop_is_named() -> None:
    machine, _ = load_machine("srp-4x4")
    assert isinstance(machine, CgraMachine)
    text = TEXT.replace("int i, j;", "int i, j; for (i = 0; i < 9; i++) for (j = 0; j < 30; j++) z[j] += i;")
    posed = WholeProblem(whole_from_c(text, "f.c", "f", "f", nest=AUTO)[0], machine)
    program = WholeFormulation(posed)
    solver = cp_model.CpSolver()
    assert solver.solve(program.model) == cp_model.OPTIMAL
    assert solver.objective_value == min(bound(choice) for choice in posed.choices)
    told = "\n".join(whole_remarks(posed))
    assert all(f"nest {nest}, loop f:{number}: " in told for nest in (HOST, FLATTEN) for number in (0, 1))
    (line,) = [one for one in whole_pass_remarks(posed.whole, machine, AS_WRITTEN) if "pass merging" in one]
    assert line.endswith("the same")


def test_only_nests_that_take_fewer_cycles_as_one_loop_are_one_in_the_mixed_choice() -> None:
    machine, _ = load_machine("srp-4x4")
    assert isinstance(machine, CgraMachine)
    text = (
        "void f(float m[24][24], float x[24], float y[24], float z[24]) { int i, j; for (i = 0; i < 24; i++) { "
        "float s = 0.5f; for (j = 0; j < 24; j++) s += m[i][j] * x[j]; y[i] = s; } for (i = 0; i < 24; i++) "
        "for (j = 0; j < 24; j++) z[i] = z[i] + m[j][i] * y[j]; }"
    )
    whole = with_mixed(whole_from_c(text, "f.c", "f", "f", nest=AUTO)[0], machine)
    by_nest = {choice.whole.nest: choice for choice in WholeProblem(whole, machine).choices}
    assert list(by_nest) == [HOST, FLATTEN, MIXED]
    joined = {
        nest: [one.inner is not None for one in choice.whole.starts] for nest, choice in by_nest.items()
    }
    # The second adds up in a word, which is a scalar only where the host runs the loop around it.
    assert joined == {HOST: [False, False], FLATTEN: [True, True], MIXED: [True, False]}
    assert bound(by_nest[MIXED]) < bound(by_nest[HOST]) < bound(by_nest[FLATTEN])
    alone = whole_from_c(TEXT, "f.c", "f", "f", nest=AUTO)[0]
    assert with_mixed(alone, machine) == alone
