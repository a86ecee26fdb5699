"""Recompute the tables and figures of the papers and write the page: ``python -m docs.papers [--only PAPER]``."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from docs.papers.page import page
from docs.papers.row import Paper
from docs.papers.running import NAMES, Outcome, outcome, paper_named

PAGE = Path("build") / "papers.html"


def main() -> int:
    """Exit code 1 if an item failed; the page is written all the same, and shows it."""
    parser = argparse.ArgumentParser(prog="python -m docs.papers", description=__doc__)
    parser.add_argument("--only", choices=NAMES, action="append", metavar="PAPER", help=", ".join(NAMES))
    parser.add_argument("-o", "--output", type=Path, default=PAGE, help=f"the page ({PAGE})")
    given = parser.parse_args()
    papers = [paper_named(name) for name in NAMES if not given.only or name in given.only]
    most = sum(item.seconds for paper in papers for item in paper.items)
    print(f"{len(papers)} papers, at most {most / 60:.0f} minutes", flush=True)
    done = [(paper, [_told(paper, place) for place in range(len(paper.items))]) for paper in papers]
    given.output.parent.mkdir(parents=True, exist_ok=True)
    given.output.write_text(page(done), encoding="ascii")
    print(given.output)
    return 1 if any(one.found is None for _, outcomes in done for one in outcomes) else 0


def _told(paper: Paper, place: int) -> Outcome:
    """Compute an item and print how it went."""
    item = paper.items[place]
    print(f"{paper.name} {place + 1}/{len(paper.items)} {item.place}: ", end="", flush=True)
    one = outcome(paper, place)
    if one.found is None:
        print(f"FAILED after {one.seconds:.0f} s: {one.error}", flush=True)
    else:
        counts = Counter(row.verdict for row in one.found.rows)
        said = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
        print(f"{said} ({one.seconds:.0f} of at most {item.seconds} s)", flush=True)
    return one


if __name__ == "__main__":
    sys.exit(main())
