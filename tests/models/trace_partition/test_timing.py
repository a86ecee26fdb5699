"""Compute objects take the time that running them instruction by instruction takes."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.arch.snowflake import Timing as Constants
from mapper.models.trace_partition.steps.loop_nest import loop_nest
from mapper.models.trace_partition.steps.step import ComputeObject, Loop, Trace
from mapper.models.trace_partition.timing.compute_time import compute_timing, step_timing
from mapper.models.trace_partition.timing.object_code import object_code


def issued(o: ComputeObject) -> Iterator[tuple[str, int, int, int]]:
    """Every instruction of the object's loops as it is run: what it is, trace, addresses of maps (or what VMOV
    reads) and weights."""
    nest = loop_nest(o)
    code = [symbol for segment in nest.segments for symbol in segment]
    held = {pointer.name: pointer.start for pointer in nest.pointers} | {"": 0}
    place, target, slots = 0, -1, -1
    while place < len(code):
        symbol = code[place]
        match symbol.kind:
            case "add":
                held[symbol.pointer] += symbol.number
            case "set":
                held[symbol.pointer] = symbol.number
            case "branch" if held[symbol.pointer] != held[symbol.end]:
                target, slots = place + symbol.number, 3
            case "trace":
                yield "trace", symbol.number, held["maps"], held[symbol.pointer]
            case "bias" | "initial":
                yield symbol.kind, 0, held[symbol.kind], 0
        if symbol.kind not in ("trace", "bias", "initial"):
            yield "scalar", 0, 0, 0
        slots -= 1
        place = target if slots == 0 else place + 1


def lines(address: int, words: int) -> int:
    return (address % 16 + words + 15) // 16


def run(o: ComputeObject, before: int, constants: Constants) -> tuple[int, int, int, int]:
    """Vector cycles, conflicts, end of issue and end of results, one instruction after another."""
    now, end, pending, busy, conflict = before, 0, 0, 0, 0
    finished: list[int] = []
    out = output_addresses(o)
    traces = len(o.traces)
    for kind, number, address, weights in issued(o):
        if kind == "scalar":
            now += 1
            continue
        if len(finished) >= constants.vector_queue:
            now = max(now, finished[-constants.vector_queue])
        free = 0
        if kind == "trace":
            length = o.traces[number % traces].length
            cycles = lines(address, length)
            if o.operation == "mac" and o.mode == "coop":
                cycles = max(cycles, lines(weights, length))
            elif o.operation == "mac" and o.mode == "indp":
                free, cycles = length - cycles, length
        else:
            cycles = lines(address, o.extent * (2 if kind == "initial" and o.initial_wide else 1))
        start = max(end, now + 1)
        pending = max(0, pending - (start - end) - free)
        end = start + cycles
        busy += cycles
        now += 1
        if kind == "trace" and number == traces - 1:
            end, conflict = end + pending, conflict + pending
            pending = lines(next(out), o.extent * (2 if o.wide else 1))
        finished.append(end + constants.vector_latency)
    return busy, conflict, now, max(now, end + pending + constants.vector_latency)


def output_addresses(o: ComputeObject) -> Iterator[int]:
    for block in range(o.blocks.count):
        for row in range(o.rows.count):
            for column in range(o.columns.count):
                yield o.out + block * o.blocks.out + row * o.rows.out + column * o.columns.out


def growths(most: int) -> st.SearchStrategy[int]:
    return st.integers(0, most).map(lambda n: n * 4) | st.integers(0, 3 * most)


@st.composite
def objects(draw: st.DrawFn) -> ComputeObject:
    operation = draw(st.sampled_from(["mac", "mac", "mac", "max"]))
    mode = draw(st.sampled_from(["coop", "indp", "lane"]))
    most = 64 if operation == "max" or mode == "lane" else 200
    count = draw(st.sampled_from([1, 1, 2, 3, 5]))
    traces = tuple(
        Trace(draw(st.integers(0, 300)), draw(st.integers(0, 300)), draw(st.integers(1, most)))
        for _ in range(count)
    )
    loops = [
        Loop(draw(st.integers(1, turns)), *(draw(growths(40)) for _ in range(5))) for turns in (3, 12, 40)
    ]
    extent = draw(st.integers(1, 4 if mode == "coop" and operation == "mac" else 64))
    mac = operation == "mac"
    initial = draw(st.none() | st.integers(0, 99)) if mac else None
    address = st.integers(0, 99)
    return ComputeObject(
        "mac" if mac else "max",
        "coop" if mode == "coop" else "lane" if mode == "lane" else "indp",
        draw(address),
        draw(address),
        draw(address),
        draw(address) if mac else None,
        initial,
        initial is not None and draw(st.booleans()),
        extent,
        loops[0],
        loops[1],
        loops[2],
        traces,
        mac and draw(st.booleans()),
    )


@given(objects(), st.sampled_from([Constants(), Constants(vector_latency=0), Constants(vector_queue=2)]))
@settings(derandomize=True, deadline=None, max_examples=40)
def test_loops_that_are_cut_short_take_the_time_of_every_instruction(
    o: ComputeObject, constants: Constants
) -> None:
    timing = compute_timing(o, constants)
    busy, conflict, issue, cycles = run(o, object_code(o).owned, constants)
    assert (timing.vector, timing.conflict, timing.issue, timing.cycles) == (busy, conflict, issue, cycles)


def test_accumulate_loops_take_the_time_of_every_instruction() -> None:
    for traces in (17, 45, 60):
        o = convolution("coop", 48, traces, columns=7)
        timing = compute_timing(o)
        expected = run(o, object_code(o).owned, Constants())
        assert (timing.vector, timing.conflict, timing.issue, timing.cycles) == expected


def convolution(mode: str, length: int, traces: int = 3, columns: int = 56) -> ComputeObject:
    return ComputeObject(
        "mac",
        "coop" if mode == "coop" else "indp",
        0,
        0,
        0,
        0,
        None,
        False,
        4 if mode == "coop" else 64,
        Loop(),
        Loop(14, 64 * 58, 0, 64 * 56),
        Loop(columns, 64, 0, 64),
        tuple(Trace(64 * 58 * row, length * row, length) for row in range(traces)),
    )


def test_independent_mode_takes_a_cycle_a_word_and_hides_its_results() -> None:
    timing = compute_timing(convolution("indp", 192))
    assert timing.vector == 14 * 56 * 3 * 192 + 4
    assert timing.conflict == 0
    assert timing.cycles - timing.vector < 40


def test_cooperative_mode_takes_a_cycle_a_line_and_stalls_for_every_result() -> None:
    timing = compute_timing(convolution("coop", 192))
    assert timing.vector == 14 * 56 * 3 * 12 + 1
    assert timing.conflict == 14 * 56 - 1


def test_short_traces_are_bound_by_the_issue_of_instructions() -> None:
    timing = compute_timing(convolution("coop", 16))
    assert timing.issue > timing.vector + timing.conflict


def test_objects_one_after_another_hide_their_registers_behind_the_one_before() -> None:
    one = convolution("indp", 192)
    assert step_timing((one, one)).cycles < 2 * compute_timing(one).cycles
    assert step_timing((one, one)).vector == 2 * compute_timing(one).vector


def test_a_step_without_objects_takes_no_time() -> None:
    assert step_timing(()).cycles == 0
