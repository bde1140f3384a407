"""What is at hand of each module of a large dump, and what is not."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from xlareport.records.module_outline import ModuleOutline
from xlareport.records.report import ModuleRecord, StoredRecords
from xlareport.report import BuildOptions, read_report

TYPED = {*ModuleOutline.__struct_fields__}
CUT = {"files", "stages", "findings"}
"""Of which an outline has a part."""
LARGE = {*ModuleRecord.__struct_fields__} - TYPED


def test_an_outline_has_what_its_type_says_and_no_more(unpacked: Callable[[str], Path]) -> None:
    large: dict[str, Any] = dict.fromkeys(LARGE, ("large",))
    modules = [
        replace(module, **large)
        for module in read_report(unpacked("jax-cpu-two-runs"), BuildOptions()).modules
    ]
    stored = StoredRecords(resident=0).extend(modules)

    assert list(stored) == modules
    for module, outline in zip(modules, stored.outlines, strict=True):
        for name in TYPED - CUT:
            assert getattr(outline, name) == getattr(module, name)
        assert len(outline.stages) == len(module.stages)
        assert not any(hasattr(outline, name) for name in LARGE)
    assert {"cost", "kernels", "shardings", "tpu"} <= LARGE
