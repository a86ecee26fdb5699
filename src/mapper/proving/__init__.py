"""Proofs of solutions: written as documents, and checked by programs that share nothing with what wrote them."""

from mapper.proving.certify import PROOFS_SCHEMA, certify
from mapper.proving.check import Checked, check

__all__ = ["PROOFS_SCHEMA", "Checked", "certify", "check"]
