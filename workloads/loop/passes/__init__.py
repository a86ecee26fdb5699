"""What a good compiler does to a loop before it is scheduled, each step by name so that it can be left out.

``entry``: what is computed before the loop runs once; a carried scalar starts with it instead of choosing it in every
iteration. ``ranges``: bounds of the loops keep accesses apart. ``promotion``: a word that no iteration moves away
from is a scalar. ``forwarding``: a load takes what an iteration before has stored. ``sharing``: a load takes what
another one has read iterations before. ``merging``: of two stores to one word
the later is enough. ``hoisting``: what every iteration computes alike is computed once.
``addresses``: pointers that step replace index arithmetic.
"""

from __future__ import annotations

PASSES = {
    "entry": "values from before the loop are brought in outside its recurrences",
    "ranges": "bounds of the loop and of those around it keep accesses apart",
    "merging": "a word that an iteration stores more than once is stored once",
    "promotion": "words that every iteration reads and writes become scalars",
    "forwarding": "loads take what an iteration before has stored",
    "sharing": "loads take what another has read iterations before",
    "hoisting": "what every iteration computes alike is computed once, before the loop",
    "addresses": "pointers that step replace index arithmetic",
}
"""Names of the passes, in the order in which they run, and what they do."""
ALL = frozenset(PASSES)
USUAL = ALL - {"sharing"}
"""Those that never cost anything: a value that is carried on over iterations saves a load, but takes moves and
registers."""
PUBLISHED = frozenset({"addresses"})
"""What [Bae2018] describes."""
