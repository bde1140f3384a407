"""Records of modules that no dump holds."""

from xlareport.analysis.modules.summary import ModuleFigures
from xlareport.records.module_outline import SnapshotRecord
from xlareport.records.report import (
    DumpRecord,
    GeneratorRecord,
    ModuleRecord,
    ReportRecord,
)


def stage(
    instructions: int | None, *, changed: bool | None = None, label: str = "stage"
) -> SnapshotRecord:
    return SnapshotRecord(
        sequence=None,
        pipeline=None,
        after=None,
        before=None,
        label=label,
        changed=changed,
        instructions=instructions,
        computations=1,
        added=0,
        removed=0,
        modified=0,
        files=("a.txt",),
    )


def module(role_name: str, *stages: SnapshotRecord) -> ModuleRecord:
    return ModuleRecord(
        key="k",
        slug="k",
        id=1,
        name="jit_f",
        timestamp=None,
        role=role_name,
        role_reason="said so",
        rank=1,
        backend="cpu",
        frontend="jax",
        stages=stages,
        final=ModuleFigures(instructions=7),
        files=(),
    )


def report(*modules: ModuleRecord, backends: tuple[str, ...] = ("tpu",)) -> ReportRecord:
    dump = DumpRecord("d", 3, 2048, backends, ("jax",))
    return ReportRecord(1, GeneratorRecord("xlareport", "0"), dump, None, modules, (), ())
