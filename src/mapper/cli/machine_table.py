"""One network on several machines, as tables for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mapper.kind.cell import number, percent, proof, seconds

if TYPE_CHECKING:
    from mapper.api.side_by_side import SideBySide


def machine_rows(found: SideBySide) -> tuple[list[str], list[list[str]]]:
    """Heading and lines of one network on several machines."""
    heading = [
        "machine",
        "kind",
        "latency_ms",
        "frames/s",
        "energy_pj",
        "utilisation",
        "gap",
        "proof",
        "seconds",
    ]
    lines = []
    for row in found.rows:
        cost, certificate = row.cost or {}, row.certificate
        latency = cost.get("latency_ms")
        frames = cost.get("throughput_fps") or (1e3 / latency if latency else None)
        lines.append(
            [
                row.arch,
                row.kind.name,
                number(latency),
                number(frames),
                number(cost.get("energy_pj")),
                percent(row.utilisation, 1),
                percent(certificate.gap),
                proof(certificate) if row.solution is not None else "cannot run it",
                seconds(certificate.seconds),
            ]
        )
    return heading, lines


def warning_lines(found: SideBySide) -> list[str]:
    """What each machine's latency leaves out."""
    lines = ["what the figures leave out:"]
    for row in found.rows:
        lines += [f"  {row.arch}: {'; '.join(row.warnings)}"]
    return lines


def layer_rows(found: SideBySide) -> tuple[list[str], list[list[str]]]:
    """Milliseconds layer by layer."""
    heading = ["layer, ms", *(row.arch for row in found.rows)]
    times = [row.layers for row in found.rows]
    return heading, [[name, *(number(one.get(name)) for one in times)] for name in found.layer_names]
