"""What the readers of snapshots promise: a module or a problem, and a module that can be used."""

from dialects import compact_operands

from xlareport.hlo.graph import called_computations
from xlareport.hlo.model import HloModule
from xlareport.hlo.snapshot_reading import SnapshotReader


def check_reading(reader: SnapshotReader, data: bytes) -> None:
    """Read the data twice and ask for all that the module can tell."""
    module = reader.read(data, "a")
    assert module is not None or reader.problems
    assert all(one.path == "a" for one in reader.problems)
    assert reader.read(data, "a") is module
    if module is not None:
        everything(module)


def everything(module: HloModule) -> None:
    """Ask for all that is derived on first use."""
    _ = (module.attributes, module.by_name, module.entry, module.instruction_count)
    for computation in module.computations:
        _ = (computation.by_name, computation.root, computation.parameters, computation.users)
        compact_operands(computation)
        for one in computation.instructions:
            _ = (one.attributes, one.operand_names, one.called, one.metadata)
            _ = (one.shape.byte_size, one.shape.element_count)
    called_computations(module, module.instructions)
