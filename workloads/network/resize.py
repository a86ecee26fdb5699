"""Resize and Upsample by the nearest element: which one each element of the result is."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from mapper.workloads.network.operator_network import NetworkOperator, Shape

Places = tuple[npt.NDArray[np.int64], ...]


def nearest_places(operator: NetworkOperator, given: Shape, made: Shape) -> Places | None:
    """For each axis, and each place along it in a result of the shape ``made``, the place in an input of the shape
    ``given`` that is taken; None of an operator that interpolates, cuts a region out, or is no such one."""
    if operator.op not in ("Resize", "Upsample") or ("mode", "nearest") not in operator.attributes:
        return None
    if len(given) != len(made):
        return None
    found = []
    for axis, (size, result) in enumerate(zip(given, made, strict=True)):
        places = _places(operator, size, result, _scale(operator, axis, size, result))
        if places is None or any(not 0 <= place < size for place in places):
            return None
        found.append(np.array(places, np.int64))
    return tuple(found)


def nearest_factors(operator: NetworkOperator, given: Shape, made: Shape) -> Shape | None:
    """How many places in a row of each axis take the same element; None where it is not the same number of each."""
    places = nearest_places(operator, given, made)
    if places is None:
        return None
    factors = tuple(result // size for size, result in zip(given, made, strict=True))
    if any(
        factor < 1 or not np.array_equal(one, np.arange(size).repeat(factor))
        for factor, size, one in zip(factors, given, places, strict=True)
    ):
        return None
    return factors


def _scale(operator: NetworkOperator, axis: int, size: int, result: int) -> np.float32:
    """Elements of the result for one of the input; where sizes are asked for, their ratio."""
    axes = operator.integers("axes")
    scales = next((value for name, value in operator.attributes if name == "scales"), ())
    if isinstance(scales, tuple) and scales and not operator.has("sizes"):
        place = (axes.index(axis) if axis in axes else None) if axes else axis
        if place is None:
            return np.float32(1)
        scale = scales[place] if place < len(scales) else 0
        if isinstance(scale, int | float) and scale > 0:
            return np.float32(scale)
    return np.float32(result) / np.float32(size)


def _places(operator: NetworkOperator, size: int, result: int, scale: np.float32) -> list[int] | None:
    """Places are found in single precision, as onnxruntime finds them."""
    attributes = dict(operator.attributes)
    way = attributes.get("coordinate_transformation_mode", "asymmetric")
    rounding = str(attributes.get("nearest_mode", "floor"))
    if way not in ("asymmetric", "half_pixel", "pytorch_half_pixel", "half_pixel_symmetric"):
        return None
    half, offset = np.float32(0.0 if way == "asymmetric" else 0.5), np.float32(0)
    if way == "half_pixel_symmetric":
        offset = (
            np.float32(size)
            / np.float32(2)
            * (np.float32(1) - np.float32(result) / (scale * np.float32(size)))
        )
    found = []
    for place in range(result):
        at = offset + (np.float32(place) + half) / scale - half
        if way == "pytorch_half_pixel" and result == 1:
            at = np.float32(0)
        found.append(min(max(_rounded(float(at), rounding), 0), size - 1))
    return found


def _rounded(at: float, rounding: str) -> int:
    if rounding == "ceil":
        return math.ceil(at)
    if rounding == "round_prefer_ceil":
        return math.floor(at + 0.5)
    if rounding == "round_prefer_floor":
        return math.ceil(at - 0.5)
    return math.floor(at)
