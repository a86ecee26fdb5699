"""The cycle simulator keeps every rule of time of docs/snowflake/machine.md; cycles are worked out by hand beside."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import ceil

import pytest

from mapper.models.trace_partition.isa.program import Mark
from mapper.sim.trace_partition.cycle.report import ClusterCycles, CycleReport
from mapper.sim.trace_partition.cycle.simulation import simulate_cycles
from tests.models.trace_partition.isa.small_program import CODE, program_of
from tests.sim.trace_partition.run import both, machine, run

EIGHT_WORDS = both("r1", 1, 8)
"""Cycles 0 and 1: one piece of 8 words."""
LATENCY = 64


def only(report: CycleReport) -> ClusterCycles:
    return report.layers[0].clusters[0]


def test_an_instruction_is_issued_each_cycle() -> None:
    assert run("").cycles == 1
    assert run("ADDI r1, r1, 1\n" * 10).cycles == 11


def test_a_load_is_there_the_latency_after_its_last_byte() -> None:
    # LD in cycle 2, at the memory from 3 to 11, there at 75; the WAIT ends with cycle 75, HALT is 76.
    report = run(EIGHT_WORDS + "LD.B.A r0, r0, r1, r0\nWAIT.LOAD 0")
    assert report.cycles == 3 + 8 + LATENCY + 1 + 1
    assert only(report).stalls["load"] == 75 - 3
    assert only(report).buf_bytes == 16


def test_a_store_is_finished_with_its_last_byte() -> None:
    report = run(EIGHT_WORDS + "TMOV.0 r0, r0, r1, r0\nWAIT.STORE 0")
    assert report.cycles == 3 + 8 + 1 + 1
    assert only(report).stored_bytes == 16


def test_cycles_are_instructions_and_stalls() -> None:
    one = only(run(EIGHT_WORDS + "LD.B.A r0, r0, r1, r0\nWAIT.LOAD 0\nTMOV.0 r0, r0, r1, r0\nWAIT.STORE 0"))
    assert one.cycles == one.instructions + sum(one.stalls.values())
    assert one.operations["LD"] == one.operations["TMOV"] == one.operations["HALT"] == 1


def test_what_has_not_ended_at_the_halt_is_awaited() -> None:
    report = run(EIGHT_WORDS + "TMOV.0 r0, r0, r1, r0")
    assert report.cycles == 3 + 8
    assert only(report).stalls["halt"] == 11 - 4


def test_a_load_to_all_units_crosses_the_memory_once_and_writes_four_buffers() -> None:
    report = run(EIGHT_WORDS + "LD.B.A r0, r0, r1, r0\nLD.B.D r0, r0, r1, r0\nWAIT.LOAD 0")
    assert only(report).buf_bytes == 32
    assert only(report).words == 8 * 4 + 8


def test_transfers_use_the_memory_one_after_another() -> None:
    # Requested in cycles 2 and 3: the second begins when the first ends, at 11.
    report = run(EIGHT_WORDS + "LD.B.A r0, r0, r1, r0\nLD.W.A r0, r0, r1, r0\nWAIT.LOAD 0")
    assert report.cycles == 3 + 8 + 8 + LATENCY + 2
    assert only(report).wbuf_bytes == 16


def test_fractions_of_cycles_add_up() -> None:
    # A third of a cycle a byte: 30 words take 20 cycles, three single ones 2 together; all are asked for by then.
    text = both("r1", 1, 30) + both("r2", 1, 1) + "LD.B.A r0, r0, r1, r0\n" + "LD.B.A r0, r0, r2, r0\n" * 3
    report = run(text + "WAIT.LOAD 0", on=machine(bandwidth_gb_s=0.3))
    assert report.cycles == 5 + 20 + 2 + LATENCY + 2


def test_what_ends_within_a_cycle_is_there_with_the_next() -> None:
    report = run(both("r1", 1, 1) + "LD.B.A r0, r0, r1, r0\nWAIT.LOAD 0", on=machine(bandwidth_gb_s=0.15))
    assert report.cycles == 3 + ceil(2 * 100 / 150) + LATENCY + 2


def test_a_fill_takes_a_cycle_a_line_of_each_piece_and_no_bytes() -> None:
    # Two pieces of 40 words from word 8 on, 64 apart: 3 lines each. The fill is asked for in cycle 5.
    report = run(
        "MOVI r3, 8\n" + both("r1", 2, 40) + both("r2", 64, 0) + "LD.F.A r3, r0, r1, r2\nWAIT.LOAD 0"
    )
    assert report.cycles == 6 + 6 + LATENCY + 2
    assert report.dram_bytes == 0
    assert only(report).fill == 6


def test_instructions_come_beside_data_and_take_a_32nd_of_the_time() -> None:
    text = both("r2", 0, CODE + 1024) + both("r1", 1, 100) + "LD.B.A r0, r0, r1, r0\n" * 2 + "LD.I r2"
    report = run(text + "\nWAIT.LOAD 0\nHALT 0\n.bank\n")
    lanes = {one.lane: one for one in report.timeline}
    assert (lanes["load_code"].begin, lanes["load_code"].end) == (7, 5 + 200 + 1024)
    data = next(one for one in report.timeline if one.lane == "load_buf")
    assert (data.begin, data.end) == (5, 5 + 200 + 200 // 31)
    assert only(report).stalls["load"] == data.end + LATENCY - 7


def test_wait_lets_as_many_go_unfinished_as_it_says() -> None:
    loads = EIGHT_WORDS + "LD.B.A r0, r0, r1, r0\n" * 2
    first = run(loads + "WAIT.LOAD 1\nADDI r2, r0, 1")
    assert only(first).stalls["load"] == 3 + 8 + LATENCY - 4
    assert only(run(loads + "WAIT.LOAD 2")).stalls["load"] == 0


@pytest.mark.parametrize(
    ("instruction", "cycles"),
    [
        ("MAC.COOP.ZERO r0, r0, r0, r1", 3),  # 40 words are 3 lines
        ("MAC.COOP.ZERO r0, r2, r0, r1", 4),  # and 4 from word 9 on
        ("MAC.COOP.ZERO r0, r0, r2, r1", 4),  # of the weights too
        ("MAC.INDP.ZERO r0, r2, r0, r1", 40),
        ("MAC.LANE.ZERO r0, r2, r0, r1", 4),
        ("VMOV.BIAS r2, r1", 4),
        ("VMOV.PART r2, r1", 6),  # 80 words
        ("MAX.S r0, r2, r1", 4),
        ("MAC.COOP.ZERO r0, r0, r0, r0", 1),  # at least 1
    ],
)
def test_vector_instructions_take_their_cycles_and_the_latency(instruction: str, cycles: int) -> None:
    # Issued in cycle 2, runs from 3 on.
    report = run(f"MOVI r1, 40\nMOVI r2, 9\n{instruction}\nWAIT.VECTOR 0")
    assert only(report).vector == cycles
    assert report.cycles == 3 + cycles + 8 + 2


def test_vector_instructions_run_one_after_another() -> None:
    report = run("MOVI r1, 40\n" + "MAC.INDP.ZERO r0, r0, r0, r1\n" * 2 + "WAIT.VECTOR 0")
    assert report.cycles == 2 + 80 + 8 + 2


COOP = "MOVI r1, 16\nMOVI r4, 4\nVMOV.BIAS.C r0, r4\n"
"""Cycles 0 to 2; the move runs in cycle 3."""
RESULT = "MAC.COOP.BIAS.W r1, r0, r0, r1\n"
"""One cycle, and one line of results."""


def test_a_result_is_finished_when_it_has_drained() -> None:
    assert run(COOP + RESULT + "WAIT.VECTOR 0").cycles == 5 + 1 + 8 + 2


def test_a_result_that_has_not_drained_stalls_the_next() -> None:
    # Runs 4 and 5; the second's result finds the first's, which then takes cycle 6; its own takes 7.
    report = run(COOP + RESULT * 2 + "WAIT.VECTOR 0")
    assert report.cycles == 7 + 1 + 8 + 2
    assert (only(report).vector, only(report).conflict) == (3, 1)


def test_a_result_drains_while_the_vector_unit_has_nothing_to_do() -> None:
    report = run(COOP + RESULT + "ADDI r2, r0, 1\n" * 5 + RESULT + "WAIT.VECTOR 0")
    # Issued in cycle 9, runs 10, drains 11.
    assert report.cycles == 12 + 8 + 2


@pytest.mark.parametrize(("length", "conflict"), [(8, 0), (5, 0), (4, 1), (2, 3), (1, 4)])
def test_results_drain_in_the_cycles_in_which_indp_reads_no_line(length: int, conflict: int) -> None:
    # 64 results are 4 lines; of ``length`` words' cycles one reads the maps.
    text = f"MOVI r1, {length}\nMOVI r4, 64\nVMOV.BIAS r0, r4\n"
    report = run(text + "MAC.INDP.BIAS.W r4, r0, r0, r1\n" * 2 + "WAIT.VECTOR 0")
    assert only(report).vector == 4 + 2 * length
    assert only(report).conflict == conflict
    # The first MAC is issued in cycle 3; the move runs from 3 to 7.
    assert report.cycles == 7 + 2 * length + conflict + 4 + 8 + 2


def test_wide_results_take_twice_the_lines() -> None:
    text = "MOVI r1, 1\nMOVI r4, 64\nVMOV.BIAS r0, r4\n" + "MAC.INDP.BIAS.W.X r4, r0, r0, r1\n" * 2
    assert only(run(text + "WAIT.VECTOR 0")).conflict == 8


def test_the_seventeenth_vector_instruction_waits_for_the_first() -> None:
    # MAC i runs 100 cycles from 2 + 100 (i - 1) on; the first is finished at 110, when the seventeenth, whose turn
    # was 17, is issued.
    report = run("MOVI r1, 100\n" + "MAC.INDP.ZERO r0, r0, r0, r1\n" * 17 + "WAIT.VECTOR 0")
    assert only(report).stalls["vector_queue"] == 110 - 17
    assert report.cycles == 2 + 1700 + 8 + 2


def test_a_transfer_waits_for_room_in_its_queue() -> None:
    # Two in the queue; the first is there at 75.
    report = run(EIGHT_WORDS + "LD.B.A r0, r0, r1, r0\n" * 3, on=machine(transfer_queue=2))
    assert only(report).stalls["transfer_queue"] == 75 - 4
    assert report.cycles == 76 + 8 + LATENCY


def test_a_store_makes_room_before_an_earlier_load() -> None:
    # The store ends at 19, before the load before it is there.
    text = EIGHT_WORDS + "LD.B.A r0, r0, r1, r0\nMOVI r2, 64\nTMOV.0 r0, r2, r1, r0\nTMOV.0 r0, r2, r1, r0\n"
    assert only(run(text, on=machine(transfer_queue=2))).stalls["transfer_queue"] == 19 - 5


def test_a_loop_runs_its_two_delay_slots_each_turn() -> None:
    loop = "L:\nADDI r1, r1, 1\nBNE r1, r2, L\nADDI r3, r3, 1\nADDI r4, r4, 1\n"
    report = run("MOVI r2, 5\n" + loop)
    assert report.instructions == 1 + 5 * 4 + 1
    assert report.operations["BNE"] == 5


def test_numbers_are_compared_without_sign_and_wrap() -> None:
    # -1 is the largest: BLT is not taken; -1 + 2 = 1 is less than 2: it is.
    text = "ADDI r1, r0, -1\nMOVI r2, 2\n"
    skip = "BLT r1, r2, +5\nADDI r0, r0, 0\nADDI r0, r0, 0\nMOVI r9, 1\nMOVI r9, 1\n"
    assert run(text + skip).instructions == 2 + 5 + 1
    assert run(text + "ADD r1, r1, r2\n" + skip).instructions == 3 + 3 + 1


def test_the_next_bank_is_awaited() -> None:
    # LD.I in cycle 2: 1,024 words at a word a cycle, then the latency.
    text = both("r2", 0, CODE + 1024) + "LD.I r2\nWAIT.CODE 0\n" + "ADDI r1, r1, 1\n" * 508
    report = run(text + ".bank\nADDI r1, r1, 1\n")
    assert only(report).stalls["code"] == 3 + 1024 + LATENCY - 3
    assert report.instructions == 512 + 2
    assert only(report).code_bytes == 2048
    assert not report.hazards


HUNDRED = both("r1", 1, 100)
LOAD = "LD.B.A r0, r0, r1, r0\n"


def begins(report: CycleReport, cluster: int) -> list[int]:
    """When the memory begins what a cluster loads."""
    return [one.begin for one in report.timeline if (one.cluster, one.lane) == (cluster, "load_buf")]


def test_clusters_have_the_memory_in_turns_whoever_asks_first() -> None:
    text = HUNDRED + LOAD + "WAIT.LOAD 0\n"
    first, second = run("ADDI r2, r0, 1\n" + text, text).layers[0].clusters
    assert first.cycles == 4 + 100 + LATENCY + 2
    assert second.cycles == 4 + 200 + LATENCY + 2


def test_a_turn_is_all_that_is_requested_before_a_wait() -> None:
    text = HUNDRED + LOAD + "ADDI r2, r0, 1\n" * 200 + LOAD + "WAIT.LOAD 0\n"
    report = run(text, HUNDRED + LOAD + "WAIT.LOAD 0\n")
    assert begins(report, 0) == [3, 204]
    assert begins(report, 1) == [204 + 100]


def test_the_memory_waits_for_the_cluster_whose_turn_it_is() -> None:
    load = HUNDRED + LOAD + "WAIT.LOAD 0\n"
    report = run(load + LOAD + "WAIT.LOAD 0\n", "ADDI r2, r0, 1\n" * 500 + load)
    assert begins(report, 1) == [503]
    assert begins(report, 0) == [3, 603]


@pytest.mark.parametrize("end", ["SYNC\n", ""])
def test_a_cluster_that_waits_for_others_or_has_halted_is_passed_over(end: str) -> None:
    load = HUNDRED + LOAD + "WAIT.LOAD 0\n"
    report = run(load + LOAD + "WAIT.LOAD 0\n" + end, "ADDI r2, r0, 1\n" * 10 + end)
    assert begins(report, 0) == [3, 3 + 100 + LATENCY + 2]


def test_behind_a_sync_the_first_turn_is_the_first_clusters() -> None:
    load = HUNDRED + LOAD + "WAIT.LOAD 0\n"
    report = run(load + "SYNC\n" + load, "SYNC\n" + load)
    assert begins(report, 0)[1] + 100 == begins(report, 1)[0]


def test_the_end_of_a_bank_does_not_end_a_turn() -> None:
    bank = both("r2", 0, CODE + 1024) + "LD.I r2\n" + HUNDRED + LOAD
    text = bank + "ADDI r3, r0, 1\n" * (511 - 6) + "WAIT.CODE 0\n.bank\n" + LOAD + "WAIT.LOAD 0\nHALT 0\n"
    report = run(text, HUNDRED + LOAD + "WAIT.LOAD 0\n")
    # The first cluster asks again when its second bank has come, beside its first load.
    assert begins(report, 0) == [6, 3 + 1024 + 100 + LATENCY + 2]
    assert begins(report, 1) == [begins(report, 0)[1] + 100]


def test_sync_ends_when_all_have_come() -> None:
    report = run("SYNC\n", "ADDI r1, r0, 1\n" * 6 + "SYNC\n")
    first, second = report.layers[0].clusters
    assert first.cycles == second.cycles == 8
    assert (first.stalls["sync"], second.stalls["sync"]) == (6, 0)


def test_a_host_operation_takes_no_time_of_the_accelerator() -> None:
    assert run("HALT 1\nHALT 2").cycles == 3


def test_cycles_and_bytes_are_counted_by_layer() -> None:
    load = EIGHT_WORDS + "LD.B.A r0, r0, r1, r0\nWAIT.LOAD 0\n"
    program = program_of(load + "ADDI r3, r0, 1\n" + load * 2 + "HALT 0")
    marks = (Mark("conv1", 0), Mark("pool1", 5))
    report = simulate_cycles(
        replace(program, clusters=(replace(program.clusters[0], marks=marks),)), machine()
    )
    conv, pool = report.layers
    assert (conv.name, conv.cycles, conv.dram_bytes) == ("conv1", 77, 16)
    assert (pool.name, pool.cycles, pool.dram_bytes) == ("pool1", 2 * 76 + 1, 32)
    assert conv.clusters[0].begin == 0 and pool.clusters[0].begin == 77
    assert report.cycles == conv.cycles + pool.cycles
    assert [one.layer for one in report.timeline] == ["conv1", "pool1", "pool1"]


def test_a_program_at_another_base_takes_the_same_time() -> None:
    from mapper.models.trace_partition.isa.program_file import relocated

    text = both("r2", 0, CODE + 1024) + "LD.I r2\nWAIT.CODE 0\n" + "ADDI r1, r1, 1\n" * 508
    program = program_of(text + ".bank\nHALT 0\n")
    assert simulate_cycles(relocated(program, 4096), machine()) == simulate_cycles(program, machine())


def test_the_timeline_stays_small_and_keeps_what_was_used() -> None:
    # Loads with pauses between, more than the timeline has entries.
    body = "L:\nADDI r3, r3, 1\nLD.B.A r0, r0, r1, r0\nWAIT.LOAD 0\nBNE r3, r2, L\nADDI r4, r4, 1\nADDI r4, r4, 1\n"
    report = run(EIGHT_WORDS + "MOVI r2, 5000\n" + body)
    loads = [one for one in report.timeline if one.lane == "load_buf"]
    assert len(loads) <= 2001
    assert sum(one.used for one in loads) == 5000 * 8
    assert all(one.begin < one.end for one in loads)
    assert all(one.end <= later.begin for one, later in pairwise(loads))


def test_clusters_in_step_begin_each_layer_together() -> None:
    def texts(first: int, second: int) -> list[str]:
        return ["ADDI r1, r1, 1\n" * first, "ADDI r1, r1, 1\n" * second + "HALT 0\n"]

    program = program_of("".join(texts(10, 20)), "".join(texts(30, 5)))
    clusters = tuple(
        replace(cluster, marks=(Mark("conv1", 0), Mark("pool1", place)))
        for cluster, place in zip(program.clusters, (10, 30), strict=True)
    )
    drifting = simulate_cycles(replace(program, clusters=clusters), machine(2))
    together = simulate_cycles(replace(program, clusters=clusters), machine(2), in_step=True)
    assert drifting.cycles == 30 + 5 + 1
    assert together.cycles == 30 + 20 + 1
    assert [layer.cycles for layer in together.layers] == [30, 21]
    assert [one.stalls["sync"] for one in together.layers[0].clusters] == [20, 0]
