"""Writes knowledge/tpu_defaults.tsv: the defaults of the TPU compiler's flags in some releases.

Usage: `python scripts/tpu_defaults.py RELEASE=FLAGFILE...`, each the `.flagfile` of a program that
was compiled without any flag of libtpu, with the name that XLA gave it: its build number is there.
"""

import re
import sys
from pathlib import Path

from xlareport.readers.debug_options import read_flagfile

_TABLE = Path(__file__).parent.parent / "generator/xlareport/knowledge/tpu_defaults.tsv"
_BUILD = re.compile(r"\.cl_(\d+)\.")


def main(releases: list[str]) -> None:
    """Write the table: a column for each release, `-` for flags that it lacks."""
    values, heads = [], []
    for stated in releases:
        release, _, path = stated.partition("=")
        build = _BUILD.search(Path(path).name)
        flags, problems = read_flagfile(Path(path).read_bytes(), path)
        if build is None or problems:
            raise SystemExit(f"{path}: no build in its name, or not a flagfile: {problems}")
        heads.append(f"{release} {build[1]}")
        values.append({flag.name: flag.value for flag in flags})
    names = sorted({name for flags in values for name in flags})
    rows = ["\t".join([name, *(flags.get(name, "-") for flags in values)]) for name in names]
    _TABLE.write_text("\n".join(["\t".join(["flag", *heads]), *rows, ""]))


if __name__ == "__main__":
    main(sys.argv[1:])
