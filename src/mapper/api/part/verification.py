"""The referee's verdict on a part."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mapper.kind.kind import AnyKind, AnyPart
from mapper.kind.part import Part
from mapper.solver.certificate import Certificate


def verified(kind: AnyKind, part: AnyPart, mapping: Any | None, certificate: Certificate) -> Part:
    """The part with the referee's verdict and the model's cost; no claim survives a broken rule.

    ``verified`` says that the referee accepted a mapping. Where there is none it judged nothing, so that not even a
    proven infeasibility is verified: ``found`` and ``proven`` say that.
    """
    if mapping is None:
        certificate = replace(certificate, verified=False)
        return Part(part.name, part.source, None, None, None, None, certificate, part.merged)
    verdict = kind.verify(part.problem, mapping)
    sound = not verdict.broken
    certificate = replace(
        certificate,
        value=verdict.value,
        verified=sound,
        broken=verdict.broken,
        proven=certificate.proven and sound,
        bound=certificate.bound if sound else None,
    )
    shown = kind.shown(part.problem, mapping)
    return Part(
        part.name, part.source, None, shown, verdict.cost, verdict.breakdown, certificate, part.merged
    )
