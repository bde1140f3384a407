"""The code of a module: its files read, linked with what it runs, and what a page shows of it."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from xlareport.analysis.code.mosaic import mosaic_calls, mosaic_links
from xlareport.analysis.code.reading import code_file
from xlareport.analysis.code.units import module_code
from xlareport.pages.code.page import CodeSummary, summary_of
from xlareport.pages.code.payload import code_payloads
from xlareport.program import ParsedModule, read_code, read_nameless
from xlareport.runtime.errors import Problem
from xlareport.storage.payloads import Payload


@dataclass(frozen=True, slots=True)
class CodeWork:
    """What the files of code beside a module gave."""

    summary: CodeSummary | None
    payloads: tuple[Payload, ...] = ()
    read: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


def code_work(module: ParsedModule, kept: AbstractSet[str]) -> CodeWork:
    """Read and link the files of code; nothing where there are none and nothing runs in order.

    `kept` are the paths of the texts that the report holds anyway.
    """
    if module.final is None:
        return CodeWork(None)
    hlo = module.final.hlo
    texts, problems = read_code(module.files)
    nameless, more = read_nameless(module.files) if mosaic_calls(hlo) else ((), ())
    kernels = [*mosaic_links(nameless, hlo, alone=module.files.is_alone)]
    if not texts and not kernels and not module.code.thunks:
        return CodeWork(None)
    linked = module_code(hlo, [code_file(one) for one in texts], module.code, kernels)
    own = {one.file.path for one in linked.links}
    contents = {
        one.artifact.path: one.content
        for one in (*texts, *nameless)
        if one.content is not None and one.artifact.path in own
    }
    payloads = tuple(code_payloads(module.files.slug, hlo, linked, contents, kept))
    return CodeWork(summary_of(linked), payloads, tuple(contents), (*problems, *more))
