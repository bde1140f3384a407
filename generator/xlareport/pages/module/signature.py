"""What goes into a module and comes out, and whether its weights are in it."""

from dataclasses import dataclass

from xlareport.analysis.modules.signature import Argument, Signature
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.analysis.modules.weights import EmbeddedConstant
from xlareport.pages.tables import Column, Table
from xlareport.runtime import units

_STATIC_ROWS = 50
_WEIGHTY = 4096
"""Bytes of constants from which on some weights are said to be embedded."""
_NOT_A_SCALAR = 64
"""Bytes of a constant that is named."""


@dataclass(frozen=True, slots=True)
class SignaturePart:
    """What goes into a module and comes out."""

    words: str
    weights_words: str
    constants: tuple[EmbeddedConstant, ...]
    arguments: tuple[Argument, ...]
    """Empty where they are many, and have a table."""


def signature_part(summary: ModuleSummary) -> SignaturePart:
    """Return what a module takes and returns."""
    return SignaturePart(
        words=_signature_words(summary.signature),
        weights_words=_weights_words(summary),
        constants=_constants(summary),
        arguments=() if has_many(summary) else summary.signature.arguments,
    )


def has_many(summary: ModuleSummary) -> bool:
    """Return whether the arguments are too many for the page itself."""
    return len(summary.signature.arguments) > _STATIC_ROWS


def _signature_words(signature: Signature) -> str:
    if not signature.arguments and not signature.results:
        return "No snapshot with an entry computation could be read."
    taken, result = (
        units.byte_size(signature.argument_bytes),
        units.byte_size(signature.result_bytes),
    )
    given = f"{units.plural(len(signature.arguments), 'argument')} ({taken})"
    returned = f"{units.plural(len(signature.results), 'result')} ({result})"
    text = f"It takes {given} and returns {returned}."
    same = signature.returned_arguments
    if same:
        have = units.plural(same, "result has", "results have")
        text += f" {have} the shape of an argument."
    donated = sum(argument.donated for argument in signature.arguments)
    if donated:
        text += f" {units.plural(donated, 'argument')} may be overwritten by a result (donated)."
    return text


def _weights_words(summary: ModuleSummary) -> str:
    """Answer whether the weights are in there."""
    weights, given = summary.features.weights, summary.signature
    if not summary.features.content:
        return ""
    arguments = units.plural(len(given.arguments), "parameter")
    come = "comes in as an argument" if len(given.arguments) == 1 else "come in as arguments"
    come_in = f"{arguments} of {units.byte_size(given.argument_bytes)} {come} when it runs"
    if not given.arguments:
        come_in = "nothing comes in when it runs"
    if not weights.constants and _is_drawn(summary):
        return (
            f"Are the weights in here? {come_in[0].upper()}{come_in[1:]}. Whether constants are "
            "embedded is not known: the drawings that were read leave them out."
        )
    if not weights.constants:
        return f"Are the weights in here? No: {come_in}, and no constant is embedded."
    embedded = f"{units.plural(weights.constants, 'constant')} of {units.byte_size(weights.bytes)}"
    verdict = "Partly" if weights.bytes >= _WEIGHTY else "No"
    are = "is" if weights.constants == 1 else "are"
    answer = f"{come_in}; {embedded} {are} embedded, and nothing else."
    return f"Are the weights in here? {verdict}: {answer}"


def _is_drawn(summary: ModuleSummary) -> bool:
    """Say whether all files of the snapshots are drawings."""
    paths = [artifact.path for each in summary.stages for artifact in each.stage.artifacts]
    return all(path.endswith((".dot", ".html", ".url")) for path in paths)


def _constants(summary: ModuleSummary) -> tuple[EmbeddedConstant, ...]:
    """Return the largest constants, where there are any that could be weights."""
    return tuple(
        embedded_constant
        for embedded_constant in summary.features.weights.largest
        if embedded_constant.bytes >= _NOT_A_SCALAR
    )


def arguments_table(signature: Signature) -> Table:
    """Return the table of the arguments."""
    columns = (
        Column("#", "int"),
        Column("Argument", "code"),
        Column("Shape", "code", of="shape"),
        Column("Size", "bytes"),
        Column("Donated"),
    )
    rows = [
        (
            argument.number,
            argument.label,
            argument.shape,
            argument.bytes,
            "yes" if argument.donated else "no",
        )
        for argument in signature.arguments
    ]
    return Table(columns, rows)
