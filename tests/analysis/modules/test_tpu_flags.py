"""Flags of a flagfile beside the defaults of the release that wrote it."""

from xlareport.analysis.modules.tpu_flags import TpuFlag, compare_flags
from xlareport.knowledge.tpu_defaults import release_of
from xlareport.readers.debug_options import FlagValue

CHANGED = "xla_tpu_enable_diagnostic_coordinator"


def flagfile(**changes: str) -> list[FlagValue]:
    release = release_of("0.0.51")
    assert release is not None
    values = {**release.values, **changes}
    return [FlagValue(name, value, at) for at, (name, value) in enumerate(values.items(), 1)]


def test_what_differs_comes_first() -> None:
    changed = flagfile(**{CHANGED: "false", "xla_tpu_of_tomorrow": "1"})
    told = compare_flags(changed, "cl_1003875606")
    assert told is not None
    assert told.is_exact
    assert told.differing == (
        TpuFlag(CHANGED, "false", "true"),
        TpuFlag("xla_tpu_of_tomorrow", "1", None),
    )
    assert told.unknown_count == 1
    every = [*told.every()]
    assert every[:2] == [*told.differing]
    assert len(every) == told.total
    assert not any(flag.differs for flag in every[2:])


def test_flags_that_the_file_lacks_are_not_listed() -> None:
    told = compare_flags(flagfile()[10:], "cl_1003875607")
    assert told is not None
    assert not told.is_exact
    assert len(told.missing) == 10
    assert len([*told.every()]) == told.total


def test_a_file_without_flags_or_build_is_not_compared() -> None:
    assert compare_flags([], "cl_1003875606") is None
    assert compare_flags(flagfile(), None) is None
    assert compare_flags(flagfile(), "x") is None
    assert compare_flags(flagfile(), "cl_" + "9" * 5000) is not None
