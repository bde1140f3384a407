"""Operations that a compiler computes by matmuls of its own sizes, such as FFTs on a TPU."""

from xlareport.hlo.model import Instruction

_OPERATIONS = {
    "cholesky": "a Cholesky decomposition",
    "eigh": "an eigendecomposition",
    "fft": "an FFT",
    "householder_product": "a QR decomposition",
    "lu": "an LU decomposition",
    "qr": "a QR decomposition",
    "svd": "a singular value decomposition",
    "triangular_solve": "a triangular solve",
}
"""By the end of the op_name, as JAX writes it."""


def name_expanded(instruction: Instruction) -> str:
    """Return the operation that an instruction is a part of; empty if its op_name has none."""
    last = instruction.metadata.op_name.rpartition("/")[2]
    return _OPERATIONS.get(last.removeprefix("jit(").removesuffix(")"), "")
