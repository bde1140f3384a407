"""A comparison for machines and comments: JUnit XML, and Markdown of a screen."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement, tostring

from xlareport.pages import words
from xlareport.pages.compare.first_page import (
    MOST_CAUSES,
    ComparePage,
    compare_page,
    describe_effect,
)
from xlareport.pages.compare.module_page import describe_slowest
from xlareport.pages.rendering.environment import visible
from xlareport.records.budgets import Budget
from xlareport.records.compare import ComparisonRecord

_BREACHES = 10
_FIGURES = 16


def junit(view: ComparisonRecord, budgets: tuple[Budget, ...]) -> bytes:
    """Return a test suite with a case for each budget: failed, skipped or passed."""
    broken = {breach.budget for breach in view.breaches}
    skipped = {gap.budget for gap in view.unchecked} - broken
    suite = Element("testsuite", name="xlareport compare", tests=str(len(budgets)))
    suite.set("failures", str(len(broken)))
    suite.set("skipped", str(len(skipped)))
    for budget in budgets:
        case = SubElement(suite, "testcase", classname="budget", name=visible(budget.text))
        if budget.text in skipped:
            reasons = (gap.reason for gap in view.unchecked if gap.budget == budget.text)
            SubElement(case, "skipped", message=visible(" ".join(reasons)))
        for breach in view.breaches:
            if breach.budget == budget.text:
                message = visible(breach.sentence)
                SubElement(case, "failure", message=message).text = message
    return bytes(tostring(suite, encoding="utf-8", xml_declaration=True))


def markdown(view: ComparisonRecord) -> str:
    """Return a summary for a comment on a change or the summary of a job."""
    return "\n".join(_result_lines(view)) + "\n"


def _result_lines(view: ComparisonRecord) -> Iterator[str]:
    page = compare_page(view)
    yield "### XLA compilation: base vs head"
    yield ""
    yield f"**{page.lead}**"
    yield from (f"- {_escaped(line)}" for line in judgement_lines(page))
    if view.breaches:
        yield ""
        yield f"**{len(view.breaches)} over budget:**"
        for breach in view.breaches[:_BREACHES]:
            yield f"- {_escaped(breach.sentence)} Budget: {_code(breach.budget)}"
    if view.unchecked:
        yield ""
        yield f"**{len(view.unchecked)} not checked:**"
        for gap in view.unchecked[:_BREACHES]:
            yield f"- {_code(gap.budget)}: {_escaped(gap.reason)}"
    if view.causes:
        yield ""
        yield "**Causes:**"
        for cause in view.causes[:MOST_CAUSES]:
            effect = describe_effect(cause.effect)
            costs = f" **{_escaped(effect)}.**" if effect else ""
            yield f"- {_sentence(cause.sentence)}{costs} ({cause.grade})"
    if page.figures and view.main and view.main.has_page:
        yield ""
        yield f"| {_code(words.short_name(view.main.name))} | base | head | change |"
        yield "|---|---:|---:|---:|"
        for figure in page.figures[:_FIGURES]:
            yield f"| {figure.label} | {figure.base} | {figure.head} | {figure.change} |"
        slower = list(describe_slowest(view.main))
        if slower:
            yield ""
            yield "**Slower:**"
            yield from (f"- {_escaped(text)}" for text in slower)
    yield ""
    yield page.counts


def judgement_lines(page: ComparePage) -> Iterator[str]:
    """Yield time and memory, each with its basis and grade."""
    for label, judged in (("Time", page.time), ("Memory", page.memory)):
        if judged is not None and judged.headline:
            figures = f" ({judged.figures})" if judged.figures else ""
            yield f"{label}: {judged.headline}{figures}; {judged.basis} [{judged.grade}]"


def _sentence(sentence: str) -> str:
    """Return a sentence escaped, with names in backticks as code."""
    pieces = sentence.split("`")
    if len(pieces) % 2 == 0:
        return _escaped(sentence)
    return "".join(
        _code(piece) if place % 2 else _escaped(piece) for place, piece in enumerate(pieces)
    )


def _code(text: str) -> str:
    return f"`{visible(text).replace('`', chr(0x2019)).replace('|', chr(0xA6))}`"


def _escaped(text: str) -> str:
    """Return text escaped for Markdown, including links and mentions."""
    marks = "\\`*_{}[]<>#|~@:"
    return "".join(f"\\{mark}" if mark in marks else mark for mark in visible(text))
