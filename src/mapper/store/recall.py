"""What a store already knows of a problem: proven answers at once, others to start from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from mapper.history import history_from_json
from mapper.judging import judged
from mapper.kind.kind import Part, PosedPart
from mapper.posing import Posed
from mapper.solution import as_document
from mapper.solver.certificate import certificate_from_json
from mapper.store.database import Entry, Store, StoreError
from mapper.store.key import problem_key, version_key
from mapper.workloads.document import InputError

MOST = frozenset({"throughput"})
"""Objectives of which more is better."""


class Recall:
    """A store beside one solve. The first failure is told to ``complain`` and ends its use; the solve goes on."""

    def __init__(self, store: Store, posed: Posed, method: str, complain: Callable[[str], None]) -> None:
        self._store: Store | None = store
        self._posed, self._method, self._complain = posed, method, complain

    def known(self, place: int, part: PosedPart) -> Part | None:
        """The answer kept for ``part``, judged anew by the referee; None if there is none that it accepts."""
        if self._store is None:
            return None
        try:
            entry = self._store.get(problem_key(self._posed, place, self._method), version_key())
            if entry is None:
                return None
            certificate = certificate_from_json(entry.certificate)
            mapping = None
            if entry.mapping is not None:
                mapping = self._posed.kind.read_mapping(entry.mapping, part.problem, str(self._store.path))
            answer = judged(self._posed.kind, part, mapping, certificate)
            answer = replace(answer, history=history_from_json(entry.certificate.get("history", [])))
        except StoreError as error:
            self._give_up(error)
            return None
        except (InputError, KeyError, TypeError, ValueError):
            # A damaged row is no answer; the search will write it anew.
            return None
        sound = answer.certificate.verified and answer.certificate.value == certificate.value
        return answer if sound or mapping is None else None

    def keep(self, place: int, answer: Part) -> None:
        """Write down what was found or proven; an answer without either is none."""
        certificate = answer.certificate
        if self._store is None or not certificate.verified or certificate.broken:
            return
        posed = self._posed
        entry = Entry(
            problem_key(posed, place, self._method),
            version_key(),
            posed.kind.name,
            posed.workload,
            posed.arch,
            posed.objective,
            answer.name,
            certificate.proven,
            None if answer.mapping is None else as_document(answer.mapping.to_json()),
            as_document(certificate.to_json() | {"history": [point.to_json() for point in answer.history]}),
        )
        try:
            self._store.put(entry)
        except StoreError as error:
            self._give_up(error)

    def better(self, known: Part | None, found: Part) -> Part:
        """The better of what was kept and what a new search found, with the better of their bounds: both hold for the
        one problem."""
        if known is None or known.mapping is None or found.certificate.proven:
            return found
        most = self._posed.objective in MOST
        bound = _tighter(known.certificate.bound, found.certificate.bound, most)
        kept = found
        if found.mapping is None or _beats(known.certificate.value, found.certificate.value, most):
            spent = found.certificate
            certificate = replace(known.certificate, seconds=spent.seconds, cpu_seconds=spent.cpu_seconds)
            kept = replace(known, certificate=replace(certificate, stop=spent.stop))
        value = kept.certificate.value
        met = bound is not None and value == bound
        return replace(
            kept, certificate=replace(kept.certificate, bound=bound, proven=kept.certificate.proven or met)
        )

    def _give_up(self, error: StoreError) -> None:
        self._store = None
        self._complain(f"{error}; going on without it")


def _tighter(one: float | None, other: float | None, most: bool) -> float | None:
    known = [bound for bound in (one, other) if bound is not None]
    return None if not known else min(known) if most else max(known)


def _beats(one: float | None, other: float | None, most: bool) -> bool:
    if one is None or other is None:
        return other is None and one is not None
    return one > other if most else one < other
