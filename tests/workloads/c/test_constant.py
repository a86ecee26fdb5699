"""Constants of C are folded as the machine computes them: in 32 bits, which also bounds what folding takes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mapper.workloads.c.kernel import kernel_from_c
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.graph.opcode import wrapped

NUMBERS = st.sampled_from((0, 1, 2, 3, 7, 31, 255, 65535, 65536, 65537, 46341, 1 << 30, (1 << 31) - 1))
STEPS = st.lists(
    st.tuples(st.sampled_from(("+", "-", "*", "<<", ">>", "&", "|", "^", "x")), NUMBERS), max_size=40
)


def kernel_with(before: str) -> Kernel:
    """A loop that takes what ``before`` leaves in x."""
    loop = "for (int i = 0; i < 8; i++) a[i] = a[i] ^ x;"
    return kernel_from_c(f"int a[8]; void f(int n) {{ {before} {loop} }}", "c.c", "t")


def taken(kernel: Kernel) -> object:
    """The number that the loop takes."""
    return next(dict(one.immediates)[1] for one in kernel.graph.operations if one.opcode == "xor")


def folded(start: int, steps: list[tuple[str, int]]) -> int:
    """What C's operators make of ``start`` where every result wraps to 32 bits; ``x`` squares."""
    x = start
    for symbol, number in steps:
        match symbol:
            case "x":
                x = x * x
            case "<<":
                x = x << (number & 31)
            case ">>":
                x = x >> (number & 31)
            case "&":
                x = x & number
            case "|":
                x = x | number
            case "^":
                x = x ^ number
            case _:
                x = {"+": x + number, "-": x - number, "*": x * number}[symbol]
        x = wrapped(x)
    return x


@given(NUMBERS, STEPS)
def test_folded_constants_are_what_32_bits_hold(start: int, steps: list[tuple[str, int]]) -> None:
    text = "".join("x = x * x; " if one == "x" else f"x = x {one} {number}; " for one, number in steps)
    expected = folded(start, steps)
    assert taken(kernel_with(f"int x = {start}; {text}")) == expected
    # A bound is what follows from the text, not what a parameter stands at: it must be the wrapped number too.
    written = str(expected) if expected > -(1 << 31) else "-2147483647 - 1"
    bound = f"for (int i = 0; i < x - ({written}) + 8; i++) a[i] = a[i] + 5;"
    kernel = kernel_from_c(f"int a[9]; void f(void) {{ int x = {start}; {text} {bound} }}", "c.c", "t")
    assert kernel.trip_count == 8


def test_squares_of_a_constant_wrap_and_end() -> None:
    # Without the wrap the last of them has 2^26 times the digits of the first.
    assert taken(kernel_with("int x = 3;" + "x = x * x;" * 26)) == wrapped(pow(3, 1 << 26, 1 << 32))


def test_powers_of_a_parameter_are_not_followed_without_end() -> None:
    # As products of names the last of them has 2^26 factors.
    assert taken(kernel_with("int x = n + 3;" + "x = x * x;" * 26)) == wrapped(pow(8 + 3, 1 << 26, 1 << 32))


def test_a_shift_takes_the_five_low_bits_of_its_amount() -> None:
    assert taken(kernel_with("int x = 5; x = x << 2147483647 << 33 >> 31;")) == 0
    assert taken(kernel_with("int x = 5; x = x << 65;")) == 10


def test_an_index_that_leaves_32_bits_is_taken_as_data() -> None:
    text = "int a[8]; void f(int n) { for (int i = 0; i < 8; i++) a[i * 65537 * 65537 * 65537] = 1; }"
    assert kernel_from_c(text, "c.c", "t").graph.operations
