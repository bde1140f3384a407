from collections.abc import Callable
from typing import TypeAlias

import pytest

from xlareport.analysis.cost.fused import Fused
from xlareport.analysis.cost.site import Site, shapes_of
from xlareport.analysis.cost.work import ModuleCost
from xlareport.hlo.model import HloModule

Count: TypeAlias = Callable[[str], ModuleCost]
ReadModule: TypeAlias = Callable[[str], HloModule]


def traffic(module_of: ReadModule, fused: str, operands: list[str], shape: str) -> tuple[int, int]:
    parameters = "".join(
        f"  a{n} = {operand} parameter({n})\n" for n, operand in enumerate(operands)
    )
    names = ", ".join(f"a{n}" for n in range(len(operands)))
    module = module_of(
        f"fused {{\n{fused}\n}}\n\nENTRY e {{\n{parameters}"
        f"  ROOT f = {shape} fusion({names}), kind=kLoop, calls=fused\n}}"
    )
    entry = module.entry
    site = Site(entry.by_name["f"], shapes_of(entry))
    found = Fused(module.by_name["fused"], lambda _, __: None).traffic(site)
    return found.read, found.written


def test_a_parameter_is_read_once_however_many_use_it(module_of: ReadModule) -> None:
    body = "  p = f32[10] parameter(0)\n  a = f32[10] add(p, p)\n  ROOT m = f32[10] multiply(a, p)"
    assert traffic(module_of, body, ["f32[10]"], "f32[10]") == (40, 40)


def test_what_is_only_sliced_is_read_in_part(module_of: ReadModule) -> None:
    body = (
        "  p = f32[100] parameter(0)\n  a = f32[10] slice(p), slice={[0:10]}\n"
        "  b = f32[10] slice(p), slice={[10:20]}\n  ROOT m = f32[10] multiply(a, b)"
    )
    assert traffic(module_of, body, ["f32[100]"], "f32[10]") == (80, 40)


def test_of_slices_in_a_row_the_last_one_is_read(module_of: ReadModule) -> None:
    body = (
        "  p = f32[100] parameter(0)\n  a = f32[50] slice(p), slice={[0:50]}\n"
        "  ROOT b = f32[10] slice(a), slice={[10:20]}"
    )
    assert traffic(module_of, body, ["f32[100]"], "f32[10]") == (40, 40)
    both = body.replace("ROOT b", "b") + "\n  c = f32[10] slice(a), slice={[20:30]}\n"
    both += "  ROOT m = f32[10] multiply(b, c)"
    assert traffic(module_of, both, ["f32[100]"], "f32[10]") == (80, 40)
    used = both.replace("c = f32[10] slice(a), slice={[20:30]}", "c = f32[50] negate(a)")
    used = used.replace(
        "ROOT m = f32[10] multiply(b, c)", "ROOT t = (f32[10], f32[50]) tuple(b, c)"
    )
    assert traffic(module_of, used, ["f32[100]"], "(f32[10], f32[50])") == (200, 240)


@pytest.mark.parametrize("move", ["bitcast", "reshape", "transpose", "copy"])
def test_what_is_sliced_behind_a_move_is_read_in_part(module_of: ReadModule, move: str) -> None:
    body = (
        f"  p = f32[10,10] parameter(0)\n  i = s32[] parameter(1)\n  m = f32[100] {move}(p)\n"
        "  ROOT d = f32[5] dynamic-slice(m, i), dynamic_slice_sizes={5}"
    )
    assert traffic(module_of, body, ["f32[10,10]", "s32[]"], "f32[5]") == (24, 20)
    whole = body.replace("ROOT d", "d") + "\n  ROOT t = (f32[5], f32[100]) tuple(d, m)"
    both = "(f32[5], f32[100])"
    assert traffic(module_of, whole, ["f32[10,10]", "s32[]"], both)[0] == 404


def test_a_buffer_is_updated_in_place_behind_a_bitcast_alone(module_of: ReadModule) -> None:
    body = (
        "  p = f32[10,10] parameter(0)\n  u = f32[2] parameter(1)\n  i = s32[] parameter(2)\n"
        "  m = f32[100] bitcast(p)\n  d = f32[100] dynamic-update-slice(m, u, i)\n"
        "  ROOT b = f32[10,10] bitcast(d)"
    )
    operands = ["f32[10,10]", "f32[2]", "s32[]"]
    assert traffic(module_of, body, operands, "f32[10,10]") == (12, 8)
    moved = body.replace("m = f32[100] bitcast", "m = f32[100] transpose")
    assert traffic(module_of, moved, operands, "f32[10,10]")[0] == 412


def test_a_slice_of_an_updated_buffer_reads_the_slice(module_of: ReadModule) -> None:
    """The update is no result of the fusion: the rest of the slice comes from the buffer."""
    body = (
        "  p = f32[100] parameter(0)\n  u = f32[2] parameter(1)\n  i = s32[] parameter(2)\n"
        "  m = f32[100] bitcast(p)\n  d = f32[100] dynamic-update-slice(m, u, i)\n"
        "  ROOT s = f32[20] dynamic-slice(d, i), dynamic_slice_sizes={20}"
    )
    operands = ["f32[100]", "f32[2]", "s32[]"]
    assert traffic(module_of, body, operands, "f32[20]") == (80 + 8 + 4, 80)
    both = body.replace("ROOT s", "s") + "\n  ROOT t = (f32[20], f32[100]) tuple(s, d)"
    assert traffic(module_of, both, operands, "(f32[20], f32[100])") == (80 + 8 + 4, 80 + 8)
    every = body.replace("ROOT s", "s") + "\n  ROOT n = f32[100] negate(d)"
    assert traffic(module_of, every, operands, "f32[100]") == (400 + 8 + 4, 400)


def test_a_long_row_of_slices_is_counted(module_of: ReadModule) -> None:
    rows = "\n".join(f"  a{n} = f32[10] slice(a{n - 1}), slice={{[0:10]}}" for n in range(1, 3000))
    body = f"  a0 = f32[10] parameter(0)\n{rows}\n  ROOT r = f32[1] slice(a2999), slice={{[0:1]}}"
    assert traffic(module_of, body, ["f32[10]"], "f32[1]") == (40, 4)


def test_an_updated_buffer_is_written_in_part(module_of: ReadModule) -> None:
    body = (
        "  p = f32[100] parameter(0)\n  u = f32[2] parameter(1)\n  i = s32[] parameter(2)\n"
        "  ROOT d = f32[100] dynamic-update-slice(p, u, i)"
    )
    assert traffic(module_of, body, ["f32[100]", "f32[2]", "s32[]"], "f32[100]") == (12, 8)


def test_each_result_of_a_tuple_is_written(module_of: ReadModule) -> None:
    body = (
        "  p = f32[10] parameter(0)\n  a = f32[10] add(p, p)\n  b = f16[10] convert(a)\n"
        "  ROOT t = (f32[10], f16[10]) tuple(a, b)"
    )
    assert traffic(module_of, body, ["f32[10]"], "(f32[10], f16[10])") == (40, 60)


def test_large_constants_are_read_small_ones_are_not(module_of: ReadModule) -> None:
    body = (
        "  p = f32[9] parameter(0)\n  c = f32[9] constant({...})\n  k = f32[] constant(2)\n"
        "  b = f32[9] broadcast(k), dimensions={}\n  a = f32[9] add(p, c)\n"
        "  ROOT m = f32[9] multiply(a, b)"
    )
    assert traffic(module_of, body, ["f32[9]"], "f32[9]") == (72, 36)


def test_a_gathered_table_is_read_in_part(module_of: ReadModule) -> None:
    body = (
        "  p = f32[1000,8] parameter(0)\n  i = s32[4,1] parameter(1)\n"
        "  ROOT g = f32[4,8] gather(p, i), offset_dims={1}, collapsed_slice_dims={0}, "
        "start_index_map={0}, index_vector_dim=1, slice_sizes={1,8}"
    )
    assert traffic(module_of, body, ["f32[1000,8]", "s32[4,1]"], "f32[4,8]") == (128 + 16, 128)
    reshaped = body.replace("f32[1000,8]", "f32[1,1000,8]").replace("gather(p", "gather(b")
    reshaped = reshaped.replace("  ROOT", "  b = f32[1000,8] bitcast(p)\n  ROOT")
    operands = ["f32[1,1000,8]", "s32[4,1]"]
    assert traffic(module_of, reshaped, operands, "f32[4,8]") == (128 + 16, 128)


@pytest.mark.parametrize("element", ["q#0", "e"])
def test_elements_of_a_tuple_parameter(module_of: ReadModule, element: str) -> None:
    body = (
        "  q = (f32[100], f32[50]) parameter(0)\n"
        "  e = f32[100] get-tuple-element(q), index=0\n"
        f"  ROOT a = f32[10] slice({element}), slice={{[0:10]}}"
    )
    assert traffic(module_of, body, ["(f32[100], f32[50])"], "f32[10]") == (40, 40)


def test_fusions_nested_very_often_are_counted_once_each(count: Count) -> None:
    levels = ["f0 {\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] negate(p)\n}"]
    for level in range(1, 40):
        calls = "\n".join(
            f"  c{n} = f32[4] fusion(p), kind=kLoop, calls=f{level - 1}" for n in range(10)
        )
        levels.append(
            f"f{level} {{\n  p = f32[4] parameter(0)\n{calls}\n  ROOT r = f32[4] add(c0, c1)\n}}"
        )
    entry = "ENTRY e {\n  x = f32[4] parameter(0)\n  ROOT f = f32[4] fusion(x), calls=f39\n}"
    assert count("\n\n".join([*levels, entry])).bytes_accessed is not None


def test_fusions_that_nest_in_a_circle_are_unknown(count: Count) -> None:
    cost = count(
        """fused {
  p = f32[4] parameter(0)
  ROOT r = f32[4] fusion(p), kind=kLoop, calls=fused
}

ENTRY e {
  a = f32[4] parameter(0)
  ROOT f = f32[4] fusion(a), kind=kLoop, calls=fused
}"""
    )
    assert cost.flops is None
    assert cost.xla_flops is None


@pytest.mark.parametrize("work", ["subtract(p, q)", "multiply(p, p)", "maximum(q, p)"])
def test_of_what_is_computed_for_a_gather_only_its_elements_are_read(
    module_of: ReadModule, work: str
) -> None:
    body = (
        "  p = f32[1000,8] parameter(0)\n  i = s32[4,1] parameter(1)\n  n = f32[] constant(2)\n"
        f"  q = f32[1000,8] broadcast(n), dimensions={{}}\n  s = f32[1000,8] {work}\n"
        "  h = bf16[1000,8] convert(s)\n  b = bf16[1000,8] bitcast(h)\n"
        "  ROOT g = bf16[4,8] gather(b, i), offset_dims={1}, collapsed_slice_dims={0}, "
        "start_index_map={0}, index_vector_dim=1, slice_sizes={1,8}"
    )
    operands = ["f32[1000,8]", "s32[4,1]"]
    assert traffic(module_of, body, operands, "bf16[4,8]") == (128 + 16, 64)
    used = body.replace("ROOT g", "g") + "\n  ROOT t = (bf16[4,8], bf16[1000,8]) tuple(g, h)"
    whole = traffic(module_of, used, operands, "(bf16[4,8], bf16[1000,8])")
    assert whole == (32_000 + 16, 64 + 16_000)


def test_what_two_operations_compute_for_one_slice_is_read_once(module_of: ReadModule) -> None:
    body = (
        "  p = f32[100] parameter(0)\n  n = f32[100] negate(p)\n  e = f32[100] exponential(p)\n"
        "  m = f32[100] multiply(n, e)\n  ROOT b = f32[10] slice(m), slice={[10:20]}"
    )
    assert traffic(module_of, body, ["f32[100]"], "f32[10]") == (40, 40)


def test_a_sum_of_what_is_computed_by_element_reads_all_of_it(module_of: ReadModule) -> None:
    body = (
        "  p = f32[100] parameter(0)\n  n = f32[100] negate(p)\n  b = f32[5,100] broadcast(n), "
        "dimensions={1}\n  ROOT s = f32[5,10] slice(b), slice={[0:5], [10:20]}"
    )
    assert traffic(module_of, body, ["f32[100]"], "f32[5,10]") == (400, 200)


def test_what_is_read_as_a_whole_is_not_read_again_for_a_slice(module_of: ReadModule) -> None:
    body = (
        "  p = f32[100] parameter(0)\n  n = f32[100] negate(p)\n  e = f32[100] exponential(p)\n"
        "  b = f32[10] slice(n), slice={[10:20]}\n"
        "  ROOT t = (f32[10], f32[100]) tuple(b, e)"
    )
    assert traffic(module_of, body, ["f32[100]"], "(f32[10], f32[100])") == (400, 440)
