"""Run one function of a student's file: ``attempt.py REQUEST ANSWER``, both JSON files.

The answer goes into a file, so that the function may print what it likes.
"""

from __future__ import annotations

import json
import runpy
import sys
import traceback
from pathlib import Path
from typing import Any


def place(error: BaseException, path: str) -> str:
    """The last line of the student's file that ``error`` passed through."""
    if isinstance(error, SyntaxError) and error.filename == path:
        return f" (line {error.lineno})"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return f" (line {lines[-1]})" if lines else ""


def attempt(path: str, function: str, cases: list[list[Any]]) -> dict[str, Any]:
    """``{"answers": [...]}``, one per case, or ``{"problem": "one line"}``."""
    try:
        scope = runpy.run_path(path)
        if not callable(scope.get(function)):
            return {"problem": f"the file has no function {function}"}
        answers = [scope[function](*arguments) for arguments in cases]
    except SystemExit:
        return {"problem": "the file ended Python (sys.exit)"}
    except Exception as error:
        message = str(error).splitlines()
        return {
            "problem": f"raised {type(error).__name__}{place(error, path)}: {message[0] if message else ''}"
        }
    try:
        json.dumps(answers)
    except (TypeError, ValueError, RecursionError):
        return {"problem": "returned something else than numbers, strings, lists and dictionaries"}
    return {"answers": answers}


if __name__ == "__main__":
    request = json.loads(Path(sys.argv[1]).read_text())
    Path(sys.argv[2]).write_text(json.dumps(attempt(request["path"], request["function"], request["cases"])))
