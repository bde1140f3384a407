from collections.abc import Callable

from xlareport.analysis.cost.donation import find_donations
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader

BODY = """
ENTRY e {
  a = f32[4] parameter(0)
  b = f32[4] parameter(1)
  c = f32[5] parameter(2)
  n = f32[4] negate(a)
  m = f32[4] add(a, b)
  ROOT t = (f32[4], f32[4]) tuple(n, m)
}
"""


def module(header: str) -> HloModule:
    found = TextReader().read(f"HloModule m{header}\n{BODY}".encode(), "m.txt")
    assert found is not None
    return found


def test_an_input_that_fits_a_free_output_could_be_given() -> None:
    found = find_donations(module(""))
    assert found.aliases == ()
    assert found.candidates == ((0, (0,)), (1, (1,)))


def test_what_is_given_is_no_candidate() -> None:
    found = find_donations(module(", input_output_alias={ {1}: (0, {}, must-alias) }"))
    (alias,) = found.aliases
    assert (alias.output, alias.parameter) == ((1,), 0)
    assert found.candidates == ((1, (0,)),)


def test_a_donor_without_a_fixed_output() -> None:
    found = find_donations(module(", buffer_donor={ (1, {}) }"))
    assert found.donors == ((1, ()),)
    assert [parameter for parameter, _ in found.candidates] == [0]


def test_a_train_step_that_keeps_its_old_weights(dumped: Callable[[str, str], HloModule]) -> None:
    found = find_donations(dumped("tpu-v5e-scan", "1014260217.after_optimizations.txt"))
    assert (found.aliases, found.donors) == ((), ())
    assert found.candidates == ((0, (0,)),)
