# %% [markdown]
# # Which algorithm computes each convolution?
#
# Lesson on `algorithm_selection`. Source of the problem: Meng et al., DYNAMAP [Meng2021]; the memory is cut down.
#
# ## The problem
# A convolution becomes matrix products in several ways. *im2col* copies every window into a row of one large (Toeplitz)
# matrix; *kn2row* multiplies the map, as it is, once per position of the window; *Winograd's* algorithm cuts the map
# into overlapping tiles and needs fewer products. One array of $P_1 \times P_2$ processing elements (PEs) computes all
# layers of a network, one after another, and each layer may use a different algorithm.
#
# But each algorithm reads its input in a different layout, and every tensor between two layers goes through the memory.
# It is stored **once, in one layout**, and loaded by all layers that read it. Which algorithms for the layers, and
# which layouts for the tensors, take the fewest cycles?
#
# | letter | meaning |
# |---|---|
# | $C$, $D$ | input maps and output maps of a layer |
# | $H^2$, $K^2$ | pixels of a map, pixels of a window; stride 1, padded, so that maps keep their size |
# | $x_l$ | algorithm of layer $l$ |
# | $s_t$ | layout in which tensor $t$ is stored |
# | $W_t$, $R_t$ | the layers that write tensor $t$ (several if it is a concatenation), and those that read it |
#
# ![A systolic overlay: an array, units that transform layouts, one memory](../figure/algorithm-selection-machine.svg)
#
# ## The mathematics
# In a product of $a \times b$ by $b \times c$, the array keeps one operand or neither, whichever is fastest (Eq. 9):
#
# $$p(a, b, c) = \min\left\{
# \left\lceil\tfrac{a}{P_1}\right\rceil \left\lceil\tfrac{c}{P_2}\right\rceil b,\;
# \left\lceil\tfrac{b}{P_1}\right\rceil \left\lceil\tfrac{c}{P_2}\right\rceil a,\;
# \left\lceil\tfrac{b}{P_1}\right\rceil \left\lceil\tfrac{a}{P_2}\right\rceil c\right\}$$
#
# | algorithm | for | cycles on the array | reads | words |
# |---|---|---|---|---|
# | im2col | all | $p(H^2, K^2 C, D)$ | Toeplitz; for $K = 1$ that is the plain map | $H^2 K^2 C$ |
# | kn2row | $K > 1$ | $K^2\, p(H^2, C, D)$ | plain | $H^2 C$ |
# | Winograd F(2,3) | $K = 3$ | $16\, p(H^2/4, C, D)$ | tiles | $4 H^2 C$ |
#
# The memory moves 8 bursts of four words per cycle. A transfer that keeps the order uses every word of its bursts. One
# that changes the order uses only a single word of each, so it takes four times as long. The results of Winograd leave
# the array in the order of tiles, those of the other algorithms row by row (plain and Toeplitz alike). A tensor is
# loaded in the order in which it is stored, unless the reader wants another layout. (This is the paper's Table 2 with a
# harsher penalty.)
#
# With $c_l$ for the cycles on the array, $S_w$ for storing and $L_r$ for loading, we look for
#
# $$\min \sum_l c_l(x_l) + \sum_t \Big( \sum_{w \in W_t} S_w(x_w, s_t) + \sum_{r \in R_t} L_r(s_t, x_r) \Big)$$
#
# The network's input and its last outputs cost nothing.

# %%
import json
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import pulp
from numpy.typing import NDArray

import mapper
from mapper.kind.algorithm_selection.part import cost_problem

ROWS, COLUMNS = 12, 20
SIDE = 28
WORDS, BURST = 32, 4  # words of a cycle, words of a burst


@dataclass(frozen=True)
class Layer:
    name: str
    window: int  # K
    inputs: int  # C
    outputs: int  # D

    @property
    def algorithms(self) -> list[str]:
        return ["im2col"] + ["kn2row"] * (self.window > 1) + ["winograd"] * (self.window == 3)

    def cycles(self, algorithm: str) -> int:
        """On the array."""
        pixels, positions = SIDE**2, self.window**2
        match algorithm:
            case "im2col":
                return multiplied(pixels, positions * self.inputs, self.outputs)
            case "kn2row":
                return positions * multiplied(pixels, self.inputs, self.outputs)
        return 16 * multiplied(pixels // 4, self.inputs, self.outputs)

    def layout(self, algorithm: str) -> str:
        """In which ``algorithm`` reads the input."""
        if algorithm == "winograd":
            return "tiles"
        return "plain" if algorithm == "kn2row" or self.window == 1 else f"toeplitz {self.window}"


@dataclass(frozen=True)
class Tensor:
    writers: tuple[str, ...]
    readers: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"tensor of {', '.join(self.writers)}"


@dataclass(frozen=True)
class Network:
    layers: dict[str, Layer]
    tensors: list[Tensor]

    def layouts(self, tensor: Tensor) -> list[str]:
        """Those that its readers' algorithms want."""
        readers = [self.layers[name] for name in tensor.readers]
        return list(dict.fromkeys(r.layout(algorithm) for r in readers for algorithm in r.algorithms))


def multiplied(a: int, b: int, c: int) -> int:
    """Cycles of a x b by b x c in the best dataflow (Eq. 9)."""
    return min(
        -(-a // ROWS) * -(-c // COLUMNS) * b,
        -(-b // ROWS) * -(-c // COLUMNS) * a,
        -(-b // ROWS) * -(-a // COLUMNS) * c,
    )


def transfer(layout: str, maps: int, ordered: bool) -> int:
    """Cycles to move so many maps; all sizes below are multiples of a cycle's words."""
    kind, _, window = layout.partition(" ")
    copies = {"plain": 1, "tiles": 4, "toeplitz": int(window or 1) ** 2}[kind]
    return SIDE**2 * copies * maps // WORDS * (1 if ordered else BURST)


def stored(layer: Layer, algorithm: str, layout: str) -> int:
    return transfer(layout, layer.outputs, (algorithm == "winograd") == (layout == "tiles"))


def loaded(layer: Layer, algorithm: str, layout: str) -> int:
    return transfer(layer.layout(algorithm), layer.inputs, layer.layout(algorithm) == layout)


# %% [markdown]
# Our network is one Inception-like module, repeated as often as we like. It begins with a 3x3 convolution (`stem`),
# whose tensor is read by a 1x1, a 3x3 (followed by another 3x3) and a 5x5; their results are concatenated. The next
# module's `stem` reads the concatenation, and so does a 1x1 (`side`), whose result joins the next concatenation.


# %%
def inception(modules: int) -> Network:
    layers = {"stem0": Layer("stem0", 3, 8, 16)}
    tensors = []
    for m in range(modules):
        own = [Layer(f"one{m}", 1, 16, 24), Layer(f"three{m}", 3, 16, 8)]
        own += [Layer(f"again{m}", 3, 8, 24), Layer(f"five{m}", 5, 16, 8)]
        joined = (f"one{m}", f"again{m}", f"five{m}") + ((f"side{m}",) if m else ())
        tensors.append(Tensor((f"stem{m}",), (f"one{m}", f"three{m}", f"five{m}")))
        tensors.append(Tensor((f"three{m}",), (f"again{m}",)))
        tensors.append(Tensor(joined, (f"stem{m + 1}", f"side{m + 1}")))
        maps = 56 + (16 if m else 0)
        own += [Layer(f"stem{m + 1}", 3, maps, 16), Layer(f"side{m + 1}", 1, maps, 16)]
        layers |= {layer.name: layer for layer in own}
    return Network(layers, tensors)


NETWORK = inception(1)
for layer in NETWORK.layers.values():
    print(f"{layer.name:7}", {algorithm: layer.cycles(algorithm) for algorithm in layer.algorithms})

# %% [markdown]
# ## A first formulation
# We apply the paper's Eq. 8 to the network as it is drawn: a vertex $v$ for each layer with a cost for each algorithm,
# an edge wherever a layer reads the result of another, and on each edge a matrix, for storing in the layout that the
# reader wants, and loading.
#
# $$\min \sum_v c_v(x_v) + \sum_{(u,v)} T_{uv}(x_u, x_v),
# \qquad T_{uv}(i, j) = S_u(i, \lambda_{vj}) + L_v(\lambda_{vj}, j)$$
#
# where $\lambda_{vj}$ is the layout in which algorithm $j$ of layer $v$ reads. That is a *partitioned Boolean quadratic
# problem* (PBQP). It becomes an integer linear program once each product of two choices is a separate variable
# $y_{ui,vj}$, tied to the choices by sums: $\sum_j y_{ui,vj} = x_{ui}$ and $\sum_i y_{ui,vj} = x_{vj}$.

# %%
Costs = NDArray[np.int64]


class CostGraph:
    """A PBQP: costs by vertex, matrices by edge (in both directions)."""

    def __init__(self) -> None:
        self.costs: dict[str, Costs] = {}
        self.edges: dict[str, dict[str, Costs]] = {}

    def vertex(self, name: str, costs: list[int]) -> None:
        self.costs[name] = np.array(costs, np.int64)
        self.edges[name] = {}

    def join(self, u: str, v: str, matrix: Costs) -> None:
        """Parallel edges add up."""
        self.edges[u][v] = self.edges[u].get(v, 0) + matrix
        self.edges[v][u] = self.edges[u][v].T

    @property
    def ends(self) -> list[tuple[str, str]]:
        return [(u, v) for u in self.edges for v in self.edges[u] if u < v]


def layer_vertices(network: Network) -> CostGraph:
    graph = CostGraph()
    for name, layer in network.layers.items():
        graph.vertex(name, [layer.cycles(algorithm) for algorithm in layer.algorithms])
    return graph


def transition(network: Network, tensor: Tensor, writer: str, reader: str) -> Costs:
    """Store what ``writer`` makes in the layout that ``reader`` wants, and load it; matrix by their algorithms."""
    w, r = network.layers[writer], network.layers[reader]
    share = w.outputs / sum(network.layers[name].outputs for name in tensor.writers)
    layouts = [(j, r.layout(j)) for j in r.algorithms]
    return np.array(
        [[stored(w, i, s) + round(share * loaded(r, j, s)) for j, s in layouts] for i in w.algorithms],
        np.int64,
    )


def edge_by_edge(network: Network) -> CostGraph:
    graph = layer_vertices(network)
    for tensor in network.tensors:
        for writer, reader in product(tensor.writers, tensor.readers):
            graph.join(writer, reader, transition(network, tensor, writer, reader))
    return graph


Choice = dict[str, int]


def linear_program(graph: CostGraph) -> tuple[int, Choice]:
    """The least cost and the choice of each vertex."""
    program = pulp.LpProblem("pbqp", pulp.LpMinimize)
    place = {name: number for number, name in enumerate(graph.costs)}
    x = {
        (v, i): pulp.LpVariable(f"x_{place[v]}_{i}", cat="Binary")
        for v, costs in graph.costs.items()
        for i in range(len(costs))
    }
    terms = [int(graph.costs[v][i]) * variable for (v, i), variable in x.items()]
    for v, costs in graph.costs.items():
        program += pulp.lpSum(x[v, i] for i in range(len(costs))) == 1
    for u, v in graph.ends:
        matrix = graph.edges[u][v]
        y = {
            (i, j): pulp.LpVariable(f"y_{place[u]}_{i}_{place[v]}_{j}", lowBound=0)
            for i, j in product(*map(range, matrix.shape))
        }
        terms += [int(matrix[pair]) * variable for pair, variable in y.items()]
        for i in range(matrix.shape[0]):
            program += pulp.lpSum(y[i, j] for j in range(matrix.shape[1])) == x[u, i]
        for j in range(matrix.shape[1]):
            program += pulp.lpSum(y[i, j] for i in range(matrix.shape[0])) == x[v, j]
    program += pulp.lpSum(terms)
    program.solve(pulp.PULP_CBC_CMD(msg=False, gapRel=0, gapAbs=0))
    choice = {v: i for (v, i), variable in x.items() if variable.value() > 0.5}
    return valued(graph, choice), choice


def valued(graph: CostGraph, choice: Choice) -> int:
    """The cost of a choice, in integers."""
    own = sum(int(costs[choice[v]]) for v, costs in graph.costs.items())
    return own + sum(int(graph.edges[u][v][choice[u], choice[v]]) for u, v in graph.ends)


@dataclass(frozen=True)
class Answer:
    """Cycles as a formulation sees them, algorithms by layer, and layouts of the tensors for which it says one."""

    cycles: int
    algorithms: dict[str, str]
    layouts: dict[Tensor, str]


def chosen(network: Network, choice: Choice) -> dict[str, str]:
    return {name: layer.algorithms[choice[name]] for name, layer in network.layers.items()}


claimed, choice = linear_program(edge_by_edge(NETWORK))
first = Answer(claimed, chosen(NETWORK, choice), {})
print(f"{first.cycles:,} cycles: optimal, according to the solver")
print(first.algorithms)

# %% [markdown]
# ## The check
# The check has no matrices. It lets the array pass over the operands block by block, puts tensors into a memory that
# holds each in one layout, and counts bursts. If an answer does not say how a tensor is stored, the check takes the
# best of all layouts.


# %%
def passed(a: int, b: int, c: int) -> int:
    """Cycles of a product: for each block that stays in the array, the third operand streams by."""
    blocks = [(a, c, b), (b, c, a), (b, a, c)]
    return min(
        sum(streamed for _ in product(range(0, rows, ROWS), range(0, columns, COLUMNS)))
        for rows, columns, streamed in blocks
    )


def run(network: Network, algorithms: dict[str, str], layouts: dict[Tensor, str]) -> int:
    """Cycles from the first layer to the last."""
    cycles = bursts = 0
    memory: dict[str, str] = {}
    for name, layer in network.layers.items():
        k = layer.window
        source = next((t for t in network.tensors if name in t.readers), None)
        wanted, calls, sizes = {
            "im2col": ("plain" if k == 1 else f"toeplitz {k}", 1, (SIDE**2, k * k * layer.inputs)),
            "kn2row": ("plain", k * k, (SIDE**2, layer.inputs)),
            "winograd": ("tiles", 16, ((SIDE // 2) ** 2, layer.inputs)),
        }[algorithms[name]]
        if source is not None:
            words = calls * sizes[0] * sizes[1] if wanted != "plain" else SIDE**2 * layer.inputs
            same = all(memory[writer] == wanted for writer in source.writers)
            bursts += words // BURST if same else words
        cycles += calls * passed(*sizes, layer.outputs)
        target = next((t for t in network.tensors if name in t.writers), None)
        if target is not None:
            memory[name] = layouts[target]
            kind, _, window = layouts[target].partition(" ")
            words = SIDE**2 * layer.outputs * {"plain": 1, "tiles": 4}.get(kind, int(window or 1) ** 2)
            in_order = algorithms[name] == "winograd" if kind == "tiles" else algorithms[name] != "winograd"
            bursts += words // BURST if in_order else words
    return cycles + bursts // (WORDS // BURST)


def least_run(network: Network, answer: Answer) -> int:
    """The run with the best layouts for what the answer leaves open."""
    options = [[answer.layouts[t]] if t in answer.layouts else network.layouts(t) for t in network.tensors]
    return min(
        run(network, answer.algorithms, dict(zip(network.tensors, layouts, strict=True)))
        for layouts in product(*options)
    )


def verdict(network: Network, answer: Answer) -> list[str]:
    """What is wrong with an answer; empty if nothing is."""
    real = least_run(network, answer)
    return [] if real == answer.cycles else [f"claims {answer.cycles:,} cycles, but the run takes {real:,}"]


wrong_verdict = verdict(NETWORK, first)
print("refuted:", wrong_verdict)
assert wrong_verdict

# %% [markdown]
# Where does it go wrong? We compare what the formulation pays for each tensor with what the tensor takes at best:

# %%
for tensor in NETWORK.tensors:
    pairs = list(product(tensor.writers, tensor.readers))
    paid = sum(transition(NETWORK, tensor, u, v)[choice[u], choice[v]] for u, v in pairs)
    takes = min(
        sum(stored(NETWORK.layers[w], first.algorithms[w], s) for w in tensor.writers)
        + sum(loaded(NETWORK.layers[r], first.algorithms[r], s) for r in tensor.readers)
        for s in NETWORK.layouts(tensor)
    )
    print(f"{tensor.name}: pays {paid:,} cycles, takes {takes:,}")

# %% [markdown]
# After `stem0` it stores one tensor three times, once for each reader, and pays too much. At the concatenation it pays
# too little: `stem1` loads tiles and `side1` loads plain rows, each in its own order, although the tensor is in the
# memory in only one. An edge of a graph says what *two* layers cost each other. The store belongs to no single pair,
# and the layout is a decision that all of them share.

# %% [markdown]
# ## The right one
# The layout is also a choice, but of the *tensor*, so it needs a separate vertex. It has a choice for each layout that
# some reader wants, an edge to each writer that pays for the store, and an edge to each reader that pays for the load
# (section 5.1 of the paper, for tensors that branch). That is the objective from above, term by term, and again a PBQP.


# %%
def with_tensors(network: Network) -> CostGraph:
    graph = layer_vertices(network)
    for tensor in network.tensors:
        layouts, name = network.layouts(tensor), tensor.name
        graph.vertex(name, [0] * len(layouts))
        for writer in tensor.writers:
            w = network.layers[writer]
            graph.join(writer, name, np.array([[stored(w, i, s) for s in layouts] for i in w.algorithms]))
        for reader in tensor.readers:
            r = network.layers[reader]
            graph.join(name, reader, np.array([[loaded(r, j, s) for j in r.algorithms] for s in layouts]))
    return graph


def answer_of(network: Network, cycles: int, choice: Choice) -> Answer:
    layouts = {tensor: network.layouts(tensor)[choice[tensor.name]] for tensor in network.tensors}
    return Answer(cycles, chosen(network, choice), layouts)


right = answer_of(NETWORK, *linear_program(with_tensors(NETWORK)))
right_verdict = verdict(NETWORK, right)
print(f"{right.cycles:,} cycles; faults found: {right_verdict}")
print(right.algorithms)
print({tensor.name: layout for tensor, layout in right.layouts.items()})
fastest = {name: min(x.algorithms, key=x.cycles) for name, x in NETWORK.layers.items()}
for what, algorithms in (("the first formulation's", first.algorithms), ("each layer's fastest", fastest)):
    longer = least_run(NETWORK, Answer(0, algorithms, {})) / right.cycles
    print(f"{what} algorithms take {longer:.2f} times as long, with the best layouts for them")
assert not right_verdict


# %% [markdown]
# ## The fast one
# The program uses a general solver, and PBQPs are NP-hard. But ours have a structure. Take any vertex $u$:
#
# - **R0**: if it has no neighbours, it takes its least cost.
# - **RI**: if it has one neighbour $v$, each choice of $v$ determines the best choice of $u$. So the least of
#   $c_u + C_{uv}$ over the choices of $u$ is added to the costs of $v$, and $u$ is removed.
# - **RII**: if it has two neighbours $v, w$, the same is done for each *pair* of choices of $v$ and $w$, which gives a
#   matrix between them. If they already have an edge, the matrices are added.
#
# Each step preserves the least cost, since it finds the best choice of $u$ for *all* choices of the rest. If no vertex
# is left in the end, the sum is the optimum. Going back, each vertex looks up its best choice given those of its
# neighbours. The graphs that vanish are those made of *series-parallel* pieces: chains, and forks that join again, as
# networks do. With $N$ vertices of $d$ choices that is $O(N d^3)$ (the paper says $d^2$, but RII looks at $d$ choices
# for each of $d^2$ pairs).


# %%
def reduced(graph: CostGraph) -> tuple[int, Choice, Counter[str]]:
    """The least cost, a choice that has it, and how often each step was taken."""
    costs, edges = dict(graph.costs), {u: dict(near) for u, near in graph.edges.items()}
    steps: list[tuple[str, list[str], Costs]] = []
    least = 0
    ready = [u for u in edges if len(edges[u]) <= 2]
    while ready:
        u = ready.pop()
        if u not in edges:
            continue
        near = edges.pop(u)
        # Axes of the total: choices of u, then of each neighbour.
        match list(near.values()):
            case []:
                total = costs[u]
            case [one]:
                total = costs[u][:, None] + one
            case [one, other]:
                total = costs[u][:, None, None] + one[:, :, None] + other[:, None, :]
        steps.append((u, list(near), total.argmin(axis=0)))
        best = total.min(axis=0)
        for v in near:
            del edges[v][u]
        match list(near):
            case []:
                least += int(best)
            case [v]:
                costs[v] = costs[v] + best
            case [v, w]:
                edges[v][w] = edges[v].get(w, 0) + best
                edges[w][v] = edges[v][w].T
        ready += [v for v in near if len(edges[v]) <= 2]
    if edges:
        raise ValueError(f"{len(edges)} vertices have three neighbours or more")
    choice: Choice = {}
    for u, neighbours, best in reversed(steps):
        choice[u] = int(best[tuple(choice[v] for v in neighbours)])
    return least, choice, Counter(("R0", "RI", "RII")[len(neighbours)] for _, neighbours, _ in steps)


least, choice, steps = reduced(with_tensors(NETWORK))
fast = answer_of(NETWORK, least, choice)
fast_verdict = verdict(NETWORK, fast)
print(f"{fast.cycles:,} cycles by {dict(steps)}; faults found: {fast_verdict}")
assert fast.cycles == right.cycles and not fast_verdict

# %% [markdown]
# Here is the difference on thirty modules:

# %%
large = with_tensors(inception(30))
started = time.perf_counter()
slow_answer, _ = linear_program(large)
between = time.perf_counter()
quick_answer, quick_choice, _ = reduced(large)
ended = time.perf_counter()
assert slow_answer == quick_answer == valued(large, quick_choice)
speedup = (between - started) / (ended - between)
print(f"{len(large.costs)} vertices, {len(large.ends)} edges, {quick_answer:,} cycles by both")
print(f"the reductions were {speedup:,.0f} times as fast")

# %% [markdown]
# What about a graph that does not vanish, because every vertex has three neighbours or more? A vertex with $k$
# neighbours can always be replaced by a table of $d^k$ entries over them. Or its choices can be tried one after
# another, each time reducing the remaining graph. `mapper` does one or the other where necessary.
#
# ## A real case
# `mapper` also solves plain PBQPs, and shares no code with ours. We give it the graph of thirty modules as a file.

# %%
place = {name: number for number, name in enumerate(large.costs)}
document = {
    "schema": "mapper.pbqp/1",
    "name": "thirty-modules",
    "vertices": [costs.tolist() for costs in large.costs.values()],
    "edges": [{"ends": [place[u], place[v]], "costs": large.edges[u][v].tolist()} for u, v in large.ends],
}
with tempfile.TemporaryDirectory() as folder:
    file = Path(folder, "modules.json")
    file.write_text(json.dumps(document))
    solution = mapper.solve(str(file))
assert solution.cost is not None and solution.certificate.proven
print(f"mapper: {solution.cost['value']:,}, proven; ours: {quick_answer:,}")
assert solution.cost["value"] == quick_answer

# %% [markdown]
# Now we take a network and a machine from the catalogue: GoogLeNet on the paper's overlay by its
# equations. Here the shape
# $P_1 \times P_2$ is free as well: there are 53,972 shapes with at most 6,084 PEs, and a PBQP for each. `mapper` bounds
# them all from below, solves the most promising, and stops when no remaining bound is below the best value.

# %%
solution = mapper.solve("googlenet", "dynamap-u200-model", "latency")
assert solution.cost is not None and solution.certificate.proven
mapping = solution.to_json()["parts"][0]["mapping"]
print(f"{solution.cost['latency_ms']:.4f} ms on {mapping['array']}, proven;", end=" ")
print(dict(Counter(layer["algorithm"] for layer in mapping["choice"].values())))
spent = solution.to_json()["parts"][0]["breakdown"]["cycles"]
print(", ".join(f"{cause} {cycles / sum(spent.values()):.0%}" for cause, cycles in spent.items() if cycles))
for method in ("bl3", "bl4", "bl5", "greedy"):
    other = mapper.solve("googlenet", "dynamap-u200-model", "latency", search=mapper.Search(method=method))
    assert other.cost is not None
    array = other.to_json()["parts"][0]["mapping"]["array"]
    print(
        f"{method} takes {other.cost['latency_ms'] / solution.cost['latency_ms']:.3f} times as long on {array}"
    )

# %% [markdown]
# (`bl3` is im2col everywhere; `bl4` is kn2row and `bl5` Winograd where possible, and im2col elsewhere; `greedy` is the
# fastest algorithm of each layer.) This memory is fast, and using Winograd wherever possible comes within a thousandth
# of the optimum. Only the proof tells us this, for this network on this machine; in our own example the same rule did
# badly.
#
# The cost graph of that shape is a PBQP whose costs are whole fractions of a cycle. We convert it into our own graph.
# The reductions must find the same latency, and if GoogLeNet is series-parallel, they must leave no vertex.

# %%
problem = solution.posed.parts[0].problem
instance = cost_problem(problem, tuple(mapping["array"])).instance
googlenet = CostGraph()
for vertex in range(instance.vertices):
    googlenet.vertex(str(vertex), instance.costs(vertex).tolist())
for edge, (u, v) in enumerate(instance.edge_end.tolist()):
    matrix = instance.edge_cost[instance.edge_offset[edge] : instance.edge_offset[edge + 1]]
    googlenet.join(str(u), str(v), matrix.reshape(len(instance.costs(u)), -1))
least, _, steps = reduced(googlenet)
machine = problem.machine
ours = 1000 * least / machine.units_per_cycle / machine.clock_hz
print(
    f"{instance.vertices} vertices, {instance.edges} edges, 1/{machine.units_per_cycle:,} of a cycle:",
    end=" ",
)
print(f"{ours:.4f} ms by {dict(steps)}")
assert -(-least // machine.units_per_cycle) == solution.cost["cycles"]

# %%
solution

# %% [markdown]
# ## Exercises
# Write the functions `exercise_1`, `exercise_2` and `exercise_3` in a file and run
# `python -m docs.lessons.check algorithm_selection FILE`.
#
# 1. `exercise_1(layer, array)`: for a layer `[side, window, inputs, outputs]` (an even side; stride 1, padded) on an
#    array `[rows, columns]`, the cycles of im2col, kn2row and Winograd F(2,3) as a list, each in its best dataflow; -1
#    for an algorithm that the layer cannot use.
# 2. `exercise_2(vertices, edges)`: how many of the vertices 0, 1, ... are left when R0, RI and RII have been applied as
#    often as possible; an edge is `[u, v]`, edges may be parallel. (Does the order of the steps matter?)
# 3. `exercise_3(costs, edges)`: the least cost of a PBQP, series-parallel or not: a list of costs (whole numbers) for
#    each vertex, and edges `[u, v, matrix]` with costs that may be negative. If no reduction applies, try the choices
#    of one vertex one after another; the checker's instances are too large to try everything.
