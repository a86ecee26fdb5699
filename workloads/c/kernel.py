"""From an innermost loop in C to a kernel."""

from __future__ import annotations

from mapper.workloads.c.file import find_loop
from mapper.workloads.c.lowering import lower
from mapper.workloads.c.reading import AS_WRITTEN, SourceReading
from mapper.workloads.document import InputError
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.loop.building import kernel_of
from mapper.workloads.network.network import InputFile


def kernel_from_c(
    text: str,
    source: str,
    name: str,
    function: str | None = None,
    number: int | None = None,
    pointer_uses: int | None = None,
    reading: SourceReading = AS_WRITTEN,
) -> Kernel:
    """Innermost loop ``number`` (None: the first) of ``function`` (None: the only one with loops) in ``text``.

    The loop's counting is the machine's (stage predicates); its variable is an addition to itself. Addresses
    are strength-reduced, with at most ``pointer_uses`` accesses to a pointer (None: no limit). Memory
    dependences are order edges of latency 1. ``notes`` say what was assumed.
    Raises: InputError naming file, line and function for anything outside the subset.
    """
    return read_c(text, source, name, function, number, pointer_uses, reading)[0]


def read_c(
    text: str,
    source: str,
    name: str,
    function: str | None = None,
    number: int | None = None,
    pointer_uses: int | None = None,
    reading: SourceReading = AS_WRITTEN,
) -> tuple[Kernel, tuple[InputFile, ...]]:
    """The same with the headers that were read.

    Raises: InputError as ``kernel_from_c``.
    """
    try:
        place = find_loop(text, source, function, number, reading)
        lowered = lower(place, reading.passes).lowered
        if number is None and place.others:
            lowered.note(
                f"the function has {place.others} more innermost loops; this is number 0, nest=host maps the whole"
            )
        return kernel_of(lowered, name, text, reading.passes, pointer_uses), place.inputs
    except RecursionError:
        raise InputError(source, "", "nested too deeply; flatten it") from None
