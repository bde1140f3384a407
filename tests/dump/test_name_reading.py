import re

import pytest

from xlareport.dump.name_reading import NameReading, divide, explained, part_field
from xlareport.dump.tokens import joined


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        (".jit_f", {"module_name": "jit_f"}),
        (".jit_f.cl_123", {"module_name": "jit_f", "build": "cl_123"}),
        (".cl_123", {"build": "cl_123"}),
        (".jit_f.cl_x", {"module_name": "jit_f.cl_x"}),
        ("", {}),
        (".", {}),
    ],
)
def test_a_holder_is_a_name_with_a_build(text: str, fields: dict[str, str]) -> None:
    reading = NameReading()

    reading.holder(text)

    assert reading.fields == fields
    assert joined(reading.tokens) == text


@pytest.mark.parametrize(
    ("text", "known", "fields"),
    [
        (".jit_f.add_fusion", False, {"module_name": "jit_f", "kernel": "add_fusion"}),
        (".jit_f.part_07", False, {"module_name": "jit_f", "part": "07"}),
        (".a.b", True, {"kernel": "a.b"}),
        ("", True, {}),
    ],
)
def test_an_owner_is_divided_unless_the_name_is_known(
    *, text: str, known: bool, fields: dict[str, str]
) -> None:
    match = re.fullmatch(r"(?P<owner>.*)\.(?P<format>ll)", f"{text}.ll")
    reading = NameReading()

    assert match is not None
    reading.match(match, name_is_known=known)

    found = {field: value for field, value in reading.fields.items() if field != "owner"}
    assert found == {**fields, "format": "ll"}
    assert joined(reading.tokens) == f"{text}.ll"


def test_the_first_text_of_a_field_stays() -> None:
    reading = NameReading()

    reading.part("stage", "first")
    reading.part("stage", "second")

    assert reading.fields == {"stage": "first"}
    assert joined(reading.tokens) == "firstsecond"


def test_a_module_s_name_has_parts_of_its_own() -> None:
    assert [token.field for token in explained("module_name", "jit_f")] == [
        "api",
        "sign",
        "function",
    ]


@pytest.mark.parametrize(
    ("owner", "module_name", "kernel"),
    [
        ("jit_f", "jit_f", ""),
        ("", "", ""),
        ("jit_f.add_fusion", "jit_f", "add_fusion"),
        ("jit_f.add_fusion.2.clone", "jit_f", "add_fusion.2.clone"),
        ("jit_f.part_00", "jit_f", "part_00"),
        ("jit_f.constants", "jit_f", "constants"),
        ("jit_f.wrapped_reduce.1_kernel_module", "jit_f", "wrapped_reduce.1_kernel_module"),
        ("jit_a.b.c.wrapped_reduce_kernel_module", "jit_a.b.c", "wrapped_reduce_kernel_module"),
        ("wrapped_reduce_kernel_module", "", "wrapped_reduce_kernel_module"),
        ("jit_f.__compute_module_copy.3", "jit_f", "__compute_module_copy.3"),
        ("SyncTensorsGraph.655", "SyncTensorsGraph.655", ""),
        ("SyncTensorsGraph.655.12", "SyncTensorsGraph.655", "12"),
        ("SyncTensorsGraph.655.loop_fusion.3", "SyncTensorsGraph.655", "loop_fusion.3"),
        ("jit_f.12", "jit_f", "12"),
        ("jit_f.12.34", "jit_f.12", "34"),
        ("train.step", "train.step", ""),
    ],
)
def test_a_module_ends_where_a_kernel_begins(owner: str, module_name: str, kernel: str) -> None:
    divided = divide(owner)

    assert (divided.module_name, divided.kernel) == (module_name, kernel)


@pytest.mark.parametrize("owner", ["jit_f.12", "train.step", "jit_a.b.wrapped_add"])
def test_what_no_rule_settles_is_in_doubt(owner: str) -> None:
    assert divide(owner).doubt is not None


@pytest.mark.parametrize("owner", ["jit_f", "jit_f.add_fusion", "SyncTensorsGraph.655.12"])
def test_what_a_rule_settles_is_not(owner: str) -> None:
    assert divide(owner).doubt is None


def test_parts_that_are_no_kernels_are_told_apart() -> None:
    assert part_field("12") == "shard"
    assert part_field("constants") == "module_part"
    assert part_field("add_fusion") == "kernel"
