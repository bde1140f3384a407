"""Iotas that are repeated after an operation, and were before."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

BEFORE = """HloModule m

ENTRY %main (a: s32[]) -> s32[4,4] {
  %a = s32[] parameter(0)
  %across = s32[4,4]{1,0} iota(), iota_dimension=1
  %rows = s32[4]{0} iota(), iota_dimension=0, metadata={op_name="rows"}
  %down = s32[4,4]{1,0} broadcast(%rows), dimensions={0}
  %size = s32[4,4]{1,0} broadcast(%a), dimensions={}
  %start = s32[4,4]{1,0} multiply(%down, %size), metadata={op_name="mul"}
  ROOT %place = s32[4,4]{1,0} add(%start, %across), metadata={op_name="add"}
}
"""


def _after(count: int) -> str:
    return f"""HloModule m

ENTRY %main (a: s32[]) -> s32[4,4] {{
  %a = s32[] parameter(0)
  %i.1 = s32[{count}]{{0}} iota(), iota_dimension=0, metadata={{op_name="mul"}}
  %few.1 = s32[{count}]{{0}} broadcast(%a), dimensions={{}}
  %m.1 = s32[{count}]{{0}} multiply(%i.1, %few.1), metadata={{op_name="mul"}}
  %r.1 = s32[4]{{0}} slice(%m.1), slice={{[0:4]}}
  %w.1 = s32[4,4]{{1,0}} broadcast(%r.1), dimensions={{0}}
  %i.2 = s32[4,4]{{1,0}} iota(), iota_dimension=1
  ROOT %place = s32[4,4]{{1,0}} add(%w.1, %i.2), metadata={{op_name="add"}}
}}
"""


def test_an_iota_goes_on_where_it_is_repeated_later(read: Read) -> None:
    after = _after(4).replace("  %r.1 = s32[4]{0} slice(%m.1), slice={[0:4]}\n", "")
    matching = match(read(BEFORE), read(after.replace("%r.1", "%m.1")))
    assert matching.partner_after(Place("main", "rows")) == Place("main", "i.1")


def test_an_iota_of_another_length_is_another(read: Read) -> None:
    matching = match(read(BEFORE), read(_after(6)))
    assert matching.partner_after(Place("main", "rows")) is None
