"""`xlareport compare`: what differs between two compilations, why, and whether it may."""

import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import to_builtins
from msgspec.structs import replace

from xlareport.cli.options import OUT_FILE, OUT_FOLDER, jobs_option, limit_options
from xlareport.cli.terminal import printable, progress_bar, say, say_json, write_output
from xlareport.runtime.limits import Limits

if TYPE_CHECKING:
    from xlareport.records.budgets import Budget
    from xlareport.records.compare import ComparisonRecord
    from xlareport.report import BuildOptions

_BREACH = 1
_CAUSES = 6


@click.command(name="compare")
@click.argument("base")
@click.argument("head")
@click.argument("more", nargs=-1)
@click.option(
    "--out",
    type=OUT_FOLDER,
    help="Write the site of the comparison there; by default, only print.",
)
@click.option("--fail-on", metavar="BUDGET", multiple=True, help="`peak_bytes > +5%`; repeatable.")
@click.option(
    "--config",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="A TOML file with budgets; else xlareport.toml and pyproject.toml of this folder.",
)
@click.option(
    "--profile-base",
    metavar="DIR",
    multiple=True,
    help="Profile of BASE; repeatable. Found automatically in or next to the dump.",
)
@click.option("--profile-head", metavar="DIR", multiple=True, help="Profile of HEAD.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.option("--junit", "junit_file", type=OUT_FILE, help="Write JUnit XML.")
@click.option(
    "--markdown",
    "markdown_file",
    type=OUT_FILE,
    help="Write a short Markdown summary for a comment or a job.",
)
@click.option("--strict", is_flag=True, help="A budget that cannot be checked counts as exceeded.")
@jobs_option
@click.option("--quiet", "-q", is_flag=True, help="No progress bar.")
@limit_options
def command(
    base: str,
    head: str,
    *,
    more: tuple[str, ...],
    out: Path | None,
    fail_on: tuple[str, ...],
    config: Path | None,
    profile_base: tuple[str, ...],
    profile_head: tuple[str, ...],
    as_json: bool,
    junit_file: Path | None,
    markdown_file: Path | None,
    strict: bool,
    jobs: int,
    quiet: bool,
    limits: Limits,
) -> None:
    """Compare the compilations in BASE and HEAD: dumps, reports, or packed reports.

    With MORE of them, write one table of their main programs, and name the outlier.

    A budget is `FIGURE > LIMIT`, `FIGURE[MODULE] > +5%` or `new:OPCODE`; MODULE is a name, a key,
    or `main`. `new:all-reduce` counts `all-reduce-start` too. Budgets can also be in the table
    [tool.xlareport.budgets], as a list `fail-on`. With --strict, a budget that cannot be checked,
    such as a peak that the dump does not have, counts as exceeded.

    Exit codes: 0 success, 1 a budget was exceeded, 2 wrong usage, 3 unreadable input.
    """
    from xlareport.compare import compare
    from xlareport.pages.compare.results import junit, markdown
    from xlareport.records.budgets import parse_budget
    from xlareport.report import BuildOptions

    options = BuildOptions(out=out or Path(), jobs=jobs, limits=limits)
    if more:
        _compare_many((base, head, *more), out, options, markdown_file, quiet=quiet, json=as_json)
        return
    budgets = tuple(parse_budget(text) for text in (*fail_on, *configured_budgets(config)))
    with progress_bar(quiet=quiet) as progress:
        profiles = profile_base, profile_head
        done = compare(base, head, options, progress, site=out is not None, profiles=profiles)
    view = _checked(done.view, budgets)
    if junit_file:
        write_output(junit_file, junit(view, budgets))
    if markdown_file:
        write_output(markdown_file, markdown(view))
    _print_comparison(view, out, json=as_json)
    broken = view.breaches or (strict and view.unchecked)
    click.get_current_context().exit(_BREACH if broken else 0)


def _checked(view: "ComparisonRecord", budgets: "Iterable[Budget]") -> "ComparisonRecord":
    """Return the comparison with the results of its budgets."""
    from xlareport.records.budgets import check

    checked = check(view, budgets)
    return replace(view, breaches=checked.breaches, unchecked=checked.unchecked)


def _print_comparison(view: "ComparisonRecord", out: Path | None, *, json: bool) -> None:
    for gap in view.unchecked:
        say(printable(f"Not checked: {gap.budget}. {gap.reason}"), err=True)
    if json:
        say_json(to_builtins(view))
    else:
        say("\n".join(map(printable, _answer(view, out))))


def _compare_many(
    places: tuple[str, ...],
    out: Path | None,
    options: "BuildOptions",
    markdown_file: Path | None,
    *,
    quiet: bool,
    json: bool,
) -> None:
    from xlareport.compare import compare_many
    from xlareport.pages.compare.sweep import sweep_lines, sweep_markdown

    with progress_bar(quiet=quiet) as progress:
        members = compare_many(places, options, progress, site=out is not None)
    if markdown_file:
        write_output(markdown_file, sweep_markdown(members))
    if json:
        say_json([to_builtins(member) for member in members])
        return
    say("\n".join(map(printable, sweep_lines(members))))
    if out is not None:
        say(f"Open {(out / 'site' / 'index.html').resolve()}.")


def configured_budgets(config: Path | None) -> Iterator[str]:
    """Yield the budgets of a file of settings; raises BudgetError where they are no list."""
    from xlareport.records.budgets import BudgetError

    candidates = [config] if config else [Path("xlareport.toml"), Path("pyproject.toml")]
    for path in candidates:
        if path.is_file():
            listed = _table(path, "tool", "xlareport", "budgets").get("fail-on", [])
            if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
                raise BudgetError(str(listed))
            yield from listed


def _table(path: Path, *names: str) -> dict[str, Any]:
    """Return a table of a TOML file, empty where it is not there; raises UsageError."""
    try:
        table: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError, OSError) as error:
        raise click.UsageError(f"{path} is no TOML that can be read: {error}.") from error
    for name in names:
        table = table.get(name, {})
        if not isinstance(table, dict):
            raise click.UsageError(f"{name} in {path} is no table.")
    return table


def _answer(view: "ComparisonRecord", out: Path | None) -> Iterator[str]:
    from xlareport.pages.compare.first_page import compare_page, describe_effect
    from xlareport.pages.compare.module_page import describe_slowest
    from xlareport.pages.compare.results import judgement_lines

    page = compare_page(view)
    yield page.lead
    yield from (f"  {line}" for line in judgement_lines(page))
    for place, cause in enumerate(view.causes[:_CAUSES], 1):
        effect = describe_effect(cause.effect)
        costs = f" {effect}." if effect else ""
        yield f"  {place}. {cause.sentence}{costs} [{cause.grade}]"
    if len(view.causes) > _CAUSES:
        yield f"  and {len(view.causes) - _CAUSES} more"
    if view.main and view.main.has_page:
        yield f"{view.main.name}:"
        for figure in page.figures:
            yield f"  {figure.label}: {figure.base} -> {figure.head} ({figure.change})"
        yield from (f"  {slowest_word}" for slowest_word in describe_slowest(view.main))
    yield page.counts
    for breach in view.breaches:
        yield f"Over budget: {breach.sentence} [{breach.budget}]"
    if out is not None:
        yield f"Open {(out / 'site' / 'index.html').resolve()}."
