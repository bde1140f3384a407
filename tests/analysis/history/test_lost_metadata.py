"""Matmuls that lost their op_name get it from their history."""

from tests.modules import parse_module

from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.history.lost_metadata import restore_metadata
from xlareport.hlo.model import HloModule

DOT = "dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
TANH = 'metadata={op_name="jit(f)/torso/tanh"}'
TEXT = f"""ENTRY e {{
  x = f32[1,64] parameter(0)
  b = f32[64,8] parameter(1)
  a = f32[1,64] tanh(x), {TANH}
  d = f32[1,8] {DOT}, metadata={{op_name="jit(f)/head/dot" source_file="f.py" source_line=7}}
  ROOT n = f32[1,8] negate(d), metadata={{op_name="jit(f)/neg"}}
}}"""
LOST = TEXT.replace(', metadata={op_name="jit(f)/head/dot" source_file="f.py" source_line=7}', "")


def read(text: str) -> HloModule:
    return parse_module(f"HloModule m\n\n{text}\n")


def test_a_matmul_has_the_op_name_and_line_of_its_history() -> None:
    module, count = restore_metadata(SnapshotSequence([read(TEXT), read(LOST)]))
    product = module.by_name["e"].by_name["d"]
    metadata = product.metadata
    assert (metadata.op_name, metadata.source_file, metadata.source_line, count) == (
        *("jit(f)/head/dot", "f.py", 7),
        1,
    )
    assert "metadata" not in product.text
    assert "metadata" not in product.attributes


def test_what_has_an_op_name_or_never_had_any_stays() -> None:
    for texts in ((TEXT, TEXT.replace("head", "tail")), (LOST, LOST.replace("negate", "abs"))):
        last = read(texts[-1])
        assert restore_metadata(SnapshotSequence([read(texts[0]), last])) == (last, 0)
