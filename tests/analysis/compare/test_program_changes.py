"""What changed in a program, from two first snapshots."""

import pytest
from msgspec.structs import replace
from tests.modules import parse_module

from xlareport.analysis.compare.given_program import Program, read_program
from xlareport.analysis.compare.program_changes import ChangeKind, find_program_changes
from xlareport.hlo.text import TextReader

STEP = """HloModule jit_step

ENTRY %main (w: f32[8,8], x: f32[4,8]) -> f32[4,8] {
  %w = f32[8,8]{1,0} parameter(0), \
metadata={op_name="params['layers'][0]['w']"}
  %x = f32[4,8]{1,0} parameter(1), \
metadata={op_name="x"}
  %d = f32[4,8]{1,0} dot(%x, %w), lhs_contracting_dims={1}, \
rhs_contracting_dims={0}, \
metadata={op_name="jit(step)/jvp()/dot_general" \
source_file="m.py" source_line=3}
  ROOT %t = f32[4,8]{1,0} tanh(%d), \
metadata={op_name="jit(step)/jvp()/tanh" \
source_file="m.py" source_line=4}
}
"""
LAYER = """  %v = f32[8,8]{1,0} parameter(2), \
metadata={op_name="params['layers'][1]['w']"}
  %d = """


def program(text: str) -> Program:
    module = parse_module(text)
    return read_program(module)


@pytest.mark.parametrize(
    ("old", "new", "kind", "base", "head"),
    [
        ("f32", "bf16", ChangeKind.TYPE, "f32", "bf16"),
        ("[4,8]", "[16,8]", ChangeKind.SIZE, "4", "16"),
        ("  %d = ", LAYER, ChangeKind.LAYERS, "1", "2"),
        ("/jvp()/tanh", "/rematted_computation/tanh", ChangeKind.RECOMPUTATION, "0", "1"),
        (
            "HloModule jit_step",
            "HloModule jit_step, input_output_alias={ {}: (1, {}, may-alias) }",
            ChangeKind.DONATION,
            "0",
            "1",
        ),
        (
            "parameter(0),",
            "parameter(0), sharding={devices=[2,1]<=[2]},",
            ChangeKind.SHARDING,
            "none",
            "{devices=[2,1]<=[2]}",
        ),
        (" tanh(", " logistic(", ChangeKind.OPERATIONS, "tanh", "logistic"),
    ],
)
def test_one_change(old: str, new: str, kind: ChangeKind, base: str, head: str) -> None:
    assert old in STEP
    change, *others = find_program_changes(program(STEP), program(STEP.replace(old, new)))
    assert (change.kind, change.base, change.head) == (kind, base, head)
    assert not others


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("jit(step)", "jit(update)"),
        ("m.py", "other.py"),
        ("source_line=3", "source_line=30"),
        ("jvp()/tanh", "jvp(mlp)/tanh"),
        ("%d", "%product"),
    ],
)
def test_what_has_no_effect(old: str, new: str) -> None:
    assert old in STEP
    assert find_program_changes(program(STEP), program(STEP.replace(old, new))) == ()


def test_ops_that_checkpointing_adds_are_part_of_it() -> None:
    kept = (
        "  %k = f32[4,8]{1,0} reduce-precision(%x), exponent_bits=8, mantissa_bits=23, "
        'metadata={op_name="jit(step)/jvp()/checkpoint/reduce_precision"}\n  ROOT %t = '
    )
    text = STEP.replace("/jvp()/tanh", "/rematted_computation/tanh").replace("  ROOT %t = ", kept)
    (change,) = find_program_changes(program(text), program(STEP))
    assert (change.kind, change.base, change.head) == (ChangeKind.RECOMPUTATION, "1", "0")


def test_devices_are_told_before_arguments() -> None:
    text = STEP.replace("HloModule jit_step", "HloModule jit_step, num_partitions=4")
    (change,) = find_program_changes(program(STEP), program(text))
    assert (change.kind, change.base, change.head) == (
        ChangeKind.SHARDING,
        "1 device",
        "4 devices",
    )


def test_a_donated_argument_has_the_bytes_of_one_device() -> None:
    donated = STEP.replace(
        "HloModule jit_step", "HloModule jit_step, buffer_donor={ (0, {}) }, num_partitions=4"
    )
    local = STEP.replace("w: f32[8,8]", "w: f32[2,8]").replace("%w = f32[8,8]", "%w = f32[2,8]")
    given, final = (TextReader().read(text.encode(), "a.txt") for text in (donated, local))
    assert given is not None
    base = read_program(given, final)
    head = replace(
        base, arguments=tuple(replace(argument, donated=False) for argument in base.arguments)
    )
    (change,) = find_program_changes(base, head)
    assert (change.kind, change.base, change.head) == (ChangeKind.DONATION, "1", "0")
    assert change.bytes == 2 * 8 * 4
    assert read_program(given).arguments[0].bytes == 8 * 8 * 4


def test_what_costs_most_is_named_first_however_few() -> None:
    """The same ops by name, in other numbers: one cholesky says more than several converts."""
    metadata = ', metadata={op_name="jit(step)/jvp()/tanh"}\n'
    cheap = "".join(
        f"  %{name}.{number} = f32[4,8]{{1,0}} {name}(%x){metadata}"
        for name in ("abs", "ceil", "floor", "negate", "sine")
        for number in range(3)
    )
    costly = f"  %e = f32[8,8]{{1,0}} cholesky(%w), lower=true{metadata}"
    more = STEP.replace("  ROOT", f"{cheap}{costly}  ROOT")
    (change,) = find_program_changes(program(more), program(STEP))
    assert change.kind is ChangeKind.OPERATIONS
    assert change.base.split(", ")[0] == "cholesky"


def test_the_lines_of_recomputed_work_are_counted_those_of_most_instructions_first() -> None:
    again = "".join(
        f"  %t{number} = f32[4,8]{{1,0}} tanh(%x), metadata="
        f'{{op_name="jit(step)/rematted_computation/tanh" source_file="f.py" source_line={line}}}\n'
        for number, line in enumerate((1, 2, 3, 4, 5, 5, 6))
    )
    text = STEP.replace("  ROOT %t = ", f"{again}  ROOT %t = ")
    (change,) = find_program_changes(program(STEP), program(text))
    assert change.lines[0] == "f.py:5"
    assert (len(change.lines), change.line_count) == (4, 6)


def test_a_policy_that_keeps_matmuls_is_a_change_of_recomputation() -> None:
    """Both programs recompute; one recomputes a matmul fewer, and stacks its result instead."""
    sine = (
        '  %s = f32[4,8]{1,0} sine(%x), metadata={op_name="jit(step)/rematted_computation/sin" '
        'source_file="m.py" source_line=5}\n'
    )
    product = (
        "  %again = f32[4,8]{1,0} dot(%x, %w), lhs_contracting_dims={1}, "
        'rhs_contracting_dims={0}, metadata={op_name="jit(step)/rematted_computation/dot_general" '
        'source_file="m.py" source_line=3}\n'
    )
    stack = '  %b = f32[4,8]{1,0} abs(%x), metadata={op_name="jit(step)/jvp()/abs"}\n'
    base = STEP.replace("  ROOT", f"{sine}{product}  ROOT")
    head = STEP.replace("  ROOT", f"{sine}{stack}  ROOT")
    first, *_ = find_program_changes(program(base), program(head))
    assert (first.kind, first.base, first.head) == (ChangeKind.RECOMPUTATION, "2", "1")
    assert first.lines == ("m.py:3",)
