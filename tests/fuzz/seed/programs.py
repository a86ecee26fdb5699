"""Valid programs for machines, and the files by which they are run."""

from __future__ import annotations

import json
import struct
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from tests.fuzz.seed.answers import solved


@cache
def snowflake_programs() -> tuple[bytes, ...]:
    """A compiled layer, with its segments cut short so that bytes of the header are hit often enough."""
    from mapper.kind.trace_partition.run import compiled
    from mapper.models.trace_partition.isa.program_file import write_program

    solution = solved(4)
    part, found = solution.posed.parts[0], solution.parts[0]
    program, _, _ = compiled(part.problem, found.mapping.partition, part.workload, 0)
    return (write_program(program),)


@cache
def instructions() -> int:
    """How many instructions the first cluster of the compiled layer has, those of whole banks."""
    return int(json.loads(snowflake_parts(snowflake_programs()[0])[1])["clusters"][0]["instructions"])


def snowflake_parts(data: bytes) -> tuple[bytes, bytes, bytes]:
    """A program's first bytes, its header and what lies behind."""
    start = struct.calcsize("<8sII")
    length = struct.unpack_from("<I", data, start - 4)[0] if len(data) >= start else 0
    return data[:start], data[start : start + length], data[start + length :]


@cache
def cgra_program() -> tuple[bytes, bytes]:
    """A network compiled for a CGRA, and its constants."""
    import mapper

    with tempfile.TemporaryDirectory() as folder:
        mapper.generate(solved(5).to_json(), Path(folder))
        return (Path(folder) / "program.json").read_bytes(), (Path(folder) / "constants.bin").read_bytes()


@cache
def array_files() -> dict[str, bytes]:
    """What is generated of a small network on a TCPA, the files by which it is run."""
    from mapper.api.solving import Search
    from mapper.api.verb import solve

    solution = solve("mnist-tcpa", "tcpa-3x3", search=Search(method="greedy", workers=1))
    part, found = solution.posed.parts[0], solution.parts[0]
    kind = solution.posed.kind
    mapping: Any = found.mapping
    files = kind.generate(part, mapping.allocation, 0)
    wanted = ("network.json", "constants.npz", "configuration.json")
    return {name: text if isinstance(text := files[name], bytes) else text.encode() for name in wanted}


@cache
def overlay_files() -> dict[str, bytes]:
    """What is generated of a small quantised network on the overlay, the files by which it is run."""
    import mapper
    from tests.sim.algorithm_selection.quantised import integer_operator_file

    with tempfile.TemporaryDirectory() as folder:
        path, out = integer_operator_file(Path(folder), 1), Path(folder) / "out"
        options, search = mapper.Options(fix={"array": "4x4"}), mapper.Search(method="greedy", workers=1)
        mapper.generate(
            mapper.solve(str(path), "dynamap-u200", options=options, search=search).to_json(), out
        )
        wanted = ("network.json", "constants.npz", "overlay.json", "dram.bin", "control.hex")
        return {name: (out / name).read_bytes() for name in wanted}


@cache
def pe_programs() -> tuple[bytes, ...]:
    """The programs of PEs of a convolution, an average pool and an addition."""
    from mapper.models.pe_allocation.configuration.configuration import configure
    from mapper.models.pe_allocation.word.encoding import write_programs
    from mapper.models.pe_allocation.word.program import words_of_all
    from tests.models.pe_allocation.word.test_program import constants
    from tests.sim.pe_allocation.example import Net, allocated, array

    network = Net((4, 4), 3).convolution(4, 2).pool(3, op="AveragePool").elementwise("Add", 1, 1).network()
    configuration = configure(network, array(), allocated(network, 3, 2, 2), "streaming")
    made = words_of_all(configuration, [constants(1, -2, 3, -4)] * 3, array().processing_element)
    codes = ([None if one is None else one.code for one in layer.pes] for layer in made)
    return tuple(write_programs(own, 48) for own in codes)
