"""The graph for the page script: an index of every instruction, details in pieces."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.modules import count_final_cost

from xlareport.analysis.profile.instruction_times import sum_times
from xlareport.pages.pictures import snapshot_graph as graph_payload
from xlareport.pages.pictures.snapshot_graph import graph_payloads
from xlareport.pictures.shade import ColorData
from xlareport.readers.op_events import OpEvent
from xlareport.report import BuildOptions, read_one_module
from xlareport.storage.payloads import Payload, decode_payload
from xlareport.storage.string_folding import Folded, unfold_strings

Unpack = Callable[[str], Path]
Payloads = dict[str, Any]

HEAD = """HloModule m, entry_computation_layout={(f32[8])->f32[8]}

"""
BODY = """body {
  p = (f32[8], s32[]) parameter(0)
  ROOT t = (f32[8], s32[]) tuple(p#0, p#1), control-predecessors={p}
}

"""
ENTRY = """ENTRY main {
  x = f32[8]{0} parameter(0), metadata={op_name="a, b={c}"}
  c = f32[] constant(3)
  i = s32[8] iota(), iota_dimension=0
  ROOT w = (f32[8], s32[]) while(x, gone, c), body=body, condition=nowhere
}
"""


def payloads_of(text: str, folder: Path) -> Payloads:
    (folder / "module_0000.m.after_optimizations.txt").write_text(text)
    module = read_one_module(folder, "module_0000.m", BuildOptions())
    assert module.final is not None
    return values_of(graph_payloads("m/x/graph", module.final, None))


def values_of(payloads: Iterable[Payload]) -> Payloads:
    """Return the values of payloads by their keys."""
    return {payload.key: decode_payload(payload) for payload in payloads}


def strings(listed: Any) -> list[str]:
    """Return what was folded."""
    return unfold_strings(Folded(*listed), 10_000_000)


def rows(flat: Any) -> list[Any]:
    """Return what was laid flat."""
    lengths, values = flat
    rest = iter(values)
    return [[next(rest) for _ in range(length)] for length in lengths]


def detail(piece: Any, place: int) -> tuple[Any, ...]:
    """Return parts of the line, shape, op_name, source and figures of an instruction."""
    lengths, folded = piece["lines"]
    lines = rows([lengths, strings(folded)])
    columns = (piece[name] for name in ("shapes", "scopes", "sources", "figures"))
    return lines[place], *(values[numbers[place]] for values, numbers in columns)


def test_what_was_measured_stands_beside_the_cost(tmp_path: Path) -> None:
    (tmp_path / "module_0000.m.after_optimizations.txt").write_text(HEAD + BODY + ENTRY)
    module = read_one_module(tmp_path, "module_0000.m", BuildOptions())
    assert module.final is not None
    events = [
        OpEvent("m", "w", "1", (1,), 0, 4_000_000),
        OpEvent("m", "i", "1", (1,), 1_000_000, 1_000_000),
    ]
    times = sum_times(events)["m"]
    found = graph_payloads(
        "g", module.final, None, ColorData(time=times.shares), times.instructions
    )
    made = values_of(found)
    values, numbers = made["g-0"]["times"]
    told = dict(
        zip(strings(made["g"]["names"]), (values[number] for number in numbers), strict=True)
    )
    assert told["w"] == [1, 4e-6, 3e-6, 4e-6, 1.0, 0.0]
    assert (told["i"], told["x"]) == ([1, 1e-6, 1e-6, 1e-6, 0.25, 1.0], None)
    shades, shade = made["g"]["shades"], made["g"]["shade"]
    assert [shades[one][3:] for one in shade][2:4] == [[0.25], [1.0]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Payloads:
    return payloads_of(HEAD + BODY + ENTRY, tmp_path_factory.mktemp("made"))


@pytest.fixture(scope="module")
def rollout(unpacked: Unpack) -> Payloads:
    module = read_one_module(unpacked("jax-cpu-train"), "jit_rollout", BuildOptions())
    assert module.final is not None
    files = graph_payloads("m/x/graph", module.final, count_final_cost(module))
    return values_of(files)


def test_the_entry_comes_first_and_says_what_it_calls(made: Payloads) -> None:
    index = made["m/x/graph"]
    assert [(name, count) for name, count, _ in index["computations"]] == [("main", 4), ("body", 2)]
    assert strings(index["names"]) == ["x", "c", "i", "w", "p", "t"]
    assert index["roots"] == [3, 1]
    assert index["calls"] == {"3": [["body", 1]]}
    assert (index["label"], index["text"]) == ("after optimizations", "after_optimizations")
    assert index["complete"]


def test_operands_are_distances_and_names_that_nobody_bears_are_left_out(made: Payloads) -> None:
    index = made["m/x/graph"]
    assert rows(index["operands"]) == [[], [], [], [3, 2], [], ["1#0", "1#1"]]
    assert index["controls"] == {"5": [4]}
    words, numbers = index["arguments"]
    assert [strings(words)[number] for number in numbers] == ["0", "3", "", "", "0", ""]


def test_colors_are_those_of_the_pictures(made: Payloads) -> None:
    index = made["m/x/graph"]
    looks = [index["looks"][one] for one in index["look"]]
    assert looks[0] == ["parameter", "", "orange", ""]
    assert looks[2] == ["iota", "", "white", "iota_dimension=0"]
    assert looks[3] == ["while", "", "dark-green", ""]


def test_the_parts_of_a_line_give_it_again(made: Payloads) -> None:
    parts, shape, scope, source, figures = detail(made["m/x/graph-0"], 0)
    assert ", ".join(parts) == 'x = f32[8]{0} parameter(0), metadata={op_name="a, b={c}"}'
    assert (len(parts), shape, scope, source, figures) == (2, "f32[8]{0}", "a, b={c}", "", None)


def test_a_very_long_line_is_cut_and_says_so(tmp_path: Path) -> None:
    values = ", ".join(["1"] * 3000)
    text = f"{HEAD}ENTRY main {{\n  ROOT c = s32[3000] constant({{{values}}})\n}}\n"
    parts, *_ = detail(payloads_of(text, tmp_path)["m/x/graph-0"], 0)
    assert len(parts) == 1
    assert parts[0].endswith(" more characters")
    assert len(parts[0]) < 4100


def test_every_piece_but_the_last_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_payload, "_PIECE", 1000)
    lines = "\n".join(f"  a.{n} = f32[] add(a.{n - 1}, a.{n - 1})" for n in range(1, 2500))
    text = f"{HEAD}ENTRY main {{\n  a.0 = f32[] parameter(0)\n{lines}\n}}\n"
    found = payloads_of(text, tmp_path)
    assert [len(found[f"m/x/graph-{number}"]["lines"][0]) for number in range(3)] == [
        1000,
        1000,
        500,
    ]
    assert found["m/x/graph"]["piece"] == 1000


def test_a_computation_without_room_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_payload, "_MOST_INSTRUCTIONS", 3)
    index = payloads_of(HEAD + BODY + ENTRY, tmp_path)["m/x/graph"]
    assert [name for name, _, _ in index["computations"]] == ["body"]
    assert not index["complete"]


def test_a_real_module_has_its_lines_costs_and_sources(rollout: Payloads) -> None:
    index = rollout["m/x/graph"]
    place = strings(index["names"]).index("while.6")
    parts, _, scope, source, figures = detail(rollout["m/x/graph-0"], place)
    assert parts[0].startswith("%while.6 = ")
    assert any(part.startswith("body=") for part in parts)
    assert scope.startswith("jit(rollout)")
    assert "jax_train.py:" in source
    assert figures[2] == 1
    assert {attribute for attribute, _ in index["calls"][str(place)]} == {"body", "condition"}
