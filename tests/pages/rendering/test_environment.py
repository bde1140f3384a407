from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import markdown
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import Environment, UndefinedError
from markupsafe import Markup

from xlareport.pages.rendering.environment import (
    FILTERS,
    breakable,
    environment,
    front_matter,
    prose,
    text,
    visible,
)
from xlareport.runtime.resources import find_resource

EXTENSIONS = ["admonition", "attr_list", "def_list", "md_in_html", "tables", "toc", "fenced_code"]
HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "</title><script>alert(1)</script>",
    "[x](javascript:alert(1))",
    "**bold** _it_ `code` ~~x~~",
    "# heading\n\n- list",
    "1. one",
    "{: onclick=alert(1) }",
    "a | b\n--- | ---\nc | d",
    "\x02klzzwxh:0000\x03",
    "&lt;b&gt; &#60;",
    "    indented",
    "jit_<lambda>",
    '" onmouseover="alert(1)',
)


class Reader(HTMLParser):
    """Collects the elements and the text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.words += data


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(markdown.markdown(page, extensions=EXTENSIONS))
    reader.close()
    return reader


@pytest.fixture
def env(tmp_path: Path) -> Environment:
    return environment(tmp_path)


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize(
    ("template", "elements"),
    [
        ("{{ x }}", ["p"]),
        ("# {{ x }}", ["h1"]),
        ("- {{ x }}", ["ul", "li"]),
        ("<p>{{ x }}</p>", ["p"]),
        ("<div>\n<b>{{ x }}</b>\n</div>", ["div", "b"]),
        ("a <b>{{ x }}</b>", ["p", "b"]),
    ],
)
def test_a_string_is_only_text_wherever_it_is_printed(
    env: Environment, template: str, elements: list[str], hostile: str
) -> None:
    page = read(env.from_string(template).render(x=hostile))

    assert page.elements == elements
    assert [name for name, _ in page.attributes if name != "id"] == []
    assert visible(hostile).strip() in page.words


@given(st.text())
def test_no_text_is_markup(value: str) -> None:
    page = read(f"<div><b>{text(value)}</b></div>\n\nx {text(value)} x")

    assert page.elements == ["div", "b", "p"]
    assert page.attributes == []


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_string_stays_inside_its_attribute(env: Environment, hostile: str) -> None:
    page = read(env.from_string('<p title="{{ x }}">y</p>').render(x=hostile))

    assert page.elements == ["p"]
    assert page.attributes == [("title", visible(hostile))]


def test_plain_names_stay_readable() -> None:
    assert text("jit_train_step 1.5, a-b m/x.html") == "jit_train_step 1.5, a-b m/x.html"


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [("a\x00b", "a␀b"), ("a\u202eb", "a\\u202eb"), ("a\x9bb", "a\\x9bb"), ("\ud800", "\\ud800")],
)
def test_what_cannot_be_seen_is_written_out(hidden: str, shown: str) -> None:
    assert visible(hidden) == shown


def test_markup_is_printed_as_it_is(env: Environment) -> None:
    assert env.from_string("{{ x }}").render(x=Markup("<b>*</b>")) == "<b>*</b>"


def test_none_is_never_printed(env: Environment) -> None:
    with pytest.raises(ValueError, match="not known"):
        env.from_string("{{ x }}").render(x=None)


def test_a_missing_name_is_an_error(env: Environment) -> None:
    with pytest.raises(UndefinedError):
        env.from_string("{{ x }}").render()


@pytest.mark.parametrize("name", ["safe", "forceescape", "urlize", "xmlattr", "tojson"])
def test_there_is_no_way_round_the_escape(env: Environment, name: str) -> None:
    assert name not in env.filters


@pytest.mark.parametrize(
    ("template", "value", "printed"),
    [
        ("{{ x | code }}", "a*<b>", "<code>a&#42;&#60;b&#62;</code>"),
        ("{{ x | count }}", 1234, "1,234"),
        ("{{ x | signed }}", 3, "+3"),
        ("{{ x | share }}", 0.84, "84&#37;"),
        ("{{ x | plural('step') }}", 2, "2 steps"),
        ("{{ x | known }}", "cpu", "cpu"),
        ("{{ x | href }}", "m/a b.html#step=1", "m/a&#37;20b.html&#35;step&#61;1"),
    ],
)
def test_filters(env: Environment, template: str, value: object, printed: str) -> None:
    assert env.from_string(template).render(x=value) == printed


def test_figures_keep_their_exact_number(env: Environment) -> None:
    printed = env.from_string("{{ x | bytes }} {{ x | flops }}").render(x=1_395_864_371)

    assert 'title="1,395,864,371 bytes">1.3 GiB<' in printed
    assert 'title="1,395,864,371 FLOP">1.40 GFLOP<' in printed


@pytest.mark.parametrize("name", ["bytes", "flops", "count", "signed", "share", "known"])
def test_what_is_not_known_says_so(name: str) -> None:
    assert 'title="not known"' in str(FILTERS[name](None))


@pytest.mark.parametrize("address", ["/etc/passwd", "?x"])
def test_addresses_stay_in_the_site(address: str) -> None:
    with pytest.raises(ValueError, match="relative"):
        FILTERS["href"](address)


def test_no_address_is_a_script() -> None:
    assert ":" not in str(FILTERS["href"]("javascript:alert(1)"))


def test_front_matter_is_yaml_with_a_title_that_may_be_printed_raw() -> None:
    printed = front_matter(title='</title>"x: #*', search=False, wide=True)
    read_back = yaml.safe_load(printed.strip("-\n"))

    assert "<" not in read_back["title"]
    assert read_back["search"] == {"exclude": True}
    assert read_back["hide"] == ["navigation", "toc"]


def test_the_templates_of_the_report_can_be_parsed() -> None:
    made = environment(find_resource("templates"))

    for name in made.list_templates(extensions=["jinja"]):
        made.get_template(name)


@pytest.mark.parametrize(
    ("sentence", "begins", "flag"),
    [
        ("`--xla_gpu_x`", "--xla", "--xla_gpu_x"),
        ("Lower --xla_gpu_x (`y`).", "--xla", "--xla_gpu_x"),
        ("(--xla_disable_hlo_passes=a-b).", "--xla", "--xla_disable_hlo_passes=a-b"),
        ("`--dump-dir`", "--dump-dir", "--dump-dir"),
    ],
)
def test_a_flag_is_code_that_does_not_break_after_its_first_hyphens(
    sentence: str, begins: str, flag: str
) -> None:
    shown = unescape(str(prose(sentence)))
    assert f'<code><span class="xr-unbroken">{begins}</span>{flag[len(begins) :]}</code>' in shown


def test_hyphens_without_a_name_are_no_flag() -> None:
    assert "<code>" not in prose("a -- b, a--b, --")


def test_a_name_breaks_behind_its_separators() -> None:
    parts = breakable("jit_train.step/module_0001").split("<wbr>")
    assert [unescape(part) for part in parts] == ["jit_", "train.", "step/", "module_", "0001"]
    assert unescape(breakable("__main__._x_")) == "__<wbr>main__._<wbr>x_"


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_name_that_may_break_is_text(hostile: str) -> None:
    shown = read(f"<p>{breakable(hostile)}</p>")
    assert set(shown.elements) <= {"p", "wbr"}
    assert shown.attributes == []
