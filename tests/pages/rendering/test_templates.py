"""Templates that one process compiled serve another."""

import pytest
from jinja2 import DictLoader, Environment

from xlareport.pages.rendering.compiled import Compiled
from xlareport.pages.rendering.environment import environment
from xlareport.pages.rendering.templates import compile_templates
from xlareport.runtime.resources import find_resource


def test_what_was_compiled_is_not_compiled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = Compiled()
    taken.kept.update(compile_templates())
    made = environment(find_resource("templates"))
    made.bytecode_cache = taken
    monkeypatch.setattr(Environment, "compile", None)

    names = made.list_templates(extensions=["jinja"])
    assert "module.md.jinja" in names
    assert [made.get_template(name).name for name in names] == names


def test_a_template_that_changed_is_compiled_anew() -> None:
    kept = Compiled()
    shown = []
    for text in ("one", "two", "two"):
        templates = Environment(
            loader=DictLoader({"x": text}), bytecode_cache=kept, autoescape=True
        )
        shown.append(templates.get_template("x").render())

    assert shown == ["one", "two", "two"]
    assert len(kept.kept) == 1
