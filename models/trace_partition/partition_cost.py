"""What a partition costs, with its causes: values and their JSON forms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from mapper.arch.snowflake import MACS, SnowflakeMachine
from mapper.models.trace_partition.configuration import Configuration

CAUSES = ("compute", "conflict", "issue", "load", "fill", "store", "sync", "host")
"""Why cycles pass; they add up to the cycles of the slowest cluster. Vector instructions at work; a result that has
not drained; instructions while the vector unit has nothing to do; words awaited from memory; padding being filled;
words awaited on their way to memory; the barrier of all clusters; the host at work, while all clusters wait."""
OPERANDS = ("input", "weights", "bias", "residual", "table", "output", "instructions")
Limit = Literal["compute", "memory", "issue", "host"]


@dataclass(frozen=True)
class Cost:
    """A layer, or all layers of a network, on one accelerator for all its images.

    ``cycles``: from the first instruction to the last result in memory, ``causes`` adds up to them. ``bytes`` counts
    by operand what crosses the external memory's port. ``macs``: multiply-accumulates of one image, as the ONNX
    operators have them; ``products``: those of them whose input lies in the map. ``buffer_words``: words read and
    written in Buf and WBuf. ``instructions``: in the memory of the accelerator, all clusters together; ``steps``: of
    the slowest cluster. ``host_energy``: what the host takes, in parts of a pJ. ``frames`` of an image of
    the configuration: more than one where it is a batch of rows.
    """

    machine: SnowflakeMachine
    configuration: Configuration
    cycles: int
    causes: dict[str, int]
    bytes: dict[str, int]
    macs: int
    products: int
    buffer_words: int
    instructions: int
    steps: int
    host_energy: int = 0
    frames: int = 1

    @property
    def images(self) -> int:
        """Images of one accelerator."""
        return self.configuration.images // self.configuration.accelerators

    @property
    def dram_bytes(self) -> int:
        return sum(self.bytes.values())

    @property
    def seconds(self) -> float:
        return self.cycles / self.machine.clock_hz

    @property
    def throughput_fps(self) -> float | None:
        """Images of all accelerators, with their frames, per second."""
        return self.configuration.images * self.frames / self.seconds if self.cycles else None

    @property
    def bandwidth_gb_s(self) -> float | None:
        """Bytes, those of instructions among them, over time [Chang2018, sec. 5]."""
        return self.dram_bytes / self.seconds / 1e9 if self.cycles else None

    @property
    def efficiency(self) -> float | None:
        """Time at peak performance over time [Chang2018, sec. 5]; None where nothing is multiplied. Products with
        padding, which traces leave out, take no time at peak either, so that it never is above 1."""
        if not self.cycles or not self.products:
            return None
        return self.products * self.images / (MACS * self.configuration.clusters) / self.cycles

    @property
    def energy_parts(self) -> int:
        """With the machine's constants: multiply-accumulates, words in buffers, bytes, cycles of clusters, and the
        host, exactly, in the parts of a pJ that these constants are whole numbers of."""
        mac, word, byte, cycle = self.machine.energy_pj.whole
        return (
            mac * self.macs * self.images
            + word * self.buffer_words
            + byte * self.dram_bytes
            + cycle * self.cycles * self.configuration.clusters
            + self.host_energy
        )

    @property
    def energy_pj(self) -> float:
        """The same in pJ, rounded once, so that equal energies are equal numbers."""
        return self.energy_parts / self.machine.energy_pj.parts

    @property
    def gop_per_watt(self) -> float | None:
        """Multiply-accumulates (in 1e9) a second and watt of the stated power of the boards ([Chang2018]: one op is
        a MAC)."""
        if not self.cycles:
            return None
        return self.macs * self.images / self.seconds / 1e9 / self.machine.power_w

    @property
    def bound_by(self) -> Limit:
        """Where most cycles go: the vector unit, the external memory, the issue of instructions, or the host."""
        causes = self.causes
        shares: dict[Limit, int] = {
            "compute": causes["compute"] + causes["conflict"],
            "memory": causes["load"] + causes["store"] + causes["fill"],
            "issue": causes["issue"] + causes["sync"],
            "host": causes["host"],
        }
        return max(shares, key=lambda name: shares[name])

    def cost_json(self) -> dict[str, Any]:
        """Cycles, ms, frames per second, bytes, 1e9 bytes per second, a fraction, pJ."""
        return {
            "cycles": self.cycles,
            "latency_ms": self.seconds * 1000,
            "throughput_fps": self.throughput_fps,
            "dram_bytes": self.dram_bytes,
            "bandwidth_gb_s": self.bandwidth_gb_s,
            "efficiency": self.efficiency,
            "energy_pj": self.energy_pj,
        }

    def breakdown_json(self) -> dict[str, Any]:
        return {"cycles": dict(self.causes), "bytes": dict(self.bytes)}


class LayerCost(Cost):
    """One layer."""


@dataclass(frozen=True)
class HostTime:
    """An operator that the host runs: cycles of the accelerators, which wait, for the images of all of them, and its
    share of the whole time."""

    name: str
    cycles: int
    share_of_time: float


@dataclass(frozen=True)
class PartitionCost:
    """A network: what its layers cost, what they and the host cost together, and the host's operators by
    themselves."""

    layers: tuple[LayerCost, ...]
    total: Cost
    hosted: tuple[HostTime, ...] = ()

    @property
    def accelerator_cycles(self) -> int:
        """Cycles without those in which the host works."""
        return self.total.cycles - self.total.causes["host"]

    @property
    def cycles(self) -> int:
        return self.total.cycles

    @property
    def dram_bytes(self) -> int:
        return self.total.dram_bytes

    @property
    def energy_parts(self) -> int:
        return self.total.energy_parts

    @property
    def energy_pj(self) -> float:
        return self.total.energy_pj

    def cost_json(self) -> dict[str, Any]:
        return self.total.cost_json()

    def breakdown_json(self) -> dict[str, Any]:
        return self.total.breakdown_json()


def summed(machine: SnowflakeMachine, configuration: Configuration, layers: Iterable[LayerCost]) -> Cost:
    """Layers one after another."""
    causes: Counter[str] = Counter(dict.fromkeys(CAUSES, 0))
    moved: Counter[str] = Counter(dict.fromkeys(OPERANDS, 0))
    cycles = macs = products = words = instructions = steps = 0
    for layer in layers:
        causes.update(layer.causes)
        moved.update(layer.bytes)
        cycles, macs, words = cycles + layer.cycles, macs + layer.macs, words + layer.buffer_words
        products += layer.products
        instructions, steps = instructions + layer.instructions, steps + layer.steps
    counts = macs, products, words, instructions, steps
    return Cost(machine, configuration, cycles, dict(causes), dict(moved), *counts)
