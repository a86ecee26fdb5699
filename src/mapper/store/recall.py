"""What a store already knows of a problem: proven answers at once, others to start from."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from mapper.api.contradicting import refuse_contradicting_parts
from mapper.api.part.verification import verified
from mapper.api.problem import PosedProblem
from mapper.api.solution import as_document
from mapper.formulations.objective import Objective
from mapper.kind.kind import AnyKind, AnyPart
from mapper.kind.part import Part
from mapper.solver.certificate import Certificate, certificate_from_json
from mapper.solver.contradiction import ContradictionError, contradiction
from mapper.solver.history import history_from_json
from mapper.solver.method import Start
from mapper.solver.outcome import Outcome
from mapper.store.database import Entry, Store, StoreError
from mapper.store.key import part_contents, problem_key, version_key
from mapper.workloads.document import InputError


@dataclass(frozen=True)
class Kept:
    """An answer that was kept, verified anew: as documents show it, its mapping, the searches behind it, and by how
    much floats may differ from its value that mean the same."""

    part: Part
    mapping: Any | None
    searches: int
    slack: float = 0.0

    @property
    def proven(self) -> bool:
        return self.part.certificate.proven

    def start(self, problem: Any, objective: Objective) -> Start[Any] | None:
        """Where a search of ``problem`` for ``objective`` begins; None if there is no mapping to begin with."""
        known = self.part.certificate
        if self.mapping is None or known.value is None:
            return None
        return Start(
            problem,
            self.mapping,
            known.value,
            known.bound,
            known.method,
            objective.most,
            self.searches,
            self.slack,
        )


def answer_fields(kind: AnyKind, part: Part) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """A part as another process or the store takes it: its mapping's document, and its certificate's with history and
    what is proven of pieces."""
    history = [point.to_json() for point in part.history]
    pieces = None if part.mapping is None else kind.pieces(part.mapping)
    mapping = None if part.mapping is None else part.mapping.to_json()
    return mapping, part.certificate.to_json() | {"history": history, "pieces": pieces}


def read_answer(
    kind: AnyKind, part: AnyPart, mapping: Mapping[str, Any] | None, fields: Mapping[str, Any], source: str
) -> tuple[Part, Any | None]:
    """The answer to ``part`` that ``answer_fields`` gave, verified anew, and its mapping.

    Raises: InputError, KeyError, TypeError or ValueError if that is none.
    """
    read = None if mapping is None else kind.read_mapping(mapping, part.problem, source)
    if read is not None and fields.get("pieces") is not None:
        read = kind.with_pieces(read, fields["pieces"])
    answer = verified(kind, part, read, certificate_from_json(fields))
    return replace(answer, history=history_from_json(fields.get("history", []))), read


def kept_answer(
    kind: AnyKind,
    part: AnyPart,
    objective: Objective,
    mapping: Mapping[str, Any] | None,
    fields: Mapping[str, Any],
    source: str,
) -> Kept:
    """The answer to ``part`` that documents hold: its ``mapping``, and its certificate, history, searches and what is
    proven of pieces in ``fields``.

    Raises: InputError, KeyError, TypeError or ValueError if they hold none, if the referee refuses the mapping or the
    model says that it is worth something else, or if the certificate contradicts itself.
    """
    certificate = certificate_from_json(fields)
    answer, read = read_answer(kind, part, mapping, fields, source)
    value, bound = certificate.value, certificate.bound
    if certificate.found != (read is not None) or not _holds(answer.certificate):
        raise ValueError("the referee refuses the mapping")
    if answer.certificate.value != value:
        raise ValueError("the mapping is worth something else")
    if value is not None and (bound is None or bound != value) and certificate.proven:
        raise ValueError("a proof without a bound that meets the value")
    if not all(one is None or math.isfinite(one) for one in (value, bound)):
        raise ValueError("no number")
    if value is not None and bound is not None and objective.better(value, bound):
        raise ValueError("a bound that the value contradicts")
    searches = fields.get("searches", 1)
    if type(searches) is not int or searches < 1:
        raise ValueError("not a number of searches")
    return Kept(answer, read, searches, 0.0 if value is None else kind.slack(part.problem, value))


def _holds(certificate: Certificate) -> bool:
    """Whether an answer is worth keeping: a mapping that the referee accepts, or a proof that there is none."""
    return certificate.verified if certificate.found else certificate.proven


class Recall:
    """A store beside one solve. The first failure is told to ``complain`` and ends its use, and the solve goes on; the
    first answer that is damaged is told as well, and is none. No two answers to one part pass that contradict each
    other, whichever methods gave them."""

    def __init__(
        self, store: Store, posed: PosedProblem, method: str, complain: Callable[[str], None]
    ) -> None:
        self._store: Store | None = store
        self._posed, self._method, self._complain = posed, method, complain
        self._contents = part_contents(posed)
        self._complained = False
        self._refused: set[str] = set()
        self._parts: tuple[AnyPart, ...] = ()
        self._held: dict[int, list[Entry]] = {}

    def known(self, parts: Sequence[AnyPart]) -> list[Kept | None]:
        """The answers kept for the different ``parts`` of the problem, all of them in order, verified anew by the
        referee; None where there is none that it accepts."""
        own = [self._key(place) for place in range(len(parts))]
        methods = self._posed.kind.methods_of(self._posed.read.value)
        keys = {
            place: [problem_key(self._contents[place], name) for name in methods]
            for place in range(len(parts))
        }
        try:
            every = [key for listed in keys.values() for key in listed]
            entries = {} if self._store is None else self._store.get(every, version_key())
        except StoreError as error:
            self._give_up(error)
            entries = {}
        self._parts = tuple(parts)
        for place, listed in keys.items():
            self._held[place] = [entry for key in listed if (entry := entries.get(key)) is not None]
            for one, other in itertools.combinations(self._held[place], 2):
                self._refuse(place, one, other)
        return [
            self._accepted(key, entries[key], part) if key in entries else None
            for key, part in zip(own, parts, strict=True)
        ]

    def keep(self, answers: Mapping[int, Part]) -> None:
        """Write down what was found or proven, by place among the different parts; an answer without either is none.

        Raises: ContradictionError if an answer and one that is there cannot both hold; the others are kept first.
        """
        sound = {
            place: one
            for place, one in answers.items()
            if _holds(one.certificate) and not one.certificate.broken
        }
        fresh = {place: self._entry(place, answer) for place, answer in sound.items()}
        if self._store is None or not fresh:
            return
        contradicting: list[ContradictionError] = []
        for place, entry in tuple(fresh.items()):
            try:
                for held in self._held.get(place, ()):
                    self._refuse(place, held, entry)
            except ContradictionError as error:
                contradicting.append(error)
                del fresh[place]
        places = {entry.problem: place for place, entry in fresh.items()}
        try:
            self._store.put(fresh.values(), partial(self._agreed, places))
        except StoreError as error:
            self._give_up(error)
        if contradicting:
            raise contradicting[0]

    def refuse(self, place: int, answer: Part) -> None:
        """Let no answer pass, which is not to be kept, that one which is there contradicts.

        Raises: ContradictionError.
        """
        for held in self._held.get(place, ()):
            self._refuse(place, held, self._entry(place, answer))

    def _refuse(self, place: int, one: Entry, other: Entry) -> None:
        """Let no two answers to a part pass that cannot both hold; of those that seem to, the referee is asked.

        Raises: ContradictionError.
        """
        first, second = _claims(one), _claims(other)
        if first is None or second is None or contradiction(first, second, self._most) is None:
            return
        part = self._parts[place]
        kept, more = (self._accepted(entry.problem, entry, part) for entry in (one, other))
        if kept is not None and more is not None:
            refuse_contradicting_parts(self._posed, kept.part, more.part)

    @property
    def _most(self) -> bool:
        return self._posed.objective.most

    def _key(self, place: int) -> str:
        return problem_key(self._contents[place], self._method)

    def _accepted(self, key: str, entry: Entry | None, part: AnyPart) -> Kept | None:
        posed, path = self._posed, "" if self._store is None else str(self._store.path)
        try:
            if entry is not None:
                return kept_answer(posed.kind, part, posed.objective, entry.mapping, entry.certificate, path)
        except (InputError, KeyError, TypeError, ValueError, ArithmeticError, RecursionError):
            pass
        # A damaged row is no answer; the search will write it anew.
        self._refused.add(key)
        self._warn(f"{path}: the answer kept for {part.name} is damaged and not used")
        return None

    def _entry(self, place: int, answer: Part) -> Entry:
        posed = self._posed
        mapping, fields = answer_fields(posed.kind, answer)
        return Entry(
            self._key(place),
            version_key(),
            posed.kind.name,
            posed.workload,
            posed.arch,
            posed.objective.name,
            answer.name,
            answer.certificate.proven,
            None if mapping is None else as_document(mapping),
            as_document(fields),
        )

    def _agreed(self, places: Mapping[str, int], held: Entry, fresh: Entry) -> Entry:
        """What is kept of two answers, of which another process may have written the one that is there just now.

        Raises: ContradictionError if they cannot both hold.
        """
        if self._parts and held.problem not in self._refused:
            self._refuse(places[fresh.problem], held, fresh)
        return self._no_worse(held, fresh)

    def _no_worse(self, held: Entry, fresh: Entry) -> Entry:
        """The better one of two answers with the tighter bound, as one more search."""
        if fresh.proven or held.problem in self._refused:
            return fresh
        try:
            old, new = certificate_from_json(held.certificate), certificate_from_json(fresh.certificate)
            searches = int(held.certificate.get("searches", 1)) + 1
        except (KeyError, TypeError, ValueError):
            return fresh
        if held.proven or old.value is None or new.value is None:
            return held if held.proven else fresh
        most = self._most
        better = old.value > new.value if most else old.value < new.value
        best, value = (held, old.value) if better else (fresh, new.value)
        bounds = [one.bound for one in (old, new) if one.bound is not None]
        bound = None if not bounds else min(bounds) if most else max(bounds)
        if bound is not None and (value > bound if most else value < bound):
            bound = new.bound if best is fresh else old.bound
        # Where value and bound meet, the next search finds them so and says what is proven.
        certificate = best.certificate | {"bound": bound, "searches": searches}
        return replace(fresh, mapping=best.mapping, certificate=certificate)

    def _give_up(self, error: StoreError) -> None:
        self._store = None
        self._warn(f"{error}; continuing without it")

    def _warn(self, reason: str) -> None:
        if not self._complained:
            self._complain(reason)
        self._complained = True


def _claims(entry: Entry) -> Outcome[Any] | None:
    """What a row says of its problem; None if that cannot be read."""
    try:
        known = certificate_from_json(entry.certificate)
    except (KeyError, TypeError, ValueError):
        return None
    value = None if entry.mapping is None else known.value
    return Outcome.claimed(entry.mapping, value, known)
