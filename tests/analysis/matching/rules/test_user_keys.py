"""Keys of the users of a value."""

from collections.abc import Callable

from xlareport.analysis.matching.rules.user_keys import SHARED, UserKeys
from xlareport.analysis.matching.search.search_start import start
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_MODULE = """
ENTRY %main (a: f32[4,4]) -> (f32[4], f32[4], f32[4,4]) {
  %a = f32[4,4]{1,0} parameter(0)
  %sine = f32[4,4]{1,0} sine(%a), metadata={op_name="sin"}
  %first = f32[4]{0} reduce(%a, %a), dimensions={1}, to_apply=%sum
  %second = f32[4]{0} reduce(%a, %a), dimensions={0}, to_apply=%sum
  ROOT %out = (f32[4]{0}, f32[4]{0}, f32[4,4]{1,0}) tuple(%first, %second, %sine)
}
"""
_RENAMED = (
    _MODULE.replace("%sine", "%sine.1")
    .replace("%first", "%first.1")
    .replace("%second", "%second.1")
)


def node(side: Side, name: str) -> Node:
    return next(node for node in side.nodes if node.instruction.name == name)


def test_attributes_tell_users_of_one_shape_apart(read: Read) -> None:
    search = start(read(_MODULE), read(_RENAMED), same_program=True)
    keys = UserKeys(search)
    first, second = (node(search.before, name) for name in ("first", "second"))
    assert keys.form(first) != keys.form(second)
    assert keys.rough_form(first) == keys.rough_form(second)


def test_without_op_name_a_user_is_like_no_other(read: Read) -> None:
    search = start(read(_MODULE), read(_RENAMED), same_program=True)
    keys = UserKeys(search)
    first, second = (node(search.before, name) for name in ("first", "second"))
    assert keys.origin(first) != keys.origin(second)
    sines = node(search.before, "sine"), node(search.after, "sine.1")
    assert keys.origin(sines[0]) == keys.origin(sines[1])


def test_each_key_has_words(read: Read) -> None:
    search = start(read(_MODULE), read(_RENAMED), same_program=True)
    assert all(key.__name__ in SHARED for key in UserKeys(search).keys)
