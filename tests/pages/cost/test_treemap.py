"""The treemap of costs: areas are shares, names are text, words say the same."""

import re
from urllib.parse import unquote

from xlareport.analysis.cost.breakdown import CostPart
from xlareport.pages.cost.treemap import treemap, treemap_words

TILE = re.compile(r'class="xr-tile" x="[\d.]+" y="[\d.]+" width="([\d.]+)" height="([\d.]+)"')


def part(name: str, seconds: float) -> CostPart:
    return CostPart(name, seconds=seconds)


def areas(drawn: str) -> list[float]:
    return [float(width) * float(height) for width, height in TILE.findall(drawn)]


def test_levels_that_all_share_are_left_out_and_the_largest_are_named() -> None:
    parts = [part("jit(f)/jvp/dot", 3.0), part("jit(f)/jvp/add", 1.0), part("jit(f)/sub", 1.0)]

    assert treemap_words(parts) == "Time by op_name scope; largest: jvp 80%, sub 20%"
    assert "<title>jvp/dot: 60%</title>" in treemap(parts)


def test_areas_are_shares_of_the_time() -> None:
    drawn = treemap([part("a", 3.0), part("b", 1.0)])
    large, small = areas(drawn)

    assert round(large / small) == 3


def test_what_bears_no_scope_is_an_area_too() -> None:
    assert "(no op_name) 50%" in treemap_words([part("", 1.0), part("jit(f)/dot", 1.0)])


def test_a_narrow_area_has_its_whole_name_under_the_pointer_and_in_focus() -> None:
    """Its label is left out, as is that of an area too low for it."""
    name = "a_long_name_of_a_scope"
    drawn = treemap([part("jit(f)/a/wide", 498.0), part(f"jit(f)/b/{name}", 2.0)])
    assert f"<title>b/{name}: 0.4%</title>" in drawn
    assert re.search(rf'class="xr-tick xr-tile-name"[^>]*>b/{name}: 0.4%<', drawn)
    assert f"<span>{name}</span>" not in drawn
    assert "<span>a</span><span>99.6%</span>" in drawn or "<span>a</span><span>100%</span>" in drawn


def test_few_areas_are_drawn_of_many_scopes() -> None:
    many = [part(f"jit(f)/scope_{n}/{m}", 1.0 + n) for n in range(40) for m in range(40)]
    drawn = treemap(many)

    assert len(areas(drawn)) <= 12 * 20
    assert "29 more" in drawn


def test_areas_lead_to_their_instructions() -> None:
    """By each level of the scope: a forward one is not within `transpose(jvp(a))`."""
    parts = [part(f"jit(f)/jvp(a)/{name}", 1.0) for name in ("dot", "add")]
    drawn = treemap([*parts, part("jit(f)/sub", 1.0), part("", 1.0)], "m/x.html#t=m/x/instructions")
    links = re.findall(r'<a href="m/x.html#t=m/x/instructions&amp;q=([^"]*)"', drawn)
    assert {unquote(link) for link in links} == {
        "/jvp(a)",
        "/jvp(a) /dot",
        "/jvp(a) /add",
        "/sub",
    }
    assert "<a " not in treemap(parts)
    assert ['role="img"' in each for each in (drawn, treemap(parts))] == [False, True]


def test_the_rest_of_many_areas_leads_nowhere() -> None:
    many = [part(f"jit(f)/scope_{n}/{m}", 1.0 + n) for n in range(40) for m in range(40)]
    assert not re.search('q=[^"]*more', treemap(many, "m/x.html#t=m/x/instructions"))


def test_a_hostile_name_is_text() -> None:
    drawn = treemap([part('"><script>x', 1.0), part("b", 1.0)], "m/x.html#t=m/x/instructions")

    assert "<script" not in drawn
    assert "&lt;script&gt;" in drawn


def test_nothing_is_drawn_of_one_scope_or_of_none_that_takes_time() -> None:
    assert treemap([]) == ""
    assert treemap([part("a", 1.0), part("b", 0.0)]) == ""
    assert treemap_words([]) == ""


def test_areas_have_the_telling_part_of_an_op_name_and_the_whole_under_the_pointer() -> None:
    parts = [
        part("jit(f)/transpose(jvp(layer_1))/dot", 3.0),
        part("jit(f)/jvp()/jit(softmax)/exp", 3.0),
        part("jit(f)/jvp()/broadcast.5", 1.0),
        part("jit(f)/jvp()/broadcast.6", 1.0),
        part("convert.1", 1.0),
        part("convert.2", 1.0),
    ]
    drawn = treemap(parts, "m/x.html#t=m/x/instructions")
    assert treemap_words(parts) == (
        "Time by op_name scope; largest: layer_1 backward 30%, softmax forward 30%, "
        "(no scope) forward 20%"
    )
    for label in ("layer_1 backward", "softmax forward", "broadcast", "convert"):
        assert f"<span>{label}</span>" in drawn
    for title in (
        "transpose(jvp(layer_1))/dot: 30%",
        "jvp()/broadcast: 20% (broadcast.5, broadcast.6)",
        "(made by XLA)/convert: 20% (convert.1, convert.2)",
    ):
        assert f"<title>{title}</title>" in drawn
    assert "q=%2F%28made" not in drawn


def test_scopes_in_scans_and_recomputed_ones_are_groups() -> None:
    back = "jit(f)/transpose(jvp())"
    parts = [
        *(part(f"{back}/moe/{op}", 2.0) for op in ("dot", "mul")),
        *(part(f"{back}/rematted_computation/moe/{op}", 1.5) for op in ("dot", "mul")),
        *(part(f"jit(f)/jvp()/attn/{op}", 1.0) for op in ("dot", "mul")),
    ]
    assert treemap_words(parts).endswith(
        "largest: moe backward 44%, moe recomputed 33%, attn forward 22%"
    )


def test_a_scope_with_a_slash_is_one_level() -> None:
    parts = [
        part(f"jit(step)/jvp(stage0/block{number})/{op}", 1.0)
        for number in range(2)
        for op in ("bn", "relu")
    ]
    drawn = treemap(parts, "cost.html?k=t")
    assert "jvp(stage0/block0)/bn" in drawn
    assert "stage0/block0 forward" in drawn
    assert "q=%2Fjvp%28stage0%2Fblock0%29%20%2Fbn" in drawn


def test_areas_of_the_same_name_have_different_titles() -> None:
    parts = [
        CostPart(f"{scope}/{op}", seconds=1.0)
        for scope, op in (
            ("transpose(jvp(jvp()))", "rematted_computation/mul"),
            ("transpose(jvp(jvp()))", "add"),
            ("transpose(jvp())", "mul"),
            ("jvp(jvp())", "mul"),
            ("jvp()", "sub"),
        )
    ]
    words = treemap_words(parts)
    assert "(no scope) backward with checkpoint 40%" in words
    drawn = treemap(parts)
    assert "(no scope) backward with checkpoint</span>" in drawn
