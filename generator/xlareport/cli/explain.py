"""`xlareport explain`: names taken apart, part by part, for people and for scripts."""

from collections.abc import Mapping, Sequence
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from xlareport.cli.explanation import Explanation, explain
from xlareport.cli.terminal import printable, say_json
from xlareport.dump.tokens import Token

_FIELDS = (
    "stage", "module_id", "module_name", "timestamp", "build", "sequence", "pipeline", "after",
    "before", "target", "kernel", "format", "frontend",
)  # fmt: skip
_SEPARATES = "A sign that separates the parts."
_COLOURS = {
    "module_id": "cyan",
    "sequence": "magenta",
    "pipeline": "magenta",
    "after": "green",
    "before": "yellow",
    "stage": "green",
    "kernel": "blue",
    "word": "dim",
}


@click.command(name="explain", context_settings={"ignore_unknown_options": True})
@click.argument("names", nargs=-1, required=True, metavar="NAME...", type=click.UNPROCESSED)
@click.option("--json", "as_json", is_flag=True, help="Print a list with the parts of each NAME.")
def command(names: tuple[str, ...], *, as_json: bool) -> None:
    """Explain what NAME means: a file of a dump, a module, a pass, an opcode or a flag."""
    explained = [explain(name) for name in names]
    if as_json:
        say_json([_record(one) for one in explained])
        return
    console = Console(highlight=False, emoji=False, soft_wrap=True)
    for one in explained:
        _show(console, one)


def _record(one: Explanation) -> Mapping[str, Any]:
    found = {field: getattr(one.file, field, None) for field in _FIELDS}
    found |= {"module_name": one.module_name, "frontend": one.frontend}
    tokens = [{"text": token.text, "meaning": token.meaning or _SEPARATES} for token in one.tokens]
    return {"name": one.name, "kind": one.kind, **found, "tokens": tokens}


def _show(console: Console, one: Explanation) -> None:
    title = Text(printable(one.name), style="bold")
    console.print(title.append(f"  ({one.kind})", style="dim"))
    _sentences(console, [one.summary] if one.summary else [])
    told = [token for token in one.tokens if token.meaning]
    if console.is_terminal:
        console.print(_table(told))
    else:
        _plain_lines(console, told)
    _sentences(console, one.notes)
    console.print()


def _sentences(console: Console, sentences: Sequence[str]) -> None:
    for sentence in sentences:
        console.print(Text(f"  {printable(sentence)}"))


def _table(tokens: Sequence[Token]) -> Table:
    table = Table(show_header=False, box=None, pad_edge=False, padding=(0, 2))
    table.add_column(overflow="fold", max_width=40)
    table.add_column(overflow="fold")
    for token in tokens:
        style = _COLOURS.get(token.field, "bold")
        table.add_row(
            Text(f"  {printable(token.text)}", style=style), Text(printable(token.meaning))
        )
    return table


def _plain_lines(console: Console, tokens: Sequence[Token]) -> None:
    width = max((len(printable(token.text)) for token in tokens), default=0)
    for token in tokens:
        text = printable(token.text)
        console.print(Text(f"  {text:<{min(width, 40)}}  {printable(token.meaning)}"))
