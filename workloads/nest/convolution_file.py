"""Lists of square convolutions as YAML or JSON documents (schema ``mapper.convolutions/1``)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mapper.workloads.document import InputError, validation_error
from mapper.workloads.nest.layer_nest import Convolution, convolution_nest
from mapper.workloads.nest.nest_file import MOST_ITERATIONS
from mapper.workloads.network.network import InputFile, Layer, Network

CONVOLUTIONS_SCHEMA = "mapper.convolutions/1"

Size = Annotated[int, Field(ge=1, le=1 << 20, strict=True)]
Pad = Annotated[int, Field(ge=0, le=1 << 10, strict=True)]


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class ConvolutionDocument(_Document):
    """One convolution over two equal axes; ``size`` is that of its unpadded input."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,31}$")]
    out_channels: Size
    in_channels: Size
    size: Size
    kernel: Size
    stride: Size = 1
    pad: Pad = 0


class ConvolutionsDocument(_Document):
    """Convolutions in order, and the batch they share."""

    schema_name: Literal["mapper.convolutions/1"] = Field(alias="schema")
    name: Annotated[str, Field(min_length=1, max_length=64)]
    batch: Size = 1
    layers: Annotated[list[ConvolutionDocument], Field(min_length=1, max_length=1000)]


def convolutions_from_document(
    fields: dict[str, Any], source: str, inputs: tuple[InputFile, ...], batch: int | None = None
) -> Network:
    """The network of a document; ``batch`` replaces its own.

    Raises: InputError naming the field that is wrong.
    """
    try:
        document = ConvolutionsDocument.model_validate(fields)
    except ValidationError as error:
        raise validation_error(error, source, ConvolutionsDocument) from None
    images = document.batch if batch is None else batch
    layers: dict[str, Layer] = {}
    for place, entry in enumerate(document.layers):
        field = f"layers.{place}"
        shape = Convolution(
            images,
            entry.out_channels,
            entry.in_channels,
            (entry.size,) * 2,
            (entry.kernel,) * 2,
            (entry.stride,) * 2,
            (1,) * 2,
            ((entry.pad, entry.pad),) * 2,
        )
        if entry.name in layers:
            raise InputError(source, f"{field}.name", f"{entry.name!r} occurs twice; rename one")
        if min(shape.output_size) < 1:
            raise InputError(source, f"{field}.kernel", "larger than the padded input; lower it")
        nest = convolution_nest(entry.name, shape)
        if nest.iterations > MOST_ITERATIONS:
            raise InputError(source, field, f"more than {MOST_ITERATIONS:.0e} iterations; lower the sizes")
        layers[entry.name] = Layer(entry.name, entry.name, "Conv", nest)
    return Network(document.name, tuple(layers.values()), (), inputs, images)
