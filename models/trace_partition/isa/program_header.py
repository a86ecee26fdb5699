"""The header of a program's file, before code and data (docs/snowflake/binary.md): a validated document."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from mapper.arch.snowflake import BANK_INSTRUCTIONS
from mapper.models.trace_partition.isa.program import HostCall, Program
from mapper.models.trace_partition.lowering.layer import TensorView

MOST_INSTRUCTIONS = 1 << 24
LARGEST_WORDS = 1 << 31
Words = Annotated[int, Field(ge=0, le=LARGEST_WORDS, strict=True)]
Size = Annotated[int, Field(ge=1, le=1 << 24, strict=True)]
Shape = Annotated[tuple[Size, ...], Field(max_length=16)]
LONGEST_NAME = 4200
"""As long as names of a network may be, with what is put before them."""
Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
Text = Annotated[str, Field(max_length=LONGEST_NAME)]
Number = Annotated[float, Field(allow_inf_nan=False, strict=True)]
Whole = Annotated[int, Field(ge=-(1 << 31), lt=1 << 31, strict=True)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class View(_Part):
    tensor: Name
    height: Size
    width: Size
    channels: Size
    pitch: Size
    offset: Words

    @classmethod
    def of(cls, view: TensorView) -> View:
        return cls(
            tensor=view.tensor,
            height=view.height,
            width=view.width,
            channels=view.channels,
            pitch=view.pitch,
            offset=view.offset,
        )

    def view(self) -> TensorView:
        return TensorView(self.tensor, self.height, self.width, self.channels, self.pitch, self.offset)


class Named(_Part):
    """An input or output of the network."""

    name: Name
    view: View


class MarkEntry(_Part):
    layer: Name
    place: Annotated[int, Field(ge=0, lt=MOST_INSTRUCTIONS, strict=True)]


class ClusterEntry(_Part):
    """``instructions`` and ``relocations``: how many there are after the header."""

    address: Words
    instructions: Annotated[
        int, Field(ge=BANK_INSTRUCTIONS, le=MOST_INSTRUCTIONS, multiple_of=BANK_INSTRUCTIONS, strict=True)
    ]
    relocations: Annotated[int, Field(ge=0, le=MOST_INSTRUCTIONS, strict=True)]
    marks: Annotated[tuple[MarkEntry, ...], Field(max_length=1 << 16)]


class Place(_Part):
    """A segment or a tensor."""

    name: Name
    address: Words
    words: Words


class CallEntry(_Part):
    number: Annotated[int, Field(ge=1, lt=1 << 17, strict=True)]
    name: Name
    op: Name
    inputs: Annotated[tuple[View, ...], Field(max_length=1 << 10)]
    output: View
    attributes: Annotated[
        tuple[
            tuple[
                Name,
                Whole
                | Number
                | Text
                | Annotated[tuple[Whole, ...], Field(max_length=1 << 10)]
                | Annotated[tuple[Number, ...], Field(max_length=1 << 10)]
                | Annotated[tuple[Text, ...], Field(max_length=1 << 10)],
            ],
            ...,
        ],
        Field(max_length=100),
    ]

    @classmethod
    def of(cls, call: HostCall) -> CallEntry:
        return cls(
            number=call.number,
            name=call.name,
            op=call.op,
            inputs=tuple(View.of(view) for view in call.inputs),
            output=View.of(call.output),
            attributes=call.attributes,
        )

    def call(self) -> HostCall:
        inputs = tuple(view.view() for view in self.inputs)
        return HostCall(self.number, self.name, self.op, inputs, self.output.view(), self.attributes)


Images = Annotated[tuple[Annotated[tuple[Named, ...], Field(max_length=1 << 10)], ...], Field(max_length=8)]


class Header(_Part):
    """A program without the words of its code and segments."""

    name: Name
    base: Annotated[int, Field(ge=0, lt=1 << 32, strict=True)]
    words: Words
    clusters: Annotated[tuple[ClusterEntry, ...], Field(min_length=1, max_length=8)]
    segments: Annotated[tuple[Place, ...], Field(max_length=1 << 16)]
    tensors: Annotated[tuple[Place, ...], Field(max_length=1 << 16)]
    calls: Annotated[tuple[CallEntry, ...], Field(max_length=1 << 12)]
    inputs: Images
    outputs: Images
    shapes: Annotated[tuple[tuple[Name, Shape], ...], Field(max_length=1 << 11)] = ()
    accelerators: Annotated[int, Field(ge=1, le=16, strict=True)] = 1

    @classmethod
    def of(cls, program: Program) -> Header:
        return cls(
            name=program.name,
            base=program.base,
            words=program.words,
            clusters=tuple(
                ClusterEntry(
                    address=cluster.address,
                    instructions=len(cluster.code),
                    relocations=len(cluster.relocations),
                    marks=tuple(MarkEntry(layer=mark.layer, place=mark.place) for mark in cluster.marks),
                )
                for cluster in program.clusters
            ),
            segments=tuple(
                Place(name=segment.name, address=segment.address, words=len(segment.words))
                for segment in program.segments
            ),
            tensors=tuple(Place(name=t.name, address=t.address, words=t.words) for t in program.tensors),
            calls=tuple(CallEntry.of(call) for call in program.calls),
            inputs=_images(program.inputs),
            outputs=_images(program.outputs),
            shapes=program.shapes,
            accelerators=program.accelerators,
        )


def _images(images: tuple[tuple[tuple[str, TensorView], ...], ...]) -> tuple[tuple[Named, ...], ...]:
    return tuple(tuple(Named(name=name, view=View.of(view)) for name, view in image) for image in images)
