"""Sessions of onnxruntime whose sums of integers are exact on every processor."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnxruntime

EXACT_SUMS = "session.x64quantprecision"
"""On processors with AVX2 and no VNNI, onnxruntime multiplies unsigned by signed integers with an instruction whose
sums of two products saturate at 16 bits. With this it makes constant weights unsigned there; elsewhere it does
nothing."""


def exact_session(model: bytes) -> onnxruntime.InferenceSession:
    """A session that prints nothing. Signed activations times signed weights do not saturate, and operators that have
    both lack the kernel that exact sums ask for: a model of theirs is run as it is."""
    import onnxruntime

    def session(*entries: tuple[str, str]) -> onnxruntime.InferenceSession:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        for entry in entries:
            options.add_session_config_entry(*entry)
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    try:
        return session((EXACT_SUMS, "1"))
    except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented:
        return session()
