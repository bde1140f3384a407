"""Who is asked about: names that several instructions bore, op_names and their ends."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.modules import parse_module

from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.history.subjects import find_subjects, list_subjects, near_names
from xlareport.analysis.history.trace import trace_subject
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader
from xlareport.report import BuildOptions, read_one_module

Unpack = Callable[[str], Path]
META = 'metadata={op_name="jit(f)/layer/mul"}'
TEXTS = (
    ("%a = f32[8]{0} negate(%x)", f"%b = f32[8]{{0}} multiply(%a, %a), {META}"),
    ("%b = f32[8]{0} negate(%x)", f"%c = f32[8]{{0}} multiply(%b, %b), {META}"),
)


def modules() -> list[HloModule]:
    reader = TextReader()
    found = []
    for first, second in TEXTS:
        name = second.split(" ")[0]
        text = (
            "HloModule m\n\nENTRY %main (x: f32[8]) -> f32[8] {\n  %x = f32[8]{0} parameter(0)\n"
            f"  {first}\n  {second}\n  ROOT %r = f32[8]{{0}} add(%x, {name})\n}}\n"
        )
        read = reader.read(text.encode(), "m.txt")
        assert read is not None
        found.append(read)
    return found


def test_a_name_that_went_over_to_another_means_both_the_latest_first() -> None:
    subjects = find_subjects(SnapshotSequence(modules()), "%b")
    assert [(subject.name, subject.number) for subject in subjects] == [
        ("main/%b", 1),
        ("main/%b", 0),
    ]
    assert [subject.number for subject in find_subjects(SnapshotSequence(modules()), "b", 0)] == [0]
    assert len(find_subjects(SnapshotSequence(modules()), "main/%x")) == 1
    assert find_subjects(SnapshotSequence(modules()), "other/%x") == ()


def test_an_op_is_found_by_its_name_or_its_end() -> None:
    snapshots = SnapshotSequence(modules())
    (whole,) = find_subjects(snapshots, "jit(f)/layer/mul")
    assert find_subjects(snapshots, "layer/mul") == (whole,)
    assert whole.places == (Place("main", "b"),)
    assert find_subjects(snapshots, "ayer/mul") == ()
    assert "jit(f)/layer/mul" in near_names(snapshots, "ayer/mul")


def test_a_trace_goes_both_ways() -> None:
    snapshots = SnapshotSequence(modules())
    subject = trace_subject(snapshots, find_subjects(snapshots, "layer/mul")[0])
    assert [str(origin.place) for origin in subject.origins] == ["main/%b"]
    assert [str(one.place) for one in subject.now] == ["main/%c"]
    assert [one.event.value for one in subject.events] == [
        "in the input",
        "renamed",
        "in the last snapshot",
    ]


def test_a_scope_finds_the_ops_that_transformations_wrap_it_in() -> None:
    """JAX writes `jvp(encoder)` and `transpose(jvp(encoder))`; pages write `encoder/mlp/mul`."""
    names = ["jit(f)/transpose(jvp(encoder))/mlp/mul", "jit(f)/jvp(encoder)/mlp/mul"]
    text = "HloModule m\n\nENTRY %main (x: f32[8]) -> f32[8] {\n  %x = f32[8]{0} parameter(0)\n"
    for name, op_name in zip("ab", names, strict=True):
        text += f'  %{name} = f32[8]{{0}} multiply(%x, %x), metadata={{op_name="{op_name}"}}\n'
    module = parse_module(f"{text}  ROOT %r = f32[8]{{0}} add(%a, %b)\n}}\n")
    snapshots = SnapshotSequence([module])
    for asked in ("encoder/mlp/mul", "jit(f)/encoder/mlp/mul", "mlp/mul"):
        assert [subject.name for subject in find_subjects(snapshots, asked)] == names[::-1]
    assert [subject.name for subject in find_subjects(snapshots, "jvp(encoder)/mlp/mul")] == names[
        1:
    ]
    assert find_subjects(snapshots, "oder/mlp/mul") == ()
    assert set(near_names(snapshots, "encoder/mlp")) == set(names)


@pytest.fixture(
    scope="module", params=[("jax-cpu-train", "jit_train_step"), ("tpu-v5e-scan", None)]
)
def snapshots(request: pytest.FixtureRequest, unpacked: Unpack) -> SnapshotSequence:
    dump, name = request.param
    module = read_one_module(unpacked(dump), name, BuildOptions())
    return SnapshotSequence([snapshot.hlo for snapshot in module.snapshots])


def test_the_census_holds_everything_once(snapshots: SnapshotSequence) -> None:
    subjects = list(list_subjects(snapshots))
    assert len({(subject.name, subject.number) for subject in subjects}) == len(subjects)
    entry = snapshots.modules[-1].entry
    assert entry is not None
    named = {subject.name for subject in subjects if subject.number}
    assert {f"{entry.name}/%{line.name}" for line in entry.instructions} <= named
    first = [place for subject in subjects if not subject.number for place in subject.places]
    assert len(first) == len(set(first)) == snapshots.modules[0].instruction_count
