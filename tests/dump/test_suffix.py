import pytest

from xlareport.dump.name_reading import NameReading
from xlareport.dump.suffix import read_unknown_suffix, read_with_id, read_without_id
from xlareport.dump.tokens import joined


def test_the_last_place_where_a_suffix_fits_wins() -> None:
    name = "module_0001.jit_f.0002.a.after_b.before_c.0003.d.after_e.before_f.txt"
    reading = NameReading()

    assert read_with_id(reading, name, ())
    assert reading.fields["module_name"] == "jit_f.0002.a.after_b.before_c"
    assert reading.fields["sequence"] == "0003"


def test_the_longest_known_name_wins() -> None:
    reading = NameReading()

    assert read_with_id(reading, "module_0001.f.g.add.ir-no-opt.ll", ["f", "f.g", "f.g.x"])
    assert (reading.fields["module_name"], reading.fields["kernel"]) == ("f.g", "add")


@pytest.mark.parametrize("name", ["jit_f.before_optimizations.txt", "module_1.f.txt", ""])
def test_names_without_an_id_of_four_digits_are_left(name: str) -> None:
    reading = NameReading()

    assert not read_with_id(reading, name, ())
    assert not read_unknown_suffix(reading, name, ())
    assert reading.tokens == []


def test_a_suffix_without_id_needs_a_module_s_name() -> None:
    assert read_without_id(NameReading(), "jit_f.before_optimizations.txt")
    assert not read_without_id(NameReading(), "before_optimizations.txt")


@pytest.mark.parametrize(
    ("name", "module_name", "stage"),
    [
        ("module_0001.f.new_report.txt", "f", "new_report"),
        ("module_0001.f.7.new_report.txt", "f.7", "new_report"),
        ("module_0001.f.g.cl_5.new_report.txt", "f.g", "new_report"),
        ("module_0001.f.new_report", "f", "new_report"),
        ("module_0001.f.txt", "f", None),
        ("module_0001.f", "f", None),
        ("module_0001", None, None),
        ("module_0001..", None, None),
    ],
)
def test_an_unknown_suffix_leaves_the_module_s_name(
    name: str, module_name: str | None, stage: str | None
) -> None:
    reading = NameReading()

    assert read_unknown_suffix(reading, name, ())
    assert reading.fields.get("module_name") == module_name
    assert reading.fields.get("stage") == stage
    assert joined(reading.tokens) == name


def test_a_known_name_ends_before_an_unknown_suffix() -> None:
    reading = NameReading()

    assert read_unknown_suffix(reading, "module_0001.f.g.new_report.txt", ["f.g"])
    assert reading.fields["module_name"] == "f.g"
