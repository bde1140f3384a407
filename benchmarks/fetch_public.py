"""Fetches the public dumps of tests/labels/public_mains.tsv, which are never committed here.

Usage: `python benchmarks/fetch_public.py FOLDER`; score_main.py finds them there by
XLAREPORT_PUBLIC. Each repository is cloned without its contents, then the files of the dumps are
fetched from the commit that the table names. What is there already is left alone.
"""

import io
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

from cases import rows

KEPT = (".before_optimizations.txt", "after_optimizations.txt", "-buffer-assignment.txt")
"""Ends of the names that the ranking reads; the others make these dumps ten times as large."""
_AT_ONCE = 200


def main(folder: Path) -> None:
    """Fetch what is missing."""
    for dump, _, address, commit, *_ in rows("public_mains.tsv"):
        place = folder / dump / dump
        if not place.exists():
            repository, _, path = address.partition(":")
            clone = _clone(folder / "clones" / repository.replace("/", "+"), repository)
            place.mkdir(parents=True)
            for name, content in _contents(clone, commit, path):
                (place / name).write_bytes(content)
            print(dump, len([*place.iterdir()]), "files")


def _clone(clone: Path, repository: str) -> Path:
    if not clone.exists():
        options = ("--bare", "--filter=blob:none")
        command = ["git", "clone", *options, f"https://{repository}", str(clone)]
        subprocess.run(command, check=True)
    return clone


def _contents(clone: Path, commit: str, path: str) -> list[tuple[str, bytes]]:
    """Return the names and bytes of a folder, or of what a zip has in its folder `dump`."""
    if path.endswith(".zip"):
        packed = zipfile.ZipFile(io.BytesIO(_git(clone, "show", f"{commit}:{path}")))
        names = [name for name in packed.namelist() if name.startswith("dump/module")]
        return [(Path(name).name, packed.read(name)) for name in names]
    listed = _git(clone, "ls-tree", "-r", "--name-only", commit, f"{path}/").decode().splitlines()
    kept = [name for name in listed if name.endswith(KEPT)]
    result = []
    for start in range(0, len(kept), _AT_ONCE):
        data = _git(clone, "archive", commit, "--", *kept[start : start + _AT_ONCE])
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            files = [(member, archive.extractfile(member)) for member in archive]
            result += [(Path(item.name).name, file.read()) for item, file in files if file]
    return result


def _git(clone: Path, *arguments: str) -> bytes:
    command = ["git", "-C", str(clone), *arguments]
    return subprocess.run(command, capture_output=True, check=True).stdout


if __name__ == "__main__":
    main(Path(sys.argv[1]))
