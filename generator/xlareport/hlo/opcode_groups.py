"""All opcodes, and groups of them that several parts of the report treat in the same way."""

from importlib.resources import files

OPCODES = frozenset(files(__package__).joinpath("opcodes.txt").read_text("ascii").split())
"""Opcodes as in HLO text; a module may still have others."""

BOUNDARIES = frozenset({"get-tuple-element", "parameter", "tuple"})
"""Opcodes that only bring values into a computation and out of it."""

TUPLES = frozenset({"get-tuple-element", "tuple"})
"""They only group values, or take them out of a group."""

ALIASES = frozenset({"bitcast", "get-tuple-element"})
"""Their result is in the memory of an operand."""

NO_CODE = frozenset({"bitcast", "constant", "get-tuple-element", "parameter", "tuple"})
"""Opcodes that run nothing and move nothing."""

SAME_ORDER = frozenset({"bitcast", "reshape"})
"""Opcodes that give an array other dimensions and keep the order of its elements."""

REARRANGEMENTS = SAME_ORDER | {"copy", "transpose"}
"""Their result has the elements of the operand, each once."""

COMMUTATIVE = frozenset({"add", "and", "maximum", "minimum", "multiply", "or", "xor"})
"""Opcodes of two operands that may change places."""

MOVES = REARRANGEMENTS | {"broadcast", "reverse", "slice"}
"""Their result consists of elements of the operand."""

PLAIN = MOVES - {"reverse", "slice"} | {"constant", "iota"} | BOUNDARIES
"""They make or pass on values without computing any."""

CONTROL_FLOW = frozenset({"call", "conditional", "while"})
"""Opcodes that run other computations as part of the caller."""

RUNNERS = CONTROL_FLOW | {"async-start"}
"""Opcodes that run other computations whose instructions access memory individually."""

WRAPPERS = frozenset({"async-start", "fusion"})
"""Opcodes whose operands are the parameters of what they call."""

DENSE_PRODUCTS = frozenset({"convolution", "dot"})
"""Matmuls and convolutions of whole arrays, without groups of rows or scales."""

MATRIX_PRODUCTS = DENSE_PRODUCTS | {"ragged-dot", "scaled-dot"}
"""Matmuls and convolutions."""

CONTRACTIONS = DENSE_PRODUCTS | {"ragged-dot"}
"""Products that sum over dimensions of their operands, without scales."""

DEVICE_IDS = frozenset({"partition-id", "replica-id"})
"""Their result is the number of the device."""

REDUCING_COLLECTIVES = frozenset({"all-reduce", "reduce-scatter"})
"""Collectives that combine the values of devices by a computation."""

COMBINED_COLLECTIVES = REDUCING_COLLECTIVES | {"all-gather"}
"""Collectives for which XLA has a combiner pass."""
