"""What `ptxas -v` 12.9.86 printed by hand for the kernels of four SM versions."""

import re
from pathlib import Path

from xlareport.readers.ptxas_output import CompiledKernel, read_ptxas_output

_EACH = re.compile(r"(?=^ptxas info {4}: Compiling entry function)", re.MULTILINE)


def listed_kernels(listing: Path) -> list[CompiledKernel]:
    """Return every kernel of a listing of many files; names of different files may be the same."""
    parts = _EACH.split(listing.read_text("utf-8"))
    return [kernel for part in parts for kernel in read_ptxas_output(part)]
