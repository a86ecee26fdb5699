"""Functions as the units' look-up tables hold them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mapper.arch.snowflake import TABLE_WORDS
from mapper.models.trace_partition.data.function_table import function_table, has_table, mapped
from mapper.workloads.network.operator_network import NetworkOperator

ALL = np.arange(-(1 << 15), 1 << 15)


def operator(op: str, **attributes: Any) -> NetworkOperator:
    return NetworkOperator("f", "f", op, ("x",), ("y",), attributes=tuple(attributes.items()))


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize(
    ("made", "product", "function"),
    [
        (operator("Sigmoid"), False, sigmoid),
        (operator("Sigmoid"), True, lambda x: x * sigmoid(x)),
        (operator("Tanh"), False, np.tanh),
        (operator("LeakyRelu", alpha=0.1), False, lambda x: np.maximum(x, 0.1 * x)),
        (operator("HardSigmoid", alpha=0.2, beta=0.5), False, lambda x: np.clip(0.2 * x + 0.5, 0, 1)),
        (operator("HardSwish"), False, lambda x: x * np.clip(x / 6 + 0.5, 0, 1)),
        (operator("Elu", alpha=1.0), False, lambda x: np.where(x < 0, np.exp(np.minimum(x, 0)) - 1, x)),
        (operator("Softplus"), False, lambda x: np.log1p(np.exp(x))),
    ],
)
def test_every_word_is_at_most_a_256th_from_the_function(
    made: NetworkOperator, product: bool, function: Any
) -> None:
    table = function_table(made, {}, product)
    assert len(table) == TABLE_WORDS and has_table(made)
    exact = np.clip(function(ALL / 256) * 256, -(1 << 15), (1 << 15) - 1)
    assert np.abs(mapped(ALL, table) - exact).max() <= 1.001


def test_values_between_knots_lie_on_the_line_and_beyond_them_on_the_slopes() -> None:
    values = np.zeros(257, np.int16)
    values[128], values[129], values[0], values[256] = 100, 116, -50, 70
    table = np.concatenate([np.array([4, 512, -256], np.int16), values])
    assert mapped(np.array([0, 1, 8, 15]), table).tolist() == [100, 101, 108, 115]
    edge = 128 << 4
    assert mapped(np.array([-edge - 3, edge, edge + 9]), table).tolist() == [-56, 70, 61]


def test_a_scalar_slope_is_a_constant_of_the_network_and_one_per_channel_is_none() -> None:
    one, many = (
        NetworkOperator("p", "p", "PRelu", ("x", "s"), ("y",), weights=(("s", shape),))
        for shape in ((1,), (8, 1, 1))
    )
    assert has_table(one) and not has_table(many)
    table = function_table(one, {"s": np.array([0.25], np.float32)})
    assert mapped(np.array([-4000, 4000]), table).tolist() == [-1000, 4000]


def test_relu_and_clip_need_no_table_and_what_pieces_fit_badly_has_none() -> None:
    assert not any(has_table(operator(op)) for op in ("Relu", "Clip", "ThresholdedRelu", "Softsign", "Add"))
