"""Files of PE programs: bits that are read back, and listings."""

from __future__ import annotations

from mapper.codegen.pe_allocation.words import generate_words
from mapper.models.pe_allocation.configuration.configuration import configure
from mapper.models.pe_allocation.word.encoding import read_programs
from mapper.models.pe_allocation.word.program import words_of_all
from tests.models.pe_allocation.word.test_program import constants
from tests.sim.pe_allocation.example import allocated, array, network_called

MNIST = network_called("mnist-tcpa")
PAPER = allocated(MNIST, 4, 2, 8, 1, 2)
CONSTANTS = [constants(*range(layer.filters)) for layer in MNIST.layers]
CONFIGURATION = configure(MNIST, array(), PAPER, "streaming")
FILES = generate_words(CONFIGURATION, array(), CONSTANTS)
POOL1 = """\
PE 0:
  .ID0 pixels [2 x 2 x 12 | 48 24 2] +0    ; k1, k2, n
  .ID1 pixels [2 x 2 x 12 | 48 24 2] +1    ; k1, k2, n
  .FD0 room for 12
  .FD1 room for 12
  .OD0 maps 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22
  .OD1 maps 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23
  .controller k1 x k2 x n x m = 2 x 2 x 12 x 1
"""
POOL1_WORDS = """\
  .constants RC0 = -128
  .words 4 of 44 bits
     0  { nop } -> 0:0 1:1
     1  { max FD0, RC0, ID0 | max FD1, RC0, ID1 } -> 1:1 2:2
     2  { max FD0, FD0, ID0 | max FD1, FD1, ID1 } -> 2:2 3:3
     3  { max OD0, FD0, ID0 | max OD1, FD1, ID1 } -> 0:0 3:3

PE 1: nothing
"""


def test_every_layer_has_its_bits_and_a_listing() -> None:
    assert set(FILES) == {f"{name}.{end}" for name in MNIST.names for end in ("pe", "words.txt")}


def test_the_bits_are_the_programs_that_the_simulator_executes() -> None:
    made = words_of_all(CONFIGURATION, CONSTANTS, array().processing_element)
    for name, layer in zip(MNIST.names, made, strict=True):
        bits = FILES[f"{name}.pe"]
        assert isinstance(bits, bytes)
        assert read_programs(bits, name) == tuple(one and one.code for one in layer.pes)


def test_a_listing_shows_generators_signals_and_words() -> None:
    text = FILES["pool1.words.txt"]
    assert isinstance(text, str)
    assert POOL1 in text and text.endswith(POOL1_WORDS)


def test_pes_with_the_same_words_show_them_once() -> None:
    text = FILES["conv0.words.txt"]
    assert isinstance(text, str)
    assert text.count(".constants") == 1 and text.count("the words of PE 0") == 3
    # The bias of filters 1, 5, 9, ... and half of what is cut off.
    assert ".FD0 room for 6, cyclic: 65, 69, 73, 77, 81, 85" in text


def test_layers_that_do_not_work_at_once_have_no_words() -> None:
    alone = allocated(MNIST, *((5,) * 5), mode="layer-by-layer")
    assert generate_words(configure(MNIST, array(), alone, "streaming"), array(), CONSTANTS) == {}
