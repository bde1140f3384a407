"""Guesses that proved equal, and what is only known by a guess."""

from collections.abc import Callable

import pytest
from tests.analysis.matching.search.test_search import BEFORE, evaluated, node

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.rules.frames import called
from xlareport.analysis.matching.rules.spreading import neighbors
from xlareport.analysis.matching.search.doubts import grade_doubts
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]


def test_a_guess_on_equal_values_is_confirmed_at_the_end(read: Read) -> None:
    after = BEFORE.replace("%neg", "%neg.1").replace("%out =", "%out.1 =")
    search = evaluated(read(BEFORE), read(after))
    for old, new in (("neg", "neg.1"), ("out", "out.1")):
        pair = node(search.before, old), node(search.after, new)
        search.link(*pair, Grade.GUESSED, "the only one left")
    grade_doubts(search)
    assert {link.grade for link in search.links} == {Grade.MATCHED}
    assert {link.reason for link in search.links} == {"the same work on equal values"}


_CHAIN = """
ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %sine = f32[8]{0} sine(%a)
  %work = f32[8]{0} divide(%sine, %a)
  %user = f32[8]{0} exponential(%work)
  %last = f32[8]{0} tanh(%user)
  ROOT %out = f32[8]{0} negate(%a)
}
"""
_OTHER = """
ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %sine.1 = f32[8]{0} sine(%out.1)
  %work.1 = f32[8]{0} divide(%sine.1, %out.1)
  %user.1 = f32[8]{0} exponential(%work.1)
  %last.1 = f32[8]{0} tanh(%user.1)
  ROOT %out.1 = f32[8]{0} abs(%a)
}
"""


@pytest.mark.parametrize("grade", [Grade.GUESSED, Grade.MATCHED])
def test_neighbors_of_a_pair_are_no_surer_than_it(read: Read, grade: Grade) -> None:
    search = evaluated(read(_CHAIN), read(_OTHER))
    search.link(node(search.before, "work"), node(search.after, "work.1"), grade, "alike")
    neighbors(search)
    grade_doubts(search)
    graded = {link.before.instruction.name: link.grade for link in search.links}
    assert graded["sine"] is grade
    reasons = {link.before.instruction.name: str(link.reason) for link in search.links}
    assert reasons["sine"].endswith("a guess" if grade is Grade.GUESSED else "known")
    assert graded.keys() >= {"sine", "user", "last"}


def test_modules_without_guesses_are_left_as_they_are(read: Read) -> None:
    search = evaluated(read(_CHAIN), read(_OTHER))
    search.link(node(search.before, "work"), node(search.after, "work.1"), Grade.MATCHED, "alike")
    neighbors(search)
    grades = [link.grade for link in search.links]
    grade_doubts(search)
    assert [link.grade for link in search.links] == grades
    assert match(read(_CHAIN), read(_CHAIN)).pairings == ()


_SUMMED = """HloModule m

%{reducer} (x: f32[], y: f32[]) -> f32[] {{
  %x.{reducer} = f32[] parameter(0)
  %y.{reducer} = f32[] parameter(1)
  ROOT %{opcode} = f32[] {opcode}(%x.{reducer}, %y.{reducer})
}}

ENTRY %main (a: f32[8]) -> f32[] {{
  %a = f32[8]{{0}} parameter(0)
  %zero = f32[] constant(0)
  %{work} = f32[] reduce(%a, %zero), dimensions={{0}}, to_apply=%{reducer}
  ROOT %out.{work} = f32[] negate(%{work})
}}
"""


@pytest.mark.parametrize("grade", [Grade.GUESSED, Grade.MATCHED])
def test_parameters_are_no_surer_than_what_calls_them(read: Read, grade: Grade) -> None:
    texts = [
        _SUMMED.format(reducer="sum", opcode="add", work="work"),
        _SUMMED.format(reducer="largest", opcode="maximum", work="work.1"),
    ]
    search = evaluated(*map(read, texts))
    search.link(node(search.before, "work"), node(search.after, "work.1"), grade, "alike")
    called(search)
    grade_doubts(search)
    links = {link.before.instruction.name: link for link in search.links}
    assert links["x.sum"].grade is grade
    end = "whose counterpart is a guess" if grade is Grade.GUESSED else "with a known counterpart"
    assert str(links["x.sum"].reason).endswith(end)
