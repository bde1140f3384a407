"""The files of the TPU's low-level compiler (LLO) of a module, read program by program.

Of hundreds of files for each program a handful matters; the others are not opened. What is read of
a program is dropped before the next is read.
"""

from collections.abc import Mapping
from typing import TypeVar

from msgspec import Struct, field

from xlareport.dump.llo import llo_label, llo_place, llo_program
from xlareport.dump.modules import Artifact, ModuleFiles
from xlareport.reader_table import Reader
from xlareport.readers.llo.bundles import BundleListing, read_bundles
from xlareport.readers.llo.hlo_details import EmittedRange, read_hlo_details
from xlareport.readers.llo.regions import Regions, read_regions
from xlareport.readers.llo.small_files import (
    BundleProfile,
    ScheduleCounts,
    read_bundle_profile,
    read_deduplication,
    read_register_pressure,
    read_schedule,
)
from xlareport.readers.llo.utilization import Utilization, read_utilization
from xlareport.readers.llo.vmem_report import VmemReport, read_vmem_report
from xlareport.runtime.errors import Problem, error_reason

T = TypeVar("T")
_SCHEDULE = "packed-bundles-post-ra"
_TABLE = "hlo-static-per-bundle-utilization"


class LloReading(Struct):
    """The files that were opened, and the problems."""

    read: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def open(self, artifact: Artifact | None, reader: Reader[T]) -> T | None:
        """Read a file; None where there is none, or it cannot be opened."""
        if artifact is None:
            return None
        try:
            content = artifact.entry.read()
        except OSError as error:
            self.problems.append(Problem(artifact.path, None, f"Not read: {error_reason(error)}."))
            return None
        self.read.append(artifact.path)
        value, problems = reader(content, artifact.path)
        self.problems += problems
        return value


class LloProgram(Struct, frozen=True):
    """The contents of one program's files; None for a missing or unreadable file."""

    name: str
    path: str
    """Of a file named in its problems."""
    schedule: BundleListing | None
    """`packed-bundles-post-ra`: one bundle for each cycle of a straight pass."""
    final: BundleListing | None
    """`final_bundles`: the code, without the bundles that only wait."""
    used: Utilization | None
    """How busy the units are, row by row of the schedule."""
    used_final: Utilization | None
    counts: ScheduleCounts | None
    regions: Regions | None
    pressure: Mapping[str, int] | None
    """Registers needed; None where no file was written, which is the rule."""
    labels: tuple[str, ...]
    """The compiler's stages that were written, in order."""


class LloModule(Struct, frozen=True):
    """The contents of the top-level program's files about all programs."""

    ranges: tuple[EmittedRange, ...]
    profiles: tuple[BundleProfile, ...]
    shared: Mapping[str, tuple[str, ...]]
    vmem: VmemReport | None


Labels = Mapping[str, Artifact]
"""The files of a program by label; the last where one was written several times."""


def llo_programs(files: ModuleFiles) -> Mapping[str, Labels]:
    """Return the files of each program of a module."""
    files_of: dict[str, dict[str, Artifact]] = {}
    for artifact in sorted(files.llo, key=_llo_order):
        program, label = llo_program(artifact.name), llo_label(artifact.name)
        if program and label:
            files_of.setdefault(program, {})[label] = artifact
    return files_of


def _llo_order(artifact: Artifact) -> tuple[int, str]:
    return llo_place(artifact.name), artifact.path


def read_llo_module(labels: Labels, reading: LloReading) -> LloModule:
    """Return the contents of the top-level program's files about all programs."""
    return LloModule(
        ranges=reading.open(labels.get("hlo-details"), read_hlo_details) or (),
        profiles=reading.open(labels.get("hlo-static-bundle-profile"), read_bundle_profile) or (),
        shared=reading.open(labels.get("deduplication-map"), read_deduplication) or {},
        vmem=reading.open(labels.get("vmem_report"), read_vmem_report),
    )


def read_llo_program(name: str, labels: Labels, reading: LloReading) -> LloProgram:
    """Return the contents of one program's files."""
    return LloProgram(
        name=name,
        path=labels.get(_SCHEDULE, min(labels.values(), key=_llo_order)).path,
        schedule=reading.open(labels.get(_SCHEDULE), read_bundles),
        final=reading.open(labels.get("final_bundles"), read_bundles),
        used=reading.open(labels.get(f"pre-delay_{_TABLE}"), read_utilization),
        used_final=reading.open(labels.get(f"final_{_TABLE}"), read_utilization),
        counts=reading.open(labels.get("schedule-analysis_final_bundles"), read_schedule),
        regions=reading.open(labels.get("post-ra"), read_regions),
        pressure=reading.open(labels.get("register-pressure"), read_register_pressure),
        labels=tuple(labels),
    )
