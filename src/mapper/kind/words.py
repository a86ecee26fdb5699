"""What a kind says of proofs: the space that they speak of, and why they hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ProofWords:
    """``space``: all mappings that a proof speaks of, as the kind's documentation defines them. ``reasons``: why the
    proof of a method holds, by the method's name, as a clause after "because"; under ``*`` why any does. ``reached``:
    why, where the value itself meets a bound by argument, whatever the method was."""

    space: str
    reasons: Mapping[str, str] = field(default_factory=dict)
    reached: str | None = None
