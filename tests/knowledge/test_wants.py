"""The tables of wants, frontends and releases agree with that of flags."""

import pytest

from xlareport.knowledge.flags import all_entries
from xlareport.knowledge.wants import BACKENDS, Want, frontends, settings_for, wants


@pytest.mark.parametrize("want", wants().values(), ids=lambda one: one.name)
def test_a_want_names_flags_that_are_known(want: Want) -> None:
    assert {flag.partition("=")[0] for flag in want.flags} <= set(all_entries())
    assert set(want.backends) <= set(BACKENDS)
    assert set(want.frontends) <= set(frontends())


def test_each_want_gives_something_somewhere_today() -> None:
    for name in wants():
        settings_fors = [
            settings_for([name], backend=backend, frontend=frontend, era="", folder="d")
            for backend in BACKENDS
            for frontend in frontends()
        ]
        assert any(settings_fors), name


def test_the_flags_of_a_frontend_say_what_they_give() -> None:
    assert all(frontend.gives for frontend in frontends().values() if frontend.flags)


def test_the_debug_variables_of_pytorch_xla_give_source_lines() -> None:
    settings = settings_for(["passes"], backend="tpu", frontend="pytorch_xla", era="", folder="d")
    own = {setting.variable: setting for setting in settings if setting.flag.set_in is None}
    texts = {name: (setting.text, setting.gives) for name, setting in own.items()}
    source = ("1", "Python source lines in the HLO metadata")
    assert texts == {"XLA_IR_DEBUG": source, "XLA_HLO_DEBUG": source}
