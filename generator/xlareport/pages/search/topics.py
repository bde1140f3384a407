"""Search words for the sections on the main program."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from xlareport.pages import navigation
from xlareport.pages.cost.page import cost_parts
from xlareport.records.report import ModuleRecord
from xlareport.runtime.resources import read_toml


def search_topics(module: ModuleRecord) -> Iterator[list[Any]]:
    """Yield title, address and words of each section that the module's page has."""
    parts = {*cost_parts(module), *_other_parts(module)}
    has_loops = module.cost is None or bool(module.cost.loops)
    for title, topic in _topics().items():
        anchor = topic["anchor"] if "anchor" in topic else _step_of(module, topic["passes"])
        if topic["part"] in parts and anchor is not None:
            page = navigation.module_address(module.slug, topic["part"])
            mark = f"#{anchor}" if anchor else ""
            lacking = [] if has_loops or anchor != "loops" else [_NO_LOOPS]
            spaces = _spaces(module) if (topic["part"], mark) == ("memory", "") else []
            yield [title, f"{page}{mark}", [*lacking, *topic["words"], *spaces]]


def _step_of(module: ModuleRecord, passes: Sequence[str]) -> str | None:
    """Return the anchor of the last step of the first pass that changed the module, if any did."""
    steps = {stage.after: stage.sequence for stage in module.stages if stage.changed}
    numbers = (steps.get(name) for name in passes)
    return next((f"step={number:04d}" for number in numbers if number is not None), None)


_NO_LOOPS = "the final module has no while loop"


def _spaces(module: ModuleRecord) -> list[str]:
    """Return the short names of the memory spaces, such as `VMEM`."""
    spaces = module.cost.memory.spaces if module.cost else ()
    return [space.name.partition(",")[0] for space in spaces]


def _other_parts(module: ModuleRecord) -> Iterator[str]:
    """Yield the parts that a module has beside those on cost."""
    if module.steps:
        yield from ("steps", "passes")
    if module.kernels:
        yield "kernels"
    if module.collectives:
        yield "collectives"
    if module.shardings is not None:
        yield "shardings"


@cache
def _topics() -> dict[str, Any]:
    """Return the table."""
    return read_toml(__package__, "topics.toml")
