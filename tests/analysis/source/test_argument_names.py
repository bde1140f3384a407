from tests.modules import parse_module

from xlareport.analysis.source.argument_names import (
    NamedArgument,
    list_arguments,
    name_arguments,
    name_parameters,
    split_name,
)


def test_op_names_of_single_parameters_are_their_names() -> None:
    module = parse_module("""HloModule m

ENTRY e {
  a = f32[2] parameter(0), metadata={op_name="params['emb']"}
  b = f32[2] parameter(1), metadata={op_name="xla__device_data"}
  c = f32[2] parameter(2), metadata={op_name="xla__device_data"}
  d = f32[2] parameter(3), metadata={op_name="jit(f)/add"}
  f = f32[2] parameter(4)
  ROOT r = f32[2] add(a, b), metadata={op_name="jit(f)/add"}
}""")
    assert name_arguments(module) == {"a": "params['emb']"}


def arguments(*names: str) -> tuple[NamedArgument, ...]:
    lines = [
        f"  a.{number} = f32[{2 if name else ''}] parameter({number})"
        + (f', metadata={{op_name="{name}"}}' if name else "")
        for number, name in enumerate(names)
    ]
    text = "\n".join(["HloModule m\n", "ENTRY e {", *lines, "  ROOT r = f32[2] negate(a.0)", "}"])
    return list_arguments(parse_module(text))


def test_arguments_are_named_where_all_their_arrays_are_meant() -> None:
    known = arguments("p['w']", "p['b']", "m['w']", "m['b']", "x")
    assert [argument.name for argument in known] == ["p", "m", "x"]
    assert list(name_parameters(known, [2, 3])) == ["all arrays of `m` (argument 1)"]
    mixed = ["all arrays of `m` (argument 1)", "`x` (argument 2)", "0"]
    assert list(name_parameters(known, [0, 2, 3, 4])) == mixed


def test_most_of_an_argument_is_named_with_its_count() -> None:
    known = (NamedArgument("v", 2, (5, 6, 7)), NamedArgument("w", 3, (8, 9, 10, 11, 12)))
    assert list(name_parameters(known, [5, 7, 8, 9])) == [
        "2 of the 3 arrays of `v` (argument 2)",
        "8",
        "9",
    ]
    assert arguments("p['w']", "") == ()


def test_names_are_split_into_parts() -> None:
    assert split_name("s[1][0].mu['a.b']") == ["s", "[1]", "[0]", ".mu", "['a.b']"]
