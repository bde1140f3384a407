"""Every generated file of the site of a comparison."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import starmap

from msgspec import to_builtins

from xlareport.pages import navigation
from xlareport.pages.compare.addresses import end_of
from xlareport.pages.compare.first_page import (
    COLLECTIVES,
    OPERATIONS,
    compare_page,
    tabulate_compared_modules,
)
from xlareport.pages.compare.module_page import compared_page
from xlareport.pages.compare.one_sided_collectives import collectives_table
from xlareport.pages.compare.operations import tabulate_operations
from xlareport.pages.glossary.page import WORDS, glossary_page, lexicon
from xlareport.pages.pictures.levels import picture_look
from xlareport.pages.pictures.requests import picture_files
from xlareport.pages.rendering.templates import render
from xlareport.pages.tables import table_file
from xlareport.pictures.draw import PictureResult
from xlareport.records.compare import ComparisonRecord
from xlareport.runtime.resources import find_resource
from xlareport.storage.payloads import (
    NO_PAYLOADS,
    SHARED,
    PackedPayloads,
    SiteFile,
    make_payload,
    make_payload_file,
    module_payloads,
    unpack_small_payloads,
)

_SETTINGS = r"""INHERIT: report.yml
site_name: XLA comparison
exclude_docs: |
  /xlareport.yml
  /report.yml
nav:
  - Comparison: index.md
  - Glossary: glossary.md
plugins:
  search:
    separator: '[\s\-_.]+'
"""

_SEARCHED = 200
"""Pages that the search loads; a comparison may have thousands."""

# MkDocs replaces an inherited list, Zensical appends to it: links to pages of a report
_NAVIGATION = re.compile(r"^nav:\n(?: .*\n)+", re.MULTILINE)


def frame_files(home: str, named: AbstractSet[str]) -> Iterator[SiteFile]:
    """Yield the settings, the first page and the glossary, which explains `named` too."""
    settings = (find_resource("site_src") / "xlareport.yml").read_text("utf-8")
    yield "report.yml", _NAVIGATION.sub("", settings)
    yield "xlareport.yml", _SETTINGS
    yield navigation.HOME, home
    yield make_payload_file(WORDS, lexicon(named))
    yield navigation.GLOSSARY, render("glossary", glossary_page((), ()), "Glossary")


def compare_files(
    view: ComparisonRecord,
    payloads: Mapping[str, PackedPayloads],
    drawn: Iterable[PictureResult],
    remarks: Sequence[str] = (),
) -> Iterator[SiteFile]:
    """Yield every generated file of the site of a comparison; `payloads` are those by modules."""
    named = {name for module in view.modules for name in (*module.only_base, *module.only_head)}
    yield from frame_files(render("compare", compare_page(view, remarks), "Comparison"), named)
    yield from starmap(table_file, tabulate_compared_modules(view.modules).items())
    if view.main is not None and view.main.operations:
        main = view.main
        collectives = main.one_sided_collectives, main.resized_collectives
        table = tabulate_operations(main.operations, end_of(main), *collectives)
        yield table_file(OPERATIONS, table)
    if view.main is not None and view.main.one_sided_collectives:
        changes = view.main.one_sided_collectives
        yield table_file(COLLECTIVES, collectives_table(changes, end_of(view.main)))
    for number, module in enumerate(view.modules):
        if module.has_page:
            page, searched = compared_page(module), number < _SEARCHED
            source = navigation.module_page(module.slug)
            yield source, render("compared", page, module.name, search=searched, wide=True)
            tables = (
                make_payload(navigation.module_key(module.slug, name), table.payload())
                for name, table in page.tables.items()
            )
            shown = payloads.get(module.slug, NO_PAYLOADS)
            yield from module_payloads(
                navigation.module_key(module.slug, SHARED),
                (*tables, *unpack_small_payloads(shown.small)),
            )
            yield from shown.files
    yield from picture_files(drawn)
    look = navigation.PICTURE_LOOK
    yield make_payload_file(look, picture_look())
    yield "compare.json", json.dumps(to_builtins(view), indent=1) + "\n"
