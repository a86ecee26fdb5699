"""The functional simulator of Snowflake on programs written by hand."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.models.trace_partition.data.function_table import mapped
from mapper.models.trace_partition.isa.program import HostCall
from mapper.models.trace_partition.isa.program_file import relocated
from mapper.sim.trace_partition.functional.memory import Memory
from mapper.sim.trace_partition.functional.simulation import run
from tests.models.trace_partition.isa.small_program import (
    CODE,
    INPUT,
    OUTPUT,
    TENSOR_WORDS,
    address,
    constants_at,
    pair,
    program_of,
    view,
)
from tests.sim.trace_partition.code import MACHINE, RAMP, executed, fill, load, numbers, show, store


def rounded(sums: npt.NDArray[np.int64]) -> list[int]:
    """Sums of Q8.8 products as Q8.8."""
    wrapped = (sums + (1 << 31)) % (1 << 32) - (1 << 31)
    return [int(x) for x in np.clip((wrapped + 128) >> 8, -32768, 32767)]


def test_coop_multiplies_a_trace_with_the_weights_of_each_vmac() -> None:
    weights = np.random.default_rng(1).integers(-300, 300, (16, 20))
    code = load("LD.B.A", 8, INPUT, 1, 20, (0, 0))
    code += load("LD.W.D", 32, constants_at(1), 16, 20, (0, 20))  # a filter for each of the 16 vMACs
    code += fill(100, 3, 4) + numbers(r1=100, r2=4, r3=200, r4=8, r5=32, r6=20)
    code += "VMOV.BIAS.C r1, r2\nMAC.COOP.BIAS.W r3, r4, r5, r6\n"
    code += "".join(store(unit, 4 * unit, 200, 4) for unit in range(4)) + "HALT 0"
    words, _ = executed(program_of(code, constants=tuple(weights.ravel().tolist())))
    assert words[:16] == rounded(weights @ RAMP[:20].astype(np.int64) + 3 * 256)
    assert not any(words[16:])


def test_indp_multiplies_each_word_with_a_line_of_weights() -> None:
    weights = np.random.default_rng(2).integers(-300, 300, (4, 7, 16))
    code = load("LD.B.D", 0, INPUT, 4, 7, (0, 7)) + load("LD.W.A", 0, constants_at(1), 4, 112, (0, 112))
    code += numbers(r1=64, r2=200, r6=7) + fill(100, 0, 64) + "MOVI r7, 100\nVMOV.BIAS r7, r1\n"
    code += "MAC.INDP.ZERO.W r2, r0, r0, r6\n" + store(2, 0, 200, 64) + "HALT 0"
    words, _ = executed(program_of(code, constants=tuple(weights.ravel().tolist())))
    expected = np.einsum("vnl,n->vl", weights, RAMP[14:21].astype(np.int64))
    assert words[:64] == rounded(expected.ravel())


def test_lane_multiplies_word_by_word() -> None:
    weights = np.random.default_rng(3).integers(-300, 300, (4, 16))
    code = load("LD.B.0", 5, INPUT, 1, 40, (0, 0)) + load("LD.W.0", 0, constants_at(1), 4, 16, (0, 16))
    code += fill(100, -1, 64) + numbers(r1=100, r2=40, r3=200, r4=5)
    code += "VMOV.BIAS r1, r2\nMAC.LANE.BIAS r0, r4, r0, r2\nMAC.LANE.CONT.W.R r3, r4, r0, r2\n"
    code += store(0, 0, 200, 40) + "HALT 0"
    words, _ = executed(program_of(code, constants=tuple(weights.ravel().tolist())))
    expected = rounded(2 * weights.ravel()[:40] * RAMP[:40].astype(np.int64) - 256)
    assert words[:40] == [max(0, word) for word in expected]


def test_results_are_kept_within_the_limits_that_were_set_last() -> None:
    code = load("LD.B.0", 0, INPUT, 1, 64, (0, 0)) + numbers(
        r1=64, r2=100, r3=(-170) & 0xFFFF, r4=(-150) & 0xFFFF
    )
    code += "VMOV.CLIP r3, r4\nMAX.S.W.K r2, r0, r1\n" + store(0, 0, 100, 64)
    code += "MOVI r5, 3\nVMOV.CLIP r0, r5\nMAX.S.W.K r2, r0, r1\n" + store(0, 64, 100, 64)
    code += "MAX.S.W r2, r0, r1\n" + store(0, 128, 100, 64) + "HALT 0"
    words, _ = executed(program_of(code), np.arange(64, dtype=np.int16) - 200)
    image = np.arange(64) - 200
    assert words[:64] == np.clip(image, -170, -150).tolist()
    assert words[64:128] == np.clip(image, 0, 3).tolist()
    assert words[128:192] == image.tolist()


def test_sums_are_rounded_before_they_are_kept_within_limits() -> None:
    code = fill(0, 512, 64) + fill(64, 77, 64) + numbers(r1=64, r2=200, r3=(-300) & 0xFFFF, r4=76)
    code += "VMOV.BIAS r1, r1\nVMOV.CLIP r3, r4\nMAC.LANE.BIAS.W.K r2, r0, r0, r0\n" + store(1, 0, 200, 64)
    code += "VMOV.BIAS r0, r1\nMAC.LANE.BIAS.W.R.K r2, r0, r0, r0\n" + store(1, 64, 200, 64) + "HALT 0"
    words, _ = executed(program_of(code))
    assert words[:128] == [76] * 128


def test_words_go_through_the_table_that_was_filled_last() -> None:
    values = np.random.default_rng(5).integers(-3000, 3000, 257)
    table = np.concatenate([[5, 100, -300], values])
    image = np.random.default_rng(6).integers(-9000, 9000, 64)
    code = load("LD.B.A", 100, constants_at(1), 1, 260, (0, 0)) + load("LD.B.1", 0, INPUT, 1, 64, (0, 0))
    code += numbers(r1=64, r2=400, r3=100, r4=260)
    code += "VMOV.TABLE r3, r4\nMAX.S.T.W r2, r0, r1\n" + store(1, 0, 400, 64) + "HALT 0"
    words, _ = executed(program_of(code, constants=tuple(table.tolist())), image.astype(np.int16))
    assert words[:64] == mapped(image, table.astype(np.int16)).tolist()


def test_delay_slots_run_whether_or_not_the_branch_is_taken() -> None:
    code = numbers(r1=5)
    code += "again: ADDI r1, r1, -1\nBNE r1, r0, again\nADDI r2, r2, 1\nADDI r3, r3, 10\n"
    code += "BLT r0, r2, on\nADDI r4, r4, 1\nADDI r4, r4, 1\nADDI r4, r4, 100\n"
    code += "on: BLT r2, r0, on\nADDI r5, r5, 1\nADDI r0, r5, 1\n"
    code += "".join(show(f"r{register}", register) for register in range(6)) + "HALT 0"
    words, execution = executed(program_of(code))
    assert words[:6] == [0, 0, 5, 50, 2, 1]
    assert execution.counts[0]["BNE"] == 5
    assert execution.counts[0]["BLT"] == 2
    assert execution.instructions == sum(execution.counts[0].values())


def test_additions_are_modulo_2_to_the_32_and_branches_compare_unsigned() -> None:
    code = "ADDI r1, r0, -1\nADD r2, r1, r1\nBLT r0, r1, on\nADDI r3, r1, 3\nSYNC\nMOVI r2, 7\n"
    code += "on: " + "".join(show(f"r{register}", register) for register in (1, 2, 3)) + "HALT 0"
    words, _ = executed(program_of(code))
    assert words[1:4] == [-1, -2, 2]


def test_code_goes_on_in_the_bank_that_was_loaded() -> None:
    code = address("r1", CODE + 1024) + "LD.I r1\nWAIT.CODE 0\n"
    code += "".join("ADDI r2, r2, 1\n" for _ in range(508)) + address("r1", CODE + 2048)
    code += "LD.I r1\n" + "".join("ADDI r2, r2, 1\n" for _ in range(509)) + show("r2", 0) + "HALT 0"
    words, _ = executed(program_of(code))
    assert words[0] == 508 + 509


def test_clusters_wait_for_one_another_at_sync() -> None:
    first = "SYNC\n" + load("LD.B.3", 7, OUTPUT, 1, 1, (0, 0)) + store(3, 1, 7, 1) + "SYNC\nHALT 0"
    second = fill(0, 77, 1) + store(1, 0, 0, 1) + "SYNC\nSYNC\nHALT 0"
    words, execution = executed(program_of(first, second))
    assert words[:2] == [77, 77]
    assert [counts["SYNC"] for counts in execution.counts] == [2, 2]


def test_dealt_pieces_go_to_the_units_in_turn() -> None:
    code = load("LD.B.D", 0, INPUT, 10, 3, (16, 4))
    code += "".join(store(unit, 64 * unit, 0, 64) for unit in range(4)) + "HALT 0"
    words, _ = executed(program_of(code))
    expected = np.zeros((4, 64), np.int64)
    for piece in range(10):
        at = piece // 4 * 16
        expected[piece % 4, at : at + 3] = RAMP[4 * piece : 4 * piece + 3]
    assert words[:256] == expected.ravel().tolist()


def test_weights_of_one_unit_go_to_its_vmacs_in_turn() -> None:
    # 6 pieces of a word to vMACs 0 to 3 and again 0 and 1 of unit 1, a line apart; lane 0 of vMAC v sees them.
    code = load("LD.W.1", 0, INPUT, 6, 1, (16, 1)) + fill(0, 256, 64) + fill(100, 0, 64)
    code += numbers(r1=100, r2=64, r3=200, r4=16) + "VMOV.BIAS r1, r2\nMAC.LANE.ZERO.W r3, r0, r0, r2\n"
    code += "MAC.LANE.ZERO.W r1, r0, r4, r2\n" + store(1, 0, 200, 64) + store(1, 64, 100, 64)
    code += store(0, 128, 200, 64) + "HALT 0"
    words, _ = executed(program_of(code))
    assert words[0:64:16] == RAMP[:4].tolist()
    assert words[64:128:16] == [*RAMP[4:6].tolist(), 0, 0]
    assert not any(words[128:192])


def test_fill_writes_one_value_into_spaced_pieces() -> None:
    code = numbers(r1=2, r2=0x8000) + pair("r3", 3, 2) + pair("r4", 5, 0) + "LD.F.2 r1, r2, r3, r4\n"
    code += store(2, 0, 0, 20) + store(1, 20, 0, 20) + "HALT 0"
    words, _ = executed(program_of(code))
    low = -32768
    assert words[:20] == [0, 0, low, low, 0, 0, 0, low, low, 0, 0, 0, low, low, 0, 0, 0, 0, 0, 0]
    assert not any(words[20:40])


def test_stores_take_spaced_pieces_to_spaced_places() -> None:
    code = load("LD.B.0", 0, INPUT, 1, 64, (0, 0)) + address("r1", OUTPUT + 1)
    code += numbers(r2=3) + pair("r3", 4, 2) + pair("r4", 5, 10) + "TMOV.0 r1, r2, r3, r4\nHALT 0"
    words, _ = executed(program_of(code))
    expected = [0] * 20
    for piece in range(4):
        expected[1 + 5 * piece : 3 + 5 * piece] = RAMP[3 + 10 * piece : 5 + 10 * piece].tolist()
    assert words[:20] == expected


@pytest.mark.parametrize(("mode", "spaced", "extent"), [("INDP", "", 64), ("COOP", ".C", 4)])
def test_wide_sums_go_on_where_they_were_left(mode: str, spaced: str, extent: int) -> None:
    image = np.random.default_rng(4).integers(-32768, 32768, 512).astype(np.int16)
    begin = load("LD.B.A", 0, INPUT, 1, 32, (0, 0)) + load("LD.W.A", 0, INPUT, 4, 512, (0, 0))
    begin += fill(100, 9, 64) + numbers(r1=100, r2=extent, r3=200, r4=16, r5=256, r6=32)
    begin += f"VMOV.BIAS{spaced} r1, r2\n"
    whole = f"MAC.{mode}.BIAS r0, r0, r0, r4\nMAC.{mode}.CONT.W r3, r4, r5, r4\n"
    parts = f"MAC.{mode}.BIAS.W.X r3, r0, r0, r4\nMAC.{mode}.ZERO.W.X r0, r0, r0, r6\n"
    parts += f"VMOV.PART{spaced} r3, r2\n" + load("LD.B.A", 0, INPUT, 1, 32, (0, 0))
    parts += f"MAC.{mode}.INIT.W r3, r4, r5, r4\n"
    end = store(1, 0, 200, extent) + "HALT 0"
    at_once, _ = executed(program_of(begin + whole + end), image)
    in_parts, _ = executed(program_of(begin + parts + end), image)
    assert at_once == in_parts
    assert len(set(at_once[:extent])) > 1 or mode == "COOP"


def test_added_words_start_from_the_bias() -> None:
    code = load("LD.B.A", 0, INPUT, 1, 64, (0, 0)) + fill(100, 50, 64) + numbers(r1=100, r2=40, r3=8, r4=200)
    code += "VMOV.BIAS r1, r2\nVMOV.ADD r0, r3\nMAC.LANE.INIT.W r4, r0, r0, r0\n" + store(0, 0, 200, 48)
    words, _ = executed(program_of(code + "HALT 0"))
    assert words[:48] == [*(int(word) + 50 for word in RAMP[:8]), *[50] * 32, *[0] * 8]


def test_max_keeps_the_largest_since_its_start() -> None:
    image = np.random.default_rng(5).integers(-9, 9, 192).astype(np.int16)
    code = load("LD.B.A", 0, INPUT, 1, 192, (0, 0)) + numbers(r1=64, r2=128, r3=200, r4=60, r5=300)
    code += "MAX.S r0, r2, r1\nMAX.S r0, r0, r4\nMAX r0, r1, r4\nMAX.W r3, r2, r4\nMAX.W.R r5, r2, r4\n"
    words, _ = executed(program_of(code + store(3, 0, 200, 64) + store(0, 64, 300, 60) + "HALT 0"), image)
    largest = image.reshape(3, 64).max(axis=0)
    assert words[:60] == largest[:60].tolist()
    assert words[60:64] == [0] * 4
    assert words[64:124] == np.maximum(largest, 0)[:60].tolist()


@pytest.mark.parametrize(
    ("product", "result", "relu"),
    [
        ((1, 127), 0, 0),
        ((1, 128), 1, 1),
        ((-1, 128), 0, 0),
        ((-1, 129), -1, 0),
        ((32767, 32767), 32767, 32767),
        ((-32768, 32767), -32768, 0),
    ],
)
def test_results_are_rounded_saturated_and_cut_at_zero(
    product: tuple[int, int], result: int, relu: int
) -> None:
    code = load("LD.B.A", 0, INPUT, 1, 1, (0, 0)) + load("LD.W.A", 0, INPUT + 1, 1, 1, (0, 0))
    code += numbers(r1=1, r2=200, r3=201, r4=100) + "VMOV.BIAS r4, r1\nMAC.INDP.ZERO.W r2, r0, r0, r1\n"
    code += "MAC.INDP.ZERO.W.R r3, r0, r0, r1\n" + store(0, 0, 200, 2) + "HALT 0"
    words, _ = executed(program_of(code), product)
    assert words[:2] == [result, relu]


def test_the_host_works_on_the_memory_where_the_program_stops() -> None:
    def host(call: HostCall, memory: Memory) -> None:
        memory.view(call.output)[...] = 2 * memory.view(call.inputs[0])
        memory["y"][1] = len(memory)

    call = HostCall(7, "twice1", "Twice", (view("y"),), view("y"))
    code = fill(0, 21, 1) + store(0, 0, 0, 1) + "HALT 7\n" + load("LD.B.0", 0, OUTPUT, 1, 1, (0, 0))
    program = program_of(code + store(0, 2, 0, 1) + "HALT 0", calls=(call,))
    image = {(0, "x"): np.zeros((1, 1, TENSOR_WORDS), np.int16)}
    result = run(program, MACHINE, image, host).view(view("y"))
    assert result[0, 0, :3].tolist() == [42, 2, 42]


@settings(derandomize=True, deadline=None, max_examples=40)
@given(
    st.sampled_from(("COOP", "INDP", "LANE")),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), st.integers(0, 33)), min_size=1, max_size=3),
    st.integers(0, 2**32 - 1),
)
def test_chains_of_macs_are_sums_modulo_2_to_the_32(
    mode: str, chain: list[tuple[int, int, int]], seed: int
) -> None:
    image = np.random.default_rng(seed).integers(-32768, 32768, 512).astype(np.int16)
    count = 4 if mode == "COOP" else 64
    code = load("LD.B.A", 0, INPUT, 1, 128, (0, 0))
    code += "".join(load("LD.W.A", 512 * part, INPUT, 4, 512, (0, 0)) for part in range(3))
    code += numbers(r1=count, r2=300) + fill(200, 0, 64) + "MOVI r3, 200\nVMOV.BIAS r3, r1\n"
    maps, weights = image[:128].astype(np.int64), np.tile(image, 3).astype(np.int64)
    lanes, sums = np.arange(64), np.zeros(64, np.int64)
    for turn, (at, line, length) in enumerate(chain):
        code += numbers(r4=at, r5=line, r6=length)
        last = ".W.X" if turn == len(chain) - 1 else ""
        code += f"MAC.{mode}.{'CONT' if turn else 'BIAS'}{last} r2, r4, r5, r6\n"
        for i in range(length):
            if mode == "COOP":
                sums[:4] += maps[at + i] * weights[line + i]
            elif mode == "INDP":
                sums += maps[at + i] * weights[line + 16 * i + lanes % 16]
            else:
                sums[i] += maps[at + i] * weights[line + i % 16]
    words, _ = executed(program_of(code + store(2, 0, 300, 2 * count) + "HALT 0"), image)
    found = np.array(words[: 2 * count], np.int16).view("<i4")
    assert found.tolist() == (sums[:count] % (1 << 32)).astype(np.uint32).view(np.int32).tolist()


@pytest.mark.parametrize("base", [1, 4096, 0x1FFFF, 100_000_000])
def test_outputs_are_the_same_at_another_base(base: int) -> None:
    code = address("r1", CODE + 1024) + "LD.I r1\n" + load("LD.B.A", 0, INPUT, 1, 300, (0, 0))
    code += store(2, 3, 1, 290) + ".bank\n" + store(1, 300, 2, 7) + "HALT 0"
    program = program_of(code.replace(".bank\n", "ADDI r1, r1, 0\n" * (512 - 27)))
    expected, _ = executed(program)
    assert any(expected)
    assert executed(relocated(program, base))[0] == expected
