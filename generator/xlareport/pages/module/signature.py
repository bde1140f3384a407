"""The arguments and results of a module, and whether it contains weights."""

from msgspec import Struct

from xlareport.analysis.modules.signature import Signature, has_parts
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.hlo.shape import is_float_type, parse_shape
from xlareport.pages.tables import Column, Table, tabulate
from xlareport.runtime import units

_STATIC_ROWS = 50
_WEIGHTY = 4096
"""Bytes of the largest constant from which the page says that weights are embedded."""
_NOT_A_SCALAR = 64
"""Bytes of a constant that is named."""


class SignaturePart(Struct, frozen=True):
    """The arguments and results of a module."""

    words: str
    weights_words: str
    constants: Table
    """The largest, where there are any that could be weights."""
    arguments: Table | None
    """None where they are many, and have a table of the page script."""


def signature_part(summary: ModuleSummary, padding: int = 0) -> SignaturePart:
    """Return the part on arguments and results; `padding` is the tile padding of the arguments."""
    return SignaturePart(
        words=_signature_words(summary.signature, summary.features.given, padding),
        weights_words=_weights_words(summary),
        constants=_constants_table(summary),
        arguments=None if has_many(summary) else tabulate_signature(summary.signature),
    )


def has_many(summary: ModuleSummary) -> bool:
    """Return whether the arguments are too many for the page itself."""
    return len(summary.signature.arguments) > _STATIC_ROWS


def _signature_words(signature: Signature, before: Signature, padding: int) -> str:
    if not signature.arguments and not signature.results:
        return "No snapshot with an entry computation could be read."
    taken, result = (
        units.byte_size(signature.argument_bytes),
        units.byte_size(signature.result_bytes),
    )
    padded = units.byte_size(signature.argument_bytes + padding)
    if padded != taken:
        taken, result = (f"{size} without tile padding" for size in (taken, result))
        taken = f"{taken}, {padded} with it"
    given = f"{units.plural(len(signature.arguments), 'argument')} ({taken})"
    returned = f"{units.plural(len(signature.results), 'result')} ({result})"
    text = f"Parameters: {given}. Results: {returned}."
    same = signature.returned_arguments
    if same:
        pair = units.plural(same, "result pairs", "results pair")
        with_them = "arguments" if same > 1 else "an argument"
        text += f" {pair} off with {with_them} of the same shape{_whole_words(signature, before)}."
    aliased = sum(argument.aliased for argument in signature.arguments)
    if aliased:
        text += (
            f" {units.plural(aliased, 'argument')} aliased with outputs (input_output_alias)"
            f"{_reshaped_words(signature.reshaped_aliases)}."
        )
    donors = sum(argument.donated and not argument.aliased for argument in signature.arguments)
    if donors:
        text += f" {units.plural(donors, 'argument')} donated without an alias (buffer_donor)."
    return text


def _whole_words(signature: Signature, before: Signature) -> str:
    """Return how many results pair off by whole shapes, if those are of one device."""
    if not has_parts(before, signature) or not before.returned_arguments:
        return ""
    return f" on each device, {before.returned_arguments:,} by their shapes before partitioning"


def _reshaped_words(number: int) -> str:
    return f", {number:,} of them with outputs of another shape" if number else ""


def _weights_words(summary: ModuleSummary) -> str:
    """Return whether weights are parameters or embedded constants."""
    weights, given = summary.features.weights, summary.signature
    if not summary.features.content:
        return ""
    arguments = units.plural(len(given.arguments), "parameter")
    passed = f"{arguments}, {units.byte_size(given.argument_bytes)}"
    if not weights.constants and _is_drawn(summary):
        return f"Weights: {passed}. Constants are not known: the graphs omit them."
    embedded = f"{units.plural(weights.constants, 'constant')} in the HLO"
    large = [constant for constant in weights.largest if constant.bytes >= _WEIGHTY]
    where = "not embedded"
    if any(is_float_type(parse_shape(constant.shape).element_type) for constant in large):
        where = "partly embedded"
    elif large:
        where = "not embedded, tables of other types are"
    return f"Weights are {where}: {passed}; {embedded}, {units.byte_size(weights.bytes)}."


def _is_drawn(summary: ModuleSummary) -> bool:
    """Return whether all files of the snapshots are drawings."""
    paths = [artifact.path for stage in summary.stages for artifact in stage.stage.artifacts]
    return all(path.endswith((".dot", ".html", ".url")) for path in paths)


def _constants_table(summary: ModuleSummary) -> Table:
    return tabulate(
        (
            constant
            for constant in summary.features.weights.largest
            if constant.bytes >= _NOT_A_SCALAR
        ),
        {
            Column("Embedded constant", of="instruction"): lambda row: row.name,
            Column("Shape", of="shape"): lambda row: row.shape,
            Column("Size", "bytes"): lambda row: row.bytes,
            Column("In", of="instruction"): lambda row: row.computation,
        },
    )


def tabulate_signature(signature: Signature) -> Table:
    """Return the table of the arguments."""
    return tabulate(
        signature.arguments,
        {
            Column("#", "int"): lambda row: row.number,
            Column("Argument", "code"): lambda row: row.label,
            Column("Shape", "code", of="shape"): lambda row: row.shape,
            Column("Size", "bytes"): lambda row: row.bytes,
            Column("Donated"): lambda row: "yes" if row.donated else "no",
        },
    )
