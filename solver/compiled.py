"""Functions in machine code, as searches call them; the models' own functions are compiled too, so it is made there."""

from mapper.models.compiled import Compiled as Compiled
from mapper.models.compiled import compiled as compiled
