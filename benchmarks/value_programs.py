"""Programs that compute the arrays of one computation, for XLA to run on the CPU.

Fusions and calls are inlined. What the CPU cannot run alone, such as loops, collectives, custom
calls and parameters, is an input: its values are random. Layouts are left out, so a bitcast of
another layout than the default one is an input too.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.shape import without_layout

_VARIABLE = re.compile(r"%(v\d+)\b")
_RUN = frozenset(
    {
        *("abs", "add", "and", "atan2", "bitcast-convert", "broadcast", "cbrt", "ceil", "clamp"),
        *("clz", "compare", "complex", "concatenate", "constant", "convert", "convolution", "copy"),
        *("cosine", "divide", "dot", "dynamic-slice", "dynamic-update-slice", "erf"),
        *("exponential", "exponential-minus-one", "floor", "gather", "imag", "iota", "is-finite"),
        *("log", "log-plus-one", "logistic", "map", "maximum", "minimum", "multiply", "negate"),
        *("not", "or", "pad", "popcnt", "power", "real", "reduce", "reduce-precision"),
        *("reduce-window", "remainder", "reshape", "reverse", "round-nearest-afz"),
        *("round-nearest-even", "rsqrt", "scatter", "select", "select-and-scatter", "shift-left"),
        *("shift-right-arithmetic", "shift-right-logical", "sign", "sine", "slice", "sort", "sqrt"),
        *("subtract", "tan", "tanh", "transpose", "xor"),
    }
)
"""Opcodes that the CPU runs as they stand."""
_ENTERED = frozenset({"call", "fusion"})
_RENAMING = frozenset(
    {"add-dependency", "copy-done", "copy-start", "optimization-barrier", "tuple"}
)
"""Opcodes whose results are their operands."""
_ROUNDING = frozenset({"reduce-precision"})
"""Passed on where all floats are of 64 bits."""
_OF_BITS = frozenset({"bitcast-convert"})
"""Depend on the number of bits."""
_FLOAT = re.compile(r"\b(?:bf16|f16|f32|f8e\w+)(?=\[)")
_KEPT_ATTRIBUTES = frozenset(
    {
        *("batch_group_count", "dim_labels", "dimensions", "direction", "dynamic_slice_sizes"),
        *("exponent_bits", "feature_group_count", "index_vector_dim", "indices_are_sorted"),
        *("inserted_window_dims", "iota_dimension", "is_stable", "lhs_batch_dims"),
        *("lhs_contracting_dims", "mantissa_bits", "offset_dims", "collapsed_slice_dims"),
        *("start_index_map", "operand_batching_dims", "start_indices_batching_dims", "padding"),
        *("rhs_batch_dims", "rhs_contracting_dims", "scatter", "scatter_dims_to_operand_dims"),
        *("input_batching_dims", "scatter_indices_batching_dims", "select", "slice", "slice_sizes"),
        *("to_apply", "type", "unique_indices", "update_window_dims", "window"),
    }
)
_LEFT_OUT = "{...}"
"""Stands for the elements of a large constant."""
_DEVICES = frozenset({"partition-id", "replica-id"})
_DEEPEST = 8
_MOST_LINES = 4_000


class UnusableError(Exception):
    """A computation that is too large, or that is written in a form without operands."""


@dataclass(frozen=True)
class Source:
    """An input of a program: where its value stands, and its shape without a layout.

    The number of a device stands at one place, its opcode, for it is one value in a program.
    """

    place: Place
    shape: str


Value = str | list["Value"] | None
"""A variable, the elements of a tuple, or what is not known."""


@dataclass
class ValueProgram:
    """The arrays that a computation of a module computes, each as a variable of one program."""

    module: HloModule
    root: str
    given: Collection[Place | None] = ()
    """Instructions that are inputs, whatever they compute."""
    widened: bool = False
    """All floats are of 64 bits: then equal values differ by rounding alone."""
    lines: list[str] = field(default_factory=list)
    sources: dict[str, Source] = field(default_factory=dict)
    """By variable."""
    variables: dict[Place, str] = field(default_factory=dict)
    """The variable of each array that the computation computes, or what it calls once."""
    shapes: dict[str, str] = field(default_factory=dict)
    inputs: dict[str, frozenset[str]] = field(default_factory=dict)
    """The sources that each variable depends on."""
    _called: dict[str, str] = field(default_factory=dict)
    _entered: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Inline everything; raise UnusableError for what cannot be written as a program."""
        self._evaluate(self.module.by_name[self.root], None, 0)

    def text(self, outputs: Sequence[str]) -> tuple[str, list[str]]:
        """Return the HLO text that returns these variables, and the sources that it takes."""
        needed, kept = set(outputs), list[str]()
        for line in reversed(self.lines):
            variables = _VARIABLE.findall(line)
            if variables[0] in needed:
                kept.append(line)
                needed.update(variables)
        taken = [name for name in self.sources if name in needed]
        shapes = f"({', '.join(self.shapes[name] for name in outputs)})"
        lines = [
            f"  %{name} = {self.sources[name].shape} parameter({number})"
            for number, name in enumerate(taken)
        ]
        lines += reversed(kept)
        lines.append(f"  ROOT %out = {shapes} tuple({', '.join(f'%{name}' for name in outputs)})")
        given = ", ".join(f"{name}: {self.sources[name].shape}" for name in taken)
        entry = "\n".join((f"ENTRY %main ({given}) -> {shapes} {{", *lines, "}"))
        return "\n\n".join(("HloModule m", *self._called.values(), entry)), taken

    def _evaluate(self, home: Computation, arguments: Sequence[Value] | None, depth: int) -> Value:
        """Add what a computation computes; return its result."""
        if depth > _DEEPEST or len(self.lines) > _MOST_LINES:
            raise UnusableError(home.name)
        known: dict[str, Value] = {}
        again = home.name in self._entered
        self._entered.add(home.name)
        for line in home.instructions:
            if any("#" in operand for operand in line.operands):
                raise UnusableError(home.name)
            place = Place(home.name, line.name)
            operands = [known.get(name) for name in line.operands]
            if line.opcode == "parameter" and arguments is not None:
                value = arguments[int(line.argument)]
            elif place in self.given:
                value = self._source(place, self._shape(line))
            elif line.opcode in _ENTERED and len(line.called) == 1:
                value = self._evaluate(self._callee(line), operands, depth + 1)
            else:
                value = self._value(home, line, operands)
            known[line.name] = value
            if again:
                self.variables.pop(place, None)
            elif isinstance(value, str) and not self.shapes[value].startswith("("):
                self.variables[place] = value
        return None if home.root is None else known.get(home.root.name)

    def _callee(self, line: Instruction) -> Computation:
        return self.module.by_name[line.called[0][1]]

    def _value(self, home: Computation, line: Instruction, operands: list[Value]) -> Value:
        if line.opcode in _RENAMING or (self.widened and line.opcode in _ROUNDING):
            return self._passed(line, operands)
        first = operands[0] if operands else None
        if line.opcode == "get-tuple-element" and isinstance(first, list):
            return first[int(line.attributes["index"])]
        arrays = [operand for operand in operands if isinstance(operand, str)]
        operation = self._operation(home, line, arrays) if len(arrays) == len(operands) else ""
        if operation:
            return self._add(line, operation, arrays)
        if line.opcode in _DEVICES:
            return self._device(line)
        return self._source(Place(home.name, line.name), self._shape(line))

    def _passed(self, line: Instruction, operands: list[Value]) -> Value:
        """Return the value of what computes none; of the start of a copy a tuple."""
        first = operands[0] if operands else None
        if line.opcode == "tuple":
            return operands
        if line.opcode == "copy-start":
            return [first, first, None]
        is_copy = line.opcode == "copy-done" and isinstance(first, list)
        return first[0] if is_copy and isinstance(first, list) else first

    def _shape(self, line: Instruction) -> str:
        shape = without_layout(line.shape.text)
        return self._wide(shape) if self.widened else shape

    @staticmethod
    def _wide(shape: str) -> str:
        return _FLOAT.sub("f64", shape).replace("c64[", "c128[")

    def _device(self, line: Instruction) -> Value:
        place = Place(line.opcode, "")
        known = (name for name, source in self.sources.items() if source.place == place)
        return next(known, None) or self._source(place, self._shape(line))

    def _operation(self, home: Computation, line: Instruction, arrays: Sequence[str]) -> str:
        """Return an instruction as a program runs it; empty for what is an input."""
        if line.opcode == "get-tuple-element":
            return f"get-tuple-element(%{arrays[0]}), index={line.attributes['index']}"
        if line.opcode == "bitcast":
            return self._bitcast(home, line, arrays[0])
        runs = line.opcode in _RUN and line.argument != _LEFT_OUT
        runs = runs and not (self.widened and line.opcode in _OF_BITS)
        return f"{line.opcode}{self._rest(line, arrays)}" if runs else ""

    def _bitcast(self, home: Computation, line: Instruction, array: str) -> str:
        """Return a bitcast as a reshape of its elements in the order of its operand's layout."""
        operand = home.operand(line)
        if operand is None or line.shape.element_type != operand.shape.element_type:
            return ""
        old, new = _order(operand), _order(line)
        if old is None or new is None:
            return ""
        kind, sizes = self._shape(line).rstrip("]").split("[")
        lengths = [size for size in sizes.split(",") if size]
        array = self._moved(array, old)
        if new == sorted(new):
            return f"reshape(%{array})"
        shape = f"{kind}[{','.join(lengths[number] for number in new)}]"
        ordered = self._step(shape, f"reshape(%{array})", array)
        back = [new.index(number) for number in range(len(new))]
        return f"transpose(%{ordered}), dimensions={{{','.join(map(str, back))}}}"

    def _moved(self, array: str, order: Sequence[int]) -> str:
        """Return the elements of an array with its dimensions in an order."""
        if list(order) == sorted(order):
            return array
        kind, sizes = self.shapes[array].rstrip("]").split("[")
        lengths = sizes.split(",")
        shape = f"{kind}[{','.join(lengths[number] for number in order)}]"
        numbers = ",".join(map(str, order))
        return self._step(shape, f"transpose(%{array}), dimensions={{{numbers}}}", array)

    def _step(self, shape: str, operation: str, array: str) -> str:
        """Add an operation that no instruction stands for."""
        name = self._named(shape)
        self.inputs[name] = self.inputs[array]
        self.lines.append(f"  %{name} = {shape} {operation}")
        return name

    def _source(self, place: Place, shape: str) -> Value:
        if "(" in shape or "[" not in shape or "<=" in shape:
            return None
        name = self._named(shape)
        self.sources[name] = Source(place, shape)
        self.inputs[name] = frozenset({name})
        return name

    def _add(self, line: Instruction, operation: str, read: Sequence[str]) -> str:
        for _, called in line.called:
            self._add_called(called)
        name = self._named(self._shape(line))
        self.inputs[name] = frozenset().union(*(self.inputs[operand] for operand in read))
        self.lines.append(f"  %{name} = {self.shapes[name]} {operation}")
        return name

    def _named(self, shape: str) -> str:
        name = f"v{len(self.shapes)}"
        self.shapes[name] = shape
        return name

    def _add_called(self, name: str) -> None:
        """Add the computation of a reduction or a sort."""
        if name in self._called:
            return
        home = self.module.by_name[name]
        lines = [self._called_line(home, line) for line in home.instructions]
        given = ", ".join(
            f"p{number}: {self._shape(line)}" for number, line in enumerate(home.parameters)
        )
        result = "" if home.root is None else self._shape(home.root)
        self._called[name] = "\n".join((f"%{name} ({given}) -> {result} {{", *lines, "}"))

    def _called_line(self, home: Computation, line: Instruction) -> str:
        if line.opcode in _ENTERED or (self.widened and line.opcode in _OF_BITS):
            raise UnusableError(home.name)
        for _, called in line.called:
            self._add_called(called)
        root = "ROOT " if line is home.root else ""
        rest = self._rest(line, line.operands)
        if line.opcode in ("get-tuple-element", "parameter"):
            rest = f"({line.argument or f'%{line.operands[0]}'})"
            rest += f", index={line.attributes['index']}" if line.operands else ""
        return f"  {root}%{line.name} = {self._shape(line)} {line.opcode}{rest}"

    def _rest(self, line: Instruction, operands: Sequence[str]) -> str:
        """Return operands and attributes as XLA writes them."""
        inside = ", ".join(f"%{operand}" for operand in operands) or line.argument
        return f"({inside}){_attributes(line.attributes)}"


def _attributes(attributes: Mapping[str, str]) -> str:
    kept = ((name, value) for name, value in attributes.items() if name in _KEPT_ATTRIBUTES)
    return "".join(f", {name}={value}" for name, value in kept)


def _order(line: Instruction) -> list[int] | None:
    """Return the dimensions of an array from major to minor; None without a layout of all."""
    if line.shape.text.startswith("(") or "<=" in line.shape.text:
        return None
    order = line.shape.layout.partition(":")[0].split(",")
    numbers = [int(number) for number in reversed(order) if number]
    sizes = without_layout(line.shape.text).partition("[")[2].rstrip("]")
    count = len(sizes.split(",")) if sizes else 0
    numbers = numbers or [*range(count)]
    return numbers if len(numbers) == count else None
