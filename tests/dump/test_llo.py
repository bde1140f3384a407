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
    return dict(llo_modules(entries))


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


def test_two_modules_of_a_name_have_none(tmp_path: Path) -> None:
    twice = {f"{time}-TLP-hlo.txt": "HloModule jit_f, x" for time in (FIRST, SECOND)}
    assert not modules(tmp_path, {**twice, f"{LATER}-TLP-71-final_bundles.txt": ""})


def test_what_names_no_module_belongs_to_none(tmp_path: Path) -> None:
    assert not modules(tmp_path, {f"{FIRST}-TLP-hlo.txt": "broken", f"{LATER}-a-01-b.txt": ""})
    assert llo_program(parse(f"{FIRST}-<late-finalization>-42-post-GVN-3.txt")) == (
        "<late-finalization>"
    )
