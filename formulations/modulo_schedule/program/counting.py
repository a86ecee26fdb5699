"""How large the program of modulo scheduling is, without building all of it."""

from __future__ import annotations

from mapper.formulations.formulation import BuiltPart
from mapper.formulations.modulo_schedule.program.cp_sat import ModuloProgram

BUILT_ROUNDS = 2


class CountedProgram(ModuloProgram):
    """The program of an instance, counted. Every round of the values' own times adds to each part what the round
    before has added, so the programs of two and of three rounds tell how large that of all rounds is: where loads
    are slow, it has millions of constraints, and a hundred rounds."""

    def build(self) -> tuple[BuiltPart, ...]:
        """The parts with the counts that they have once ``ModuloProgram`` is built."""
        few = ModuloProgram(self.of, rounds=BUILT_ROUNDS).build()
        more = ModuloProgram(self.of, rounds=BUILT_ROUNDS + 1).build()
        rounds = self.of.most_rounds - BUILT_ROUNDS

        def all_rounds(of_few: int, of_more: int) -> int:
            return of_few + rounds * (of_more - of_few)

        self.built = tuple(
            BuiltPart(
                one.part,
                all_rounds(one.members, other.members),
                all_rounds(one.variables, other.variables),
                all_rounds(one.constraints, other.constraints),
            )
            for one, other in zip(few, more, strict=True)
        )
        return self.built
