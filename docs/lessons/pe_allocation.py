# %% [markdown]
# # How many processing elements does each layer get?
#
# Lesson on `pe_allocation`. Source of the problem: Heidorn et al., tightly coupled processor arrays [Heidorn2019].
#
# ## The problem
# All layers of a network run at once on one processor array. Each layer owns some processing elements (PEs), and pixels
# stream from layer to layer. The slowest layer determines how often a frame is finished. We have 6x6 PEs. How many
# should each layer get, so that frames are finished as often as possible?
#
# | letter | meaning |
# |---|---|
# | $M_i$, $N_i$ | output maps of layer $i$, input maps that one of them reads |
# | $K_i^2$ | pixels of a window |
# | $F_i$ | new pixels that each window needs |
# | $R_i$ | positions of a frame (output pixels of one map) |
# | $\delta$ | products that a PE computes in a cycle |
# | $A$ | PEs of the array |
#
# ![A TCPA: PEs in a grid, with buffers and address generators at its borders](../figure/pe-allocation-machine.svg)
#
# ## The mathematics
# A PE computes whole output maps, one after another. With $P_i$ PEs, the busiest computes $\lceil M_i/P_i\rceil$ of
# them, and a position takes (Eq. 6 of the paper)
#
# $$z_i(P_i) = \left\lceil\frac{M_i}{P_i}\right\rceil \left\lceil\frac{N_i}{\delta}\right\rceil K_i^2
# \quad\text{cycles.}$$
#
# A layer's frame takes $R_i z_i$ cycles; frames come every $I = \max_i R_i z_i$ cycles. We look for
# $\min I$ subject to $\sum_i P_i \le A$, $P_i \ge 1$.
#
# Layer $i$ also waits for pixels: $z_i \ge F_i z_{i-1}$ (Eq. 9). Does that change $I$? If $F_i R_i \le R_{i-1}$, as
# here, then $R_i F_i z_{i-1} \le R_{i-1} z_{i-1} \le I$: slowing a layer down to the rate of its pixels never makes it
# the slowest. So Eq. 9 can be left out as long as we only ask for $I$.

# %%
import time
from dataclasses import dataclass

import pulp

import mapper


@dataclass(frozen=True)
class Layer:
    name: str
    filters: int  # M
    depth: int  # N
    window: int  # K^2
    new_pixels: int  # F
    positions: int  # R


DELTA = 2
ARRAY = 36
NETWORK = [
    Layer("conv0", 24, 1, 9, 1, 784),
    Layer("pool1", 1, 24, 4, 4, 196),
    Layer("conv2", 24, 24, 9, 1, 196),
    Layer("pool3", 1, 24, 4, 4, 49),
    Layer("conv4", 16, 24, 9, 1, 49),
]

# %% [markdown]
# ## A first formulation
# The work of a layer is $W_i = R_i M_i \lceil N_i/\delta\rceil K_i^2$ cycles of one PE. At $T$ frames per cycle, layer
# $i$ must do $W_i T$ cycles of work in a cycle, which takes $W_i T$ PEs. That is linear in $T$:
#
# $$\max T \quad\text{subject to}\quad W_i T \le P_i,\quad \textstyle\sum_i P_i \le A,\quad P_i \in \{1, 2, \dots\}$$
#
# This is short, it has whole numbers of PEs, and it is solved at once.


# %%
def work_program(layers: list[Layer], array: int) -> tuple[float, dict[str, int]]:
    """Cycles between frames as this program sees them, and PEs by layer."""
    program = pulp.LpProblem("work", pulp.LpMaximize)
    # Frames per million cycles: solvers compute with tolerances, and tiny numbers drown in them.
    rate = pulp.LpVariable("rate", lowBound=0)
    pes = {x.name: pulp.LpVariable(f"pes_{x.name}", 1, array, cat="Integer") for x in layers}
    program += rate
    for x in layers:
        work = x.positions * x.filters * -(-x.depth // DELTA) * x.window
        program += work / 1e6 * rate <= pes[x.name]
    program += pulp.lpSum(pes.values()) <= array
    program.solve(pulp.PULP_CBC_CMD(msg=False))
    return 1e6 / rate.value(), {name: round(variable.value()) for name, variable in pes.items()}


claimed, first = work_program(NETWORK, ARRAY)
print(f"a frame every {claimed:,.0f} cycles with {first}, {sum(first.values())} PEs")

# %% [markdown]
# ## The check
# A check must not repeat the reasoning of the formulation. This one runs three frames. Maps are dealt out to PEs one by
# one, a position begins when the layer is free and its pixels have arrived, and we read the clock.


# %%
def measured_interval(layers: list[Layer], pes: dict[str, int], frames: int = 3) -> int:
    """Cycles from the end of the last frame but one to the end of the last."""
    arrived = [0] * (frames * layers[0].positions * layers[0].new_pixels)
    for x in layers:
        maps_of_pe = [0] * pes[x.name]
        for m in range(x.filters):
            maps_of_pe[m % pes[x.name]] += 1
        products = -(-x.depth // DELTA) * x.window
        busy = max(maps_of_pe) * products
        finished: list[int] = []
        for position in range(frames * x.positions):
            last_pixel = arrived[position * x.new_pixels + x.new_pixels - 1]
            free = finished[-1] if finished else 0
            finished.append(max(free, last_pixel) + busy)
        arrived = finished
    return arrived[-1] - arrived[-1 - layers[-1].positions]


def verdict(claim: float, pes: dict[str, int], array: int) -> list[str]:
    """What is wrong with an allocation and its claim; empty if nothing is."""
    wrong = []
    if sum(pes.values()) > array:
        wrong.append(f"uses {sum(pes.values())} PEs of {array}")
    real = measured_interval(NETWORK, pes)
    if real > claim + 0.5:
        wrong.append(f"claims a frame every {claim:,.0f} cycles, but the run takes {real:,}")
    return wrong


wrong_verdict = verdict(claimed, first, ARRAY)
print("refuted:", wrong_verdict)
assert wrong_verdict

# %% [markdown]
# A PE computes whole maps: 24 maps on 22 PEs take as long as on 12, because some PE computes two. The program counts
# average work and assumes that each further PE helps. Its value is not useless: it is a *lower bound*, since no
# allocation beats the average. But no allocation has this interval, and the one that the program picks is far from the
# best, as the next section shows.
#
# ## The right one
# The ceiling is not a linear function of $P_i$, but for each given $P$ it is a number. So let a binary variable
# $y_{i,P}$ say "layer $i$ has $P$ PEs", and let the ceilings be coefficients:
#
# $$\min I \quad\text{s.t.}\quad \textstyle\sum_P y_{i,P} = 1,\quad
# \sum_P R_i\,z_i(P)\,y_{i,P} \le I,\quad \sum_i\sum_P P\,y_{i,P} \le A$$


# %%
def interval_of(x: Layer, pes: int) -> int:
    return x.positions * -(-x.filters // pes) * -(-x.depth // DELTA) * x.window


def choice_program(
    layers: list[Layer], array: int, counts: dict[str, list[int]]
) -> tuple[int, dict[str, int]]:
    """Least interval if layer x may have ``counts[x.name]`` PEs."""
    program = pulp.LpProblem("choice", pulp.LpMinimize)
    interval = pulp.LpVariable("interval", lowBound=0)
    has = {
        (x.name, p): pulp.LpVariable(f"has_{x.name}_{p}", cat="Binary")
        for x in layers
        for p in counts[x.name]
    }
    program += interval
    for x in layers:
        program += pulp.lpSum(has[x.name, p] for p in counts[x.name]) == 1
        program += pulp.lpSum(interval_of(x, p) * has[x.name, p] for p in counts[x.name]) <= interval
    program += pulp.lpSum(p * variable for (_, p), variable in has.items()) <= array
    program.solve(pulp.PULP_CBC_CMD(msg=False, gapRel=0, gapAbs=0))
    chosen = {name: p for (name, p), variable in has.items() if variable.value() > 0.5}
    # The solver computes in floating point; what we report is recomputed in integers.
    return max(interval_of(x, chosen[x.name]) for x in layers), chosen


def all_counts(layers: list[Layer], array: int) -> dict[str, list[int]]:
    return {x.name: list(range(1, array + 1)) for x in layers}


best, allocation = choice_program(NETWORK, ARRAY, all_counts(NETWORK, ARRAY))
right_verdict = verdict(best, allocation, ARRAY)
print(f"a frame every {best:,} cycles with {allocation}; faults found: {right_verdict}")
print(f"the first allocation takes {measured_interval(NETWORK, first) / best:.2f} times as long")
assert not right_verdict

# %% [markdown]
# ## The fast one
# Two arguments, each of them a proof, make it fast.
#
# **Leave out dominated choices.** If $\lceil M/P\rceil = \lceil M/P'\rceil$ and $P < P'$, then $P'$ is never needed. Of
# 512 counts, 45 remain.
#
# **Turn the question around.** For a given interval $I$, the fewest PEs of each layer can be computed separately: it
# may compute at most $q_i = \lfloor I / (R_i \lceil N_i/\delta\rceil K_i^2) \rfloor$ maps per PE, so it needs
# $\lceil M_i/q_i\rceil$ PEs (and it is impossible if $q_i = 0$). The sum of these numbers never rises with $I$, so
# bisection finds the least $I$ exactly, in integers. The number of PEs needed at $I - 1$ proves that no smaller $I$
# will do.


# %%
def useful(filters: int, most: int) -> list[int]:
    """The PE counts of which none smaller has the same ceiling."""
    return [p for p in range(1, most + 1) if p == 1 or -(-filters // p) < -(-filters // (p - 1))]


def fewest_pes(layers: list[Layer], interval: int) -> dict[str, int] | None:
    """The fewest PEs of each layer at ``interval``; None if some layer cannot reach it."""
    found = {}
    for x in layers:
        maps = interval // interval_of(x, x.filters)
        if maps == 0:
            return None
        found[x.name] = -(-x.filters // maps)
    return found


def bisect(layers: list[Layer], array: int) -> tuple[int, dict[str, int]]:
    """The least interval that ``array`` PEs reach, and an allocation."""
    low, high = 0, max(interval_of(x, 1) for x in layers)
    while high - low > 1:
        middle = (low + high) // 2
        fewest = fewest_pes(layers, middle)
        low, high = (low, middle) if fewest and sum(fewest.values()) <= array else (middle, high)
    found = fewest_pes(layers, high)
    assert found is not None
    return high, found


fast_best, fast_allocation = bisect(NETWORK, ARRAY)
fast_verdict = verdict(fast_best, fast_allocation, ARRAY)
print(f"a frame every {fast_best:,} cycles with {fast_allocation}")
one_less = fewest_pes(NETWORK, fast_best - 1)
assert one_less is not None
print(f"one cycle less would take {sum(one_less.values())} PEs: {one_less}")
assert fast_best == best and not fast_verdict

# %% [markdown]
# The difference shows on a larger network and array: eight convolutions of up to 512 maps on 1,024 PEs.

# %%
SHAPES = [(64, 3, 56), (64, 64, 56), (128, 64, 28), (128, 128, 28), (256, 128, 14), (256, 256, 14)]
SHAPES += [(512, 256, 7), (512, 512, 7)]  # M, N, rows and columns
LARGE = [Layer(f"conv{i}", m, n, 9, 1, side * side) for i, (m, n, side) in enumerate(SHAPES)]
few_counts = {x.name: useful(x.filters, 1024) for x in LARGE}
started = time.perf_counter()
slow_answer, _ = choice_program(LARGE, 1024, all_counts(LARGE, 1024))
after_all = time.perf_counter()
few_answer, _ = choice_program(LARGE, 1024, few_counts)
after_few = time.perf_counter()
closed_answer, _ = bisect(LARGE, 1024)
ended = time.perf_counter()
assert slow_answer == few_answer == closed_answer
speedup = (after_all - started) / (ended - after_few)
print(f"a frame every {closed_answer:,} cycles, by all three")
print(f"useful counts only: {(after_all - started) / (after_few - after_all):.1f} times as fast")
print(f"bisection: {speedup:,.0f} times as fast")

# %% [markdown]
# Why, then, use a program at all? Because bisection answers only this one question. With latency as the objective, with
# layers that share a PE, or with limits on buffers, layers depend on each other. Then the closed form no longer holds,
# but the program only needs another constraint, and the closed form remains useful as a valid inequality.
#
# ## A real case
# `mapper` states the same problem with start times, latency, storage and ties, solves it exactly, and places the
# layers on the array. By default layers start when the pixels of their first window are there in raster order, as its
# simulator confirms (`--model streaming`); the paper's matched rates are `--model calculus`. The interval is the same.
# On the paper's network it must find ours, on 6x6 PEs and on the paper's 4x4.

# %%
CLOCK_HZ = 50e6
for rows in (6, 4):
    solution = mapper.solve("mnist-tcpa", f"tcpa-{rows}x{rows}", "throughput")
    cost = solution.cost
    assert cost is not None and solution.certificate.proven
    own, _ = bisect(NETWORK, rows * rows)
    print(f"{rows}x{rows}: {cost['throughput_fps']:.1f} frames per second, proven; ours {CLOCK_HZ / own:.1f}")
    print(solution.to_json()["parts"][0]["mapping"]["pes"])
    assert round(CLOCK_HZ / cost["throughput_fps"]) == own

# %%
solution

# %% [markdown]
# The throughput is the same. Among the allocations that reach it, `mapper` chooses one with the least latency, and
# among these one with the fewest PEs; our program did not ask for that.
#
# ## Exercises
# Write the functions `exercise_1`, `exercise_2` and `exercise_3` in a file and run
# `python -m docs.lessons.check pe_allocation FILE`. A layer is a list `[M, N, K2, positions]`; $\delta = 2$.
#
# 1. `exercise_1(layer, pes)`: cycles of a frame of one layer on `pes` PEs, $R\,z(P)$.
# 2. `exercise_2(filters, most)`: the useful PE counts from 1 to `most`, ascending, without trying each count (the
#    checker asks for a thousand million maps).
# 3. `exercise_3(layers, array)`: two layers may now *share* one PE and take turns; no other PE is shared. The shared PE
#    computes the frames of both layers in one interval, one after the other. Return the least interval in cycles, or -1
#    if there are still too few PEs. (At most one pair shares, and it has one PE.)
