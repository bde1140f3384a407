"""The small payloads of a module share a file, as many as fit."""

import pytest

from xlareport.pages import navigation
from xlareport.storage import small_payloads
from xlareport.storage.payloads import SMALL, Payload, make_payload, read_payload
from xlareport.storage.small_payloads import held, hold, module_payloads

STEPS = make_payload("m/x/steps", [1, 2])
FILES = make_payload("m/x/files", {"rows": ["\u2028 a\nb"]})
LARGE = make_payload("m/x/graph", ["x" * SMALL])


def files_of(*payloads: Payload) -> dict[str, object]:
    return dict(
        read_payload(script) for _, script in module_payloads(navigation.small_key("x"), payloads)
    )


def test_small_ones_share_a_file_and_large_ones_have_theirs() -> None:
    assert files_of(STEPS, LARGE, FILES) == {
        "m/x/small": {"files": {"rows": ["\u2028 a\nb"]}, "steps": [1, 2]},
        "m/x/graph": ["x" * SMALL],
    }


def test_the_order_in_which_they_come_does_not_matter() -> None:
    assert [*module_payloads(navigation.small_key("x"), [STEPS, FILES])] == [
        *module_payloads(navigation.small_key("x"), [FILES, STEPS])
    ]


def test_there_is_a_file_even_if_nothing_is_small() -> None:
    assert files_of() == {"m/x/small": {}}


def test_the_smallest_go_in_as_long_as_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_payloads, "_MOST", len(STEPS.body) + 1)
    assert files_of(FILES, STEPS) == {
        "m/x/small": {"steps": [1, 2]},
        "m/x/files": {"rows": ["\u2028 a\nb"]},
    }


def test_what_is_held_comes_out_again() -> None:
    made = hold([FILES, LARGE, STEPS])
    assert {*held(made.small)} == {STEPS, FILES}
    assert [path for path, _ in made.files] == ["assets/data/m/x/graph.js"]


def test_nothing_held_is_nothing() -> None:
    assert [*held(b"")] == [*held(hold([]).small)] == []
