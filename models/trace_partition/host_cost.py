"""What the host adds to every partition of a network: the program stops at each call until the host has done it, so
that nothing of it overlaps with the accelerator's work [Chang2018, sec. 4: the CPU accesses results in memory]."""

from __future__ import annotations

import math

from mapper.arch.snowflake import SnowflakeMachine
from mapper.models.trace_partition.configuration import Configuration
from mapper.models.trace_partition.lowering.layer import HostLayer, TraceNetwork


def host_cycles(layer: HostLayer, machine: SnowflakeMachine, configuration: Configuration) -> int:
    """Cycles for which all clusters wait for an operator: there is one host, which has the images of all accelerators
    one after another."""
    seconds = configuration.images * machine.host.seconds(layer.elements, layer.macs)
    return math.ceil(seconds * machine.clock_hz)


def host_total(network: TraceNetwork, machine: SnowflakeMachine, configuration: Configuration) -> int:
    """The cycles of all operators that the host runs."""
    return sum(host_cycles(layer, machine, configuration) for layer in network.hosted)


def host_energy(network: TraceNetwork, machine: SnowflakeMachine, configuration: Configuration) -> int:
    """Energy of the host for the images of one accelerator, in parts of a pJ."""
    element, mac = machine.energy_pj.host
    images = configuration.images // configuration.accelerators
    return images * sum(element * layer.elements + mac * layer.macs for layer in network.hosted)
