from dialects import compact_operands
from tests.modules import parse_module


def operands(body: str) -> dict[str, tuple[str, ...]]:
    text = f"HloModule m\n\nENTRY %e () -> f32[] {{\n{body}}}\n"
    module = parse_module(text)
    return dict(compact_operands(module.computations[0]))


def test_elements_of_elements() -> None:
    found = operands(
        "  %p = ((f32[], s32[]), u8[]) parameter(0)\n"
        "  %a = (f32[], s32[]) get-tuple-element(%p), index=0\n"
        "  %b = s32[] get-tuple-element(%a), index=1\n"
        "  %c = s32[] add(%b, %p#0#1)\n"
    )
    assert found["c"] == ("p#0#1", "p#0#1")


def test_broken_texts() -> None:
    found = operands(
        "  %a = f32[] get-tuple-element(%b), index=0\n"
        "  %b = f32[] get-tuple-element(%a), index=1\n"
        "  %c = f32[] get-tuple-element(), index=1\n"
        "  %d = f32[] get-tuple-element(%missing)\n"
        "  %e = f32[] add(%c, %d)\n"
    )
    assert found["a"] == ("b#0#1",)
    assert found["e"] == ("c", "missing#")
