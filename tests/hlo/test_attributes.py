import pytest

from xlareport.hlo.attributes import (
    AttributeList,
    Metadata,
    called_computations,
    computation_names,
    split_attributes,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("dimensions={0,1}", {"dimensions": "{0,1}"}),
        ("kind=kLoop, calls=%fused", {"kind": "kLoop", "calls": "%fused"}),
        ("groups=[2,2]<=[2,2]T(1,0), x=1", {"groups": "[2,2]<=[2,2]T(1,0)", "x": "1"}),
        (
            "replica_groups=mesh['a'=2,'b'=1] {'a'}, dimensions={0}",
            {"replica_groups": "mesh['a'=2,'b'=1] {'a'}", "dimensions": "{0}"},
        ),
        (
            "replica_groups=mesh['a'=2,'b'=1], device_ids=([2,1]T(1,0)) {'a'}, dimensions={0}",
            {
                "replica_groups": "mesh['a'=2,'b'=1], device_ids=([2,1]T(1,0)) {'a'}",
                "dimensions": "{0}",
            },
        ),
        (
            'sharding={devices=[2,1]<=[2] metadata={op_name="},"}}, metadata={op_name="a, b={"}',
            {
                "sharding": '{devices=[2,1]<=[2] metadata={op_name="},"}}',
                "metadata": '{op_name="a, b={"}',
            },
        ),
        (
            'target="a\\"b, c=d", backend_config={"a":{"b":{"c":{"d":{"e":[1,{}]}}}}}, z=1',
            {
                "target": '"a\\"b, c=d"',
                "backend_config": '{"a":{"b":{"c":{"d":{"e":[1,{}]}}}}}',
                "z": "1",
            },
        ),
        ("window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f", {
            "window": "{size=3x3 pad=1_1x1_1}", "dim_labels": "b01f_01io->b01f",
        }),
        ("alone, a=1", {"alone": "", "a": "1"}),
        ("a=1, a=2", {"a": "1"}),
        ("a=\n{\n1}\n, b=2", {"a": "{\n1}", "b": "2"}),
    ],
)  # fmt: skip
def test_split(text: str, expected: dict[str, str]) -> None:
    assert list(split_attributes(text).items()) == list(expected.items())


def test_metadata_of_2017_stands_in_a_comment() -> None:
    values = split_attributes('dimensions={0} # metadata=op_type: "Sum" op_name: "loss/Sum"')
    assert values["dimensions"] == "{0}"
    assert Metadata.parse(values["metadata"]) == Metadata(op_name="loss/Sum", op_type="Sum")


def test_metadata() -> None:
    text = '{op_type="Add" op_name="a \\"b\\" {c}" source_file="x=y.py" source_line=7'
    read = Metadata.parse(f"{text} stack_frame_id=3}}")
    assert read == Metadata('a "b" {c}', "Add", "x=y.py", 7, 3)


def test_metadata_that_says_nothing_is_not_zero() -> None:
    assert Metadata.parse("") == Metadata()
    assert Metadata.parse("{source_line=x}").source_line is None
    assert Metadata.parse("{source_line=" + "9" * 5000 + "}").source_line is None


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("%a", ["a"]),
        ("a.1", ["a.1"]),
        ("{%a, %b.2}", ["a", "b.2"]),
        ("{%a, %b, %c, %d, %e, /*index=5*/%f}", ["a", "b", "c", "d", "e", "f"]),
        ("{}", []),
        ("{[0:1]}", []),
    ],
)
def test_computation_names(value: str, names: list[str]) -> None:
    assert computation_names(value) == names


def test_called_computations_in_order() -> None:
    attributes = split_attributes("condition=%c, body=%b, branch_computations={%x, %y}, index=1")
    assert called_computations(attributes) == (
        ("condition", "c"),
        ("body", "b"),
        ("branch_computations", "x"),
        ("branch_computations", "y"),
    )


def test_a_list_keeps_what_it_derives() -> None:
    listed = AttributeList('to_apply=%add, metadata={op_name="sum"}')
    assert listed.values is listed.values
    assert listed.metadata is listed.metadata
    assert listed.called == (("to_apply", "add"),)
    assert listed.metadata.op_name == "sum"
