"""Three snapshots of a module, and what its metadata says of the passes between them."""

from pathlib import Path

from xlareport.dump.classify import classify
from xlareport.dump.grouping import group
from xlareport.dump.modules import Artifact, SnapshotFiles
from xlareport.dump.source import Entry
from xlareport.readers.pass_metadata import ModuleMetadata, read_pass_metadata

FILES = (
    "module_0001.f.0000.p.after_pipeline-start.before_a.txt",
    "module_0001.f.0001.p.after_a.before_b.txt",
    "module_0001.f.0002.p.after_b.before_pipeline-end.txt",
)


def stages() -> tuple[SnapshotFiles, ...]:
    names = classify(FILES)
    groups = group(
        [Artifact(Entry(p, 9, None, Path(p)), n) for p, n in zip(FILES, names, strict=True)]
    )
    return groups.modules[0].stages


def metadata() -> ModuleMetadata:
    runs = (
        ("pipeline-start", "p", 10, 20, FILES[0], ""),
        ("a", "p", 20, 30, FILES[1], "module_changed: true"),
        ("quiet", "p", 30, 31, None, ""),
        ("inner", "p", 31, 50, None, "module_changed: true"),
        ("b", "inner", 35, 45, FILES[2], "module_changed: true"),
        ("quiet", "p", 50, 52, None, ""),
    )
    text = "".join(
        f'pass_metadata {{\n  pass_id: {number}\n  pass_name: "{name}"\n'
        f'  pipeline_name: "{pipeline}"\n  start_timestamp_usec: {start}\n'
        f"  end_timestamp_usec: {end}\n  {changed}\n"
        + (f'  dump_filenames: "/dump/{file}"\n' if file else "")
        + "}\n"
        for number, (name, pipeline, start, end, file, changed) in enumerate(runs, 1)
    )
    read, problems = read_pass_metadata(text.encode(), "module_0001.metadata.textproto")
    assert read is not None
    assert problems == []
    return read
