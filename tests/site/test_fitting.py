"""What goes first where a report is too large."""

import zipfile
from pathlib import Path

from xlareport.site.fitting import MainProgram, rank_file


def names(packed: Path) -> set[str]:
    """Return the files whose own content is there."""
    with zipfile.ZipFile(packed) as archive:
        stand_in = [
            one for one in archive.namelist() if b"was left out of this" in archive.read(one)
        ]
        return {name.removeprefix("bug/") for name in {*archive.namelist()} - {*stand_in}}


def test_what_is_small_of_other_modules_goes_last_and_that_of_the_main_program_stays() -> None:
    main = MainProgram("main", (), (), frozenset())
    names = ("search", "small")
    search, small = (rank_file(f"assets/data/m/helper/{name}.js", main) for name in names)
    timeline = rank_file("assets/data/m/main/versions.js", main)

    assert search is not None
    assert small is not None
    assert timeline is not None
    assert search < small < timeline
    assert rank_file("assets/data/m/main/small.js", main) is None
