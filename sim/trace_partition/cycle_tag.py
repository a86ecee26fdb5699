"""What is remembered of the words of a buffer: the last time or transfer, exact to the word, as fast as by the line.

All that is noted of one kind grows, so that the latest of a range is the largest. ``line`` has what covered the whole
line, ``word`` what covered part of one, ``top`` the latest of either. Ranges lie within the buffer.
"""

from __future__ import annotations

from typing import Any

from mapper.solver.compiled import compiled


def _note(line: Any, top: Any, word: Any, address: int, words: int, value: int) -> None:
    """``value`` is the latest of ``words`` words from ``address`` on."""
    end = address + words
    while address < end:
        at = address >> 4
        behind = (at + 1) << 4
        top[at] = value
        if address & 15 == 0 and behind <= end:
            line[at] = value
        else:
            for place in range(address, min(behind, end)):
                word[place] = value
        address = behind


note = compiled(_note)


def _latest(line: Any, top: Any, word: Any, address: int, words: int) -> int:
    """The latest of ``words`` words from ``address`` on; 0: nothing has been noted."""
    end, found = address + words, 0
    while address < end:
        at = address >> 4
        behind = (at + 1) << 4
        if address & 15 == 0 and behind <= end:
            found = max(found, top[at])
        elif top[at] > found:
            found = max(found, line[at])
            for place in range(address, min(behind, end)):
                found = max(found, word[place])
        address = behind
    return found


latest = compiled(_latest)


def _where(line: Any, word: Any, address: int, words: int, value: int) -> int:
    """The first of ``words`` words from ``address`` on of which ``value`` was noted; ``address`` if there is none."""
    for place in range(address, address + words):
        if max(line[place >> 4], word[place]) == value:
            return place
    return address


where = compiled(_where)


def _lines(address: int, words: int) -> int:
    """Lines of 16 words that ``words`` words from ``address`` on touch."""
    return ((address & 15) + words + 15) >> 4 if words > 0 else 0


lines = compiled(_lines)


def _hazard(
    hazards: Any, found: Any, cause: int, cluster: int, place: int, other: int, word: int, at: int, ready: int
) -> None:
    """Keep a hazard while there is room, and count it."""
    if found[0] < len(hazards):
        row = hazards[found[0]]
        row[0], row[1], row[2], row[3], row[4], row[5], row[6] = cause, cluster, place, other, word, at, ready
    found[0] += 1


hazard = compiled(_hazard)


def _record(table: Any, entries: Any, layer: int, start: int, end: int) -> None:
    """Add an interval to a lane of the timeline: entries of one layer that are at most ``entries[1]`` cycles apart
    become one, and that grows as far as it must for the lane to hold them."""
    count = entries[0]
    if count > 0:
        last = table[count - 1]
        if last[0] == layer and start - last[2] <= entries[1]:
            last[2] = max(last[2], end)
            last[3] += end - start
            return
    while count == len(table):
        entries[1] = 2 * entries[1] + 16
        kept = 0
        for number in range(1, count):
            one, last = table[number], table[kept]
            if last[0] == one[0] and one[1] - last[2] <= entries[1]:
                last[2] = max(last[2], one[2])
                last[3] += one[3]
            else:
                kept += 1
                for field in range(4):
                    table[kept, field] = one[field]
        count = kept + 1
    row = table[count]
    row[0], row[1], row[2], row[3] = layer, start, end, end - start
    entries[0] = count + 1


record = compiled(_record)
