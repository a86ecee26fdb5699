"""Modulo schedules as configuration words, a listing of them, and a picture."""

from mapper.codegen.modulo_schedule.program import generate
from mapper.models.modulo_schedule.configuration.word import read_configuration

__all__ = ["generate", "read_configuration"]
