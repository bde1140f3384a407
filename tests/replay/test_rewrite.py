"""What a snapshot becomes so that it runs on the CPU, and what is refused by name."""

import pytest
from tests.replay.programs import entry, program

from xlareport.replay.runnable_program import NotRunnableError

FUSED = """%fused (p: f32[4]) -> f32[4] {
  %p = f32[4]{0} parameter(0)
  ROOT %n = f32[4]{0} negate(%p)
}"""


def lines(text: str) -> list[str]:
    return [line.text() for line in program(text).entry.lines]


def test_a_fusion_becomes_a_call_without_what_the_backend_noted() -> None:
    text = entry(
        """%a = f32[4]{0:T(128)S(1)} parameter(0), sharding={replicated}
        ROOT %f = f32[4]{0} fusion(%a), kind=kLoop, calls=%fused, metadata={op_name="x"},
        """.replace("},\n", '}, backend_config={"a":"b"}\n'),
        FUSED,
    )
    assert lines(text) == [
        "%a = f32[4] parameter(0)",
        "ROOT %f = f32[4] call(%a), to_apply=%fused",
    ]
    assert program(text).changes == {"fusions became calls": 1}


def test_a_bitcast_is_written_out_by_its_layouts() -> None:
    text = entry(
        """%a = f32[2,3]{0,1} parameter(0)
        ROOT %b = f32[6]{0} bitcast(%a)"""
    )
    assert lines(text) == [
        "%a = f32[2,3] parameter(0)",
        "%b.transpose = f32[3,2] transpose(%a), dimensions={1,0}",
        "%b.reshape = f32[6] reshape(%b.transpose)",
        "ROOT %b = f32[6] transpose(%b.reshape), dimensions={0}",
    ]


def test_one_of_another_type_keeps_its_bits() -> None:
    text = entry("%a = f32[2]{0} parameter(0)\nROOT %b = s32[2]{0} bitcast(%a)")
    assert "%b.bitcast-convert = s32[2] bitcast-convert(%b.reshape)" in lines(text)


def test_a_compact_tuple_element_becomes_a_line() -> None:
    text = entry(
        """%a = (f32[2], s32[]) parameter(0)
        ROOT %n = f32[2] negate(%a#0)"""
    )
    assert lines(text) == [
        "%a.0 = f32[2] parameter(0)",
        "%a.1 = s32[] parameter(1)",
        "%a = (f32[2], s32[]) tuple(%a.0, %a.1)",
        "%a.element.0 = f32[2] get-tuple-element(%a), index=0",
        "ROOT %n = f32[2] negate(%a.element.0)",
    ]


def test_a_nested_result_becomes_flat() -> None:
    text = entry(
        """%a = f32[] parameter(0)
        %t = (f32[]) tuple(%a)
        ROOT %r = ((f32[]), f32[]) tuple(%t, %a)"""
    )
    assert lines(text)[-1] == ("ROOT %r.flat = (f32[], f32[]) tuple(%r.leaf.0.leaf.0, %r.leaf.1)")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('ROOT %r = f32[] custom-call(%a), custom_call_target="evil"', "custom call 'evil'"),
        ("ROOT %r = f32[] all-reduce(%a), to_apply=%fused", "a collective"),
        ("ROOT %r = (f32[], token[]) infeed(%a)", "infeed"),
        ("ROOT %r = token[] outfeed(%a, %a)", "outfeed"),
        ("ROOT %r = (f32[], u32[], token[]) send(%a, %a), channel_id=1", "sends"),
        ("ROOT %r = (f32[], u32[], token[]) recv(%a), channel_id=1", "receives"),
        ("ROOT %r = f32[] rng(%a, %a), distribution=rng_uniform", "random"),
        ("ROOT %r = f32[<=4] copy(%a)", "dynamic shapes"),
        ("ROOT %r = f32[] constant({...})", "leaves out the value"),
        ("ROOT %r = f32[] negate(%nothing)", "is missing"),
    ],
)
def test_what_cannot_run_is_refused_by_name(line: str, reason: str) -> None:
    with pytest.raises(NotRunnableError, match=reason):
        program(entry(f"%a = f32[] parameter(0)\n{line}", FUSED))


def test_what_starts_and_ends_asynchronously_becomes_plain() -> None:
    text = entry(
        """%a = f32[4] parameter(0)
        %s = ((f32[4]), f32[4], s32[]) async-start(%a), calls=%fused
        ROOT %d = f32[4] async-done(%s)""",
        FUSED,
    )
    assert lines(text)[1:] == ["%s = f32[4] call(%a), to_apply=%fused", "ROOT %d = f32[4] copy(%s)"]


def test_calls_that_go_round_are_refused() -> None:
    loop = "%f (p: f32[]) -> f32[] {\n  %p = f32[] parameter(0)\n"
    loop += "  ROOT %c = f32[] call(%p), to_apply=%f\n}"
    text = entry("%a = f32[] parameter(0)\nROOT %c = f32[] call(%a), to_apply=%f", loop)
    with pytest.raises(NotRunnableError, match="go round"):
        program(text)
