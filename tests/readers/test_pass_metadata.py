from tests.readers.parsers import PATH, Outcome, Parser

from xlareport.readers.pass_metadata import ModuleMetadata, read_pass_metadata


def passes(data: bytes) -> Outcome:
    """Read what ran, with its nest and its times."""
    parsed, problems = read_pass_metadata(data, PATH)
    if isinstance(parsed, ModuleMetadata):
        assert len(parsed.timed()) == len(parsed.runs)
        assert parsed.span is None or isinstance(parsed.span, int)
    return parsed, problems


PASSES = b"""canonical_module_id: 1
pass_metadata {
  pass_id: 1
  pass_name: "a"
  module_changed: true
  start_timestamp_usec: 1795255005024562
  end_timestamp_usec: 1795255005026022
  dump_filenames: "/x/y"
}
"""
PARSERS = (Parser(passes, PASSES),)
"""For `tests/properties/test_parsers.py`."""


METADATA = b"""\
canonical_module_id: 22
pass_metadata {
  pass_id: 1
  pass_name: "pipeline-start"
  pipeline_name: "simplification"
  dump_filenames: "/tmp/dump/module_0022.jit_f.0000.simplification.after_pipeline-start.txt"
  start_timestamp_usec: 1000
  end_timestamp_usec: 1010
}
pass_metadata {
  pass_id: 2
  pass_name: "simplification"
  pipeline_name: "Phase 1"
  module_changed: true
  start_timestamp_usec: 1020
  end_timestamp_usec: 1100
  kv_metrics {
    key: "x"
    value: 3
  }
}
pass_metadata {
  pass_id: 3
  pass_name: "algsimp"
  pipeline_name: "simplification"
  module_changed: true
  start_timestamp_usec: 1030
  end_timestamp_usec: 1090
}
pass_metadata {
  pass_id: 4
  pass_name: "dce"
  pipeline_name: "simplification"
  start_timestamp_usec: 1090
}
"""


def test_every_run_is_read_in_order() -> None:
    parsed, problems = read_pass_metadata(METADATA, "module_0022.metadata.textproto")
    assert problems == []
    assert parsed is not None
    assert parsed.module_id == 22
    assert [run.name for run in parsed.runs] == [
        "pipeline-start",
        "simplification",
        "algsimp",
        "dce",
    ]
    assert [run.changed for run in parsed.runs] == [False, True, True, False]
    assert parsed.runs[0].files == (
        "module_0022.jit_f.0000.simplification.after_pipeline-start.txt",
    )


def test_self_times_leave_out_what_ran_inside() -> None:
    parsed, _ = read_pass_metadata(METADATA, "m")
    assert parsed is not None
    times = {one.run.name: one.self_time for one in parsed.timed()}
    assert times == {
        "pipeline-start": 10,
        "simplification": 20,
        "algsimp": 60,
        "dce": None,
    }
    assert parsed.span == 100
    assert sum(one.self_time or 0 for one in parsed.timed()) <= parsed.span


def test_runs_that_overlap_are_not_counted_twice() -> None:
    text = b"".join(
        b"pass_metadata {\n pass_id: %d\n start_timestamp_usec: %d\n end_timestamp_usec: %d\n}\n"
        % one
        for one in ((1, 0, 10), (2, 5, 15), (3, 12, 14))
    )
    parsed, _ = read_pass_metadata(text, "m")
    assert parsed is not None
    assert sum(run.self_time or 0 for run in parsed.timed()) <= (parsed.span or 0)


def test_a_file_cut_off_keeps_what_is_whole() -> None:
    parsed, problems = read_pass_metadata(METADATA[: METADATA.index(b"pass_id: 3")], "m")
    assert parsed is not None
    assert len(parsed.runs) == 3
    assert problems


def test_a_file_without_passes_is_none() -> None:
    assert read_pass_metadata(b"", "m") == (None, [])
