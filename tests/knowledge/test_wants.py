"""The tables of wants, frontends and releases agree with that of flags."""

import pytest

from xlareport.knowledge.flags import all_entries
from xlareport.knowledge.wants import BACKENDS, Want, frontends, settings_for, wants


@pytest.mark.parametrize("want", wants().values(), ids=lambda one: one.name)
def test_a_want_names_flags_that_are_known(want: Want) -> None:
    assert {one.partition("=")[0] for one in want.flags} <= set(all_entries())
    assert set(want.backends) <= set(BACKENDS)
    assert set(want.frontends) <= set(frontends())


def test_each_want_gives_something_somewhere_today() -> None:
    for name in wants():
        found = [
            settings_for([name], backend=backend, frontend=frontend, era="", folder="d")
            for backend in BACKENDS
            for frontend in frontends()
        ]
        assert any(found), name
