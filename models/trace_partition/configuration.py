"""Which accelerators, images and clusters work together [Chang2018, sec. 5: 1f1i2c, 1f2i2c, 2f2i1c]."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mapper.arch.snowflake import SnowflakeMachine
from mapper.workloads.document import InputError

_NAME = re.compile(r"([1-9])f([1-9][0-9]?)i([1-8])c")


@dataclass(frozen=True)
class Configuration:
    """``accelerators`` boards with ``clusters`` clusters each work on ``images`` images at once: one image per
    accelerator, shared by its clusters, or one per cluster."""

    accelerators: int
    images: int
    clusters: int

    @property
    def name(self) -> str:
        return f"{self.accelerators}f{self.images}i{self.clusters}c"

    @property
    def sharing(self) -> int:
        """Clusters that share one image."""
        return self.clusters if self.images == self.accelerators else 1


def configuration_named(name: str, machine: SnowflakeMachine) -> Configuration:
    """The configuration called ``name``.

    Raises: InputError if no configuration has that name, or the machine lacks what it needs.
    """
    found = _NAME.fullmatch(name)
    place = "--fix configuration"
    if found is None:
        raise InputError(place, name[:40], "is not a configuration; write 1f1i1c, 1f1i2c, 1f2i2c or 2f2i1c")
    accelerators, images, clusters = (int(number) for number in found.groups())
    if images not in (accelerators, accelerators * clusters):
        raise InputError(place, name, "needs an image for each accelerator or for each of its clusters")
    if clusters > machine.clusters or accelerators > machine.accelerators:
        have = f"{machine.name} has {machine.clusters} clusters on each of at most {machine.accelerators} accelerators"
        raise InputError(place, name, f"asks for more than there is: {have}")
    return Configuration(accelerators, images, clusters)


def whole_machine(machine: SnowflakeMachine) -> Configuration:
    """One accelerator, one image, all clusters."""
    return Configuration(1, 1, machine.clusters)
