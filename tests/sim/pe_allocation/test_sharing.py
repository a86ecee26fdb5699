"""Turns on a shared PE, against a PE that is followed cycle by cycle."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.sim.pe_allocation.sharing import Job, lateness


def cycle_by_cycle(jobs: list[Job]) -> int:
    left = [job.work for job in jobs]
    late = now = 0
    while any(left):
        ready = [at for at, job in enumerate(jobs) if job.begin <= now and left[at]]
        if ready:
            at = min(ready, key=lambda at: (jobs[at].deadline, left[at], at))
            left[at] -= 1
            if not left[at]:
                late = max(late, now + 1 - jobs[at].deadline)
        now += 1
    return late


@settings(derandomize=True, deadline=None, max_examples=200)
@given(
    st.lists(
        st.builds(
            lambda begin, time, work: Job(begin, begin + time, work),
            st.integers(0, 20), st.integers(1, 9), st.integers(1, 6),
        ),
        min_size=1, max_size=6,
    )
)  # fmt: skip
def test_lateness_is_that_of_a_pe_followed_cycle_by_cycle(jobs: list[Job]) -> None:
    assert lateness(jobs) == cycle_by_cycle(jobs)


def test_two_layers_of_half_the_time_each_are_never_late() -> None:
    slow = [Job(5 + 12 * k, 5 + 12 * (k + 1), 6) for k in range(20)]
    fast = [Job(4 * k, 4 * (k + 1), 2) for k in range(60)]
    assert lateness(slow + fast) == 0


def test_one_cycle_more_than_there_is_makes_a_layer_late() -> None:
    assert lateness([Job(0, 4, 3), Job(0, 4, 2)]) == 1
