"""Folding: repeated layers once, nothing lost, nothing reordered."""

from pathlib import Path

import pytest
from tests.analysis.skeleton.program import parsed, text

from xlareport.analysis.skeleton.items import SkeletonItem, every_item, total_seconds
from xlareport.analysis.skeleton.skeleton_folds import SkeletonLine, every_line, fold
from xlareport.analysis.skeleton.skeleton_text import line_parts, text_lines, time_words
from xlareport.skeleton import module_skeleton


def words(lines: tuple[SkeletonLine, ...]) -> list[str]:
    return ["".join(line_parts(line)) for line in lines]


def test_layers_that_repeat_are_shown_once(tmp_path: Path) -> None:
    items = module_skeleton(parsed(tmp_path, text(layers=12))).items
    shown = words(fold(items, 24))
    assert shown[0] == "repeated 12 times (0, 1, \N{HORIZONTAL ELLIPSIS}, 11), in total:"
    assert shown[1].startswith("forward layer_*/attention (12 different): 12 kernels")
    assert "while \N{MULTIPLICATION SIGN} 5 loop" in shown
    assert any("until done, overlaps 2 kernels" in line for line in shown)


def test_scopes_that_repeat_with_other_kernels_are_no_repetition() -> None:
    def items(*kernels: tuple[str, str]) -> tuple[SkeletonItem, ...]:
        return tuple(
            SkeletonItem("kernel", "compute", f"{opcode}.{place}", opcode, "main", scope)
            for place, (scope, opcode) in enumerate(kernels)
        )

    stretch = (("poisson", "fft"), ("forcing", "fusion"))
    repeated = words(fold(items(*stretch, *stretch), 24))
    assert repeated[0] == "repeated 2 times, in total:"
    other = (("poisson", "transpose"), ("forcing", "fusion"))
    assert not any("repeated" in line for line in words(fold(items(*stretch, *other), 24)))


def test_other_ops_of_the_same_scopes_are_no_repetition() -> None:
    """Kernels and collectives alternate, as in most sharded programs."""

    def kernel(name: str, shape: str = "f32[4]") -> SkeletonItem:
        return SkeletonItem("kernel", "compute", name, "fusion", "main", "cell", shape)

    def reduce(name: str, scope: str) -> SkeletonItem:
        return SkeletonItem("collective", "collectives", name, "all-reduce", "main", scope, "f32[]")

    def shown(*items: SkeletonItem) -> str:
        return "\n".join(words(fold(items, 24)))

    gemm, select = kernel("gemm_fusion.1"), kernel("loop_select_fusion.2")
    first, second = reduce("all-reduce.1", "cell"), reduce("all-reduce.2", "cell")
    assert "repeated 2 times" in shown(first, gemm, second, kernel("gemm_fusion.2"))
    assert "repeated" not in shown(first, gemm, second, select)
    assert "repeated" not in shown(first, gemm, second, kernel("gemm_fusion.2", "f32[8]"))
    other = reduce("all-reduce.2", "logits")
    assert "repeated" not in shown(first, gemm, other, kernel("gemm_fusion.2"))


def test_a_collective_that_overlaps_has_a_line_beside_those_that_do_not() -> None:
    def gather(name: str, seconds: float, done: str = "") -> SkeletonItem:
        opcode = "all-gather-start"
        return SkeletonItem(
            "collective", "collectives", name, opcode, "main", seconds=seconds, done=done
        )

    lines = fold((gather("short", 1e-6), gather("long", 5e-6, "done.1")), 24)
    assert [time_words(line) for line in lines] == ["1 µs", "5 µs"]
    both = fold((gather("first", 1e-6, "done.1"), gather("second", 5e-6, "done.2")), 24)
    assert [time_words(line) for line in both] == ["6 µs"]
    assert "longest second" in words(both)[0]


@pytest.mark.parametrize("most", [60, 24, 12, 6, 3])
def test_folding_keeps_every_item_and_its_time(tmp_path: Path, most: int) -> None:
    items = module_skeleton(parsed(tmp_path, text(layers=12))).items
    lines = fold(items, most)
    assert len(lines) <= most
    top = [line for line in lines if line.depth == 0]
    below = [item for line in lines for item in line.items]
    assert {item.name for item in items} <= {item.name for item in below}
    assert sum(line.seconds for line in top) == pytest.approx(total_seconds(items))


def test_unfolded_there_is_a_line_for_each_item(tmp_path: Path) -> None:
    items = module_skeleton(parsed(tmp_path, text(layers=2))).items
    lines = every_line(items)
    assert [line.items[0].name for line in lines] == [item.name for _, item in every_item(items)]
    assert [line.depth for line in lines] == [depth for depth, _ in every_item(items)]


def test_lines_are_cut_at_the_width(tmp_path: Path) -> None:
    lines = every_line(module_skeleton(parsed(tmp_path, text(layers=2))).items)
    assert max(map(len, text_lines(lines, 40))) == 40


def test_an_unknown_time_is_no_zero(tmp_path: Path) -> None:
    content = text(layers=1).replace("negate(%r)", 'custom-call(%r), custom_call_target="own"')
    lines = every_line(module_skeleton(parsed(tmp_path, content)).items)
    unknown = next(line for line in lines if line.items[0].name == "r.1")
    wait = SkeletonItem("done", "copies", "end", "copy-done", "main", seconds=0.0)
    assert [time_words(line) for line in (unknown, *every_line([wait]))] == ["?", ""]
