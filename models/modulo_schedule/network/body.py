"""The kernel of a box as C: the innermost loop with its unrolled body [Bae2018, Figs. 3 and 4].

What no iteration of the innermost loop changes comes in as a parameter, a live-in that the loop's set-up in
VLIW mode gives; arrays come in at the word that the first iteration touches. A word of the output is loaded
once, takes everything that the copies of the body add to it in the order of the loops, and is stored once. Where sums
stay in registers, a word is loaded by the loop's set-up and stored by every iteration.
"""

from __future__ import annotations

from collections.abc import Callable

from mapper.models.modulo_schedule.network.nest import Box, Nest, copies
from mapper.models.modulo_schedule.network.window import window_text

Word = Callable[[str, int], str]


def kernel_text(nest: Nest, box: Box) -> str:
    """One C function, named after the nest, whose loop is the kernel of ``box``."""
    if nest.window is not None:
        return window_text(nest, box)
    writer = _Writer(nest, box)
    body = writer.body()
    parameters = [*writer.pointers(), *(f"float {name}" for name in writer.live_ins)]
    lines = [f"void {nest.name}({', '.join(parameters)})", "{"]
    lines += [f"    float {total} = {given};" for total, given in writer.carried.items()]
    lines += [] if nest.merged is None else ["    int next_word = 0, next_column = 0;"]
    lines += [f"    for (int x = 0; x < {box.trip_count(nest)}; x++) {{"]
    lines += [f"        {line}" for line in (*writer.merging(), *body)]
    return "\n".join([*lines, "    }", "}", ""])


class _Writer:
    """Writes the body of one box; ``live_ins`` are the parameters it found that it needs, in order, and ``carried``
    the sums that stay in registers, each with the parameter that it starts from."""

    def __init__(self, nest: Nest, box: Box) -> None:
        self.nest, self.inner = nest, box.innermost
        self.unroll = dict(zip(nest.names, box.unroll, strict=True))
        self.live_ins: dict[str, None] = {}
        self.carried: dict[str, str] = {}

    def pointers(self) -> list[str]:
        """Declarations of the arrays that the loop touches."""
        nest = self.nest
        read = [access.array for access in nest.inputs if access.stride(self.inner)]
        arrays = list(dict.fromkeys([*read, nest.output.array]))
        if nest.merged is not None:
            # Words that no affine index reaches have to be declared.
            counts = {name: self.unroll[name] for name in nest.names} | {self.inner: nest.extents[self.inner]}
            words = {access.array: nest.last_word(access, counts) + 1 for access in nest.inputs}
            return [f"const float {array}[{words[array]}]" for array in read] + [
                f"float *restrict {arrays[-1]}"
            ]
        return [
            f"{'' if array == nest.output.array else 'const '}float *restrict {array}" for array in arrays
        ]

    def merging(self) -> list[str]:
        """The strength-reduced word of the inputs and column of a merged loop [Bae2018, Fig. 4(c)]."""
        nest = self.nest
        if nest.merged is None:
            return []
        columns, jump = nest.merged
        factor = self.unroll[self.inner]
        step = nest.inputs[0].stride(self.inner) * factor
        return [
            "int word = next_word;",
            f"next_word = word + {step};",
            f"next_column = next_column + {factor};",
            f"if (next_column >= {columns}) {{ next_word = word + {step + jump}; next_column = 0; }}",
        ]

    def body(self) -> list[str]:
        if self.nest.transform is not None:
            return [line for one in copies(self.nest.names, self.unroll) for line in self._transformed(one)]
        nest = self.nest
        along = tuple(name for name in nest.names if name not in nest.accumulated)
        summed = copies(nest.accumulated, self.unroll)
        outputs = copies(along, self.unroll)
        loads, updates, stores = [], [], []
        for one in outputs:
            offset = nest.output.offsets(one) + nest.output.taps[0]
            place, total = (
                self._place(nest.output.array, nest.output.stride(self.inner), offset),
                f"r{offset}",
            )
            if nest.accumulated:
                if nest.in_register:
                    given = f"{nest.output.array}_{offset}"
                    self.live_ins[given] = None
                    self.carried[total] = given
                else:
                    loads.append(f"float {total} = {place};")
                for other in summed:
                    updates += [f"{total} = {term};" for term in self._terms(total, one | other)]
            else:
                first, *rest = self._terms(total, one)
                loads.append(f"float {total} = {first};")
                loads += [f"{total} = {term};" for term in rest]
            stores.append(f"{place} = {total};")
        return [*loads, *updates, *stores]

    def _transformed(self, deltas: dict[str, int]) -> list[str]:
        """What one copy of a linear transform loads, computes and stores; its names end in its first output's word."""
        nest, transform = self.nest, self.nest.transform
        assert transform is not None
        output = nest.output
        copy, stride = output.offsets(deltas), output.stride(self.inner)
        known = {f"d{number}": word for number, word in enumerate(self._values(0, deltas))}
        lines = []
        for name, left, symbol, right in transform.statements:
            known[name] = f"{name}_{copy}"
            first, second = known.get(left, left), known.get(right, right)
            value = f"f{symbol}f({first}, {second})" if symbol.isalpha() else f"{first} {symbol} {second}"
            lines.append(f"float {known[name]} = {value};")
        for number, tap in enumerate(output.taps):
            lines.append(f"{self._place(output.array, stride, copy + tap)} = {known[f'y{number}']};")
        return lines

    def _place(self, array: str, stride: int, offset: int) -> str:
        step = stride * self.unroll[self.inner]
        if self.nest.merged is not None and array != self.nest.output.array:
            return f"{array}[word + {offset}]"
        variable = "x" if step == 1 else f"{step} * x"
        return f"{array}[{offset}]" if stride == 0 else f"{array}[{variable} + {offset}]"

    def _values(self, number: int, deltas: dict[str, int]) -> list[str]:
        """What input ``number`` holds for a copy: words, or a live-in."""
        access = self.nest.inputs[number]
        base, stride = access.offsets(deltas), access.stride(self.inner)
        if stride == 0:
            names = [f"{access.array}_{base + tap}" for tap in access.taps]
            self.live_ins |= dict.fromkeys(names)
            return names
        return [self._place(access.array, stride, base + tap) for tap in access.taps]

    def _terms(self, total: str, deltas: dict[str, int]) -> list[str]:
        """What ``total`` becomes, step by step."""
        nest = self.nest
        values = [self._values(number, deltas) for number in range(len(nest.inputs))]
        first = values[0]
        numbers = [f"{number!r}f" for number in nest.numbers]
        match nest.operation:
            case "multiply_add":
                return [f"{total} + {first[0]} * {values[1][0]}"]
            case "dot":
                return [first[0], *(f"{total} + {a} * {b}" for a, b in zip(*values[1:], strict=True))]
            case "max" | "sum":
                joined = f"fmaxf({total}, {{}})" if nest.operation == "max" else f"{total} + {{}}"
                terms = [joined.format(value) for value in first]
                if not nest.accumulated:
                    terms[0] = first[0]
                return terms + ([f"{total} / {numbers[0]}"] if numbers else [])
            case "fill" | "copy":
                return [first[0]]
            case "relu":
                return [f"fmaxf({first[0]}, 0.0f)"]
            case "leaky_relu":
                return [first[0], f"fmaxf({total}, {total} * {numbers[0]})"]
            case "clip":
                return [f"fmaxf({first[0]}, {numbers[0]})", f"fminf({total}, {numbers[1]})"]
            case "scale":
                return [f"{first[0]} / {numbers[0]}"]
            case "affine":
                return [f"{first[0]} * {values[1][0]}", f"{total} + {values[2][0]}"]
            case "larger":
                return [f"fmaxf({first[0]}, {values[1][0]})"]
            case "add" | "subtract" | "multiply":
                symbol = {"add": "+", "subtract": "-", "multiply": "*"}[nest.operation]
                return [f"{first[0]} {symbol} {values[1][0]}"]
        raise AssertionError(nest.operation)
