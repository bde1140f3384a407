"""What a run holds, against `compiled.memory_analysis()` of the same compilation.

`data/memory_analysis.tsv` is what jax 0.10.2 said of `tests/data/programs/memory_analysis.py` on
XLA:CPU and, ahead of time, on TPU v5e, v5p and v6e; beside it lie the buffer assignments of then.
"""

import csv
import io
import tarfile
from pathlib import Path

import pytest
import zstandard

from xlareport.analysis.cost.memory import HeldMemory, sum_held
from xlareport.readers.buffer_assignment import BufferAssignment, read_buffer_assignment

DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="module")
def assignments() -> dict[tuple[str, str], BufferAssignment]:
    """Return the buffer assignments by target and program."""
    packed = (DATA / "memory_analysis.tar.zst").read_bytes()
    with zstandard.ZstdDecompressor().stream_reader(packed) as stream:
        plain = io.BytesIO(stream.read())
    read = {}
    with tarfile.open(fileobj=plain) as archive:
        for member in archive.getmembers():
            file = archive.extractfile(member)
            if file is not None:
                _, target, name = member.name.split("/")
                program = name.partition(".jit_")[2].partition(".")[0]
                read[target, program] = read_buffer_assignment(file.read(), name)[0]
    return read


def recorded() -> list[dict[str, str]]:
    return list(
        csv.DictReader((DATA / "memory_analysis.tsv").read_text().splitlines(), delimiter="\t")
    )


def test_there_are_twenty_programs_on_every_target() -> None:
    rows = recorded()
    for target in ("cpu", "v5e", "v5p", "v6e"):
        assert len({row["program"] for row in rows if row["target"] == target}) >= 20


@pytest.mark.parametrize("row", recorded(), ids=lambda row: f"{row['target']}-{row['program']}")
def test_what_a_run_holds_is_what_xla_counts(
    row: dict[str, str], assignments: dict[tuple[str, str], BufferAssignment]
) -> None:
    held = sum_held(assignments[row["target"], row["program"]])
    figures = (held.argument_bytes, held.output_bytes, held.alias_bytes, held.host_bytes)
    names = ("argument", "output", "alias", "host_argument")
    assert figures == tuple(int(row[name]) for name in names)
    if row["target"] == "cpu":
        # libtpu sets aside temporaries after buffer assignment: no file of a dump has their size
        assert held.temp_bytes == int(row["temp"])


def test_the_peak_that_xla_gives_for_a_cpu_has_no_temporaries(
    assignments: dict[tuple[str, str], BufferAssignment],
) -> None:
    for row in recorded():
        if row["target"] == "cpu":
            assignment = assignments["cpu", row["program"]]
            held: HeldMemory = sum_held(assignment)
            assert held.peak_without_temp_bytes == int(row["peak"])
