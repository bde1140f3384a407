"""The hostile report in one file: its policy lets no script of the dump run, and nothing leaves."""

import re
from pathlib import Path
from typing import Any

import pytest
from tests.hostile.test_report import FOUND, Markup
from tests.parts import parts
from tests.walks import LONG_WALKS

from xlareport.site.single import pack_single


@pytest.fixture(scope="module")
def single(hostile_out: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the hostile report in one file, alone in its folder."""
    target = tmp_path_factory.mktemp("<xss-tag> one") / "report.html"
    pack_single(hostile_out, target)
    return target


def test_it_holds_no_markup_of_the_dump(single: Path) -> None:
    read = Markup()
    read.feed(single.read_text("utf-8"))
    assert [one for one in read.found if not one.startswith("data:")] == []


def test_its_scripts_are_named_by_their_hashes(single: Path) -> None:
    policies = re.findall(r'Content-Security-Policy" content="([^"]*)"', single.read_text("utf-8"))
    assert len(policies) == 1
    rules = dict(
        part.strip().split(" ", 1) for part in policies[0].split(";") if " " in part.strip()
    )
    assert rules["default-src"] == "'none'"
    assert all(part.startswith("'sha256-") for part in rules["script-src"].split())


@pytest.mark.browser
def test_no_view_of_it_acts(single: Path, hostile_out: Path, visitor: Any) -> None:
    visitor.context.add_init_script("window.hacked = 0")
    text = single.read_text("utf-8")
    names = re.findall(r'<template data-page="([^"]+)"', text)
    held = [one for one, _ in parts(hostile_out / "site") if one.partition("?")[0] in names]
    assert held
    names += held
    assert len(names) > 10
    chosen = names if LONG_WALKS else names[:: len(names) // 3]
    for page in visitor.walk(f"{single.as_uri()}#page={name}" for name in chosen):
        assert page.evaluate(FOUND) == [], page.url
        assert page.evaluate("window.hacked") == 0, page.url
    assert visitor.complaints == []
    asked = {url.split("#")[0] for url in visitor.requests if not url.startswith("data:")}
    assert asked == {single.as_uri()}
