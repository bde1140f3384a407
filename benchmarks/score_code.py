"""Scores how many files of code are linked to the instruction that they were made from.

Usage: `python benchmarks/score_code.py`; XLAREPORT_DUMPS names a folder of further unpacked dumps.
TPU programs have no kernels in their dumps. Files that hold a computation or a module as a whole
are counted apart.
"""

from collections import Counter
from pathlib import Path

from dumps import dumps, modules
from msgspec.structs import replace

from xlareport.analysis.code.code_files import CodeFile, CodeLink
from xlareport.analysis.code.instruction_products import join_code
from xlareport.analysis.code.module_code import code_file
from xlareport.dump.modules import ModuleFiles
from xlareport.program import read_code, read_module

_GRADES = ("exact", "matched", "guessed")
_WHOLE = "computation"
_NONE = "none"
_COLUMNS = (*_GRADES, _WHOLE, _NONE)


def final_only(files: ModuleFiles) -> ModuleFiles:
    """Return a module without its snapshots between passes, which nobody needs here."""
    named = tuple(stage for stage in files.stages if stage.sequence is None)
    return replace(files, stages=named) if named else files


def links(files: ModuleFiles) -> tuple[CodeLink, ...]:
    """Return the files of code of a module, linked; all without a place where none is read."""
    texts, _ = read_code(files)
    made = (code_file(text) for text in texts)
    code_files: list[CodeFile] = [one for one in made if one.kind != "autotune"]
    module = read_module(final_only(files)) if code_files else None
    if module is None or module.final is None:
        return tuple(
            CodeLink(one, (), "The dump holds no HLO of the module.") for one in code_files
        )
    return join_code(module.final.hlo, code_files, module.code).links


def verdict(link: CodeLink) -> str:
    """Return the grade of the least certain place of a file."""
    if not link.places:
        return _NONE
    if not any(place.instruction for place in link.places):
        return _WHOLE
    return max((place.grade for place in link.places), key=_GRADES.index)


def main() -> None:
    """Print one line for each dump, the files without an instruction, and the sums."""
    sums: Counter[str] = Counter()
    print(f"{'dump':34}" + "".join(f"{column:>14}" for column in _COLUMNS))
    for dump in dumps():
        found = [link for files in modules(dump) for link in links(files)]
        counted = Counter(map(verdict, found))
        if found and not _is_tpu(dump):
            print(f"{dump.name:34}" + "".join(f"{counted[column]:>14}" for column in _COLUMNS))
            reasons = Counter(one.reason for one in found if not one.places)
            for reason, number in reasons.items():
                print(f"    {number} without an instruction: {reason}")
            sums += counted
    total = sums.total()
    print(f"linked: {total - sums[_NONE]}/{total} ({1 - sums[_NONE] / total:.1%})")
    print(", ".join(f"{column} {sums[column]}" for column in _COLUMNS))


def _is_tpu(dump: Path) -> bool:
    return dump.name.startswith("tpu")


if __name__ == "__main__":
    main()
