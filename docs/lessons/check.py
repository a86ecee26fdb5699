"""Check the answers to a lesson's exercises: ``python -m docs.lessons.check LESSON FILE``.

FILE has the functions ``exercise_1``, ``exercise_2``, ``exercise_3``. Each runs in a separate process with a time
limit. Exit code 0 if all are right, 1 if not, 2 if there is nothing to check.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path

from docs.lessons import FOLDER, LESSONS
from docs.lessons.exercise.exercise import Exercise, shortened


def attempted(path: Path, exercise: Exercise, seconds: float) -> dict[str, list[object]] | str:
    """The answers of all cases, or in a line why there are none."""
    with tempfile.TemporaryDirectory() as folder:
        request, answer = Path(folder, "request.json"), Path(folder, "answer.json")
        request.write_text(
            json.dumps({"path": str(path), "function": exercise.function, "cases": exercise.cases})
        )
        process = subprocess.Popen(
            [sys.executable, str(FOLDER / "attempt.py"), str(request), str(answer)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return f"did not end within {seconds:g} s"
        finally:
            # A solver that the function started must not outlive it.
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if not answer.exists():
            return f"its process ended with code {process.returncode}"
        outcome: dict[str, list[object]] = json.loads(answer.read_text())
    return str(outcome["problem"]) if "problem" in outcome else outcome


def fault(path: Path, exercise: Exercise, seconds: float) -> str | None:
    """What is wrong with the function, in a line; None if nothing is."""
    outcome = attempted(path, exercise, seconds)
    if isinstance(outcome, str):
        return outcome
    for arguments, answer in zip(exercise.cases, outcome["answers"], strict=True):
        wrong = exercise.judge(answer, arguments)
        if wrong:
            return f"for {shortened(arguments)}: {wrong}"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m docs.lessons.check", description=__doc__)
    parser.add_argument("lesson", choices=LESSONS)
    parser.add_argument("file", type=Path, help="Python file with exercise_1, exercise_2, exercise_3")
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="time limit for each exercise (default 20)"
    )
    given = parser.parse_args()
    if not given.file.is_file():
        print(f"{given.file}: no such file", file=sys.stderr)
        return 2
    faults = 0
    for exercise in import_module(f"docs.lessons.exercise.{given.lesson}").EXERCISES:
        wrong = fault(given.file.resolve(), exercise, given.seconds)
        faults += wrong is not None
        print(f"{exercise.function}: {wrong or 'right'}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
