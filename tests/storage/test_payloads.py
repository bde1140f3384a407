""""""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from xlareport.pages import navigation
from xlareport.storage import payloads
from xlareport.storage.payloads import (
    INLINE_LIMIT,
    MOST_SMALL_CHARACTERS,
    Payload,
    decode_payload,
    embed_payload,
    extract_payload,
    make_payload,
    make_payload_file,
    module_payloads,
    pack_small_payloads,
    payload_path,
    read_payload,
    read_stored_value,
    unpack_small_payloads,
    write_json,
    write_payload,
)

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(json_values)
def test_what_goes_in_comes_out(value: Any) -> None:
    assert read_payload(make_payload_file("m/x/steps", value)[1]) == ("m/x/steps", value)


@given(json_values | st.lists(st.text('e-+.019[],:"\\\x7fµ…😀\ud800')))
@example([1e16, -1e-5, 4.99e-05, 1e22, 0.0, 1e15])
@example({"constant({0.00001, 1e-05})": 0.00004, "small": [1, -2e-07], "large": {"": 3.5e20}})
@example(["constant({0.00001, 1e-05, 2e-05})", "[-0.00002,3e-05]"])
@example(-1e-07)
def test_json_is_as_python_writes_it(value: Any) -> None:
    assert write_json(value) == json.dumps(value, separators=(",", ":"))


def test_what_python_cannot_write_is_written_with_small_floats_as_well() -> None:
    value = [1e-07, float("nan"), {"inf": float("inf")}, Payload("a", "b")]
    record = '{"key":"a","body":"b","packing":null}'
    assert write_json(value) == f'[1e-07,null,{{"inf":null}},{record}]'


def test_a_large_value_is_compressed_and_comes_out_again() -> None:
    value = ["%fusion = f32[64,512]{1,0} fusion(%p)"] * 1000
    _, script = make_payload_file("large", value)

    assert len(script) < INLINE_LIMIT
    assert script.endswith('"gzip");\n')
    assert read_payload(script) == ("large", value)


def test_what_is_small_is_packed_in_its_own_file_only() -> None:
    value = ["%fusion"] * 1000
    payload = make_payload("m/x/steps", value)

    assert payload.packing is None
    assert decode_payload(payload) == value
    assert write_payload(payload)[1].endswith('"gzip");\n')
    assert make_payload("m/x/steps", value * 10).packing == "gzip"


def test_a_payload_is_found_wherever_it_lies(tmp_path: Path) -> None:
    for key, value in (("m/x/small", {"steps": [1]}), ("m/x/texts", [2]), ("front", [3])):
        path, script = make_payload_file(key, value)
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(script)

    assert read_stored_value(tmp_path, "m/x/steps") == [1]
    assert read_stored_value(tmp_path, "m/x/texts") == [2]
    assert read_stored_value(tmp_path, "front") == [3]


def test_identity_give_equal_bytes() -> None:
    value = {"rows": list(range(10_000))}

    assert make_payload_file("k", value) == make_payload_file("k", value)


@pytest.mark.parametrize(
    "hostile",
    ["</script><script>alert(1)</script>", "\u2028\u2029", "');alert(1);('", "\\'", "\ud800"],
)
def test_no_string_leaves_the_script(hostile: str) -> None:
    _, script = make_payload_file("k", [hostile])

    assert "</script" not in script
    assert script.isascii()
    assert script.count("\n") == 1
    assert read_payload(script) == ("k", [hostile])


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_a_figure_that_json_cannot_write_is_null(number: float) -> None:
    assert decode_payload(make_payload("k", [number, 1e-7])) == [None, 1e-7]


@pytest.mark.parametrize("key", ["", "../x", "/x", "a//b", 'a"b', "a/../b", "a b", "x/.hidden"])
def test_a_key_cannot_lead_out_of_the_data(key: str) -> None:
    with pytest.raises(ValueError, match="key"):
        payload_path(key)


def test_the_file_of_a_key() -> None:
    assert payload_path("m/jit_f~2/step-0017") == "assets/data/m/jit_f~2/step-0017.js"


def test_other_scripts_are_no_payloads() -> None:
    with pytest.raises(ValueError, match="not a payload"):
        read_payload(f"alert({json.dumps('x')})")


@given(json_values)
def test_a_payload_in_a_page_is_no_markup_and_comes_out_again(value: Any) -> None:
    _, script = make_payload_file("m/x/steps", value)

    assert "<" not in embed_payload(script)
    assert extract_payload(embed_payload(script)) == script


STEPS = make_payload("m/x/steps", [1, 2])
FILES = make_payload("m/x/files", {"rows": ["\u2028 a\nb"]})
LARGE = make_payload("m/x/graph", ["x" * MOST_SMALL_CHARACTERS])


def files_of(*payloads: Payload) -> dict[str, object]:
    return dict(
        read_payload(script)
        for _, script in module_payloads(navigation.module_key("x", "small"), payloads)
    )


def test_small_ones_share_a_file_and_large_ones_have_theirs() -> None:
    assert files_of(STEPS, LARGE, FILES) == {
        "m/x/small": {"files": {"rows": ["\u2028 a\nb"]}, "steps": [1, 2]},
        "m/x/graph": ["x" * MOST_SMALL_CHARACTERS],
    }


def test_the_order_in_which_they_come_does_not_matter() -> None:
    assert [*module_payloads(navigation.module_key("x", "small"), [STEPS, FILES])] == [
        *module_payloads(navigation.module_key("x", "small"), [FILES, STEPS])
    ]


def test_there_is_a_file_even_if_nothing_is_small() -> None:
    assert files_of() == {"m/x/small": {}}


def test_the_smallest_go_in_as_long_as_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(payloads, "_MOST_CHARACTERS", len(STEPS.body) + 1)
    assert files_of(FILES, STEPS) == {
        "m/x/small": {"steps": [1, 2]},
        "m/x/files": {"rows": ["\u2028 a\nb"]},
    }


def test_what_is_held_comes_out_again() -> None:
    made = pack_small_payloads([FILES, LARGE, STEPS])
    assert {*unpack_small_payloads(made.small)} == {STEPS, FILES}
    assert [path for path, _ in made.files] == ["assets/data/m/x/graph.js"]


def test_nothing_held_is_nothing() -> None:
    assert (
        [*unpack_small_payloads(b"")]
        == [*unpack_small_payloads(pack_small_payloads([]).small)]
        == []
    )
