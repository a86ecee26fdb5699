"""What is remembered of the words of a buffer: the last time or transfer, exact to the word, as fast as by the line.

All that is noted of one kind grows, so that the latest of a range is the largest. Of each line ``tags``
has what covered part of it by word, what covered all of it (WHOLE), and the latest of either (TOP). Ranges lie within
the buffer.

Functions in machine code are compiled anew for every constant that they are handed: these take none.
"""

from __future__ import annotations

from typing import Any

from mapper.models.compiled import compiled
from mapper.sim.trace_partition.cycle.state import FOUND, LINE

WHOLE, TOP = LINE, LINE + 1


def _note(tags: Any, address: int, words: int, value: int) -> None:
    """``value`` is the latest of ``words`` words from ``address`` on."""
    end = address + words
    while address < end:
        line = address >> 4
        line_end = (line + 1) << 4
        tags[line, TOP] = value
        if address & 15 == 0 and line_end <= end:
            tags[line, WHOLE] = value
        else:
            for word in range(address, min(line_end, end)):
                tags[line, word & 15] = value
        address = line_end


note = compiled(_note)


def _latest(tags: Any, address: int, words: int) -> int:
    """The latest of ``words`` words from ``address`` on; 0: nothing has been noted."""
    end, found = address + words, 0
    while address < end:
        line = address >> 4
        line_end = (line + 1) << 4
        if address & 15 == 0 and line_end <= end:
            found = max(found, tags[line, TOP])
        elif tags[line, TOP] > found:
            found = max(found, tags[line, WHOLE])
            for word in range(address, min(line_end, end)):
                found = max(found, tags[line, word & 15])
        address = line_end
    return found


latest = compiled(_latest)


def _where(tags: Any, address: int, words: int, value: int) -> int:
    """The first of ``words`` words from ``address`` on of which ``value`` was noted; ``address`` if there is none."""
    for word in range(address, address + words):
        if max(tags[word >> 4, WHOLE], tags[word >> 4, word & 15]) == value:
            return word
    return address


where = compiled(_where)


def _lines(address: int, words: int) -> int:
    """Lines of 16 words that ``words`` words from ``address`` on touch."""
    return ((address & 15) + words + 15) >> 4 if words > 0 else 0


lines = compiled(_lines)


def _hazard(hazards: Any, machine: Any) -> Any:
    """A row for a hazard, which is counted; the last of the table is one that nobody reads."""
    machine[FOUND] += 1
    return hazards[min(machine[FOUND], len(hazards)) - 1]


hazard = compiled(_hazard)


def _record(lane: Any, layer: int, start: int, end: int) -> None:
    """Add an interval to a lane of the timeline, whose first row says how many entries it has and how many cycles
    apart they may be to become one, if they are of one layer; that grows as far as it must for the lane to hold
    them."""
    head = lane[0]
    if head[0] > 0:
        last = lane[head[0]]
        if last[0] == layer and start - last[2] <= head[1]:
            last[2] = max(last[2], end)
            last[3] += end - start
            return
    while head[0] == len(lane) - 1:
        head[1] = 2 * head[1] + 16
        kept = 1
        for number in range(2, len(lane)):
            one, last = lane[number], lane[kept]
            if last[0] == one[0] and one[1] - last[2] <= head[1]:
                last[2] = max(last[2], one[2])
                last[3] += one[3]
            else:
                kept += 1
                for field in range(4):
                    lane[kept, field] = one[field]
        head[0] = kept
    head[0] += 1
    row = lane[head[0]]
    row[0], row[1], row[2], row[3] = layer, start, end, end - start


record = compiled(_record)
