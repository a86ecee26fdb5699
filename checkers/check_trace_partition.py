"""Check the chain of proofs of trace partitions: ``python -I check_trace_partition.py FILE``. It needs no mapper.

Exit code: 1 one refuted, 2 malformed, 3 not certified: what options cost is taken from the document, not restated.
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

KIND = "trace_partition"
TRUSTED = "the table of options (costs, floors, which residencies agree) is the document's; lemma Potentials"


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
# Potentials. Each layer takes one residency, and of two layers in a row these agree. Let a number stand at each
#   residency such that the first layer's are no more than its floors, and the next one's no more than that of each
#   residency that agrees plus its own floor. Then a chain of residencies costs no less than the number at its end, by
#   induction along it; a residency may have none only if none that agrees has one.
def number(value, most=1 << 200):
    return None if value is None else whole(value, 0, most)


def check(problem, claim, evidence):
    objective, sense, unit, parts, layers, agreed = fields(
        problem, "objective", "sense", "unit", "parts", "layers", "agreed"
    )
    units = {"latency": "cycles", "traffic": "bytes", "energy": "pJ"}
    need((sense, unit) == ("least", units[objective]) and whole(parts, 1), "has another sense or unit", "malformed")
    need(type(layers) is list and len(layers) == len(agreed) + 1 <= 10000, "is no chain of layers", "malformed")
    rule, path, potentials = fields(evidence, "rule", "path", "potentials")
    need(rule == "chain" and len(potentials) == len(layers), "needs the rule chain", "malformed")
    need(type(potentials) is type(agreed) is list, "needs lists of potentials and pairs", "malformed")
    need(path is None or type(path) is list, "the path is no list", "malformed")
    status, value, bound = fields(claim, "status", "value", "bound")
    before, total = None, 0
    for at, (layer, own) in enumerate(zip(layers, potentials, strict=True)):
        name, residencies, costs, floors = fields(layer, "name", "residencies", "costs", "floors")
        need(type(name) is str and all(type(one) is str for one in residencies), "a layer has no name", "malformed")
        need({*map(type, (residencies, costs, floors, own))} == {list}, "needs lists of residencies", "malformed")
        costs, floors, own = ([number(one) for one in way] for way in (costs, floors, own))
        need(len(costs) == len(floors) == len(own) == len(residencies) <= 100, "has wrong lengths", "malformed")
        pairs = [pair for pair in zip(floors, costs, strict=True) if pair[1] is not None]
        need(all(floor <= cost for floor, cost in pairs), "a floor is above its cost", "malformed")
        ways = [[0] if before is None else [] for _ in own]
        for one, other in agreed[at - 1] if at else ():
            ways[whole(other, 0, len(own) - 1)].append(before[whole(one, 0, len(before) - 1)])
        for way, floor, mine in zip(ways, floors, own, strict=True):
            reached = [paid + floor for paid in way if paid is not None and floor is not None]
            need(not reached if mine is None else mine <= min(reached, default=mine), "a potential is too high")
        if status != "infeasible":
            need(len(path) == len(layers), "the partition has other layers", "malformed")
            cost = costs[whole(path[at], 0, len(costs) - 1)]
            need(cost is not None and (not at or [path[at - 1], path[at]] in agreed[at - 1]), "is no partition")
            total += cost
        before = own
    ends = [one for one in before if one is not None]
    if status == "infeasible":
        need(path is value is bound is None, "what is infeasible has no value", "malformed")
        need(not ends, "a chain of residencies is left")
    else:
        need(rational(value) == Fraction(total, parts), "the partition has another value")
        need(status == "bounded" or bound == value, "an optimal value is its bound")
        need(all(Fraction(one, parts) >= rational(bound) for one in ends), "a chain may cost less")
    said = status if value is None else f"{status} {value} {unit}"
    raise EndedError("not certified", f"the chain shows {said}, but what options cost is not restated")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
