"""What is to be said of an array whose PEs execute their programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mapper.arch.processing_element import ProcessingElement
from mapper.models.pe_allocation.configuration.program import Configuration
from mapper.models.pe_allocation.word.drain import drained, drains, lags
from mapper.models.pe_allocation.word.encoding import encode, header_of, word_bits
from mapper.models.pe_allocation.word.program import LayerWords, has_words, words_of_all
from mapper.sim.pe_allocation.data import Data


@dataclass(frozen=True)
class Late:
    """By how many cycles each layer starts later than the model says, and how many after its time its last result is
    there, for the latencies of units."""

    lag: tuple[int, ...]
    drain: tuple[int, ...]


@dataclass(frozen=True)
class Programmed:
    """A configuration whose start times wait for the latencies of units, with the programs of its PEs."""

    configuration: Configuration
    words: tuple[LayerWords, ...]
    late: Late
    pe: ProcessingElement

    def to_json(self) -> dict[str, Any]:
        """What programs the PEs of each layer run (the largest of them), and what unit latencies cost."""
        found = {}
        for at, (layer, own) in enumerate(zip(self.configuration.layers, self.words, strict=True)):
            codes = [one.code for one in own.pes if one is not None]
            code = max(codes, key=lambda one: len(one.words))
            found[layer.name] = {
                "words": len(code.words),
                "bits_of_a_word": word_bits(header_of(code, self.pe.register_bits)),
                "bytes": len(encode(code, self.pe.register_bits)),
                "starts_later_by": self.late.lag[at],
                "drain": self.late.drain[at],
            }
        return found


def on_time(configuration: Configuration) -> Late:
    """No layer later than the model says."""
    none = (0,) * len(configuration.layers)
    return Late(none, none)


def programmed(configuration: Configuration, data: Data, pe: ProcessingElement) -> Programmed:
    """The programs of all PEs of ``configuration``.

    Raises: InputError as ``words_of_all``.
    """
    words = words_of_all(configuration, data.layers, pe)
    drain = drains(configuration, words)
    late = Late(lags(configuration, drain), drain)
    return Programmed(drained(configuration, drain), words, late, pe)


def refuse_what_does_not_fit(configuration: Configuration, data: Data, pe: ProcessingElement) -> None:
    """Raises: InputError if a PE that is not the presets', which have room for everything, has none for a program."""
    if pe != ProcessingElement() and has_words(configuration):
        words_of_all(configuration, data.layers, pe)
