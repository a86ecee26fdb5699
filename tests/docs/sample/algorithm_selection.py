"""Sample solutions of the lesson on algorithm selection."""

from __future__ import annotations

Matrix = list[list[int]]


def exercise_1(layer: list[int], array: list[int]) -> list[int]:
    side, window, inputs, outputs = layer
    rows, columns = array

    def product(a: int, b: int, c: int) -> int:
        stationary = [-(-a // rows) * -(-c // columns) * b, -(-b // rows) * -(-c // columns) * a]
        return min(*stationary, -(-b // rows) * -(-a // columns) * c)

    im2col = product(side**2, window**2 * inputs, outputs)
    kn2row = window**2 * product(side**2, inputs, outputs) if window > 1 else -1
    winograd = 16 * product(side**2 // 4, inputs, outputs) if window == 3 else -1
    return [im2col, kn2row, winograd]


def exercise_2(vertices: int, edges: list[list[int]]) -> int:
    near: dict[int, set[int]] = {v: set() for v in range(vertices)}
    for u, v in edges:
        near[u].add(v)
        near[v].add(u)
    ready = list(near)
    while ready:
        u = ready.pop()
        if u not in near or len(near[u]) > 2:
            continue
        ends = near.pop(u)
        for v in ends:
            near[v] = (near[v] | ends) - {u, v}
        ready.extend(ends)
    return len(near)


def reduced(costs: dict[int, list[int]], edges: dict[int, dict[int, Matrix]]) -> int:
    least = 0
    while costs:
        u = min(costs, key=lambda v: len(edges[v]))
        near = edges[u]
        if len(near) > 2:
            u = max(costs, key=lambda v: len(edges[v]))
            return least + min(
                costs[u][i]
                + reduced(
                    {
                        v: added(own, edges[u][v][i]) if v in edges[u] else own
                        for v, own in costs.items()
                        if v != u
                    },
                    {
                        v: {w: matrix for w, matrix in ends.items() if w != u}
                        for v, ends in edges.items()
                        if v != u
                    },
                )
                for i in range(len(costs[u]))
            )
        own = costs.pop(u)
        del edges[u]
        for v in near:
            del edges[v][u]
        if not near:
            least += min(own)
        elif len(near) == 1:
            ((v, matrix),) = near.items()
            costs[v] = [
                c + min(own[i] + matrix[i][j] for i in range(len(own))) for j, c in enumerate(costs[v])
            ]
        else:
            (v, first), (w, second) = near.items()
            join(
                edges,
                v,
                w,
                [
                    [
                        min(own[i] + first[i][j] + second[i][k] for i in range(len(own)))
                        for k in range(len(costs[w]))
                    ]
                    for j in range(len(costs[v]))
                ],
            )
    return least


def added(own: list[int], row: list[int]) -> list[int]:
    return [a + b for a, b in zip(own, row, strict=True)]


def join(edges: dict[int, dict[int, Matrix]], u: int, v: int, matrix: Matrix) -> None:
    old = edges[u].get(v)
    total = matrix if old is None else [added(a, b) for a, b in zip(old, matrix, strict=True)]
    edges[u][v] = total
    edges[v][u] = [list(column) for column in zip(*total, strict=True)]


def exercise_3(costs: list[list[int]], edges: list[tuple[int, int, Matrix]]) -> int:
    graph: dict[int, dict[int, Matrix]] = {v: {} for v in range(len(costs))}
    for u, v, matrix in edges:
        join(graph, u, v, matrix)
    return reduced(dict(enumerate(costs)), graph)
