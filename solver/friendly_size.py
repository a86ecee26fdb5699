"""Sizes that many factors divide."""

from __future__ import annotations

from itertools import count

SMALL_PRIMES = (2, 3, 5, 7)


def friendly_size(least: int) -> int:
    """The first size from ``least`` on without a prime factor beyond 7; it is below twice ``least``, as a power of two
    is."""
    return next(size for size in count(least) if _has_small_factors(size))


def _has_small_factors(number: int) -> bool:
    for prime in SMALL_PRIMES:
        while number % prime == 0:
            number //= prime
    return number == 1
