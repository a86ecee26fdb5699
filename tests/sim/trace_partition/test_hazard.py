"""What nothing in the machine waits for is a hazard; the right WAIT removes it. What cannot run is an error."""

from __future__ import annotations

import pytest

from mapper.sim.trace_partition.cycle import simulation as cycle
from mapper.sim.trace_partition.cycle.report import Hazard
from mapper.workloads.document import InputError
from tests.models.trace_partition.isa.small_program import CODE, OUTPUT
from tests.sim.trace_partition.run import both, machine, run

WORDS = "MOVI r3, 32\n" + both("r1", 1, 32)
"""r3: 32 words; r1: one piece of 32 words."""
LOAD = "LD.B.A r0, r0, r1, r0\n"
WEIGHTS = "LD.W.A r0, r0, r1, r0\n"
STORE = "TMOV.0 r0, r0, r1, r0\n"
READ = "MAC.COOP.ZERO r0, r0, r0, r3\n"
LONG_READ = "MAC.INDP.ZERO r0, r0, r0, r3\n"
RESULTS = "VMOV.BIAS r3, r3\nMAC.INDP.BIAS.W r0, r3, r0, r3\n"
"""Reads words 32 to 63 for 32 cycles, and writes 0 to 31."""
ELSEWHERE = both("r5", 0, OUTPUT)

MISSING = {
    "a read of Buf": (LOAD, "WAIT.LOAD 0\n", READ, "reads words of Buf that a load has still to bring"),
    "a read of WBuf": (WEIGHTS, "WAIT.LOAD 0\n", READ, "reads words of WBuf that a load has still to bring"),
    "a move": (
        LOAD,
        "WAIT.LOAD 0\n",
        "VMOV.ADD r0, r3\n",
        "reads words of Buf that a load has still to bring",
    ),
    "a read of padding": ("LD.F.A r0, r0, r1, r0\n", "WAIT.LOAD 0\n", READ, "reads words of Buf"),
    "a result under a load": (
        LOAD * 3,
        "WAIT.LOAD 0\n",
        RESULTS,
        "writes a result where a load has still to put words",
    ),
    "a result over a store": (
        STORE * 3,
        "WAIT.STORE 0\n",
        RESULTS,
        "writes a result over words that a store has still to read",
    ),
    "a load over maps in use": (
        LONG_READ,
        "WAIT.VECTOR 0\n",
        LOAD,
        "overwrites words of Buf that a vector instruction still uses",
    ),
    "a load over results": (
        RESULTS,
        "WAIT.VECTOR 0\n",
        LOAD,
        "overwrites words of Buf that a vector instruction still uses",
    ),
    "a load over weights in use": (
        LONG_READ,
        "WAIT.VECTOR 0\n",
        WEIGHTS,
        "overwrites words of WBuf that a vector instruction still reads",
    ),
    "a store of results": (RESULTS, "WAIT.VECTOR 0\n", STORE, "stores results that are not finished"),
    "a store of what is loaded": (
        LOAD,
        "WAIT.LOAD 0\n",
        "TMOV.0 r5, r0, r1, r0\n",
        "stores words that a load has still to bring",
    ),
    "a host operation": (
        STORE,
        "WAIT.STORE 0\n",
        "HALT 1\n",
        "calls the host before the stores are finished",
    ),
}


@pytest.mark.parametrize(("before", "wait", "after", "cause"), MISSING.values(), ids=MISSING.keys())
def test_a_missing_wait_is_a_hazard(before: str, wait: str, after: str, cause: str) -> None:
    found = run(ELSEWHERE + WORDS + before + after)
    assert found.hazards_found > 0
    assert cause in found.hazards[0].cause


@pytest.mark.parametrize(("before", "wait", "after", "cause"), MISSING.values(), ids=MISSING.keys())
def test_the_wait_removes_it(before: str, wait: str, after: str, cause: str) -> None:
    assert run(ELSEWHERE + WORDS + before + wait + after).hazards == ()


def only(*texts: str) -> Hazard:
    report = run(*texts)
    assert report.hazards_found == 1
    return report.hazards[0]


def test_a_hazard_says_where_what_and_until_when() -> None:
    # The load is asked for in cycle 3, uses the memory from 4 to 36 and is there at 100; the MAC runs from 5 on.
    hazard = only(WORDS + LOAD + READ)
    assert (hazard.cluster, hazard.bank, hazard.place, hazard.layer) == (0, 0, 4, "conv1")
    assert hazard.instruction == "MAC.COOP.ZERO r0, r0, r0, r3"
    assert (hazard.cycle, hazard.ready, hazard.word) == (5, 100, 0)
    assert "LD.B.A r0, r0, r1, r0" in hazard.cause
    assert "not before 100" in str(hazard)


def test_the_time_of_a_load_that_waits_behind_others_is_found_later() -> None:
    text = WORDS + "LD.W.A r3, r0, r1, r0\n" * 2 + LOAD + READ
    assert (only(text).cycle, only(text).ready) == (7, 4 + 3 * 32 + 64)


def test_a_wait_for_too_few_loads_is_found() -> None:
    text = WORDS + LOAD + WEIGHTS + "WAIT.LOAD 1\n" + READ
    assert "WBuf" in only(text).cause
    assert run(text.replace("WAIT.LOAD 1", "WAIT.LOAD 0")).hazards == ()


def test_a_read_that_comes_late_enough_by_itself_is_none() -> None:
    assert run(WORDS + LOAD + "ADDI r2, r0, 1\n" * 95 + READ).hazards == ()
    assert run(WORDS + LOAD + "ADDI r2, r0, 1\n" * 94 + READ).hazards_found == 1


def test_a_store_may_begin_when_the_results_are_finished() -> None:
    # The move runs from 3 on for 2 cycles, the MAC 32, its results drain in 2 and are finished at 5 + 34 + 8 = 47;
    # a store asked for in cycle 46 begins at 47.
    text = WORDS + RESULTS
    assert run(text + "ADDI r2, r0, 1\n" * 42 + STORE).hazards == ()
    assert run(text + "ADDI r2, r0, 1\n" * 40 + STORE).hazards_found == 1


def test_the_drain_of_a_result_that_is_still_waiting_is_looked_at() -> None:
    # Behind it the unit is busy without a free cycle at the port: the first result drains as the second is written.
    coop = "VMOV.BIAS.C r4, r4\nMAC.COOP.BIAS.W r0, r3, r0, r3\n" + "MAC.COOP.CONT r0, r3, r0, r3\n" * 12
    text = "MOVI r4, 4\n" + WORDS + coop + "TMOV.0 r0, r0, r1, r0\n" + "MAC.COOP.CONT.W r3, r3, r0, r3\n"
    report = run(text)
    assert report.hazards_found == 1
    assert report.hazards[0].cause == "stores results that are not finished"


def test_words_of_one_line_are_told_apart() -> None:
    # Words 0 to 7 are loaded while 8 to 15 are read, and the other way round.
    text = both("r1", 1, 8) + "MOVI r2, 8\n"
    assert run(text + "LD.B.A r0, r0, r1, r0\nMAC.COOP.ZERO r0, r2, r0, r2\n").hazards == ()
    assert run(text + "MAC.INDP.ZERO r0, r2, r0, r2\nLD.B.A r0, r0, r1, r0\n").hazards == ()
    crossing = only(text + "LD.B.A r0, r0, r1, r0\nMOVI r3, 7\nMAC.COOP.ZERO r0, r3, r0, r2\n")
    assert crossing.word == 7


def test_pieces_leave_the_words_between_them_alone() -> None:
    # Two pieces of 4 words, 32 apart: 0 to 3 and 32 to 35.
    text = (
        both("r1", 2, 4) + both("r2", 32, 4) + "LD.B.A r0, r0, r1, r2\nMOVI r3, 4\nMOVI r4, 28\nMOVI r5, 29\n"
    )
    assert run(text + "MAC.COOP.ZERO r0, r3, r0, r4\n").hazards == ()
    assert only(text + "MAC.COOP.ZERO r0, r3, r0, r5\n").word == 32


def test_weights_dealt_out_lie_side_by_side_in_their_vmacs() -> None:
    # 16 pieces, one for each vMAC, all at word 0; indp reads 16 words of each for a word of maps.
    text = both("r1", 16, 16) + both("r2", 16, 16) + "LD.W.D r0, r0, r1, r2\nMOVI r3, 16\nMOVI r4, 1\n"
    assert only(text + "MAC.INDP.ZERO r0, r0, r0, r4\n").word == 0
    assert run(text + "MAC.INDP.ZERO r0, r0, r3, r4\n").hazards == ()


def bank(wait: str, shorter: int = 0) -> str:
    text = both("r2", 0, CODE + 1024) + "LD.I r2\n" + wait
    return text + "ADDI r1, r1, 1\n" * (509 - shorter) + ".bank\nADDI r1, r1, 1\n"


def test_a_bank_that_has_not_arrived_is_a_hazard() -> None:
    hazard = only(bank(""))
    assert (hazard.bank, hazard.place, hazard.cycle) == (1, 0, 512)
    assert hazard.ready == 3 + 1024 + 64
    assert "a bank that has not arrived" in hazard.cause
    assert run(bank("WAIT.CODE 0\n", 1)).hazards == ()


def test_a_bank_that_comes_beside_a_load_is_found_too() -> None:
    loads = both("r1", 1, 600) + "LD.B.A r0, r0, r1, r0\n"
    text = loads + both("r2", 0, CODE + 1024) + "LD.I r2\n" + "ADDI r1, r1, 1\n" * 506 + ".bank\n"
    assert only(text).ready == 3 + 600 + 1024 + 64


def test_a_word_that_another_cluster_stored_needs_a_sync() -> None:
    store = ELSEWHERE + WORDS + "TMOV.0 r5, r0, r1, r0\nWAIT.STORE 0\n"
    load = ELSEWHERE + WORDS + "ADDI r2, r0, 1\n" * 100
    fetch = "LD.B.A r0, r5, r1, r0\nWAIT.LOAD 0\n"
    hazard = only(store, load + fetch)
    assert (hazard.cluster, hazard.word) == (1, OUTPUT)
    assert "cluster 0" in hazard.cause
    assert run(store + "SYNC\n", load + "SYNC\n" + fetch).hazards == ()


def test_a_cluster_may_read_what_it_stored_itself() -> None:
    text = ELSEWHERE + WORDS + "TMOV.0 r5, r0, r1, r0\nLD.B.A r0, r5, r1, r0\nWAIT.LOAD 0\n"
    assert run(text, "").hazards == ()


def test_many_hazards_are_counted_and_some_are_kept() -> None:
    report = run(WORDS + LOAD + READ * 100)
    # They begin every 2 cycles from 5 on; the load is there at 100. Those before it is known when count as one.
    assert 16 < report.hazards_found <= 48
    assert len(report.hazards) == 16


STOPPED = {
    "Buf": (
        "MOVI r1, 32767\nMOVI r2, 2\nMAC.COOP.ZERO r0, r1, r0, r2",
        "place 2.*MAC.COOP.ZERO.*the end of Buf",
    ),
    "a result": ("MOVI r1, 32767\nMOVI r2, 2\nMAX.W r1, r0, r2", "the end of Buf"),
    "a load": (both("r1", 1, 2) + "MOVI r2, 32767\nLD.B.A r2, r0, r1, r0", "the end of Buf"),
    "WBuf": ("MOVI r1, 16383\nMOVI r2, 2\nMAC.COOP.ZERO r0, r0, r1, r2", "the end of WBuf"),
    "weights": (both("r1", 5, 2) + both("r2", 16383, 0) + "LD.W.A r0, r0, r1, r2", "the end of WBuf"),
    "memory": ("MOVI.H r2, 65535\n" + both("r1", 1, 2) + "LD.B.A r0, r2, r1, r0", "the end of the memory"),
    "a store": ("MOVI.H r2, 65535\n" + both("r1", 1, 2) + "TMOV.0 r2, r0, r1, r0", "the end of the memory"),
    "a branch out of its bank": ("BNE r0, r0, +512", "leaves its bank"),
    "a branch backwards": ("BNE r0, r0, -1", "leaves its bank"),
    "a branch at the end of its bank": ("ADDI r0, r0, 0\n" * 510 + "BNE r0, r0, -1", "leaves its bank"),
    "a branch in a delay slot": ("BNE r0, r0, +1\nBNE r0, r0, +1", "a branch in a delay slot"),
    "no next bank": ("ADDI r0, r0, 0\n" * 512, "the next has not been loaded"),
    "a strange bank": ("MOVI r1, 5\nLD.I r1", "no bank of this cluster"),
    "a long maximum": ("MOVI r1, 65\nMAX.S r0, r0, r1", "more words than there are accumulators"),
    "a long move": ("MOVI r1, 5\nVMOV.BIAS.C r0, r1", "more words than there are accumulators"),
    "many results of coop": ("MOVI r1, 5\nVMOV.BIAS r0, r1\nMAC.COOP.ZERO.W r0, r0, r0, r1", "extent"),
}


@pytest.mark.parametrize(("text", "why"), STOPPED.values(), ids=STOPPED.keys())
def test_what_the_machine_cannot_do_stops_the_simulation(text: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        run(text)


def test_a_sync_that_nobody_else_comes_to_stops_the_simulation() -> None:
    with pytest.raises(InputError, match=r"cluster 1.*SYNC.*has halted"):
        run("", "SYNC\n")


def test_a_program_that_does_not_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cycle, "MOST_WORK", 100_000)
    with pytest.raises(InputError, match="still running"):
        run("MOVI r1, 1\nL:\nBNE r0, r1, L\nADDI r0, r0, 0\nADDI r0, r0, 0\n")


def test_pieces_of_transfers_count_as_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cycle, "MOST_WORK", 100_000)
    with pytest.raises(InputError, match="still running"):
        run(both("r1", 65535, 1) + "LD.B.A r0, r0, r1, r0\n" * 2, on=machine())
