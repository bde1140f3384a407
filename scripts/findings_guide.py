"""Writes the sections of the rules in the guide: scripts/findings_guide.py [--check].

The docstring of a rule's module is its section in `site_src/guide/findings.md`: the first line is
the heading, the rest is the text. With --check nothing is written, and the exit code is 1 where the
guide is not current.
"""

import inspect
import sys
from collections.abc import Callable

from xlareport.analysis.findings.finding import rule_id
from xlareport.analysis.findings.recompilations import report_recompilation
from xlareport.analysis.findings.rules import OF_THE_PROGRAM, OF_THE_RESULT
from xlareport.runtime.resources import find_resource

GUIDE = find_resource("site_src") / "guide" / "findings.md"
RULES: dict[str, tuple[Callable[..., object], ...]] = {
    "input program": (*OF_THE_PROGRAM, report_recompilation),
    "compiler output": OF_THE_RESULT,
}
"""Rules by the name of the part of the guide that holds them."""


def write_section(rule: Callable[..., object]) -> str:
    """Return a rule's section in Markdown; the name of its module is its address in the page."""
    heading, _, text = (inspect.getdoc(inspect.getmodule(rule)) or "").partition("\n")
    paragraphs = (" ".join(part.split()) for part in text.strip().split("\n\n"))
    return "\n\n".join([f"### {heading.removesuffix('.')} {{ #{rule_id(rule)} }}", *paragraphs])


def write_guide(guide: str) -> str:
    """Return the guide with the sections of all rules written anew between their marks."""
    for part, rules in RULES.items():
        begin, end = f"<!-- rules: {part} -->\n", f"\n<!-- end of rules: {part} -->"
        before, _, rest = guide.partition(begin)
        sections = "\n\n".join(map(write_section, rules))
        guide = "".join([before, begin, "\n", sections, "\n", *rest.partition(end)[1:]])
    return guide


def main(arguments: list[str]) -> int:
    """Write the guide, or with --check compare it."""
    guide = GUIDE.read_text("utf-8")
    current = write_guide(guide)
    if "--check" in arguments:
        if guide != current:
            sys.stdout.write(f"{GUIDE.name} is not current: run scripts/findings_guide.py\n")
        return int(guide != current)
    GUIDE.write_text(current, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
