"""What the model holds of real snapshots, as text: a red test says that a reader changed."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from xlareport.hlo.dot import DotReader
from xlareport.hlo.model import HloModule
from xlareport.hlo.proto import ProtoReader
from xlareport.hlo.snapshot_reading import SnapshotReader
from xlareport.hlo.text import TextReader

ALL_FORMS = "jax-cpu-train-allformats"
SNAPSHOTS = (
    ("jax-0.12.txt", ALL_FORMS, "module_0002.jit_train_step.cpu_after_optimizations.txt"),
    ("jax-0.12.pb", ALL_FORMS, "module_0002.jit_train_step.cpu_after_optimizations.hlo.pb"),
    ("jax-0.12.dot", ALL_FORMS, "module_0002.jit_train_step.cpu_after_optimizations.dot"),
)


def reader_of(path: Path) -> SnapshotReader:
    readers = {".txt": TextReader, ".pb": ProtoReader, ".dot": DotReader}
    return readers[path.suffix]()


def told(module: HloModule) -> Iterator[str]:
    yield f"module {module.name}"
    yield from (f"  {name} = {value}" for name, value in module.attributes.items())
    for number, frame in module.stack_frames.items():
        place = f"{frame.file}:{frame.line}:{frame.column} {frame.function}"
        yield f"  frame {number} <- {frame.parent}: {place}"
    for computation in module.computations:
        entry = " entry" if computation is module.entry else ""
        yield f"computation {computation.name}{entry} on {computation.execution_thread}"
        for instruction in computation.instructions:
            root = "root " if instruction is computation.root else ""
            size = instruction.shape.byte_size
            shape = instruction.shape.text
            yield f"  {root}{instruction.name}: {instruction.opcode} {shape} of {size} bytes"
            if instruction.operands or instruction.argument:
                yield f"    from {', '.join(instruction.operands) or instruction.argument}"
            yield from (f"    {name} = {value}" for name, value in instruction.attributes.items())
            yield from (
                f"    calls {name} by {attribute}" for attribute, name in instruction.called
            )
            if instruction.metadata.op_name:
                yield f"    made by {instruction.metadata.op_name}"


@pytest.mark.parametrize(("name", "dump", "file"), SNAPSHOTS)
def test_models(
    name: str,
    dump: str,
    file: str,
    unpacked: Callable[[str], Path],
    snapshot: Callable[[str, str], None],
) -> None:
    (path,) = unpacked(dump).rglob(file)
    module = reader_of(path).read(path.read_bytes(), path.name)
    assert module is not None
    snapshot("".join(f"{line}\n" for line in told(module)), f"{name}.model")
