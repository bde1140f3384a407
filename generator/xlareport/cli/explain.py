"""`xlareport explain`: explains names part by part, as text or JSON."""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from xlareport.cli.terminal import printable, say, say_json
from xlareport.dump.tokens import Token
from xlareport.explain import Explanation, explain_name, suggestions

_FIELDS = (
    "stage", "module_id", "module_name", "timestamp", "build", "sequence", "pipeline", "after",
    "before", "target", "kernel", "format", "frontend",
)  # fmt: skip
_SEPARATES = "A sign that separates the parts."
_COLORS = {
    "module_id": "cyan",
    "sequence": "magenta",
    "pipeline": "magenta",
    "after": "green",
    "before": "yellow",
    "stage": "green",
    "kernel": "blue",
    "word": "dim",
}

_IN_A_DUMP = (
    "Names of your own program are looked up in its dump: `xlareport skeleton DUMP --module NAME` "
    "for a module or function, `xlareport history DUMP NAME` for an instruction or op_name."
)


@click.command(name="explain", context_settings={"ignore_unknown_options": True})
@click.argument("names", nargs=-1, required=True, metavar="NAME...", type=click.UNPROCESSED)
@click.option("--json", "as_json", is_flag=True, help="Print a list with the parts of each NAME.")
def command(names: tuple[str, ...], *, as_json: bool) -> None:
    """Explain what NAME means: a file of a dump, a module, a pass, an opcode or a flag."""
    explained = [explain_name(name) for name in names]
    if as_json:
        say_json([_record(explanation) for explanation in explained])
    else:
        is_terminal = sys.stdout.isatty() or bool(os.environ.get("FORCE_COLOR"))
        show = _show_styled if is_terminal else _show
        for explanation in explained:
            show(explanation)
    unknown = [explanation.name for explanation in explained if explanation.is_unknown]
    if unknown:
        click.echo("\n".join([*map(_not_known, unknown), _IN_A_DUMP]), err=True)
        click.get_current_context().exit(2)


def _not_known(name: str) -> str:
    nearest = suggestions(name)
    meant = f" Did you mean {', '.join(map(printable, nearest))}?" if nearest else ""
    return f"Nothing is known of {printable(name)}.{meant}"


def _record(explanation: Explanation) -> Mapping[str, Any]:
    fields = {field: getattr(explanation.file, field, None) for field in _FIELDS}
    fields |= {"module_name": explanation.module_name, "frontend": explanation.frontend}
    tokens = [
        {"text": token.text, "meaning": token.meaning or _SEPARATES} for token in explanation.tokens
    ]
    return {"name": explanation.name, "kind": explanation.kind, **fields, "tokens": tokens}


def _show(explanation: Explanation) -> None:
    """Print an explanation as plain lines."""
    say(f"{explanation.name}  ({explanation.kind})")
    for sentence in _summary(explanation):
        say(f"  {sentence}")
    tokens = _explained(explanation)
    width = max((len(printable(token.text)) for token in tokens), default=0)
    for token in tokens:
        say(f"  {printable(token.text):<{min(width, 40)}}  {token.meaning}")
    for sentence in explanation.notes:
        say(f"  {sentence}")
    say("")


def _summary(explanation: Explanation) -> Sequence[str]:
    return [explanation.summary] if explanation.summary else []


def _explained(explanation: Explanation) -> Sequence[Token]:
    return [token for token in explanation.tokens if token.meaning]


def _show_styled(explanation: Explanation) -> None:
    """Print an explanation in color, its parts as a table."""
    from rich.console import Console  # rich is slow to import
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, emoji=False, soft_wrap=True)
    title = Text(printable(explanation.name), style="bold")
    console.print(title.append(f"  ({explanation.kind})", style="dim"))
    for sentence in _summary(explanation):
        console.print(Text(f"  {printable(sentence)}"))
    table = Table(show_header=False, box=None, pad_edge=False, padding=(0, 2))
    table.add_column(overflow="fold", max_width=40)
    table.add_column(overflow="fold")
    for token in _explained(explanation):
        style = _COLORS.get(token.field, "bold")
        table.add_row(
            Text(f"  {printable(token.text)}", style=style), Text(printable(token.meaning))
        )
    console.print(table)
    for sentence in explanation.notes:
        console.print(Text(f"  {printable(sentence)}"))
    console.print()
