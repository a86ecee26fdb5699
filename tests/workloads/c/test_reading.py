"""A loop stands alone: what else the file holds hurts nobody, and errors are in the user's own file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from mapper.workloads.c.kernel import kernel_from_c
from mapper.workloads.c.reading import SourceReading
from mapper.workloads.document import InputError
from mapper.workloads.graph.kernel_source import load_kernel

AROUND = """#include <stdio.h>
#include <stdint.h>
#include "own.h"
typedef struct node { struct node *next; int (*visit)(void *); } node;
extern node *list; static const char *names[] = { "a", "b" };
/* old style */ int old(void);
#define TWICE(x) ((x) + (x))
static void show(node *one) { for (;;) printf("%s\\n", names[0]); }
void f(COUNT_TYPE n, int32_t *restrict y) {
  node *one = list; int unknown = one->visit(one);
  show(one);
  for (int i = 0; i < SIZE; i++)
    y[i] = TWICE(i) + unknown;
  show(one); goto end; end: ;
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "own.h").write_text("#define SIZE 12\n")
    return tmp_path


def test_the_rest_of_the_file_hurts_nobody(folder: Path) -> None:
    for name, text in (("unix.c", AROUND), ("dos.c", "\ufeff" + AROUND.replace("\n", "\r\n"))):
        path = folder / name
        path.write_text(text, newline="")
        reading = SourceReading((str(folder / "include"),), ("COUNT_TYPE=long",))
        kernel, inputs = load_kernel(f"{path}:f", reading)
        assert kernel.trip_count == 12
        assert [Path(file.path).name for file in inputs] == [name, "own.h"]
        assert any("unknown stands at" in note for note in kernel.notes)


def test_a_missing_header_is_said_with_its_line(folder: Path) -> None:
    with pytest.raises(InputError, match=r"around.c:3:\d+: #include: there is no header own.h; .*--include"):
        kernel_from_c(AROUND, str(folder / "around.c"), "f", "f")


def test_errors_after_headers_name_the_users_own_line(folder: Path) -> None:
    text = AROUND.replace("TWICE(i)", "puts(names[0])")
    with pytest.raises(InputError, match=r"around.c:13:12: f: calls of puts"):
        kernel_from_c(
            text, str(folder / "around.c"), "f", "f",
            reading=SourceReading((str(folder / "include"),), ("COUNT_TYPE=int",)),
        )  # fmt: skip


def test_an_error_in_a_header_names_the_header(folder: Path) -> None:
    (folder / "include" / "own.h").write_text("#define SIZE 12\n#error too old\n")
    with pytest.raises(InputError, match=r"own.h:2:2: .*too old"):
        kernel_from_c(
            AROUND, str(folder / "around.c"), "f", "f", reading=SourceReading((str(folder / "include"),))
        )


@pytest.mark.parametrize(
    "fields", [{"define": ("1X",)}, {"without": ("magic",)}, {"added": ("magic",)}, {"define": ("A",) * 65}]
)
def test_options_that_say_nothing_are_refused(fields: dict[str, tuple[str, ...]]) -> None:
    with pytest.raises(InputError):
        SourceReading(**fields)


def test_a_macro_from_the_command_line_chooses_between_constants() -> None:
    sizes = "#ifdef BIG\n#define N 64\n#else\n#define N 4\n#endif\n"
    text = sizes + "void f(int y[N]) { for (int i = 0; i < N; i++) y[i] = i; }"
    assert kernel_from_c(text, "f.c", "f").trip_count == 4
    assert kernel_from_c(text, "f.c", "f", reading=SourceReading(define=("BIG",))).trip_count == 64
