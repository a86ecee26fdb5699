"""Every reader of a file that comes from somewhere else."""

from __future__ import annotations

import functools
import json
import re
import zlib
from dataclasses import replace
from pathlib import Path
from random import Random
from unittest.mock import patch

from tests.fuzz import command, proof
from tests.fuzz.mutation import vocabulary
from tests.fuzz.mutation.byte import NUMBERS, mutated_bytes
from tests.fuzz.mutation.document import mutated_json, mutated_yaml
from tests.fuzz.mutation.form import must_read, must_refuse, other_form, repeated_key
from tests.fuzz.mutation.name import renamed
from tests.fuzz.mutation.onnx import mutated_onnx
from tests.fuzz.mutation.store import mutated_store
from tests.fuzz.mutation.text import mutated_text
from tests.fuzz.onnx_fork import read_onnx, read_onnx_here
from tests.fuzz.reader import Reader
from tests.fuzz.seed import answers, documents, graphs, networks, programs


def _workload(path: Path) -> None:
    from mapper.workloads.source import load_network

    load_network(str(path))


def _recurrence(path: Path) -> None:
    from mapper.workloads.recurrence.recurrence_file import recurrence_to_document
    from mapper.workloads.source import load_recurrence

    found = load_recurrence(str(path))
    if found is not None:
        recurrence_to_document(found[0])


def _machine(path: Path) -> None:
    from mapper.arch.source import load_machine, machine_to_document

    machine, _ = load_machine(str(path))
    machine_to_document(machine)


def _kernel(path: Path) -> None:
    from mapper.workloads.graph.document import kernel_document
    from mapper.workloads.graph.kernel_source import is_kernel, load_kernel

    if is_kernel(str(path)):
        kernel, _ = load_kernel(str(path))
        kernel_document(kernel)


def _nodes(path: Path) -> None:
    edges = path.with_name("input_edges")
    edges.write_bytes(graphs.EDGES[0])
    _kernel(edges)


def _pbqp(path: Path) -> None:
    from mapper.workloads.pbqp.file import is_pbqp, read_pbqp

    if is_pbqp(str(path)):
        read_pbqp(path)


def _program(path: Path) -> None:
    from mapper.codegen.trace_partition.listing import listing
    from mapper.models.trace_partition.isa.program_file import load_program, relocated

    program = load_program(path)
    listing(program)
    relocated(program, 1 << 20)


def _pe_programs(path: Path) -> None:
    from mapper.models.pe_allocation.word.encoding import read_programs, write_programs

    programs = read_programs(path.read_bytes(), str(path))
    assert read_programs(write_programs(programs, 62), str(path)) == programs


WORK = 1 << 22
"""Of a program that is run: one that never ends would use up a minute of the work that the simulators allow."""


def _run(path: Path) -> None:
    import numpy as np

    from mapper.api.inference import Inference, load
    from mapper.sim.trace_partition.cycle import simulation as cycle
    from mapper.sim.trace_partition.functional import simulation as functional
    from mapper.sim.trace_partition.host import run_call

    inference = load(path)
    assert isinstance(inference, Inference)
    program, machine = inference.program, inference.machine
    views = {(image, name): view for image, named in enumerate(program.inputs) for name, view in named}
    given = {key: np.ones((view.height, view.width, view.channels), np.int16) for key, view in views.items()}
    functional.run(program, machine, given, run_call, WORK)
    with patch.object(cycle, "MOST_WORK", WORK):
        cycle.simulate_cycles(program, machine)


def _cgra_program(path: Path) -> None:
    from mapper.codegen.modulo_schedule.network.driver_listing import driver_listing
    from mapper.kind.modulo_schedule.inference import CgraInference

    path.with_name("constants.bin").write_bytes(programs.cgra_program()[1])
    driver_listing(CgraInference(path).program)


def _array(changed: str, path: Path) -> None:
    """A generated configuration of which one file is the input."""
    from mapper.kind.pe_allocation.inference import load_array

    folder = path.with_name("array")
    folder.mkdir(exist_ok=True)
    for name, content in programs.array_files().items():
        (folder / name).write_bytes(path.read_bytes() if name == changed else content)
    load_array(folder)


def _overlay(changed: str, path: Path) -> None:
    """A generated overlay of which one file is the input."""
    import numpy as np

    from mapper.kind.algorithm_selection.inference import load_overlay

    folder = path.with_name("overlay")
    folder.mkdir(exist_ok=True)
    for name, content in programs.overlay_files().items():
        (folder / name).write_bytes(path.read_bytes() if name == changed else content)
    loaded = load_overlay(folder)
    tensors = loaded.network.operators.tensors
    loaded.run({name: np.zeros(tensors[name]) for name in loaded.network.operators.inputs})


def _overlay_seeds(name: str) -> tuple[bytes, ...]:
    return (programs.overlay_files()[name],)


def _solution(path: Path) -> None:
    from mapper.reporting.document import Solved, read

    found = read(path)
    if isinstance(found, Solved):
        found.solution.to_json()


def _mapping(path: Path) -> None:
    from mapper.api.verb import read_document
    from mapper.workloads.document import InputError

    fields = read_document(path)
    for place in range(len(answers.PROBLEMS)):
        posed = answers.solved(place).posed
        part = posed.parts[0]
        try:
            mapping = posed.kind.read_mapping(fields, part.problem, str(path))
        except InputError:
            continue
        posed.kind.verify(part.problem, mapping)


def _store(path: Path) -> None:
    from mapper.kind.cell import number
    from mapper.store import Store, StoreError
    from mapper.store.recall import Recall
    from mapper.workloads.document import InputError

    store, place = Store(path), zlib.crc32(path.read_bytes()) % 6
    try:
        if place < 4:
            posed = answers.solved(place).posed
            recall = Recall(store, posed, answers.PROBLEMS[place][2], lambda reason: None)
            known = recall.known(posed.parts[:1])[0]
            if known is not None:
                recall.keep({0: known.part})
        elif place == 4:
            for entry in store.entries():
                json.dumps(entry.to_json(), allow_nan=False)
                number(entry.certificate.get("value"))
        else:
            store.prune("none")
    except StoreError as error:
        raise InputError("store", "", str(error)) from None


def _mutated_program(data: bytes, random: Random) -> bytes:
    """A Snowflake binary with a changed header of the right length, or changed words."""
    if random.random() < 0.3:
        return mutated_bytes(data, random)
    start, header, rest = programs.snowflake_parts(data)
    header = mutated_json(header, random)
    return start[:-4] + len(header).to_bytes(4, "little") + header + rest


def _mutated_code(data: bytes, random: Random) -> bytes:
    """A Snowflake binary with a few bits of its instructions changed, which mostly leaves them instructions."""
    if random.random() < 0.2:
        return _mutated_program(data, random)
    start, header, rest = programs.snowflake_parts(data)
    words = bytearray(rest or b"\0")
    for _ in range(random.choice((1, 1, 2, 4))):
        at = random.randrange(min(len(words), 4 * programs.instructions()))
        words[at] ^= 1 << random.randrange(8)
    return start + header + bytes(words)


def _mutated_pbqp(data: bytes, random: Random) -> bytes:
    """A binary instance with another count in its header, sometimes with the bytes that it then calls for."""
    if len(data) < 48 or random.random() < 0.5:
        return mutated_bytes(data, random)
    at = 8 * random.randrange(1, 6)
    before = int.from_bytes(data[at : at + 8], "little")
    number = random.choice((before + 1, max(0, before - 1), 2 * before, *NUMBERS))
    longer = bytes(random.choice((0, 0, 1, 4, 8, 12, 16, 64)))
    return data[:at] + (number % (1 << 64)).to_bytes(8, "little") + data[at + 8 :] + longer


def _text(words: tuple[str, ...], data: bytes, random: Random) -> bytes:
    return mutated_bytes(data, random) if random.random() < 0.1 else mutated_text(data, words, random)


def _c(data: bytes, random: Random) -> bytes:
    """C with one change, sometimes with statements before a loop whose values would grow without end."""
    loops = [found.start() for found in re.finditer(rb"\bfor\b", data)]
    if loops and random.random() < 0.05:
        at = random.choice(loops)
        return data[:at] + random.choice(vocabulary.GROWING_C).encode() + data[at:]
    return _text(vocabulary.C, data, random)


_dot, _edges, _graphml, _in, _hierarchy, _mlir, _morpher, _llvm = (
    functools.partial(_text, words)
    for words in (
        vocabulary.DOT,
        vocabulary.EDGES,
        vocabulary.GRAPHML,
        vocabulary.PBQP,
        vocabulary.HIERARCHY,
        vocabulary.MLIR,
        vocabulary.MORPHER,
        vocabulary.LLVM,
    )
)
_ONE = (
    Reader("onnx", ".onnx", networks.onnx_models, mutated_onnx, read_onnx, read_onnx_here),
    Reader(
        "workload-yaml",
        ".yaml",
        lambda: documents.in_yaml(documents.workload_documents()),
        mutated_yaml,
        _workload,
    ),
    Reader(
        "workload-json",
        ".json",
        lambda: documents.in_json(documents.workload_documents()),
        mutated_json,
        _workload,
    ),
    Reader(
        "recurrence", ".yaml", lambda: documents.in_yaml(documents.RECURRENCES), mutated_yaml, _recurrence
    ),
    Reader(
        "machine-yaml",
        ".yaml",
        lambda: documents.in_yaml(documents.machine_documents()),
        mutated_yaml,
        _machine,
    ),
    Reader(
        "machine-json",
        ".json",
        lambda: documents.in_json(documents.machine_documents()),
        mutated_json,
        _machine,
    ),
    Reader("machine-foreign", ".yaml", documents.foreign_machines, _hierarchy, _machine),
    Reader("c", ".c", graphs.c_files, _c, _kernel),
    Reader("dot", ".dot", lambda: (graphs.DOT,), _dot, _kernel),
    Reader("edges", "_edges", lambda: graphs.EDGES, _edges, _kernel),
    Reader("nodes", "_nodes", lambda: (graphs.NODES,), _edges, _nodes),
    Reader("graphml", ".graphml", lambda: (graphs.GRAPHML,), _graphml, _kernel),
    Reader("mlir", ".mlir", lambda: (graphs.MLIR,), _mlir, _kernel),
    Reader("morpher", ".xml", lambda: (graphs.MORPHER,), _morpher, _kernel),
    Reader("llvm", ".ll", lambda: (graphs.LLVM,), _llvm, _kernel),
    Reader("graph-json", ".json", lambda: documents.in_json(graphs.graph_documents()), mutated_json, _kernel),
    Reader("pbqp-text", ".in", lambda: documents.pbqp_files(".in"), _in, _pbqp),
    Reader("pbqp-binary", ".pbqp", lambda: documents.pbqp_files(".pbqp"), _mutated_pbqp, _pbqp),
    Reader("pbqp-json", ".json", lambda: documents.pbqp_files(".json"), mutated_json, _pbqp),
    Reader("snowflake", ".snow", programs.snowflake_programs, _mutated_program, _program),
    Reader("snowflake-run", ".snow", programs.snowflake_programs, _mutated_code, _run),
    Reader("cgra-program", ".json", lambda: programs.cgra_program()[:1], mutated_json, _cgra_program),
    Reader("tcpa-pe", ".pe", programs.pe_programs, mutated_bytes, _pe_programs),
    Reader(
        "array-network",
        ".json",
        lambda: (programs.array_files()["network.json"],),
        mutated_json,
        functools.partial(_array, "network.json"),
    ),
    Reader(
        "array-constants",
        ".npz",
        lambda: (programs.array_files()["constants.npz"],),
        mutated_bytes,
        functools.partial(_array, "constants.npz"),
    ),
    *(
        Reader(
            f"overlay-{name.partition('.')[0]}",
            Path(name).suffix,
            functools.partial(_overlay_seeds, name),
            mutated_json if name.endswith(".json") else mutated_bytes,
            functools.partial(_overlay, name),
        )
        for name in ("network.json", "constants.npz", "overlay.json")
    ),
    Reader("solution", ".json", answers.solutions, mutated_json, _solution),
    Reader("mapping", ".json", answers.mappings, mutated_json, _mapping),
    Reader("store", ".sqlite", answers.stores, mutated_store, _store),
)
_TEXTS = ("workload-yaml", "workload-json", "machine-yaml", "machine-json", "c", "dot", "edges", "graphml",
          "graph-json", "pbqp-text", "pbqp-json", "solution", "mapping")  # fmt: skip
_OBJECTS = ("workload-json", "machine-json", "graph-json", "pbqp-json", "solution", "mapping")
_FORMS = (
    *(
        replace(one, name=f"form-{one.name}", mutate=other_form, read=functools.partial(must_read, one.read))
        for one in _ONE
        if one.name in _TEXTS
    ),
    *(
        replace(
            one,
            name=f"twice-{one.name}",
            mutate=repeated_key,
            read=functools.partial(must_refuse, one.read),
            valid=one.read,
        )
        for one in _ONE
        if one.name in _OBJECTS
    ),
)
"""The same files in another form, which must be read, and with a key that stands twice, which must not."""
_NAMED = (
    Reader(
        "names",
        ".json",
        answers.generating,
        renamed,
        command.generated,
        seconds=60.0,
        memory=2 << 30,
        share=5,
    ),
)
"""Solutions whose names are hostile, generated."""
_PROOFS = tuple(
    Reader(
        f"proof-{kind}",
        ".json",
        seeds,
        proof.mutated,
        functools.partial(proof.read, kind),
        valid=functools.partial(proof.shown, kind),
    )
    for kind, seeds in proof.SEEDS.items()
)
"""Proofs, which a checker answers with an exit code from 0 to 3."""
READERS = {
    reader.name: reader
    for reader in (
        *_ONE,
        *_PROOFS,
        *_FORMS,
        *_NAMED,
        *(command.of(reader) for reader in _ONE if reader.name in command.LINES),
    )
}
"""By name; ``command-NAME`` gives inputs of NAME to whole commands."""
