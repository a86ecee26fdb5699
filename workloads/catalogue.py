"""The built-in workloads: their names, what they are, and where they come from."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from mapper.workloads.document import InputError, read_bytes

LARGEST_ENTRY_BYTES = 1 << 24


@dataclass(frozen=True)
class Entry:
    """One built-in workload. ``origin``: a document beside this module, a graph of the onnx wheel (``member``
    is its file's name there), or a network built by ``built_network``; ``own_names`` says that its layers are
    called as its nodes are."""

    description: str
    origin: Literal["document", "wheel", "built"]
    member: str = ""
    own_names: bool = False


CATALOGUE: dict[str, Entry] = {
    "resnet-dmazerunner": Entry(
        "six convolutions of ResNet at batch 4, as the dMazeRunner paper maps them", "document"
    ),
    "alexnet-eyeriss": Entry(
        "five convolutions of AlexNet at batch 4, as the Eyeriss chip ran them", "document"
    ),
    "resnet50": Entry("ResNet-50, 53 convolutions (onnx wheel)", "wheel", "resnet50"),
    "googlenet": Entry("GoogLeNet with floor pooling, 57 convolutions (onnx wheel)", "wheel", "inception_v1"),
    "squeezenet": Entry("SqueezeNet 1.1, 26 convolutions (onnx wheel)", "wheel", "squeezenet"),
    "alexnet": Entry("AlexNet in two towers, 5 convolutions (onnx wheel)", "wheel", "bvlc_alexnet"),
    "vgg19": Entry("VGG-19, 16 convolutions (onnx wheel)", "wheel", "vgg19"),
    "densenet121": Entry("DenseNet-121, 121 convolutions (onnx wheel)", "wheel", "densenet121"),
    "shufflenet": Entry(
        "ShuffleNet with grouped and depthwise convolutions, 49 (onnx wheel)", "wheel", "shufflenet"
    ),
    "zfnet512": Entry("ZFNet-512, 5 convolutions (onnx wheel)", "wheel", "zfnet512"),
    "inception-v2": Entry("Inception-v2, 69 convolutions (onnx wheel)", "wheel", "inception_v2"),
    "inception-v4": Entry("Inception-v4 at 299x299, 149 convolutions", "built"),
    "googlenet-224": Entry("GoogLeNet as published (maps of 56, 28, 14, 7), 57 convolutions", "built"),
    "resnet18": Entry("ResNet-18, 20 convolutions", "built"),
    "lenet5": Entry("LeNet-5 for 28x28 digits: 2 convolutions, 2 pools, 2 fully connected", "built"),
    "cifar10": Entry("a Darknet-like network for 32x32 images: 8 convolutions, 4 pools", "built"),
    "alexnet-one-tower": Entry("AlexNet in one tower, 5 convolutions", "built"),
    "alexnet-darknet": Entry("Darknet's AlexNet at 227x227 in one wide tower, 5 convolutions", "built"),
    "squeezenet-1.0": Entry("SqueezeNet 1.0 at 227x227, 26 convolutions", "built"),
    "squeezenet-1.1": Entry(
        "SqueezeNet 1.1, 26 convolutions: squeezenet under its full name", "wheel", "squeezenet"
    ),
    "lightcnn9": Entry("LightCNN-9 for 128x128 faces, max-feature-map activations, 9 convolutions", "built"),
    "mnist-tcpa": Entry("the TCPA paper's network for 28x28 digits, 3 convolutions", "built", own_names=True),
    "matmul": Entry("loop nest: matrix product 196x512x512", "document"),
    "mttkrp": Entry("loop nest: matricised tensor times Khatri-Rao product", "document"),
    "conv3d": Entry("loop nest: a convolution of C3D over 16 frames", "document"),
    "depthwise": Entry("loop nest: a depthwise convolution of MobileNet", "document"),
    "attention-scores": Entry("loop nest: scores of self-attention, 12 heads, sequence of 256", "document"),
}


def catalogue_names() -> tuple[tuple[str, str], ...]:
    """Names and one-line descriptions of the built-in workloads."""
    return tuple((name, entry.description) for name, entry in CATALOGUE.items())


def document_text(name: str) -> str | None:
    """The YAML of an entry that is a document, or None if there is no such entry."""
    entry = CATALOGUE.get(name)
    return entry_bytes(name).decode() if entry is not None and entry.origin == "document" else None


def entry_bytes(name: str) -> bytes:
    """The bytes that an entry is: of its document, of its file in the wheel, or of the model that is built.

    Raises: InputError if the installed onnx wheel lacks the file.
    """
    entry = CATALOGUE[name]
    if entry.origin == "document":
        return read_bytes(Path(__file__).with_name("catalogue") / f"{name}.yaml", LARGEST_ENTRY_BYTES)
    if entry.origin == "wheel":
        spec = find_spec("onnx")
        folders = (spec and spec.submodule_search_locations) or ["onnx"]
        path = Path(folders[0]) / "backend/test/data/light" / f"light_{entry.member}.onnx"
        if not path.is_file():
            raise InputError(name, "", "the installed onnx wheel lacks its test data; reinstall onnx")
        return read_bytes(path, LARGEST_ENTRY_BYTES)
    from mapper.workloads.network.published import BUILT

    data: bytes = BUILT[name]().SerializeToString(deterministic=True)
    return data
