"""What differs of an instruction, as values that have words."""

from xlareport.analysis.steps.details import (
    BranchPlace,
    ConfigChange,
    CopyPlace,
    FieldChange,
    FusionPlace,
    LeftFusion,
    ShapeChange,
)


def test_values_are_set_as_code_and_names_as_names() -> None:
    change = ShapeChange("f32[8]", "f32[4]", "1 of 2 elements: ", ", and more")
    assert str(change) == "1 of 2 elements: f32[8] → f32[4], and more"
    assert (
        change.written(lambda text: f"`{text}`") == "1 of 2 elements: `f32[8]` → `f32[4]`, and more"
    )
    assert str(CopyPlace("past %dot", "{0,1}", form="layout")) == "past %dot in the layout {0,1}"
    assert str(FusionPlace("f.1")) == "was fused into %f.1"
    assert str(LeftFusion("f.1")) == "moved out of %f.1"
    assert str(BranchPlace("if.1")) == "moved into a branch of %if.1"


def test_the_first_fields_are_named_and_the_others_counted() -> None:
    fields = [FieldChange("set", name, " to 0", is_default=True) for name in "abcde"]
    change = ConfigChange((FieldChange("cleared", "z"), *fields))
    assert str(change) == ("backend_config: cleared z, set a to 0, set b to 0, set c to 0, 2 more")
    assert change.names == ("cleared z", "set a", "set b", "set c")
    assert not change.sets_defaults
    assert ConfigChange(tuple(fields)).sets_defaults


def test_a_copy_of_a_scalar_that_lost_its_tiles_has_no_layout() -> None:
    assert str(CopyPlace("", "none", form="layout")) == "without a layout"
    assert str(CopyPlace("", "{0}", form="layout")) == "in the layout {0}"
