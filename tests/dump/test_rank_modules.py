"""Modules that several processes wrote with the same contents are one."""

from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from xlareport.dump.grouping import group_source
from xlareport.dump.modules import GroupedDump, ModuleFiles
from xlareport.dump.rank_modules import merge_rank_modules
from xlareport.dump.source import open_source
from xlareport.storage.packed_keys import ChosenValues
from xlareport.storage.spooled_values import SpooledValues

TEXT = "HloModule jit_f\n\nENTRY %main {\n  ROOT %p = f32[8]{0} parameter(0)\n}\n"
ENDINGS = ("before_optimizations.txt", "cpu_after_optimizations.txt")


def grouped(root: Path, modules: Mapping[str, str]) -> GroupedDump:
    for prefix, text in modules.items():
        (root / prefix).parent.mkdir(parents=True, exist_ok=True)
        for ending in ENDINGS:
            (root / f"{prefix}.{ending}").write_text(text)
    with open_source(root) as source:
        return group_source(source).grouped


def copies(dump: GroupedDump) -> dict[str, list[str]]:
    return {
        key: [f"{module.folder}/{module.id}" for module in modules]
        for key, modules in dump.copies.items()
    }


def test_the_number_of_a_module_may_differ(tmp_path: Path) -> None:
    groups = grouped(
        tmp_path,
        {
            "rank_0/module_0000.jit_log": TEXT.replace("f32", "s32"),
            "rank_0/module_0002.jit_f": TEXT,
            "rank_1/module_0000.jit_f": TEXT,
        },
    )
    assert [module.key for module in groups.modules] == ["module_0000.jit_log", "module_0002.jit_f"]
    assert copies(groups) == {"module_0002.jit_f": ["rank_1/0"]}


def test_what_one_process_compiled_twice_is_two_modules(tmp_path: Path) -> None:
    prefixes = [
        f"rank_{rank}/module_{number:04}.jit_f" for rank in (0, 1) for number in (1 + rank, 7)
    ]
    groups = grouped(tmp_path, dict.fromkeys(prefixes, TEXT))
    assert copies(groups) == {
        "module_0001.jit_f": ["rank_1/2"],
        "module_0007.jit_f": ["rank_1/7"],
    }


def test_processes_that_stamp_their_files_share_a_folder(tmp_path: Path) -> None:
    stamps = (1795254934081269, 1795254934081270)
    prefixes = [f"{stamp}.module_0001.jit_f" for stamp in stamps]
    assert copies(grouped(tmp_path, dict.fromkeys(prefixes, TEXT))) == {prefixes[0]: ["/1"]}


def test_one_folder_without_stamps_is_left_alone(tmp_path: Path) -> None:
    prefixes = ["module_0001.jit_f", "module_0003.jit_f"]
    assert copies(grouped(tmp_path, dict.fromkeys(prefixes, TEXT))) == {}


def test_modules_that_lie_on_disk_stay_there(tmp_path: Path) -> None:
    every = grouped(
        tmp_path, {"a/module_0001.jit_f": TEXT, "b/module_0007.jit_g": TEXT.replace("f32", "s32")}
    )
    first, second = every.modules
    again = replace(first, key="c/module_0001.jit_f", slug="c", folder="c")
    stored = SpooledValues[ModuleFiles](tmp_path, 0).extend([first, second, again])
    merged = merge_rank_modules(replace(every, modules=stored))
    assert isinstance(merged.modules, ChosenValues)
    assert merged.modules.values is stored
    assert list(merged.modules) == [first, second]
    assert merged.copies == {first.key: (again.outline(),)}
