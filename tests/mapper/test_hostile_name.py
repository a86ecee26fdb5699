"""Names of workloads, machines, parts and files stay text in everything that every command prints and writes."""

from __future__ import annotations

import csv
import io
import json
import re
import tempfile
from collections.abc import Callable
from contextlib import redirect_stdout
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mapper.cli.app import app
from mapper.cli.terminal import as_csv, as_markdown
from mapper.workloads.document import InputError
from mapper.workloads.text.file_name import LONGEST, file_name, file_names
from mapper.workloads.text.plain_text import latex, plain
from tests.fuzz.command import run_command
from tests.fuzz.mutation.name import MARK, NAMES, check_files, check_text
from tests.fuzz.seed import answers, documents, graphs

SIGNS = "\x1b[31m\n\r\t\x07\x9b\x7f\u202e\u2066\u2028\u0085\ufeff<>&|`\\$%#{}_~^*/\"';:=-. abA"
TEXTS = st.one_of(st.sampled_from(NAMES), st.text(st.sampled_from(SIGNS), min_size=1, max_size=40)).filter(
    lambda name: 0 < len(name) <= 60 and "\ud800" not in name
)
SEARCH = ("--time-limit", "2", "--workers", "1", "--quiet")
walked = settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))


def run(*words: str | Path) -> str:
    """What a command prints, which no name may break out of; ``check_text`` looks at it in ``run_command``."""
    try:
        code, said = run_command([str(word) for word in words])
    except InputError as error:
        check_text(str(error), "an error")
        assert "\n" not in str(error)
        return ""
    assert code in (0, 1, 2, 3) and said.count("\n") <= 3
    return said


def printed(*words: str | Path) -> str:
    """What a command prints on stdout."""
    out = io.StringIO()
    with redirect_stdout(out):
        try:
            app([str(word) for word in words], standalone_mode=False)
        except InputError as error:
            check_text(str(error), "an error")
    check_text(out.getvalue(), f"what mapper {words[0]} prints")
    return out.getvalue()


def in_folder(check: Callable[[Path], None]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        check(Path(folder))


def path_named(folder: Path, name: str, suffix: str) -> Path:
    """A file with as much of ``name`` in its own as a system takes."""
    return folder / f"n{name.replace('/', '').replace(chr(0), '')[:40]}{suffix}"


def kernel(name: str) -> dict[str, Any]:
    """A kernel of which everything that can be called something is called ``name``."""
    document = json.loads(json.dumps(graphs.graph_documents()[0]))
    first = document["operations"][0]["name"]
    arrays = {one["name"]: f"{name}{place}"[-200:] for place, one in enumerate(document["arrays"])}
    for operation in document["operations"]:
        operation["name"] = (
            operation["name"].replace(first, name) if operation["name"] == first else operation["name"]
        )
        operation["array"] = arrays.get(operation["array"])
    for edge in document["edges"]:
        for end in ("from", "to"):
            edge[end] = name if edge[end] == first else edge[end]
    for array in document["arrays"]:
        array["name"] = arrays[array["name"]]
    return {**document, "name": name, "notes": [name, f"a note\n{MARK}"]}


def written(path: Path, document: Any) -> Path:
    path.write_text(json.dumps(document))
    return path


def check_table(table: str, form: str) -> None:
    """Raises: AssertionError unless every line has as many cells as the first."""
    if form == "--csv":
        assert len({len(row) for row in csv.reader(io.StringIO(table))}) <= 1
    else:
        assert len({len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in table.splitlines()}) <= 1
        assert not re.search(f"<{MARK}", table)


class _Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.add(tag)
        assert not any(key.startswith("on") for key, _ in attributes)


@walked
@given(TEXTS)
def test_a_kernel_stays_text_in_solving_simulating_generating_and_the_store(name: str) -> None:
    def check(folder: Path) -> None:
        file, out = (
            written(path_named(folder, name, ".json"), kernel(name)),
            path_named(folder, name, ".out.json"),
        )
        arch = ("--arch", "srp-2x2")
        store, log = folder / "store.sqlite", folder / "log"
        proofs = path_named(folder, name, ".proofs.json")
        run("solve", file, *arch, "-o", out, "--store", store, "--log", log, "--certificate", proofs, *SEARCH)
        run("check", proofs, "--problem", out)
        for line in log.read_text().splitlines():
            json.loads(line)
        check_text(log.read_text(), "the log")
        run("solve", file, *arch, "--store", store, *SEARCH)
        run("store", "list", "--store", store)
        run("evaluate", file, *arch, "--mapping", out)
        run("simulate", out)
        run("generate", out, "-o", folder / "made" / "deep" / "in")
        check_files(folder / "made" / "deep" / "in")
        run("explain", file, *arch)
        run("show", name)
        run("report", out, "-o", folder / "page.html")
        page = (folder / "page.html").read_text()
        check_text(page, "a page")
        assert MARK.lower() not in _Tags(page).found

    in_folder(check)


@walked
@given(TEXTS)
def test_a_nest_and_its_machine_stay_text_in_tables_of_every_form(name: str) -> None:
    def check(folder: Path) -> None:
        nest = {**documents.workload_documents()[0], "name": name}
        machine = {**documents.machine_documents()[0], "name": name, "description": name}
        file = written(path_named(folder, name, ".json"), nest)
        arch = ("--arch", written(path_named(folder, name, ".machine.json"), machine))
        run("solve", file, *arch, "--store", "none", *SEARCH)
        run("compare", file, *arch, "--method", "soc", "--store", "none", *SEARCH)
        for form in ("--csv", "--markdown"):
            check_table(
                printed(
                    "compare",
                    "lenet5/conv1",
                    "--arch",
                    f"{arch[1]},tcpa-4x4",
                    "--store",
                    "none",
                    form,
                    *SEARCH,
                ),
                form,
            )
        plot = folder / "plot.svg"
        run("sweep", file, *arch, "--vary", "rf.bytes=256,512", "--plot", plot, "--store", "none", *SEARCH)
        run("sweep", file, *arch, "--vary", f"{name}={name}", "--store", "none", *SEARCH)
        if plot.exists():
            check_text(plot.read_text(), "a plot")
            ElementTree.fromstring(plot.read_text())

    in_folder(check)


@walked
@given(TEXTS)
def test_an_instance_stays_text_in_every_form_of_an_explanation(name: str) -> None:
    def check(folder: Path) -> None:
        file = written(path_named(folder, name, ".json"), {**documents.PBQP, "name": name})
        told = {
            form: printed("explain", file, "--format", form) for form in ("text", "markdown", "latex", "html")
        }
        if told["latex"]:
            assert f"\\{MARK}" not in told["latex"] and "\\input{" not in told["latex"]
            assert told["latex"].count(r"\begin{verbatim}") == told["latex"].count(r"\end{verbatim}") <= 1
            assert {"script", MARK.lower()}.isdisjoint(_Tags(told["html"]).found)
            assert f"<{MARK}>" not in told["markdown"]
        run("solve", file, "--store", "none", *SEARCH)
        run("compare", file, "--method", "elimination", "--method", "descent", "--store", "none", *SEARCH)

    in_folder(check)


@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
@given(TEXTS)
def test_layers_stay_text_in_simulations_pages_and_files_of_every_kind(name: str) -> None:
    def check(folder: Path) -> None:
        for place, data in enumerate(answers.generating()):
            document = json.loads(data)
            own = {part["name"] for part in document["parts"]} | {document["problem"]["workload"]}
            text = json.dumps(document)
            for one in own:
                text = text.replace(json.dumps(one), json.dumps(f"{one}{name}"))
            file = folder / f"{place}.json"
            file.write_text(text)
            run("generate", file, "-o", folder / f"made{place}" / "deep" / "in")
            if (folder / f"made{place}" / "deep" / "in").exists():
                check_files(folder / f"made{place}" / "deep" / "in")
            run("run", folder / f"made{place}" / "deep" / "in")
            if place != 3:  # The overlay's network takes long to run.
                run("simulate", file)
            run("report", file, "-o", folder / "page.html")

    in_folder(check)


@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
@given(TEXTS)
def test_nodes_of_a_network_stay_text(name: str) -> None:
    from mapper.workloads.network.published import lenet5

    def check(folder: Path) -> None:
        model = lenet5()
        for place, node in enumerate(model.graph.node):
            node.name = f"{name}{place}"
        file = path_named(folder, name, ".onnx")
        file.write_bytes(model.SerializeToString())
        plot = folder / "front.svg"
        run("solve", file, "--arch", "tcpa-4x4", "--store", "none", *SEARCH)
        run("solve", file, "--arch", "tcpa-4x4", "--pareto", "--plot", plot, "--store", "none", *SEARCH)
        run("explain", file, "--arch", "dynamap-u200")
        if plot.exists():
            ElementTree.fromstring(plot.read_text())

    in_folder(check)


def test_every_command_that_prints_names_is_walked() -> None:
    commands = {
        command.name or command.callback.__name__ for command in app.registered_commands if command.callback
    }
    walked_here = set(re.findall(r'(?:run\(|printed\()"(\w+)"', Path(__file__).read_text("utf-8")))
    # These know the catalogue alone, documents' own names, and samples.
    assert commands - walked_here == {"list", "schema", "warm-up"}


@pytest.mark.parametrize("name", [name for name in NAMES if "\ud800" not in name])
def test_a_name_is_one_cell_of_a_table_and_one_paragraph_of_a_text(name: str) -> None:
    heading, lines = ["machine", name], [[name, "1"], ["2", name]]
    check_table(as_markdown(heading, lines), "--markdown")
    check_table(as_csv(heading, lines), "--csv")
    check_text(as_csv(heading, lines) + as_markdown(heading, lines), "a table")
    bare = re.sub(r"\\text\w+\{\}|\\[&%$#_{}]", "", latex(name))
    assert not re.search(r"[\\&%$#_{}~^<>]", bare)


@given(st.lists(st.one_of(TEXTS, st.text(max_size=300), st.sampled_from(NAMES)), max_size=8))
def test_names_of_files_are_single_safe_and_distinct_components(names: list[str]) -> None:
    found = file_names(names)
    assert len({one.lower() for one in found}) == len(names)
    for one in found:
        assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", one) and not one.endswith(".")
        assert len(one) <= LONGEST + 10
        assert one.partition(".")[0].lower() not in ("con", "nul", "aux", "prn", "com1", "lpt9")


def test_a_name_that_is_safe_stays_as_it_is() -> None:
    assert file_names(("conv1", "conv5_2", "rtl", "overlay.sv")) == ("conv1", "conv5_2", "rtl", "overlay.sv")
    assert file_names(("conv1", "CONV1", "conv1")) == ("conv1", "CONV1-2", "conv1-3")
    assert file_name("../../escaped") == "_.._escaped" and file_name("/abs") == "_abs"


@given(st.text())
def test_plain_text_is_one_printable_line_and_printable_text_stays(text: str) -> None:
    assert plain(text).isprintable() and len(plain(text)) == len(text)
    if text.isprintable():
        assert plain(text) == text
