"""The functions of ``models/tiling/transfer.py``, compiled: same source lines, same numbers, machine speed.

Arguments per operand are numpy arrays: ``int64`` for reuse factors, cycles, tiles and networks, ``float64``
for energies, ``bool_`` for flags.
"""

from __future__ import annotations

from mapper.models.compiled import compiled
from mapper.models.tiling import transfer as cost

rf_transfers = compiled(cost.rf_transfers)
dram_transfers = compiled(cost.dram_transfers)
cycles_of_passes = compiled(cost.cycles_of_passes)
streamed_pass_cycles = compiled(cost.streamed_pass_cycles)
layer_cycles = compiled(
    cost.layer_cycles,
    spm_pass_cycles=compiled(cost.spm_pass_cycles),
    cycles_of_passes=cycles_of_passes,
)
layer_energy = compiled(cost.layer_energy, rf_transfers=rf_transfers, dram_transfers=dram_transfers)
