"""Files of the TPU's low-level compiler find the module that was compiled at their time."""

from pathlib import Path

from xlareport.dump.filename import parse
from xlareport.dump.llo import llo_modules, llo_program
from xlareport.dump.source import Entry

FIRST, SECOND, LATER = "1795343449922002834", "1795343459312824171", "1795343469312824171"


def modules(folder: Path, files: dict[str, str]) -> dict[str, str]:
    entries = []
    for name, text in files.items():
        (folder / name).write_text(text)
        entries.append((Entry(name, len(text), None, folder / name), parse(name)))
    owners = llo_modules(entries)
    return {
        path: f"{name}#{place}" if of > 1 else name for path, (name, place, of) in owners.items()
    }


def test_a_file_is_of_the_module_that_came_last(tmp_path: Path) -> None:
    early = f"{int(SECOND) - 1}-TLP-00-memory-space-assignment-allocinfo.txt"
    found = modules(
        tmp_path,
        {
            f"{FIRST}-TLP-hlo.txt": "HloModule jit_f, is_scheduled=true",
            f"{int(FIRST) + 5}-fusion.7.x-71-final_bundles.txt": "",
            early: "",
            f"{SECOND}-TLP-hlo.txt": "HloModule jit_g, is_scheduled=true",
            f"{SECOND}-TLP-71-final_bundles.txt": "",
            f"{LATER}-fusion.7.x-71-final_bundles.txt": "",
            f"{int(FIRST) - 5}-copy-71-final_bundles.txt": "",
        },
    )
    assert found == {
        f"{FIRST}-TLP-hlo.txt": "jit_f",
        f"{int(FIRST) + 5}-fusion.7.x-71-final_bundles.txt": "jit_f",
        early: "jit_g",
        f"{SECOND}-TLP-hlo.txt": "jit_g",
        f"{SECOND}-TLP-71-final_bundles.txt": "jit_g",
        f"{LATER}-fusion.7.x-71-final_bundles.txt": "jit_g",
    }


def test_modules_of_one_name_are_told_apart_by_time(tmp_path: Path) -> None:
    twice = {f"{time}-TLP-hlo.txt": "HloModule jit_f, x" for time in (FIRST, SECOND)}
    assert modules(tmp_path, {**twice, f"{LATER}-copy-71-final_bundles.txt": ""}) == {
        f"{FIRST}-TLP-hlo.txt": "jit_f#0",
        f"{SECOND}-TLP-hlo.txt": "jit_f#1",
        f"{LATER}-copy-71-final_bundles.txt": "jit_f#1",
    }


def test_modules_of_one_name_in_two_folders_have_none(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    names = (f"a/{FIRST}-TLP-hlo.txt", f"b/{SECOND}-TLP-hlo.txt")
    assert not modules(tmp_path, dict.fromkeys(names, "HloModule jit_f, x"))


def test_folders_of_programs_name_the_module(tmp_path: Path) -> None:
    names = (
        "jit_f/TLP/0007-TLP-final_bundles.txt",
        "jit_f/late-finalization/0006-<late-finalization>-final_bundles.txt",
        "jit_f.is-finite_fusion.7.deduplicated/0003-is-finite_fusion.7-packed-bundles-post-ra.txt",
    )
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True)
    assert modules(tmp_path, dict.fromkeys(names, "")) == dict.fromkeys(names, "jit_f")
    assert [llo_program(parse(name)) for name in names] == [
        "TLP",
        "<late-finalization>",
        "is-finite_fusion.7",
    ]


def test_what_names_no_module_belongs_to_none(tmp_path: Path) -> None:
    assert not modules(tmp_path, {f"{FIRST}-TLP-hlo.txt": "broken", f"{LATER}-a-01-b.txt": ""})
    assert llo_program(parse(f"{FIRST}-<late-finalization>-42-post-GVN-3.txt")) == (
        "<late-finalization>"
    )
