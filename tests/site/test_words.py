"""Names that explain themselves, in a real browser."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from xlareport.dump.instruction_names import explain_instruction
from xlareport.knowledge import opcodes
from xlareport.pages.rendering.environment import code

pytestmark = pytest.mark.browser

NAMES = (
    "loop_multiply_subtract_fusion.3.clone",
    "%wrapped_reduce-window",
    "region_0.5",
    "fused_computation.3",
    "p0#1",
    "wide.wide.arg_tuple.1",
    "all-reduce-start.2",
    "dot.12.remat2",
    "custom-call.1.0_spmd",
    "Arg_0.1",
    "a_inference_step_17__XlaMustCompile_true_.5",
    "jit_relu_.2",
    "constant_42_clone_3",
    "x",
    "weird name!",
)
TELL = "async word => (await xlareport.explainWord(word)).map(part => part.join(' '))"


@pytest.fixture
def page(still: Any, sample_site: Path) -> Page:
    opened: Page = still.look(f"{sample_site.as_uri()}/m/sample.html")
    return opened


@pytest.mark.parametrize("name", NAMES)
def test_the_script_takes_names_apart_as_the_program_does(page: Page, name: str) -> None:
    assert page.evaluate(TELL, f"instruction:{name}") == list(_told(name))


def _told(name: str) -> Iterator[str]:
    for token in explain_instruction(name).tokens:
        if token.meaning:
            opcode = opcodes.find(token.text)
            named = opcode if token.field in {"born", "operation", "async"} else None
            also = f" As an opcode: {named.words}" if named else ""
            yield f"{token.text} {token.meaning}{also}".replace("`", "")


BROKEN = """([flag, width]) => {
  const line = document.createElement("p");
  line.innerHTML = `Lower it by the flag ${flag}`;
  line.style.width = `${width}px`;
  document.querySelector("article").append(line);
  const range = document.createRange(), text = line.querySelector("code").firstChild;
  range.selectNodeContents(text);
  if (text.nodeType === 3) range.setEnd(text, 5);
  const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
  line.remove();
  return lines.size > 1;
}"""
"""Whether `--xla` is on two lines in a line of a width."""


def test_a_flag_does_not_break_after_the_hyphens_that_begin_it(page: Page) -> None:
    flag = "--xla_gpu_all_gather_combine_threshold_bytes"
    widths = range(150, 600, 10)
    assert any(page.evaluate(BROKEN, [f"<code>{flag}</code>", width]) for width in widths)
    assert not any(page.evaluate(BROKEN, [str(code(flag)), width]) for width in widths)


def test_a_shape_is_read_aloud(page: Page) -> None:
    told = page.evaluate(TELL, "shape:f32[128,<=256]{1,0:T(8,128)S(1)}")

    assert told[1] == (
        "[128,<=256] The size of each dimension: 128 \N{MULTIPLICATION SIGN} 256, 32,768 elements,"
        " 128 KiB without padding at most; <= marks a size that is known only when the program"
        " runs."
    )
    assert [one.split()[0] for one in told] == ["f32", "[128,<=256]", "{1,0}", "T(8,128)", "S(1)"]


@pytest.mark.parametrize("word", ["opcode:dot", "flag:--xla_dump_to=/x", "pass:algsimp", "type:s4"])
def test_what_is_known_is_told(page: Page, word: str) -> None:
    assert len(page.evaluate(TELL, word)) == 1


def test_a_value_of_buffer_assignment_is_a_part_of_a_result(page: Page) -> None:
    told = page.evaluate(TELL, "instruction:all-reduce.7{2}")

    assert [one.split()[0] for one in told] == ["all-reduce", "7", "{2}"]


def test_a_layout_is_read_aloud(page: Page) -> None:
    assert [one.split()[0] for one in page.evaluate(TELL, "layout:{0,1:T(8,128)S(1)}")] == [
        "{0,1}",
        "T(8,128)",
        "S(1)",
    ]


@pytest.mark.parametrize("word", ["opcode:constructor", "pass:__proto__", "kind:"])
def test_what_is_not_known_tells_nothing(page: Page, word: str) -> None:
    assert page.evaluate(TELL, word) == []


def test_a_name_in_a_sentence_explains_itself_and_leads_to_its_entry(page: Page) -> None:
    page.evaluate(
        """sentence => document.querySelector("article").append(
            xlareport.element("p", null, ...xlareport.prose(sentence)))""",
        "A `dot`, `add.5{0}`, `{1,0}` and `nothing` of `stage` in `sm_9.0`.",
    )
    link = page.get_by_role("link", name="dot", exact=True)
    link.focus()

    expect(page.get_by_role("tooltip")).to_contain_text("Multiplies matrices")
    expect(link).to_have_attribute("aria-describedby", "xr-tip")
    assert (link.get_attribute("href") or "").endswith("glossary.html#opcode-dot")
    expect(page.locator("article p a.xr-word")).to_have_count(3)


def test_a_part_of_a_name_says_what_it_is_and_what_the_pass_does(page: Page) -> None:
    page.evaluate(
        """attributes => document.querySelector("article").append(
            xlareport.element("a", attributes, "algsimp"))""",
        {
            "data-meaning": "It comes next.",
            "data-further": "pass:algsimp",
            "id": "next",
            "href": "#",
        },
    )
    page.locator("#next").focus()

    told = page.get_by_role("tooltip").locator("p")
    expect(told).to_have_count(2)
    expect(told.first).to_have_text("It comes next.")
    expect(told.last).to_contain_text("arithmetic")


def test_names_in_a_line_of_text_explain_themselves_under_the_pointer(
    visitor: Any, sample_site: Path
) -> None:
    page: Page = visitor.open(f"{sample_site.as_uri()}/m/sample.html?steps#step=0003")
    line = page.locator(".xr-text", has_text="constant(0)").first
    for text, told in (("constant", "A value"), ("f32[]", "32 bits"), ("%a", "The original name")):
        line.evaluate(POINT_AT, text)
        expect(page.get_by_role("tooltip")).to_contain_text(told)
    assert visitor.complaints == []


def test_a_name_that_is_marked_in_a_line_of_text_explains_itself(
    visitor: Any, sample_site: Path
) -> None:
    page: Page = visitor.open(f"{sample_site.as_uri()}/m/sample.html?steps#step=0003")
    line = page.locator(".xr-text", has_text="constant(0)").first
    line.evaluate(MARK, "constant")
    expect(page.get_by_role("tooltip")).to_contain_text("A value")
    assert visitor.complaints == []


MARK = """(line, text) => {
    const node = document.createTreeWalker(line, NodeFilter.SHOW_TEXT).nextNode();
    const start = node.data.indexOf(text) + 1;
    getSelection().setBaseAndExtent(node, start, node, start + 1);
}"""

POINT_AT = """(line, text) => {
    line.scrollIntoView({ block: "center", behavior: "instant" });
    const node = document.createTreeWalker(line, NodeFilter.SHOW_TEXT).nextNode();
    const range = document.createRange();
    range.setStart(node, node.data.indexOf(text));
    range.setEnd(node, node.data.indexOf(text) + text.length);
    const { left, top, width, height } = range.getBoundingClientRect();
    const clientX = left + width / 2, clientY = top + height / 2;
    line.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX, clientY }));
}"""
