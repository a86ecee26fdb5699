"""Whole networks on the presets: how many different layers are proven to have the least EDP, and in what time.

    python -m bench.hierarchy.networks [--networks resnet50,vit-base] [--archs gemmini-16] [--write FOLDER]

`resnet50` is in the catalogue; the others are made as ONNX files (`published_network`), in FOLDER if one is given,
where `mapper solve FOLDER/vit-base.onnx --arch gemmini-16` takes them. `--seconds` limits a network (60, the target).
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import onnx

import mapper
from bench.hierarchy.published_network import NETWORKS
from bench.measure import measure, show
from mapper import Search
from mapper.solver.hierarchy.exact.branch_and_bound import prepare

ARCHS = ("gemmini-16", "simba-like", "tpu-v4i", "eyeriss-like")
CATALOGUED = "resnet50"
HEADING = ("network", "machine", "different layers", "proven", "largest gap", "search CPU s", "wall s")


def written(folder: Path) -> dict[str, str]:
    """Every network as a workload: its name in the catalogue, or the file that it was written to."""
    found = {CATALOGUED: CATALOGUED}
    for name, make in NETWORKS.items():
        path = folder / f"{name}.onnx"
        onnx.save(make(), str(path))
        found[name] = str(path)
    return found


def line(name: str, workload: str, arch: str, seconds: float) -> tuple[str, ...]:
    """What came of one network on one machine."""
    search = Search(time_limit=seconds, workers=2)
    run = measure(lambda: mapper.solve(workload, arch, "edp", search=search))
    own = [part.certificate for part in run.result.parts if part.same_as is None]
    gaps = [one.gap for one in own]
    largest = "unknown" if None in gaps else f"{max(gap or 0.0 for gap in gaps):.2%}"
    proven, spent = sum(one.proven for one in own), sum(one.cpu_seconds for one in own)
    return name, arch, str(len(own)), str(proven), largest, f"{spent:.1f}", f"{run.wall:.1f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--networks", default=",".join((CATALOGUED, *NETWORKS)))
    parser.add_argument("--archs", default=",".join(ARCHS))
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--write", type=Path, help="keep the files in this folder")
    given = parser.parse_args()
    prepare()
    with tempfile.TemporaryDirectory() as own:
        folder = given.write or Path(own)
        folder.mkdir(parents=True, exist_ok=True)
        workloads = written(folder)
        lines = [
            line(name, workloads[name], arch, given.seconds)
            for name in given.networks.split(",")
            for arch in given.archs.split(",")
        ]
    show("Whole networks, least EDP, padding=auto", HEADING, lines)


if __name__ == "__main__":
    main()
