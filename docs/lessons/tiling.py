# %% [markdown]
# # How large are the tiles, and in which order do the loops run?
#
# Lesson on `tiling`. Source of the problem: Dave et al., dMazeRunner [Dave2019], cut down to one buffer.
#
# ## The problem
# A matrix product $O = AB$ runs on an accelerator with a buffer of $S$ words; the matrices lie in DRAM. The three
# loops are cut into tiles. The loops over tiles move a tile of each matrix into the buffer, unless it is already there;
# the loops inside a tile compute. Each word that moves between DRAM and buffer costs energy. Which tile sizes, and
# which order of the three loops over tiles, move the fewest words?
#
# | letter | meaning |
# |---|---|
# | $E_l$ | iterations of loop $l \in \{I, J, K\}$ |
# | $t_l$, $n_l$ | size of a tile along $l$, number of tiles: $t_l n_l = E_l$ |
# | $S$ | words of the buffer |
#
# $A$ is indexed by $I, K$, $B$ by $K, J$, $O$ by $I, J$. Each has one *foreign* loop that does not index it: $J$, $I$
# and $K$.
#
# ![A dataflow accelerator: DRAM, scratch-pad, network, PEs with register files](../figure/tiling-machine.svg)
#
# ## The mathematics
# The tiles must fit: $t_I t_K + t_K t_J + t_I t_J \le S$.
#
# A tile of $A$ has $t_I t_K$ words. It is fetched in each of the $n_I n_J n_K$ passes, unless it stays. It stays while
# its foreign loop $J$ runs, provided that nothing inside $J$ changes it, that is, $J$ is the innermost loop:
#
# $$T_A = t_I t_K \cdot n_I n_K \cdot \begin{cases} 1 & J \text{ innermost} \\ n_J & \text{else} \end{cases}$$
#
# The same holds for $B$. A tile of $O$ holds partial sums: each visit writes it back, and all visits but the first read
# what was written before:
#
# $$T_O = t_I t_J \cdot n_I n_J \cdot (2 v - 1),
# \quad v = \begin{cases} 1 & K \text{ innermost} \\ n_K & \text{else} \end{cases}$$
#
# We look for $\min T_A + T_B + T_O$.

# %%
import tempfile
import time
from itertools import product
from pathlib import Path

from ortools.sat.python import cp_model

import mapper

FOREIGN = {"A": "J", "B": "I", "O": "K"}
EXTENT = {"I": 24, "J": 16, "K": 36}
WORDS = 128


def new_solver() -> cp_model.CpSolver:
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    return solver


# %% [markdown]
# ## A first formulation
# We translate the definition directly: variables for $t_l$ and $n_l$, a Boolean $s_q$ for each matrix, which says
# "tiles of $q$ stay while its foreign loop runs", and products. If a matrix stays, its foreign loop is innermost, so
# the $s_q$ determine the order.

# %%
Answer = tuple[int, dict[str, int], str]
"""Words moved, tile sizes, order of the loops over tiles from outer to inner."""


class ProductProgram:
    """The definition, product by product."""

    def __init__(self, extent: dict[str, int], words: int) -> None:
        self.model = cp_model.CpModel()
        self.size = {loop: self.model.new_int_var(1, e, f"t_{loop}") for loop, e in extent.items()}
        self.count = {loop: self.model.new_int_var(1, e, f"n_{loop}") for loop, e in extent.items()}
        for loop, e in extent.items():
            self.model.add_multiplication_equality(e, [self.size[loop], self.count[loop]])
        self.stays = {q: self.model.new_bool_var(f"s_{q}") for q in FOREIGN}
        tiles, moved = [], []
        for q, foreign in FOREIGN.items():
            own = [loop for loop in extent if loop != foreign]
            matrix = extent[own[0]] * extent[own[1]]
            tile = self.times([self.size[loop] for loop in own], min(words, matrix))
            passes = self.times([self.count[loop] for loop in own], matrix)
            visits = self.model.new_int_var(1, extent[foreign], f"v_{q}")
            self.model.add(visits == 1).only_enforce_if(self.stays[q])
            self.model.add(visits == self.count[foreign]).only_enforce_if(~self.stays[q])
            crossings = self.model.new_int_var(1, 2 * extent[foreign], f"c_{q}")
            self.model.add(crossings == (2 * visits - 1 if q == "O" else visits))
            moved.append(self.times([tile, passes, crossings], matrix * 2 * extent[foreign]))
            tiles.append(tile)
        self.model.add(sum(tiles) <= words)
        self.model.minimize(sum(moved))

    def times(self, factors: list[cp_model.IntVar], most: int) -> cp_model.IntVar:
        result = self.model.new_int_var(1, most, "")
        self.model.add_multiplication_equality(result, factors)
        return result

    def solve(self) -> Answer:
        solver = new_solver()
        assert solver.solve(self.model) == cp_model.OPTIMAL
        inner = [FOREIGN[q] for q, stays in self.stays.items() if solver.value(stays)]
        order = [loop for loop in self.size if loop not in inner] + inner
        size = {loop: solver.value(variable) for loop, variable in self.size.items()}
        return round(solver.objective_value), size, "".join(order)


first = ProductProgram(EXTENT, WORDS).solve()
print(f"{first[0]:,} words with tiles {first[1]} in the order {first[2]}: optimal, according to the solver")

# %% [markdown]
# ## The check
# The check uses no formula. It walks the loops over tiles, keeps one tile per matrix, and counts words when a tile
# changes.


# %%
def walked(extent: dict[str, int], size: dict[str, int], order: str) -> int:
    """Words that cross between DRAM and buffer."""
    held: dict[str, tuple[int, ...]] = {}
    seen = set()
    words = 0
    for indices in product(*(range(extent[loop] // size[loop]) for loop in order)):
        at = dict(zip(order, indices, strict=True))
        for q, foreign in FOREIGN.items():
            own = [loop for loop in extent if loop != foreign]
            tile = tuple(at[loop] for loop in own)
            if held.get(q) == tile:
                continue
            tile_words = size[own[0]] * size[own[1]]
            if q != "O":
                words += tile_words  # fetched
            else:
                words += tile_words * (
                    1 + (tile in seen)
                )  # written back in the end; read if it was here before
                seen.add(tile)
            held[q] = tile
    return words


def verdict(answer: Answer, extent: dict[str, int], words: int) -> list[str]:
    """What is wrong with an answer; empty if nothing is."""
    claimed, size, order = answer
    wrong = []
    needed = sum(size["I"] * size["J"] * size["K"] // size[foreign] for foreign in FOREIGN.values())
    if needed > words:
        wrong.append(f"tiles of {needed} words in a buffer of {words}")
    real = walked(extent, size, order)
    if real != claimed:
        wrong.append(f"claims {claimed:,} words, the walk moves {real:,}")
    return wrong


wrong_verdict = verdict(first, EXTENT, WORDS)
print("refuted:", wrong_verdict)
assert wrong_verdict

# %% [markdown]
# Each formula is right, and each $s_q$ can be true, but not all of them at once: only *one* loop is innermost. The
# program computed $\sum_q \min_\pi T_q(\pi)$ instead of $\min_\pi \sum_q T_q(\pi)$, which is never larger and usually
# smaller. As an answer it is wrong, but it is a valid *lower bound*: every word moves at least once. When a solver says
# "optimal", it speaks about the program, not about the problem.
#
# ## The right one
# One family of constraints is missing: $s_A + s_B + s_O = 1$. (If the innermost loop has a single tile, the next loop
# decides. That is the same as making the next loop innermost, so nothing is lost.)

# %%
program = ProductProgram(EXTENT, WORDS)
program.model.add_exactly_one(program.stays.values())
right = program.solve()
right_verdict = verdict(right, EXTENT, WORDS)
print(f"{right[0]:,} words with tiles {right[1]} in the order {right[2]}; faults found: {right_verdict}")
assert not right_verdict

# %% [markdown]
# ## The fast one
# Some thought beforehand spares the solver its products. Here are three arguments, each of them a proof:
#
# **Algebra.** Since $t_I n_I = E_I$, we have $T_A = E_I E_K$ or $E_I E_K n_J$, and similarly for $B$ and $O$.
# Everything is linear in the numbers of tiles, and $T_A$ does not depend on the tile of $A$.
#
# **Dominance.** Let $K$ be innermost. Then the sum is $E_I E_K n_J + E_K E_J n_I + E_I E_J$, without $n_K$. A tile
# that is longer along $K$ takes room and saves nothing, so $t_K = 1$. The same holds for $I$ and $J$.
#
# **Monotonicity.** With $t_K = 1$ and $t_I = a$, the tiles fit if $t_J \le (S - a)/(1 + a)$, and the sum falls as
# $t_J$ grows. So of the divisors of $E_J$ that fit, only the largest matters.
#
# What remains are three innermost loops times the divisors of one loop: a few dozen candidates instead of thousands.


# %%
def divisors(n: int) -> list[int]:
    return [d for d in range(1, n + 1) if n % d == 0]


def reasoned(extent: dict[str, int], words: int) -> Answer:
    """The least words moved, by the three arguments; at least three words must fit."""
    answers = []
    options = {loop: divisors(e) for loop, e in extent.items()}
    for inner in extent:
        outer, middle = (loop for loop in extent if loop != inner)
        for a in options[outer]:
            fitting = [d for d in options[middle] if d <= (words - a) // (1 + a)]
            if not fitting:
                continue
            size = {inner: 1, outer: a, middle: fitting[-1]}
            moved = 0
            for q, foreign in FOREIGN.items():
                visits = 1 if foreign == inner else extent[foreign] // size[foreign]
                matrix = extent["I"] * extent["J"] * extent["K"] // extent[foreign]
                moved += matrix * (2 * visits - 1 if q == "O" else visits)
            answers.append((moved, size, outer + middle + inner))
    return min(answers, key=lambda answer: answer[0])


fast = reasoned(EXTENT, WORDS)
fast_verdict = verdict(fast, EXTENT, WORDS)
print(f"{fast[0]:,} words with tiles {fast[1]} in the order {fast[2]}")
assert fast[0] == right[0] and not fast_verdict

# %% [markdown]
# The difference, on a product of $196 \times 512 \times 512$ and a buffer of 4,096 words:

# %%
LARGE = {"I": 196, "J": 512, "K": 512}
started = time.perf_counter()
program = ProductProgram(LARGE, 4096)
program.model.add_exactly_one(program.stays.values())
slow_answer = program.solve()
between = time.perf_counter()
large = reasoned(LARGE, 4096)
ended = time.perf_counter()
assert slow_answer[0] == large[0]
speedup = (between - started) / (ended - between)
print(f"{large[0]:,} words, proven by both; the arguments are {speedup:,.0f} times as fast")

# %% [markdown]
# These arguments fail when the problem grows: there is no such shortcut with a second level of memory, with transfers
# that overlap computation, or with energy times cycles as the objective. But they survive as bounds. `mapper` tabulates
# tiles whose costs are independent of the rest, bounds each of them from below by such arguments, and leaves the
# remainder to search or solver.

# %% [markdown]
# ## A real case
# `mapper` decides four levels at once: DRAM, scratch-pad, PEs and registers, with orders at two of them. We pose our
# problem to it as a machine on which only DRAM costs energy, with a scratch-pad of 4,096 banks of one word. It shares
# no code with ours, and must find the same number. Loops keep their bounds, as in ours: `padding=off`.

# %%
MACHINE = """
schema: mapper.dataflow/1
name: one-buffer
clock_mhz: 500
word_bytes: 2
pe_array: {rows: 1, columns: 1, pipelined: true, latency_cycles: {multiply: 2, add: 1}}
rf: {bytes: 16, double_buffered: false}
spm: {bytes: 8192, bank_bytes: 2, double_buffered: false}
noc: {networks: [{carries: read, width_words: 1}, {carries: write, width_words: 1}], reduction: bus}
dma: {initiation_cycles: 1, cycles_per_byte: 1, clock_mhz: 500}
energy_pj: {mac: 0, add: 0, rf: 0, noc: 0, spm: 0, dram: 1}
rules: {stored_extent: touched, partial_sums: first_visit_free, energy: exact}
"""
with tempfile.TemporaryDirectory() as folder:
    machine = Path(folder, "one-buffer.yaml")
    machine.write_text(MACHINE)
    solution = mapper.solve("matmul", str(machine), "energy", fix={"padding": "off"})
assert solution.cost is not None and solution.certificate.proven
print(f"mapper: {solution.cost['energy_pj']:,.0f} pJ at 1 pJ per word, proven; ours: {large[0]:,} words")
assert solution.cost["energy_pj"] == large[0]

# %% [markdown]
# What about the paper's accelerator, where registers, network and scratch-pad cost energy too, and half of the 64 banks
# are visible? Our problem has fewer constraints, so its optimum is a lower bound on the DRAM words of any mapping that
# `mapper` chooses.

# %%
solution = mapper.solve("matmul", "dmazerunner-256", "energy", fix={"padding": "off"})
part = solution.to_json()["parts"][0]
dram_words = sum(moved["dram"] for moved in part["breakdown"]["words"].values())
floor = reasoned(LARGE, 32 * 1024)[0]
energy = part["breakdown"]["energy_pj"]
print(f"{dram_words:,} DRAM words chosen, at least {floor:,} needed; proven: {solution.certificate.proven}")
print(", ".join(f"{cause} {pj / sum(energy.values()):.0%}" for cause, pj in energy.items()))
assert dram_words >= floor

# %%
solution

# %% [markdown]
# ## Exercises
# Write the functions `exercise_1`, `exercise_2` and `exercise_3` in a file and run
# `python -m docs.lessons.check tiling FILE`. Loops are always listed as `[I, J, K]`.
#
# 1. `exercise_1(extents, tiles, order)`: the words moved by tiles of these sizes in this order, outer to inner, such as
#    `"JIK"`. Note that loops with a single tile do not run.
# 2. `exercise_2(extents, words)`: the fewest words moved with a buffer of `words`, or -1 if no tile fits.
# 3. `exercise_3(extents, words)`: the same if the tile size need not divide the loop. The last tile is then smaller,
#    and only its own words move. How much do perfect factors cost when extents are prime?
