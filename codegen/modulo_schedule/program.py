"""What a modulo schedule becomes: files of configuration words."""

from __future__ import annotations

import json

from mapper.arch.cgra import CgraMachine
from mapper.codegen.modulo_schedule.listing import listing
from mapper.codegen.modulo_schedule.picture import picture
from mapper.models.modulo_schedule.configuration.assembly import assemble
from mapper.models.modulo_schedule.configuration.word import Configuration
from mapper.models.modulo_schedule.mapping import ModuloSchedule
from mapper.workloads.graph.kernel import Kernel


def generate(kernel: Kernel, machine: CgraMachine, schedule: ModuloSchedule) -> dict[str, str]:
    """File names and their text: ``configuration.json`` (``mapper.cgra-configuration/1``), an assembler
    listing ``listing.txt``, and ``schedule.svg``, the grid of PEs and cycles of the II.

    Raises: InputError if an operand has no route, or more than one value.
    """
    return configuration_files(assemble(kernel, machine, schedule), machine)


def configuration_files(configuration: Configuration, machine: CgraMachine) -> dict[str, str]:
    """The files of ``generate`` for words that are assembled."""
    return {
        "configuration.json": json.dumps(configuration.to_json(), indent=1, allow_nan=False) + "\n",
        "listing.txt": listing(configuration),
        "schedule.svg": picture(configuration, machine),
    }
