"""Programs as assembler text for people."""

from __future__ import annotations

from bisect import bisect_right

from mapper.arch.snowflake import BANK_INSTRUCTIONS
from mapper.models.trace_partition.isa.assembly import disassemble
from mapper.models.trace_partition.isa.program import ClusterCode, Program
from mapper.workloads.text.plain_text import plain


def listing(program: Program) -> str:
    """What lies where in memory, then the code of every cluster by layer, with what each address names after it."""
    named = sorted(
        [(tensor.address, tensor.words, plain(tensor.name)) for tensor in program.tensors]
        + [(segment.address, len(segment.words), plain(segment.name)) for segment in program.segments]
        + [
            (cluster.address, 2 * len(cluster.code), f"code of cluster {number}")
            for number, cluster in enumerate(program.clusters)
        ]
    )
    lines = [
        f"; {plain(program.name)}: {program.words} words of memory",
        f"; {'first word':>10} {'words':>10} name",
    ]
    lines += [f"; {program.base + address:10} {words:10} {name}" for address, words, name in named]
    parts = ["\n".join(lines) + "\n"]
    for number, cluster in enumerate(program.clusters):
        parts.append(f"\n; cluster {number}\n{_cluster_text(program, cluster, number, named)}")
    return "".join(parts)


def _cluster_text(
    program: Program, cluster: ClusterCode, number: int, named: list[tuple[int, int, str]]
) -> str:
    comments = {}
    starts = [address for address, _, _ in named]
    for place in cluster.relocations:
        low, high = (int(word) & 0xFFFF for word in cluster.code[place : place + 2])
        address = (high << 16 | low) - program.base
        start, _, name = named[bisect_right(starts, address) - 1]
        bank, within = divmod(place, BANK_INSTRUCTIONS)
        offset = f" + {address - start}" if address != start else ""
        comments[f"{bank}:{within:03d} {int(cluster.code[place]):08x}"] = f"  {name}{offset}"
    lines = disassemble(cluster.code, f"cluster {number}", cluster.marks).splitlines()
    return "".join(f"{line}{comments.get(line.rpartition('; ')[2], '')}\n" for line in lines)
