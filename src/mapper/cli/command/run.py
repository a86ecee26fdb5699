"""``mapper run``: a generated program or configuration on an input."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mapper.cli.option import AsJson, dumped
from mapper.workloads.document import InputError

if TYPE_CHECKING:
    import numpy.typing as npt

LARGEST_INPUT = 1 << 30


def run_generated(
    path: Annotated[Path, typer.Argument(help="The folder that mapper generate wrote, or its program file.")],
    given: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            metavar="[NAME=]FILE",
            help="An array (.npy) for the input, or for that of NAME. Repeatable.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="File (.npy) for the output, or folder for one file per output."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a network as generated (Snowflake, TCPA, CGRA, overlay) on an input; write what it makes."""
    from mapper.api.inference import load
    from mapper.cli import terminal
    from mapper.cli.table import print_table
    from mapper.models.plain import limited

    arrays = _arrays(given or [])
    loaded = load(path)
    with limited(lambda: None, plain=False):
        answer: Any = loaded.run(arrays[""] if list(arrays) == [""] else arrays)
        cycles = loaded.cycles
    made = answer if isinstance(answer, dict) else {"output": answer}
    files = _written(made, output)
    rows = [
        (
            name,
            "x".join(map(str, values.shape)),
            f"{values.min():.6g}",
            f"{values.max():.6g}",
            files.get(name, ""),
        )
        for name, values in made.items()
    ]
    if as_json:
        outputs = {
            name: {"shape": list(values.shape), "least": float(values.min()), "largest": float(values.max()),
                   "file": files.get(name)}
            for name, values in made.items()
        }  # fmt: skip
        print(dumped({"schema": "mapper.run/1", "cycles": cycles, "outputs": outputs}), end="")
    else:
        print_table(("output", "shape", "least", "largest", "file"), rows)
        terminal.say(f"{cycles:,} cycles", *getattr(loaded, "notes", ()))
    beyond = getattr(loaded, "saturated", 0)
    if beyond:
        terminal.complain(f"mapper: {beyond:,} numbers of the input are beyond what its words hold")


def _arrays(given: list[str]) -> dict[str, npt.NDArray[Any]]:
    """The arrays by the names of their inputs, "" where none is said."""
    found = {}
    for text in given:
        name, equals, file = text.rpartition("=")
        if name in found:
            raise InputError("--input", text, "names an input twice")
        found[name] = _array(file if equals else text)
    if not found:
        raise InputError("--input", "", "is missing; give a file (.npy) with the input's numbers")
    if "" in found and len(found) > 1:
        raise InputError("--input", "", "gives several arrays; write NAME=FILE for each")
    return found


def _array(file: str) -> npt.NDArray[Any]:
    import io

    import numpy as np

    from mapper.workloads.document import read_bytes

    data = read_bytes(Path(file), LARGEST_INPUT)
    try:
        found = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    except (ValueError, EOFError, OSError, MemoryError):
        raise InputError(file, "", "is no array; write it by numpy.save") from None
    if found.dtype.kind not in "fiub":
        raise InputError(file, "", f"holds {found.dtype}, no numbers; write it as float32")
    return found


def _written(made: dict[str, npt.NDArray[Any]], output: Path | None) -> dict[str, str]:
    """The file of each output that is written."""
    import io

    import numpy as np

    from mapper.workloads.process.whole_file import write_whole
    from mapper.workloads.text.file_name import file_names

    if output is None:
        return {}
    if output.suffix == ".npy" and len(made) > 1:
        raise InputError("-o", str(output), f"is one file for {len(made)} outputs; give a folder")
    paths = [output] if output.suffix == ".npy" else [output / f"{name}.npy" for name in file_names(made)]
    found = {}
    for path, (name, values) in zip(paths, made.items(), strict=True):
        held = io.BytesIO()
        np.save(held, values)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(str(path), "", f"cannot be written ({error.strerror})") from None
        write_whole(path, held.getvalue())
        found[name] = str(path)
    return found
