"""Whole networks to proven least EDP: wall seconds against the targets."""

from __future__ import annotations

from functools import partial

import mapper
from bench.measure import measure, peak_mebibytes, show

TARGET_WALL = {"resnet50": 30.0, "googlenet": 60.0, "vgg19": 60.0, "densenet121": 60.0}


def main() -> None:
    """Print the table."""
    mapper.solve("lenet5")
    lines = []
    for name, target in TARGET_WALL.items():
        run = measure(partial(mapper.solve, name, objective="edp"))
        certificate = run.result.certificate
        lines.append(
            [
                name,
                str(len(run.result.parts)),
                f"{certificate.value:.6e}",
                "yes" if certificate.proven else "NO",
                f"{run.wall:.2f}",
                f"{run.cpu:.2f}",
                f"{run.wall / target:.3f}",
            ]
        )
    heading = ["network", "layers", "sum of EDPs", "proven", "wall s", "CPU s", "wall / target"]
    show("Every convolution and the classifier, batch 1, reading included:", heading, lines)
    print(f"peak memory {peak_mebibytes():.0f} MiB")


if __name__ == "__main__":
    main()
