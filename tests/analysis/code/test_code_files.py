"""Files of code and what they were made from."""

from tests.modules import parse_module

from xlareport.analysis.code.code_files import CodeFile, group_by_place, link_files
from xlareport.analysis.code.kernel_links import KernelIndex
from xlareport.hlo.model import HloModule

TEXT = b"""HloModule m

ENTRY main.5 {
  a = f32[4] parameter(0)
  fusion.1 = f32[4] negate(a)
  ROOT fusion.2 = f32[4] negate(fusion.1)
}
"""


def module() -> HloModule:
    return parse_module(TEXT)


def file(path: str, part: str, *kernels: str, none: bool = False) -> CodeFile:
    return CodeFile(path, "llvm-ir", "ir-with-opt", part, kernels, 1, defines_none=none)


def test_a_file_that_names_nothing_is_known_by_its_sibling() -> None:
    files = (file("1.ll", "1", "fusion_1"), file("1.ptx", "1", none=True), file("2.ll", "2"))
    found = {one.file.path: one for one in link_files(files, KernelIndex(module(), {}))}
    assert found["1.ptx"].places == found["1.ll"].places
    assert [place.instruction for place in found["1.ptx"].places] == ["fusion.1"]
    assert not found["2.ll"].has_place
    assert found["2.ll"].reason


def test_a_file_may_hold_several_kernels() -> None:
    (link,) = link_files([file("m.ll", "", "fusion.1", "fusion.2")], KernelIndex(module(), {}))
    assert [place.instruction for place in link.places] == ["fusion.1", "fusion.2"]
    assert set(group_by_place([link])) == {("main.5", "fusion.1"), ("main.5", "fusion.2")}


def test_what_all_kernels_share_belongs_to_the_module() -> None:
    files = (file("m.o", ""), file("constants.ll", "constants", none=True))
    for link in link_files(files, KernelIndex(module(), {})):
        assert [(place.computation, place.instruction) for place in link.places] == [("main.5", "")]


def test_a_kernel_that_fits_nothing_is_listed_with_the_reason() -> None:
    (link,) = link_files([file("x.ll", "x", "mystery")], KernelIndex(module(), {}))
    assert (link.has_place, link.reason) == (
        False,
        "No instruction has a name like its kernel's.",
    )
