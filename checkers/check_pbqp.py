"""Check proofs of PBQP instances: ``python -I check_pbqp.py FILE``. This file imports nothing from mapper.

Exit code: 0 all certified, 1 one refuted, 2 malformed, 3 not certified. Exact numbers, only the standard library.
"""

import gc
import hashlib
import json
import os
import pathlib
import re
import resource
import signal
import sys
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import chain, repeat
from operator import add

KIND, TRUSTED = "pbqp", "sums of costs; lemmas Infinity, Elimination, Potentials and Parts"


# ---- The same lines in every checker: reading, binding, answering.
class EndedError(Exception):
    """The check of a proof is over: a status and the reason."""


def need(holds, reason, status="refuted"):
    if not holds:
        raise EndedError(status, reason)


def fields(value, *names):
    need(type(value) is dict and set(value) == set(names), f"needs just the fields {', '.join(names)}", "malformed")
    return [value[name] for name in names]


def whole(value, least=0, most=1 << 62):
    need(type(value) is int and least <= value <= most, f"needs integers from {least} to {most}", "malformed")
    return value


def rational(value):
    text = str(value) if type(value) in (int, str) else ""
    need(re.fullmatch(r"-?\d{1,999}(/[1-9]\d{0,999})?", text), "needs integers and fractions p/q", "malformed")
    found = Fraction(text)
    need(value == (str(found) if "/" in text else int(text)), f"{text} is not in lowest terms", "malformed")
    return found


def unique(pairs):
    need(len(dict(pairs)) == len(pairs), "a key stands twice", "malformed")
    return dict(pairs)


def too_long(*_):
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)
    raise EndedError("not certified", "takes more than 300 s")


def verdict(proof):
    part, names = "", ("schema", "kind", "part", "problem", "problem_sha256", "claim", "evidence")
    try:
        schema, kind, part, problem, sha256, claim, evidence = fields(proof, *names)
        need((schema, kind, type(part)) == ("mapper.proof/1", KIND, str), f"is no proof of kind {KIND}", "malformed")
        status, _, _ = fields(claim, "status", "value", "bound")
        need(status in ("optimal", "infeasible", "bounded"), "the claim has no status", "malformed")
        text = json.dumps(problem, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        need(sha256 == hashlib.sha256(text.encode()).hexdigest(), "problem_sha256 is of another problem")
        if type(evidence) is dict and evidence.get("rule") == "none":
            raise EndedError("not certified", str(fields(evidence, "rule", "reason")[1]))
        return part, "certified", check(problem, claim, evidence)
    except EndedError as end:
        return str(part), *end.args
    except (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError) as error:
        return str(part), "malformed", f"{type(error).__name__}: {error}"[:200]


def verdicts(path, options):
    for limit, most, last in ((resource.RLIMIT_AS, 3 << 30, 3 << 30), (resource.RLIMIT_CPU, 300, 310)):
        hard = [one for one in resource.getrlimit(limit) if one != resource.RLIM_INFINITY]
        resource.setrlimit(limit, (min([most, *hard]), min([last, *hard[1:]])))
    signal.signal(signal.SIGXCPU, too_long)
    try:
        need(path and options in ([], ["--json"]), "is not called as: check_KIND.py FILE [--json]", "malformed")
        with pathlib.Path(path).open("rb") as file:
            data = file.read((1 << 28) + 1)
        need(len(data) <= 1 << 28, "is larger than 256 MB", "malformed")
        read = json.loads(data.decode(), object_pairs_hook=unique, parse_float=rational, parse_constant=rational)
        schema, proofs = fields(read, "schema", "proofs")
        need(schema == "mapper.proofs/1" and type(proofs) is list and proofs, "is no mapper.proofs/1", "malformed")
        late = ("", "not certified", "takes more than 300 s")
        return [verdict(proof) if sum(os.times()[:2]) < 300 else late for proof in proofs]
    except EndedError as end:
        return [("", *end.args)]
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        return [("", "malformed", str(error.args[-1] if error.args else "is too large"))]


def told(found, path, options):
    lines = [re.sub(r"[^ -~]", "?", f"{part[:99] or path}: {status}: {reason[:999]}") for part, status, reason in found]
    print(json.dumps(found) if "--json" in options else "\n".join([*lines, f"trusted: {TRUSTED}"]), flush=True)
    statuses = [status for _, status, _ in found]
    return next((code for code, one in ((2, "malformed"), (1, "refuted"), (3, "not certified")) if one in statuses), 0)


def main(path="", *options):
    options, code, child = [*options], 4, os.fork()  # A child reads and judges: whatever ends it, an answer remains.
    if not child:
        gc.disable()  # Numbers make no circles.
        try:
            code = told(verdicts(path, options), path, options)
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code if code in range(4) else told([("", "not certified", "takes too much time or memory")], path, options)


# ---- This kind's own: the problem, its cost, the lemmas.
# Lemma Elimination: where a vertex goes, what it and the tables over it cost at least, for all choices of the vertices
# beside it, takes their place as a table over these. Whatever they choose, the least cost of all stays the same.
@lru_cache(64)
def places(union):  # Of a table over some of a union's vertices, (choices, held) of each: its row per choices of these.
    return reduce(lambda at, u: [k * u[0] + i if u[1] else k for k in at for i in range(u[0])], union, [0])


def eliminated(order, size, own, edges, free=1 << 25):
    tables, work = {v: {} for v in own}, -free - 1024 * sum(len(flat) for _, _, flat in edges)
    place = {v: at for at, v in enumerate(dict.fromkeys([*order, *own]))}

    def put(scope, flat):  # The last of a scope goes first, and has a row of the table per choices of the others.
        *others, v = scope
        if not others:
            own[v] = list(map(add, own[v], flat))
            return
        rows, old = [flat[k : k + size[v]] for k in range(0, len(flat), size[v])], tables[v].get(tuple(others))
        tables[v][tuple(others)] = [list(map(add, *two)) for two in zip(old, rows, strict=True)] if old else rows

    for u, v, flat in edges:
        if place[u] < place[v]:
            u, v, flat = v, u, [*chain(*(flat[j :: size[v]] for j in range(size[v])))]
        put([u, v], flat)
    for v in order:
        scope, rows, several = [], [own.pop(v)], tables.pop(v)
        for left, near in enumerate(sorted(several, key=len), 1 - len(several)):
            union = sorted({*scope, *near}, key=place.__getitem__, reverse=True)
            work += reduce(lambda entries, u: entries * size[u], union, size[v] + 8) + len(union)
            need(work < 0, "the elimination takes too much work", "not certified")
            one, other = (places(tuple((size[u], u in held) for u in union)) for held in (scope, near))
            sums = map(map, repeat(add), map(rows.__getitem__, one), map(several[near].__getitem__, other))
            scope, rows = union, list(map(list, sums)) if left else sums  # Of the last join only the least are kept.
        put(scope or [-1], list(map(min, rows)))
    return tables


# Lemma Potentials: what is given to the costs of a pair's ends and taken from the pair's changes no sum, and no sum is
# below that of all minima over the choices left. Where a vertex branches, each of its choices is in some part.
def moved(moves, own, pairs):
    own, pairs = own.copy(), pairs.copy()
    need(type(moves) is list, "needs lists of moves", "malformed")
    for u, v, *given in moves:
        need({*map(type, chain((u, v), *given))} == {int}, "amounts are integers", "malformed")
        for end, more in zip((u, v), given, strict=True):
            own[end] = list(map(add, own[end], more)) if len(own[end]) == len(more) else None
        pairs[u, v] = [[cost - one - other for cost, other in zip(row, given[1], strict=True)]
                       for row, one in zip(pairs[u, v], given[0], strict=True)]  # fmt: skip
    return own, pairs


def least(node, own, pairs, left):
    moves, *branch = node
    own, pairs = moved(moves, own, pairs)
    if branch:
        vertex, parts = branch
        need({*map(type, chain([vertex], *(part for part, _ in parts)))} == {int}, "parts are of choices", "malformed")
        need({i for part, _ in parts for i in part} >= {*left[vertex]}, "a choice is in no part of the tree")
        return min(least(child, own, pairs, left | {vertex: part}) for part, child in parts)
    edges = (min(min(map(rows[i].__getitem__, left[v])) for i in left[u]) for (u, v), rows in pairs.items())
    return sum(min(map(own[v].__getitem__, left[v])) for v in own) + sum(edges)


# Lemma Parts: where a sum is that of several parts, its least is at least what theirs are together. Costs times a
# number are the sum of those of the parts, which are eliminated, and of what is left, which costs its minima at least.
def parted(evidence, size, own, pairs):
    moves, shares, parts = evidence
    own, pairs = moved(moves, own, pairs)
    own = {v: [cost * whole(shares, 1) for cost in costs] for v, costs in own.items()}
    pairs, shown = {pair: [[cost * shares for cost in row] for row in rows] for pair, rows in pairs.items()}, 0
    for order, costs, edges in parts:
        mine = {v: costs[at] for at, v in enumerate(v for v in own if v >= 0)}
        need({*map(type, chain(*costs, *(edge[2] for edge in edges)))} <= {int}, "costs are integers", "malformed")
        own |= {v: [a - b for a, b in zip(own[v], mine[v], strict=True)] for v in mine}
        for u, v, flat in edges:
            need(len(flat) == size[u] * size[v], "an edge's costs misfit", "malformed")
            rows = (flat[k : k + size[v]] for k in range(0, len(flat), size[v]))
            pairs[u, v] = [[a - b for a, b in zip(*two, strict=True)] for two in zip(pairs[u, v], rows, strict=True)]
        mine[-1] = [0]
        eliminated(order, size, mine, edges, 1 << 30)
        need([*mine] == [-1], "a part is not eliminated")
        shown += mine[-1][0]
    return -(-(shown + least([[]], own, pairs, {v: range(size[v]) for v in own})) // shares)


def check(problem, claim, evidence):
    objective, vertices, edges = fields(problem, "objective", "vertices", "edges")
    rule = evidence.get("rule")
    need(objective == "least sum of costs" and rule in ("elimination", "tree", "parts"), "is of no rule", "malformed")
    below = "parts" if rule == "parts" else "tree"
    _, choices, order, tree = fields(evidence, "rule", "choices", "order", below)
    need(type(vertices) is type(edges) is list, "needs lists of vertices and edges", "malformed")
    tables, size = [*vertices, *(flat for _, _, flat in edges)], {-1: 1} | dict(enumerate(map(len, vertices)))
    kinds = {*map(type, chain(*tables))}
    need({*map(type, tables)} == {list} and all(tables) and kinds <= {int, str}, "has no lists of costs", "malformed")
    words = {one for one in chain(*tables) if type(one) is str and one != "inf"} if str in kinds else ()
    words = {one: rational(one) for one in words}
    unit = max((one.denominator for one in words.values()), default=1)
    need(all(unit % one.denominator == 0 for one in words.values()), "denominators must divide one", "malformed")
    infinite = 1 << (9000 if words else 110)  # Lemma Infinity: a sum is at least half of it just if a part is infinite.
    plain = [[one for one in costs if type(one) is int] or [0] for costs in tables] if str in kinds else tables
    largest = max(chain([0], map(max, plain), (-min(costs) for costs in plain)))
    need(largest * unit < infinite >> 40, "a cost is too large", "malformed")
    words = {word: int(one * unit) for word, one in words.items()} | {"inf": infinite}
    if str in kinds:
        tables = [[words[one] if type(one) is str else one * unit for one in costs] for costs in tables]
    own, count = dict(enumerate(tables[: len(vertices)])) | {-1: [0]}, len(vertices)
    for edge, flat in zip(edges, tables[count:], strict=True):
        edge[:] = [*(whole(end, 0, count - 1) for end in edge[:2]), flat]
    need(all(u != v and len(flat) == size[u] * size[v] for u, v, flat in edges), "an edge's costs misfit", "malformed")
    status, value, bound = fields(claim, "status", "value", "bound")
    reached, cost = infinite // 2, None
    if status != "infeasible":
        reached = rational(bound) * unit
        cost = sum(own[v][whole(one, 0, size[v] - 1)] for v, one in zip(range(count), choices, strict=True))
        cost += sum(flat[choices[u] * size[v] + choices[v]] for u, v, flat in edges)
        need(rational(value) * unit == cost < infinite // 2, "the choices do not cost what is claimed")
    said = {"infeasible": value is bound is choices is None, "optimal": value == bound}.get(status, True)
    need(said, f"the numbers are not those of a claim that is {status}", "malformed")
    need(type(order) is list and all(whole(v, 0, count - 1) >= 0 for v in order), "needs an order", "malformed")
    tables = eliminated(order, size, own, edges)
    pairs = {(*near, v): rows for v, several in tables.items() for near, rows in several.items()}
    everything = {v: range(size[v]) for v in own}
    shown = parted(tree, size, own, pairs) if rule == "parts" else least(tree, own, pairs, everything)
    need(shown >= reached, "the evidence shows less than the bound")
    return f"{status} {value}, {len(order)} of {count} vertices eliminated"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
