"""ZigZag on the paper's six ResNet layers, on a machine as near to ``dmazerunner-256`` as it can describe.

It searches with its default settings (LOMA, uneven mappings, 6 loop prime factors, 3 spatial mappings) for
least EDP. Values are those of its own cost model, which differs from the paper's: it knows no DMA initiation
and no energy of the NoC, and its mappings may hold operands unevenly. Compare seconds. Arguments name layers;
all six take it minutes.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml

# name: M, C, O, F, stride, size, pad; batch 4.
LAYERS = {
    "conv1": (64, 3, 112, 7, 2, 224, 3),
    "conv2_2": (64, 64, 56, 3, 1, 56, 1),
    "conv3_2": (128, 128, 28, 3, 1, 28, 1),
    "conv4_2": (256, 256, 14, 3, 1, 14, 1),
    "conv5_1": (512, 256, 7, 3, 2, 14, 1),
    "conv5_2": (512, 512, 7, 3, 1, 7, 1),
}
BATCH = 4
WORD = 16
# 0.24 DMA cycles a byte at 3.2 GHz move 13 words in a cycle of 500 MHz.
DRAM_WORDS = 13


def port(name: str, kind: str, words: int, moves: list[str]) -> dict[str, Any]:
    """A port of up to ``words`` words a cycle; moves go to or come from the next level (fh, tl, ...)."""
    widths = {"bandwidth_min": WORD, "bandwidth_max": words * WORD}
    return {"name": name, "type": kind, "allocation": moves} | widths


def memory(kilobytes: float, pj_per_word: float, words: int, serves: list[str]) -> dict[str, Any]:
    """A memory of all operands; DRAM has one wide port, the others one of a word for each transfer."""
    fills, reads = ["I1, fh", "I2, fh", "O, fh"], ["I1, tl", "I2, tl", "O, tl"]
    if words > 1:
        ports = [port("rw_port_1", "read_write", words, [*fills, *reads, "O, fl", "O, th"])]
    else:
        ports = [port(f"r_port_{k}", "read", 1, [move]) for k, move in enumerate([*reads, "O, th"])]
        ports += [port(f"w_port_{k}", "write", 1, [move]) for k, move in enumerate([*fills, "O, fl"])]
    costs = {"r_cost": pj_per_word * words, "w_cost": pj_per_word * words, "area": 0.0, "latency": 1}
    uses = {"operands": ["I1", "I2", "O"], "ports": ports, "served_dimensions": serves}
    return {"size": int(kilobytes * 8192)} | costs | uses


def machine() -> dict[str, Any]:
    """16x16 PEs with 512 B each, a visible scratch-pad of 64 kB, and DRAM."""
    array = ["D1", "D2"]
    memories = {
        "rf": memory(0.5, 0.96, 1, []),
        "spm": memory(64, 13.5, 1, array),
        "dram": memory(1 << 20, 200, DRAM_WORDS, array),
    }
    pes = {"unit_energy": 0.075, "unit_area": 1.0, "dimensions": array, "sizes": [16, 16]}
    return {"name": "dmazerunner_256", "memories": memories, "operational_array": pes}


def layer(name: str) -> dict[str, Any]:
    """One layer in ZigZag's form; 16 bit everywhere."""
    out_channels, in_channels, output, kernel, stride, size, pad = LAYERS[name]
    return {
        "id": 0,
        "name": name,
        "operator_type": "Conv",
        "equation": "O[b][k][oy][ox]+=W[k][c][fy][fx]*I[b][c][iy][ix]",
        "dimension_relations": [f"ix={stride}*ox+1*fx", f"iy={stride}*oy+1*fy"],
        "loop_dims": ["B", "K", "C", "OY", "OX", "FY", "FX"],
        "loop_sizes": [BATCH, out_channels, in_channels, output, output, kernel, kernel],
        "operand_precision": {"I": WORD, "W": WORD, "O": WORD, "O_final": WORD},
        "operand_source": {"I": 0, "W": 0},
        "pr_loop_dims": ["IX", "IY"],
        "pr_loop_sizes": [size, size],
        "padding": [[pad, pad], [pad, pad]],
    }


def run(name: str, folder: Path) -> tuple[float, float]:
    """Energy (pJ) and latency (cycles) that ZigZag reports for its best mapping."""
    from zigzag.api import get_hardware_performance_zigzag

    documents: dict[str, Any] = {
        "machine": machine(),
        "layer": [layer(name)],
        "mapping": [{"name": "default", "memory_operand_links": {"O": "O", "W": "I2", "I": "I1"}}],
    }
    for kind, document in documents.items():
        (folder / f"{kind}.yaml").write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    energy, cycles, *_ = get_hardware_performance_zigzag(
        *(str(folder / f"{kind}.yaml") for kind in ("layer", "machine", "mapping")),
        opt="EDP",
        dump_folder=str(folder / "out"),
        loma_show_progress_bar=False,
    )
    return float(energy), float(cycles)


def main() -> None:
    if importlib.util.find_spec("zigzag") is None or importlib.util.find_spec("six") is None:
        print("ZigZag is not installed: pip install 'mapper-engine[bench]'")
        return
    logging.disable(logging.CRITICAL)
    print("ZigZag, default search for EDP; values of its own cost model")
    print(f"{'layer':8} {'CPU s':>7} {'wall s':>7} {'energy pJ':>12} {'cycles':>12} {'EDP':>11}")
    for name in sys.argv[1:] or LAYERS:
        with tempfile.TemporaryDirectory() as folder:
            wall, before = time.perf_counter(), os.times()
            energy, cycles = run(name, Path(folder))
            after = os.times()
            cpu = sum(after[:4]) - sum(before[:4])
            wall = time.perf_counter() - wall
        print(f"{name:8} {cpu:7.2f} {wall:7.2f} {energy:12.4g} {cycles:12.4g} {energy * cycles:11.4g}")


if __name__ == "__main__":
    main()
