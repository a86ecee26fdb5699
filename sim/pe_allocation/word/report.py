"""What is to be said of an array whose PEs execute their programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mapper.arch.processing_element import ProcessingElement
from mapper.models.pe_allocation.configuration.program import Configuration
from mapper.models.pe_allocation.word.encoding import encode, header_of, word_bits
from mapper.models.pe_allocation.word.program import LayerWords, has_words, words_of_all
from mapper.sim.pe_allocation.data import Data


@dataclass(frozen=True)
class Programmed:
    """A configuration with the programs of its PEs."""

    configuration: Configuration
    words: tuple[LayerWords, ...]
    pe: ProcessingElement

    def to_json(self) -> dict[str, Any]:
        """What programs the PEs of each layer run (the largest of them), how many cycles after a position's work its
        last result is there, and how many after its time it is handed on (``drain``)."""
        found = {}
        for layer, own in zip(self.configuration.layers, self.words, strict=True):
            codes = [one.code for one in own.pes if one is not None]
            code = max(codes, key=lambda one: len(one.words))
            found[layer.name] = {
                "words": len(code.words),
                "bits_of_a_word": word_bits(header_of(code, self.pe.register_bits)),
                "bytes": len(encode(code, self.pe.register_bits)),
                "last_result": own.final - 1,
                "drain": layer.drain,
            }
        return found


def programmed(configuration: Configuration, data: Data, pe: ProcessingElement) -> Programmed:
    """The programs of all PEs of ``configuration``.

    Raises: InputError as ``words_of_all``.
    """
    return Programmed(configuration, words_of_all(configuration, data.layers, pe), pe)


def refuse_what_does_not_fit(configuration: Configuration, data: Data, pe: ProcessingElement) -> None:
    """Raises: InputError if a PE that is not the presets', which have room for everything, has none for a program."""
    if pe != ProcessingElement() and has_words(configuration):
        words_of_all(configuration, data.layers, pe)
