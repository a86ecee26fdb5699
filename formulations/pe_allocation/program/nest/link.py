"""Layouts of a loop nest whose streams are more than the links carry, excluded one by one."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mapper.formulations.pe_allocation.program.nest.cp_sat import NestProgram


def exclude_crowded(program: NestProgram, axes: tuple[str | None, str | None]) -> None:
    """With these loops on rows and columns, no number of tiles and no innermost loop for which a link is short of
    words; the more iterations are joined to a word, the more words there are."""
    rooms = (range(1, room + 1) for room in program.room.values())
    for (rows, columns), inner in itertools.product(itertools.product(*rooms), program.loops):
        crowded = (
            joined
            for joined in range(1, program.work.lanes + 1)
            if not program.problem.carries(axes, (rows, columns), inner, joined)
        )
        least = next(crowded, None)
        if least is None:
            continue
        when: list[Any] = [program.at[inner][0]]
        for axis, loop, count in zip(program.room, axes, (rows, columns), strict=True):
            when += [program.on[axis][loop]] if loop else [~one for one in program.on[axis].values()]
            when += [program.beyond[axis][count - 1], *program.none_after(axis, count - 1)]
        if least > 1:
            program.model.add(program.extent[inner] < least).only_enforce_if(*when)
        else:
            program.model.add_bool_or([~one for one in when])
