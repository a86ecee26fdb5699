"""optCGRA: convolution whose window slides in registers [Bae2018, sec. IV-A, Fig. 3(b)].

im2row lays the kernel rows of one output row side by side, column after column; rows follow each other, so that
one loop runs over the positions of all rows (the few at a row's end that straddle two rows are computed and not
used). An iteration loads the columns that enter the window and hands the others on to the next one.
"""

from __future__ import annotations

from mapper.models.modulo_schedule.network.nest import Box, Nest


def window_text(nest: Nest, box: Box) -> str:
    """The C function of an optCGRA kernel: live-ins are the weights (column by column) and the columns that
    the first window shares with what came before it."""
    assert nest.window is not None
    height, width, stride = nest.window
    filters, channels, positions = box.unroll
    plane, area = nest.inputs[0].stride(nest.names[1]), nest.output.stride(nest.names[0])
    kept = max(0, width - stride)
    columns = (positions - 1) * stride + width
    step = positions * stride * height
    shared = [f"b{j}_{c}_{r}" for j in range(channels) for c in range(kept) for r in range(height)]
    weights = [
        f"a{i}_{j}_{t}" for i in range(filters) for j in range(channels) for t in range(height * width)
    ]
    parameters = [f"const float *restrict {nest.inputs[0].array}", f"float *restrict {nest.output.array}"]
    parameters += [f"float {name}" for name in (*weights, *(f"s{name}" for name in shared))]
    lines = [f"void {nest.name}({', '.join(parameters)})", "{"]
    lines += [f"    float {name} = s{name};" for name in shared]
    lines += [f"    for (int x = 0; x < {box.trip_count(nest)}; x++) {{"]
    body = []
    for j in range(channels):
        for c in range(kept, columns):
            if _is_used(c, positions, width, stride):
                body += [
                    f"float b{j}_{c}_{r} = {nest.inputs[0].array}[{step} * x + {j * plane + c * height + r}];"
                    for r in range(height)
                ]
    for i in range(filters):
        for x in range(positions):
            place = f"{nest.output.array}[{positions} * x + {i * area + x}]"
            body.append(f"float c{i}_{x} = {place};")
            for j in range(channels):
                terms = [
                    f"b{j}_{x * stride + c}_{r} * a{i}_{j}_{c * height + r}"
                    for c in range(width)
                    for r in range(height)
                ]
                body.append(f"c{i}_{x} = c{i}_{x} + ({' + '.join(terms)});")
            body.append(f"{place} = c{i}_{x};")
    body += [
        f"b{j}_{c}_{r} = b{j}_{c + positions * stride}_{r};"
        for j in range(channels)
        for c in range(kept)
        for r in range(height)
    ]
    lines += [f"        {line}" for line in body]
    return "\n".join([*lines, "    }", "}", ""])


def _is_used(column: int, positions: int, width: int, stride: int) -> bool:
    """Whether a window of the iteration covers ``column`` (strides beyond the width skip some)."""
    return any(0 <= column - x * stride < width for x in range(positions))
