"""The programs of a layer's PEs as an assembler-like listing [Heidorn2019, Algorithm 3]."""

from __future__ import annotations

from mapper.models.pe_allocation.configuration.address import Affine
from mapper.models.pe_allocation.configuration.program import (
    Configuration,
    LayerProgram,
    Loop,
    PeProgram,
    Source,
)
from mapper.workloads.text.plain_text import plain

LEGEND = """\
; One word of the loop body is issued in every cycle; its slots, one for each functional unit, stand in { | }.
; ?n+1<8: the slot is off where that does not hold. Wd, Xd: the next weight and pixel of slot d, from the address
; generators (a pixel stays for all m; in groups of filters it is of the group); pixels outside the image are %s.
; A[m]: the sum of filter (map) m; an empty one takes its first operand as it is. nop *n: n cycles without work.
; B[m], S[m], O[m]: constants of filter (map) m. T: a table with an entry for each word. << s: operand shifted left.
; affine [a x b | s t] + base mod w: addresses base + i*s + j*t in words for i < a, j < b, j fastest, in a ring of w."""


def listing(configuration: Configuration, position: int) -> str:
    """The listing of the layer at ``position``: what its PEs have in common, then one section for each PE."""
    layer = configuration.layers[position]
    outside = "-128" if layer.rule == "max" else "0"
    lines = [
        f"; {plain(layer.name)} of {plain(configuration.network)} on {plain(configuration.machine)}, "
        f"{configuration.mode}, {configuration.model}",
        LEGEND % outside,
        "",
        f".start {layer.start}    ; cycle of a frame at which the global controller starts the layer",
        f".interval {configuration.interval}    ; cycles between frames",
        f".positions {layer.output_size[0]} x {layer.output_size[1]}, one every {layer.cycles} cycles: "
        f"{layer.cycles - layer.idle} of work, {layer.idle} idle",
        f".timing {'start times' if configuration.steady else 'not before its pixels are there'}",
    ]
    lines += [_shared(configuration, group) for group in configuration.shared if position in group]
    lines += [line for source in layer.sources for line in _source(configuration, source)]
    if layer.output is not None:
        lines.append(f".output {_affine(layer.output)}{_at(layer.output_border)}")
    if layer.weight_words:
        lines.append(f".weights {layer.weight_words} words [m][n][k1][k2]{_at(layer.weight_border)}")
    for program in layer.pes:
        lines += ["", *_section(layer, program)]
    return "\n".join(lines) + "\n"


def _shared(configuration: Configuration, group: tuple[int, ...]) -> str:
    names = ", ".join(plain(configuration.layers[at].name) for at in group)
    return f".shared {names}    ; take turns on one PE, the position that is due first goes first"


def _source(configuration: Configuration, source: Source) -> list[str]:
    if source.feed is None:
        return [f".input frame {source.maps} maps{_at(source.border)}", _read(source)]
    maker = plain(configuration.layers[source.feed].name)
    kind = "maps" if source.whole else "line buffer"
    lines = [f".input {maker} {source.maps} maps, {kind} of {source.words} words{_at(source.border)}"]
    assert source.write is not None
    return [*lines, f".write {_affine(source.write)}", _read(source)]


def _read(source: Source) -> str:
    times = (
        ""
        if source.stretch == (1, 1)
        else f"; of a map with each pixel {'x'.join(map(str, source.stretch))} times"
    )
    return f".read {_affine(source.read)}{times}"


def _section(layer: LayerProgram, program: PeProgram) -> list[str]:
    place = "" if program.at is None else f" at [{program.at[0]},{program.at[1]}]"
    lines = [f"PE {program.number}{place}:    ; {_share(layer, program)}"]
    if program.weights is not None:
        lines.append(f"  .weights {_affine(program.weights)}")
    lines += [f"  for r = 0..{layer.output_size[0] - 1}", f"  for c = 0..{layer.output_size[1] - 1}"]
    lines += [f"    {_loop(loop)}" for loop in program.loops]
    slots = " | ".join(_slot(layer, program, slot) for slot in range(layer.delta))
    lines += [f"      {{ {slots} }}", f"      {_finish(layer, program)}"]
    if layer.idle:
        lines.append(f"    nop *{layer.idle}")
    return lines


def _loop(loop: Loop) -> str:
    last = loop.first + loop.step * (loop.count - 1)
    text = f"for {loop.name} = {loop.first}..{last} step {loop.step}    ; {loop.count} times"
    return text + (f", off from {loop.limit} on" if last >= loop.limit else "")


def _slot(layer: LayerProgram, program: PeProgram, slot: int) -> str:
    """One unit's operation; its guard where its map or filter may lie beyond the last."""
    lanes = layer.scheme == "lanes"
    n, m = program.loops[2], program.loops[3]
    running = m if lanes else n
    guard, offset = "", f"+{slot}" if slot else ""
    if running.first + running.step * (running.count - 1) + slot >= running.limit:
        guard = f" ?{running.name}{offset}<{running.limit}"
    pooled = layer.rule in ("max", "average")
    if pooled:
        target = f"A[{running.name}{offset}]"
        return f"{'max' if layer.rule == 'max' else 'add'} {target}, X{slot}{guard}"
    target = f"A[m{offset if lanes else ''}]"
    operation = "mac" if layer.rule == "convolution" else _OPERATIONS.get(layer.rule, "mov")
    operands = f"W{slot}, X{slot}" if layer.rule == "convolution" else f"X{slot}"
    if layer.rule != "convolution" and any(layer.arithmetic.lifts):
        operands += f" << {'/'.join(map(str, layer.arithmetic.lifts))}[n{offset}]"
    return f"{operation} {target}, {operands}{guard}"


_OPERATIONS = {
    "sum": "add", "mean": "add", "product": "mul", "largest": "max", "smallest": "min", "difference": "sub",
    "scale": "scale", "rectify": "relu",
}  # fmt: skip


def _finish(layer: LayerProgram, program: PeProgram) -> str:
    """What the word with a filter's last products does beside them."""
    k1, k2, n, _ = program.loops
    last = f"k1=={k1.count - 1} k2=={k2.count - 1} n=={n.first + n.step * (n.count - 1)}"
    result, empty = "A", "empty"
    rule = layer.arithmetic
    if layer.rule == "convolution":
        result, empty = "A + B[m]", "0"
    elif layer.rule == "average":
        lifted = f"A << {rule.lifts[0]}" if any(rule.lifts) else "A"
        count = "pixels inside" if rule.inside else str(layer.kernel[0] * layer.kernel[1])
        result, empty = f"round({lifted} / {count})", "0"
    elif layer.rule == "mean":
        result = f"floor(A / {layer.operands})"
    if rule.scaled:
        result = f"({result}) * S[m] + O[m]"
    if layer.shift > 0:
        result = f"({result} + {1 << layer.shift >> 1}) >> {layer.shift}"
    elif layer.shift < 0:
        result = f"({result}) << {-layer.shift}"
    if layer.rectified:
        result = f"relu({result})"
    half = 1 << (rule.bits - 1)
    if (rule.least, rule.most) == (-half, half - 1):
        result = f"saturate{rule.bits}({result})"
    else:
        result = f"limit({result}, {rule.least}, {rule.most})"
    if rule.tabled:
        result = f"T[{result}]"
    return f"out {result} ?{last}    ; then A is {empty}"


def _share(layer: LayerProgram, program: PeProgram) -> str:
    """What the PE computes of a position: its filters, or maps."""
    loop = program.loops[3]
    slots = range(layer.delta if layer.scheme == "lanes" else 1)
    found = [loop.first + loop.step * index + slot for index in range(loop.count) for slot in slots]
    kept = [str(value) for value in found if value < loop.limit]
    if not kept:
        return "nothing"
    if layer.rule in ("max", "average") and layer.scheme == "depth":
        return f"all {layer.maps} maps"
    kind = "filters" if layer.rule == "convolution" else "maps"
    return f"{kind} {', '.join(kept if len(kept) <= 6 else [*kept[:3], '...', kept[-1]])}"


def _affine(affine: Affine) -> str:
    counts, strides = " x ".join(map(str, affine.counts)), " ".join(map(str, affine.strides))
    ring = "" if affine.ring is None else f" mod {affine.ring}"
    return f"affine [{counts} | {strides}] {affine.base:+}{ring}    ; {', '.join(affine.loops)}"


def _at(pe: tuple[int, int] | None) -> str:
    return "" if pe is None else f", in the buffer at [{pe[0]},{pe[1]}]"
