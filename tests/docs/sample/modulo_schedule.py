"""Sample solutions of the lesson on modulo scheduling."""

from __future__ import annotations

from ortools.sat.python import cp_model


def times_exist(operations: int, edges: list[list[int]], interval: int) -> bool:
    least = [0] * operations
    for _ in range(operations + 1):
        changed = False
        for u, v, d in edges:
            if least[v] < least[u] + 1 - d * interval:
                least[v] = least[u] + 1 - d * interval
                changed = True
        if not changed:
            return True
    return False


def exercise_1(operations: int, edges: list[list[int]], pes: int) -> int:
    interval = -(-operations // pes)
    while not times_exist(operations, edges, interval):
        interval += 1
    return interval


def exercise_2(issue: list[int], edges: list[list[int]], interval: int) -> list[int]:
    return [
        position
        for position, (u, v, d) in enumerate(edges)
        if not 1 <= issue[v] + d * interval - issue[u] <= interval
    ]


def exercise_3(operations: int, edges: list[list[int]], pes: int) -> int:
    for interval in range(1, 7):
        model = cp_model.CpModel()
        issue = [model.new_int_var(0, 100, "") for _ in range(operations)]
        slots = []
        for time in issue:
            slot = model.new_int_var(0, interval - 1, "")
            model.add_modulo_equality(slot, time, interval)
            slots.append(model.new_fixed_size_interval_var(slot, 1, ""))
        model.add_cumulative(slots, [1] * operations, pes)
        for u, v, d in edges:
            model.add_linear_constraint(issue[v] - issue[u], 1 - d * interval, interval - d * interval)
        if cp_model.CpSolver().solve(model) == cp_model.OPTIMAL:
            return interval
    return -1
