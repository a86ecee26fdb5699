"""A packing as a picture: a bar for each worker, with its jobs."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from mapper.reporting.drawing import figure, node, plain, svg
from tests.mapper.toy_kind.model import Packing
from tests.mapper.toy_kind.problem import PackingProblem

WIDTH, ROW = 480, 28


def packing_picture(problem: PackingProblem, packing: Packing) -> list[Element]:
    """Jobs side by side on their workers, as long as they take."""
    budgets = problem.machine.cycles
    scale = WIDTH / max(budgets)
    picture = svg(WIDTH, ROW * len(budgets), "jobs on workers", class_="packing")
    end = [0.0] * len(budgets)
    for worker, cycles in enumerate(budgets):
        picture.append(
            node("rect", x=0, y=ROW * worker, width=scale * cycles, height=ROW - 4, class_="whole")
        )
    for job, own in zip(problem.jobs.jobs, packing.worker, strict=True):
        if own is None:
            continue
        x, y = scale * end[own], ROW * own
        picture.append(node("rect", x=x, y=y, width=scale * job.cycles, height=ROW - 4, class_="used"))
        picture.append(node("text", plain(job.name, 20), x=x + 4, y=y + 16))
        end[own] += job.cycles
    return [figure(picture, "The jobs of each worker; what is left of a bar is time that it has over.")]
