"""The first page of a report."""

from msgspec.structs import replace
from tests.pages.records_of_modules import module, report, stage

from xlareport.analysis.modules.settings import OptionOrigin
from xlareport.pages.home.page import home_page, row
from xlareport.readers.debug_options import FlagValue
from xlareport.records.report import MainProgramRecord

LONG = (
    "a_inference_step_7__XlaMustCompile_true_config_proto_13561319589895757934_executor_type_11_.7"
)


def choice(name: str, value: str, by: str = "somebody") -> OptionOrigin:
    return OptionOrigin(FlagValue(name, value, 1), by, "guessed", "it stands there")


def test_a_row_shows_a_short_name_and_keeps_the_whole_one() -> None:
    short = row(replace(module("main"), key="module_0001.jit_f"))
    assert short.name == "module_0001.jit_f"
    long = row(replace(module("main"), key=f"module_0001.{LONG}", name=LONG))
    assert long.name == "step (module 1)"
    assert long.key.endswith(LONG)


def test_steps_that_the_dump_does_not_hold_are_not_counted() -> None:
    assert row(module("main", stage(3))).changed is None
    assert row(module("main", stage(3), stage(3, changed=False))).changed == 0


def test_an_option_stands_once_with_all_its_values() -> None:
    settings = [choice("xla_a", "x"), choice("xla_a", "y"), choice("xla_b", "1", "versions")]
    page = home_page(report(module("main")), settings)
    assert [(setting.name, setting.value) for setting in page.settings] == [("xla_a", "x, y")]
    assert [one.name for one in page.differing] == ["xla_b"]


def test_the_reason_for_many_modules_is_that_of_the_framework() -> None:
    two = report(module("main"), module("unknown"))
    assert "jitted function" in home_page(two, []).many
    tensorflow = replace(two, dump=replace(two.dump, frontends=("tensorflow",)))
    assert "jit_compile=True" in home_page(tensorflow, []).many
    assert not home_page(report(module("main")), []).many


def test_the_only_module_is_no_guess() -> None:
    guess = MainProgramRecord("m.main", "main", 1.0, (), (), sureness="only", meaning="None else.")
    cards = []
    for names in (("main",), ("main", "other")):
        modules = [replace(module("main"), key=f"m.{name}") for name in names]
        cards.append(home_page(replace(report(*modules), main=guess), ()).main)
    only, readable = cards
    assert only is not None
    assert (only.grade, only.sureness, only.meaning) == ("exact", "the only module", "")
    assert readable is not None
    assert (readable.grade, readable.sureness) == ("guessed", "the only readable module")
