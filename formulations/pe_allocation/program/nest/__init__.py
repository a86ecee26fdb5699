"""The constraint program of loop nests on a TCPA."""
