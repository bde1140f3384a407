"""Folders of ranks that hold the same files are found before anything is read."""

from pathlib import Path

from xlareport.dump.rank_folders import fold_rank_folders, natural_order
from xlareport.dump.source import open_source

TEXT = "HloModule jit_f\n\nENTRY %main {\n  ROOT %p = f32[8]{0} parameter(0)\n}\n"
NAME = "module_0001.jit_f.before_optimizations.txt"


def write(root: Path, folder: str, **files: str) -> None:
    place = root / folder
    place.mkdir(parents=True, exist_ok=True)
    for name, content in ({NAME: TEXT} | files).items():
        (place / name).write_text(content)


def copies(root: Path) -> dict[str, str]:
    with open_source(root) as source:
        folded = fold_rank_folders(source.entries)
        gone = {copy.folder for copy in folded.copies}
        assert all(entry.path.split("/")[0] not in gone for entry in folded.entries)
        assert len(folded.entries) + sum(copy.files for copy in folded.copies) == len(
            source.entries
        )
        return {copy.folder: copy.original for copy in folded.copies}


def test_equal_folders_are_copies_of_the_first(tmp_path: Path) -> None:
    for rank in (0, 2, 10):
        write(tmp_path, f"rank_{rank}")
    assert copies(tmp_path) == {"rank_2": "rank_0", "rank_10": "rank_0"}


def test_where_it_was_dumped_and_when_does_not_count(tmp_path: Path) -> None:
    for rank in (0, 1):
        options = f'xla_dump_to: "/some/where/{"x" * rank}"\nxla_gpu_autotune_level: 4\n'
        times = "start: 1" if rank else "start: 1234567"
        others = {
            "module_0001.jit_f.debug_options": options,
            "module_0001.metadata.textproto": times,
        }
        write(tmp_path, f"rank_{rank}", **others)
    assert copies(tmp_path) == {"rank_1": "rank_0"}


def test_other_contents_of_one_size_are_no_copy(tmp_path: Path) -> None:
    write(tmp_path, "a")
    write(tmp_path, "b", **{NAME: TEXT.replace("f32", "s32")})
    write(tmp_path, "c")
    assert copies(tmp_path) == {"c": "a"}


def test_other_options_are_no_copy(tmp_path: Path) -> None:
    for level in (0, 4):
        name = "module_0001.jit_f.debug_options"
        write(tmp_path, f"rank_{level}", **{name: f"xla_gpu_autotune_level: {level}\n"})
    assert copies(tmp_path) == {}


def test_folders_of_a_module_are_no_ranks(tmp_path: Path) -> None:
    write(tmp_path, ".")
    for name in ("module_0001.jit_f", "module_0003.jit_f"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "module.mlir").write_text("module {}")
    assert copies(tmp_path) == {}


def test_numbers_are_sorted_as_numbers() -> None:
    names = ["rank_10", "rank_2", "rank", "host1/rank_3"]
    assert sorted(names, key=natural_order) == ["host1/rank_3", "rank", "rank_2", "rank_10"]
