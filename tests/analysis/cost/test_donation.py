from collections.abc import Callable

from tests.modules import parse_module

from xlareport.analysis.cost.donation import find_donations
from xlareport.hlo.model import HloModule

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
    return parse_module(f"HloModule m{header}\n{BODY}")


def test_an_input_that_fits_a_free_output_could_be_given() -> None:
    donations = find_donations(module(""))
    assert donations.aliases == ()
    assert donations.candidates == ((0, (0,)), (1, (1,)))


def test_what_is_given_is_no_candidate() -> None:
    donations = find_donations(module(", input_output_alias={ {1}: (0, {}, must-alias) }"))
    (alias,) = donations.aliases
    assert (alias.output, alias.parameter) == ((1,), 0)
    assert donations.candidates == ((1, (0,)),)


def test_a_donor_without_a_fixed_output() -> None:
    donations = find_donations(module(", buffer_donor={ (1, {}) }"))
    assert donations.donors == ((1, ()),)
    assert [parameter for parameter, _ in donations.candidates] == [0]


def test_a_train_step_that_keeps_its_old_weights(dumped: Callable[[str, str], HloModule]) -> None:
    donations = find_donations(dumped("tpu-v5e-scan", "1014260217.after_optimizations.txt"))
    assert (donations.aliases, donations.donors) == ((), ())
    assert donations.candidates == ((0, (0,)),)
