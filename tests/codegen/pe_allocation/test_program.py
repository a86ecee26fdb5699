"""Files of an allocation: listings, configuration, names that stay in the folder."""

from __future__ import annotations

import json
from dataclasses import replace

from mapper.codegen.pe_allocation import generate
from mapper.models.pe_allocation.mapping import Placement
from mapper.models.pe_allocation.stream.layer import StreamNetwork
from tests.models.pe_allocation.test_configuration import FIGURE_6
from tests.sim.pe_allocation.example import Net, allocated, network_called, problem_of

MNIST = network_called("mnist-tcpa")
PAPER = allocated(MNIST, 4, 1, 8, 1, 2, placement=FIGURE_6)
FILES = generate(problem_of(MNIST, PAPER), PAPER)
CONV0 = """\
PE 1 at [0,1]:    ; filters 1, 5, 9, 13, 17, 21
  .weights affine [3 x 3 x 1 x 6 x 2 | 3 1 18 36 9] +9    ; k1, k2, n, m, d
  for r = 0..27
  for c = 0..27
    for k1 = 0..2 step 1    ; 3 times
    for k2 = 0..2 step 1    ; 3 times
    for n = 0..0 step 2    ; 1 times
    for m = 1..21 step 4    ; 6 times
      { mac A[m], W0, X0 | mac A[m], W1, X1 ?n+1<1 }
      out saturate8((A + B[m] + 64) >> 7) ?k1==2 k2==2 n==0    ; then A is 0
"""


def test_every_layer_has_a_listing_with_a_section_for_each_pe() -> None:
    names = {"conv0.txt", "pool1.txt", "conv2.txt", "pool3.txt", "conv4.txt", "configuration.json"}
    assert names | {"gantt.svg", "placement.svg"} == set(FILES)
    assert [FILES[f"{name}.txt"].count("\nPE ") for name in MNIST.names] == [4, 1, 8, 1, 2]


def test_a_pe_runs_algorithm_3_with_a_slot_for_each_unit() -> None:
    assert CONV0 in FILES["conv0.txt"]


def test_idle_cycles_stand_behind_the_loops() -> None:
    assert FILES["pool1.txt"].rstrip().endswith("nop *168")
    assert "nop *" not in FILES["conv2.txt"].split("PE 0")[1]


def test_the_configuration_names_controller_interconnect_buffers_and_generators() -> None:
    document = json.loads(FILES["configuration.json"])
    assert document["schema"] == "mapper.tcpa-configuration/1"
    assert document["controller"]["start"]["conv4"] == 3024
    assert {"kind": "maps", "from": "conv0", "to": "pool1", "way": [[0, 1], [0, 2]]} in document[
        "interconnect"
    ]
    words = {(buffer["kind"], buffer["layer"]): buffer["words"] for buffer in document["buffers"]}
    assert words["weights", "conv2"] == 24 * 24 * 9
    borders = {buffer["layer"]: (buffer["border"], buffer["border_pe"]) for buffer in document["buffers"]}
    assert borders["conv2"] == ("north", [0, 3]) and borders["conv4"] == ("south", [3, 0])
    assert len([one for one in document["address_generators"] if one["use"] == "weights"]) == 14
    assert [len(document["programs"][name]["pes"]) for name in MNIST.names] == [4, 1, 8, 1, 2]


def test_lanes_take_several_filters_at_once() -> None:
    allocation = allocated(MNIST, *((5,) * 5), mode="layer-by-layer")
    text = generate(problem_of(MNIST, allocation, model="lanes"), allocation)["pool1.txt"]
    assert "PE 2:    ; maps 4, 5, 14, 15" in text
    assert "{ max A[m], X0 ?m<24 | max A[m+1], X1 ?m+1<24 }" in text


def test_pes_beyond_the_filters_do_nothing() -> None:
    allocation = allocated(MNIST, 4, 2, 8, 1, 2)
    text = generate(problem_of(MNIST, allocation), allocation)["pool1.txt"]
    assert "PE 0:    ; all 24 maps" in text and "PE 1:    ; nothing" in text


def test_layers_that_share_a_pe_say_so() -> None:
    allocation = allocated(MNIST, 4, 1, 8, 1, 2, shared=((1, 3),))
    assert ".shared pool1, pool3" in generate(problem_of(MNIST, allocation), allocation)["pool3.txt"]


def test_a_layers_name_never_leads_out_of_the_folder() -> None:
    layers = [
        replace(layer, name=name)
        for layer, name in zip(
            Net().convolution(2, 1).convolution(2, 1).convolution(2, 1).layers,
            ("../a\n", "a/b", "a_b"),
            strict=True,
        )
    ]
    network = StreamNetwork("net", tuple(layers), ())
    files = generate(problem_of(network, allocated(network)), allocated(network))
    listings = [name for name in files if name.endswith(".txt")]
    assert len(listings) == 3
    assert not [name for name in files if "/" in name or name.startswith(".") or "\n" in name]
    assert all("../a\n" not in text for name, text in files.items() if name.endswith(".txt"))


def test_line_buffers_of_one_layer_lie_in_one_of_its_border_pes_buffers() -> None:
    network = Net((5, 5), 2).convolution(2, 1).convolution(2, 1, 0).elementwise("Add", 0, 1).network()
    placement = Placement((((0, 0),), ((0, 1),), ((1, 1),)))
    allocation = allocated(network, placement=placement)
    buffers = json.loads(generate(problem_of(network, allocation), allocation)["configuration.json"])[
        "buffers"
    ]
    numbers = [(one["kind"], one["layer"], one["from"], one["border_pe"], one["number"]) for one in buffers]
    assert numbers == [
        ("weights", "convolution0", None, [0, 0], 0),
        ("weights", "convolution1", None, [0, 1], 0),
        ("line", "convolution1", "convolution0", [0, 1], 1),
        ("line", "elementwise2", "convolution0", [0, 1], 2),
        ("line", "elementwise2", "convolution1", [0, 1], 2),
    ]
