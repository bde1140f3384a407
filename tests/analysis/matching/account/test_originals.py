"""What the originals of copies read."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_BEFORE = """HloModule m

%places (n: s32[]) -> s32[4,8] {
  %n = s32[] parameter(0)
  %rows = s32[4]{0} iota(), iota_dimension=0
  %down = s32[4,8]{1,0} broadcast(%rows), dimensions={0}
  %size = s32[4,8]{1,0} broadcast(%n), dimensions={}
  ROOT %start = s32[4,8]{1,0} multiply(%down, %size), metadata={op_name="mul"}
}

ENTRY %main (a: s32[4,8]) -> (s32[4,8], s32[4,8]) {
  %a = s32[4,8]{1,0} parameter(0)
  %eight = s32[] constant(8)
  %call.1 = s32[4,8]{1,0} call(%eight), to_apply=%places
  %call.2 = s32[4,8]{1,0} call(%eight), to_apply=%places
  %first = s32[4,8]{1,0} add(%call.1, %a)
  %second = s32[4,8]{1,0} xor(%call.2, %a)
  ROOT %out = (s32[4,8]{1,0}, s32[4,8]{1,0}) tuple(%first, %second)
}
"""


def _fused(number: int, opcode: str) -> str:
    return f"""
%fused.{number} (p.{number}: s32[4,8]) -> s32[4,8] {{
  %p.{number} = s32[4,8]{{1,0}} parameter(0)
  %i.{number} = s32[4]{{0}} iota(), iota_dimension=0
  %c.{number} = s32[] constant(8)
  %few.{number} = s32[4]{{0}} broadcast(%c.{number}), dimensions={{}}
  %m.{number} = s32[4]{{0}} multiply(%i.{number}, %few.{number}), metadata={{op_name="mul"}}
  %w.{number} = s32[4,8]{{1,0}} broadcast(%m.{number}), dimensions={{0}}
  ROOT %r.{number} = s32[4,8]{{1,0}} {opcode}(%w.{number}, %p.{number})
}}
"""


def test_each_copy_of_a_function_has_a_copy_of_its_iota(read: Read) -> None:
    after = f"""HloModule m
{_fused(1, "add")}{_fused(2, "xor")}
ENTRY %main (a: s32[4,8]) -> (s32[4,8], s32[4,8]) {{
  %a = s32[4,8]{{1,0}} parameter(0)
  %f.1 = s32[4,8]{{1,0}} fusion(%a), kind=kLoop, calls=%fused.1
  %f.2 = s32[4,8]{{1,0}} fusion(%a), kind=kLoop, calls=%fused.2
  ROOT %out = (s32[4,8]{{1,0}}, s32[4,8]{{1,0}}) tuple(%f.1, %f.2)
}}
"""
    matching = match(read(_BEFORE), read(after))
    for number in (1, 2):
        partner = matching.partner_before(Place(f"fused.{number}", f"i.{number}"))
        assert partner == Place("places", "rows"), number
