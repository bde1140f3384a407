"""The pictures behind the first one: an index, bundles, and where each instruction is."""

from typing import Any, get_args

import pytest
from tests.modules import parse_module

from xlareport.hlo.model import HloModule
from xlareport.pages.pictures import levels as picture_levels
from xlareport.pages.pictures.levels import picture_look, snapshot_levels
from xlareport.pictures import drawing as d
from xlareport.pictures.shade import NO_COLOR_DATA
from xlareport.storage.payloads import decode_payload
from xlareport.storage.string_folding import Folded, unfold_strings

TEXT = """HloModule m

fused {
  p = f32[8] parameter(0)
  q = f32[8] abs(p)
  ROOT r = f32[8] negate(q)
}

ENTRY main {
  x = f32[8] parameter(0)
  y = f32[8] tanh(x)
  ROOT z = f32[8] fusion(y), kind=kLoop, calls=fused
}
"""


FRAMED = """HloModule m

fused {
  p = f32[8] parameter(0)
  q = f32[8] abs(p)
  ROOT r = f32[8] negate(q)
}

cond {
  c = f32[8] parameter(0)
  ROOT t = pred[] custom-call(c), custom_call_target="t"
}

body {
  x = f32[8] parameter(0)
  y = f32[8] tanh(x)
  ROOT z = f32[8] fusion(y), kind=kLoop, calls=fused
}

ENTRY main {
  i = f32[8] parameter(0)
  LINES
  ROOT w = f32[8] while(i), condition=cond, body=body
}
"""


def strings(listed: Any) -> list[str]:
    return unfold_strings(Folded(*listed), 100_000)


@pytest.fixture
def framed() -> HloModule:
    """Return a module whose entry has no room to open its loop in place."""
    lines = "\n".join(f"  e.{number} = f32[8] exponential(i)" for number in range(80))
    return parse_module(FRAMED.replace("LINES", lines))


@pytest.fixture
def module() -> HloModule:
    return parse_module(TEXT)


def test_the_index_tells_what_leads_where(module: HloModule) -> None:
    found = snapshot_levels("m/x/pictures-last", "m/x/graph", module, NO_COLOR_DATA, every=False)
    assert found is not None
    values = {payload.key: decode_payload(payload) for payload in found.payloads}
    index = values["m/x/pictures-last"]
    assert strings(index["targets"]) == ["c=main", "c=fused"]
    assert strings(index["titles"]) == ["entry main", "fused"]
    assert (index["in"], index["up"], index["note"]) == ([-1, 1], [-1, 0], "")
    assert index["graph"] == "m/x/graph"
    assert values["m/x/pictures-last-where"] == [0, 6]
    assert found.requests == ()
    [picture] = values["m/x/pictures-last-1"]["pictures"]["c=fused"]
    assert picture["nodes"] == [[4, ["operand 0 = parameter 0 f32[8]"]], [5, 0, "ROOT"]]
    assert picture["edges"] == [[0, 1, 0, "thin"]]
    assert "boxes" not in picture


def test_what_has_frames_is_laid_out_beforehand(framed: HloModule) -> None:
    found = snapshot_levels("m/x/pictures-last", "m/x/graph", framed, NO_COLOR_DATA, every=False)
    assert found is not None
    assert [(request.key, request.bundle) for request in found.requests] == [
        ("c=body", "m/x/pictures-last-0")
    ]


def test_beyond_the_limit_the_page_says_how_to_get_more(
    module: HloModule, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(picture_levels, "CHEAP", 4)
    found = snapshot_levels("m/x/pictures-last", "m/x/graph", module, NO_COLOR_DATA, every=False)
    assert found is not None
    index = decode_payload(found.payloads[0])
    assert "--pictures all" in index["note"]
    whole = snapshot_levels("m/x/pictures-last", "m/x/graph", module, NO_COLOR_DATA, every=True)
    assert whole is not None
    assert decode_payload(whole.payloads[0])["note"] == ""


def test_a_picture_that_shows_all_has_no_index() -> None:
    module = parse_module(b"HloModule m\n\nENTRY e {\n  ROOT x = f32[] constant(1)\n}\n")
    found = snapshot_levels("m/x/pictures-last", "m/x/graph", module, NO_COLOR_DATA, every=False)
    assert found is not None
    assert (found.payloads, found.requests) == ((), ())


def test_every_color_has_its_rule_and_its_words() -> None:
    look = picture_look()
    families = dict(look["families"])
    for family in get_args(d.Family):
        assert f".xg .n-{family}>.box" in look["css"]
        assert families[family]


def test_states_and_arrows_have_words() -> None:
    look = picture_look()
    assert {"added", "removed", "changed"} <= dict(look["states"]).keys()
    assert {"control", "call"} <= dict(look["edges"]).keys()
