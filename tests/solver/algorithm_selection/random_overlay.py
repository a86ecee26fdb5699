"""Random small networks for an overlay, straight as layers and stores."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from mapper.arch.overlay import OverlayMachine, overlay_from_document
from mapper.models.algorithm_selection.overlay.layer import OverlayLayer
from mapper.models.algorithm_selection.overlay.network import OverlayNetwork, ReadBack, Share, Store
from mapper.models.algorithm_selection.overlay.running import Pool, Running

TERMS = (
    "short_passes", "fill_and_drain", "pools", "kernels", "overlap", "kernel_parts", "inputs_ahead",
    "pools_on_the_way", "pools_first",
)  # fmt: skip


@st.composite
def machines(draw: st.DrawFn, ends: bool = False) -> OverlayMachine:
    """Overlays of one PE and a few, with any of the readings that the paper leaves open; energy and words free and
    dear. To the ``ends`` of what the format allows: transforms and transfers that take for ever, and block memories
    that leave few shapes or none."""
    dear = ends and draw(st.integers(0, 3)) == 0
    fields: dict[str, Any] = {
        "schema": "mapper.dynamap/1",
        "name": "drawn",
        "pes": draw(st.integers(1, 6)),
        "clock_mhz": draw(st.sampled_from([100, 100, 99.991, 0.001, 1e6])) if ends else 100,
        "word_bits": draw(st.sampled_from([8, 8, 16, 32])),
        "bandwidth_gb_s": draw(st.sampled_from([None, 0.05, 0.3, 7, *([0.001, 1e6] if ends else [])])),
        "winograd": {
            "tiles": draw(st.sampled_from(["ceil", "area"])),
            "rounds": draw(st.sampled_from(["exact", "ceil", "pieces"])),
            "f_4_3": draw(st.booleans()),
            "transform_cycles": draw(st.sampled_from([0, 1, 5, 7919, 1 << 40] if dear else [0, 1, 2, 5])),
        },
        "initialisation": {
            "factor": draw(st.sampled_from([0, 1, 2, 1024] if dear else [0, 1, 2])),
            "per": draw(st.sampled_from(["layer", "product", "pass"])),
        },
        "traffic": {
            "burst_words": draw(st.sampled_from([1, 4, 1 << 16])),
            "overhead_cycles": draw(st.sampled_from([0, 1, 9, 1 << 40] if dear else [0, 1, 9])),
            "weights": draw(st.booleans()),
            "double_buffering": draw(st.booleans()),
            "onchip_bytes": draw(st.sampled_from([0, 0, 1, 300, 2000, 1 << 50])),
        },
        "resource": {
            "dsps_per_pe": draw(st.sampled_from([1, 5, 1 << 16])),
            "other_dsps": draw(st.sampled_from([0, 160, 1 << 50])),
            "brams": draw(st.sampled_from([2160, 2160, 60, 30])),
            "limits_shapes": ends and draw(st.booleans()),
        },
        "energy_pj": {
            "mac": draw(st.sampled_from([0, 0.3, 1e6])),
            "dram_byte": draw(st.sampled_from([0, 80.0, 0.1, 1e6])),
            "pe_cycle": draw(st.sampled_from([0, 0.05, 1e6, 0.012345678901234567])),
        },
    }
    if draw(st.integers(0, 5)) == 0:
        fields |= draw(generated())
    return overlay_from_document(fields, "drawn")


@st.composite
def generated(draw: st.DrawFn) -> dict[str, Any]:
    """The overlay as it is generated: with any of its terms, room for all or for little, on boards large and small."""
    words = st.sampled_from([1 << 10, 1 << 11, 1 << 20])
    engines: dict[str, Any] = {name: draw(st.booleans()) for name in TERMS}
    latency_wires = st.sampled_from([(1, 1), (1, 2), (32, 1), (32, 2)])
    engines["dram_latency"], engines["block_wires"] = draw(latency_wires)
    if draw(st.booleans()):
        engines["buffers"] = {name: draw(words) for name in ("input", "kernel", "result")}
        engines["buffers"]["tensor"] = draw(st.sampled_from([0, 40, 90, 1 << 10]))
    board = {"dsp": 6840, "bram36": draw(st.sampled_from([60, 2160])), "uram": 960, "lut": 1182240}
    board["dsp"] = draw(st.sampled_from([6840, 26, 33]))
    return {"engines": engines, **({"board": board} if draw(st.booleans()) else {})}


@st.composite
def networks(draw: st.DrawFn) -> OverlayNetwork:
    """A layer that others read: a chain of two, or two branches that are joined, added or read back."""
    machine, side = draw(machines()), draw(st.integers(2, 5))
    depths = [draw(st.integers(1, 5)) for _ in range(4)]

    def layer(at: int, depth: int, columns: int) -> OverlayLayer:
        kernel = draw(st.sampled_from([1, 3]))
        pads = ((kernel // 2, kernel // 2),) * 2
        size = (side, side)
        name = f"conv{at + 1}"
        return OverlayLayer(name, name, "Conv", 1, depth, columns, size, size, (kernel, kernel), pads=pads)

    first = layer(0, 2, depths[0])
    if draw(st.booleans()):
        layers = (first, layer(1, depths[0], depths[1]), layer(2, depths[1], depths[2]))
        stores = [
            Store(f"conv{at + 1}", 1, side**2, (Share(at, depths[at]),), (at + 1,), vertex=False)
            for at in range(2)
        ]
        return OverlayNetwork(
            "chain", machine, layers, tuple(stores), running=draw(runs(len(layers), chain=True))
        )
    branches: tuple[OverlayLayer, ...] = (
        first,
        layer(1, depths[0], depths[1]),
        layer(2, depths[0], depths[2]),
    )
    branching = Store(
        "conv1", 1, side**2, (Share(0, depths[0]),), (1, 2), plain=draw(st.sampled_from([0, 50]))
    )
    back = draw(st.sampled_from([0, 50]))
    added = (ReadBack(0, back),) if back else ()
    copied = ReadBack(0, 9, draw(st.booleans()), draw(st.booleans()))
    shares = (
        Share(1, depths[1], added),
        Share(2, depths[2]),
        *((Share(None, 2, (copied,)),) if back else ()),
    )
    joined = sum(share.channels for share in shares)
    branches = (*branches, layer(3, joined, depths[3]))
    return OverlayNetwork(
        "branches",
        machine,
        branches,
        (branching, Store("concat1", 1, side**2, shares, (3,))),
        running=draw(runs(len(branches))),
    )


@st.composite
def runs(draw: st.DrawFn, layers: int, chain: bool = False) -> Running:
    """Layers that follow one another without a stop, some of them behind a pool, and some before the one in front of
    them is stored or the pool is done; of a chain some that alone read what is before them."""
    ahead = draw(st.frozensets(st.integers(1, layers - 1)))
    early = draw(st.frozensets(st.sampled_from(sorted(ahead)))) if ahead else ahead
    after = draw(st.frozensets(st.sampled_from(sorted(ahead)))) if ahead else ahead
    pools = []
    for at in sorted(after):
        last = draw(st.sampled_from([1, 40, 900]))
        left = draw(st.sampled_from([0, last]))
        streams, more = draw(st.sampled_from([(1, 1), (3, 15)]))
        pools.append(Pool(f"pool{at}", at - 1, 2 * last + left, 3, streams, more, last, left))
    direct = sorted(ahead - early - after) if chain else []
    return Running(
        tuple(pools),
        ahead,
        overlapping=early - after,
        between=tuple((at, place) for place, at in enumerate(sorted(after))),
        beside=early & after,
        direct=draw(st.frozensets(st.sampled_from(direct))) if direct else frozenset(),
    )
