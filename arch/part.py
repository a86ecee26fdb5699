"""What documents of all machines share: parts without unknown fields, how they are read, and time at a memory."""

from __future__ import annotations

import math
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from mapper.workloads.document import InputError, validation_error


class Part(BaseModel):
    """A machine or a part of one."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


Described = TypeVar("Described", bound=Part)


def read_part(kind: type[Described], fields: dict[str, Any], source: str) -> Described:
    """A machine of ``kind`` from the fields of a document.

    Raises: InputError naming the field that is wrong.
    """
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        raise validation_error(error, source, kind) from None
    except RecursionError:
        raise InputError(source, "", "nested too deeply; flatten it") from None


def check_steps(clock_mhz: float, bandwidth_gb_s: float | None) -> None:
    """Costs are counted in whole units; finer steps than kHz and MB/s would make them too large for 64 bits.

    Raises: ValueError naming the field that is finer.
    """
    for field, value, step in (
        ("clock_mhz", clock_mhz, "kHz"),
        ("bandwidth_gb_s", 1 if bandwidth_gb_s is None else bandwidth_gb_s, "MB/s"),
    ):
        if abs(value * 1000 - round(value * 1000)) > 1e-6 or round(value * 1000) < 1:
            raise ValueError(f"{field}: must be a whole number of {step}")


def hertz(clock_mhz: float) -> int:
    """A clock of whole kHz, in Hz."""
    return round(clock_mhz * 1000) * 1000


def cycles_per_byte(clock_mhz: float, bandwidth_gb_s: float) -> tuple[int, int]:
    """Cycles that a byte takes at an external memory, as numerator and denominator without common divisor."""
    clock, bandwidth = hertz(clock_mhz), round(bandwidth_gb_s * 1000) * 10**6
    common = math.gcd(clock, bandwidth)
    return clock // common, bandwidth // common
