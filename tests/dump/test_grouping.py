"""Files become modules, known by folder, timestamp, id and name together; stages come in order."""

from pathlib import Path

import pytest

from xlareport.dump import grouping
from xlareport.dump.classify import classify
from xlareport.dump.grouping import NO_OWNER, NamedDump, group, name_and_group
from xlareport.dump.modules import Artifact, GroupedDump, SnapshotFiles, find_module
from xlareport.dump.source import Entry, Source, open_source
from xlareport.runtime.errors import UnknownNameError


def grouped(*paths: str) -> GroupedDump:
    names = classify(paths)
    return group(
        [
            Artifact(Entry(path, 10, None, Path(path)), name)
            for path, name in zip(paths, names, strict=True)
        ]
    )


def test_stages_come_in_the_order_of_the_compilation() -> None:
    (module,) = grouped(
        "module_0000.f.after_codegen.txt",
        "module_0000.f.after_optimizations.txt",
        "module_0000.f.after_optimizations_after_buffer_assignment.txt",
        "module_0000.f.after_optimizations_before_buffer_assignment.txt",
        "module_0000.f.0010.p.after_a.before_b.txt",
        "module_0000.f.0009.p.after_pipeline-start.before_a.txt",
        "module_0000.f.before_optimizations.txt",
    ).modules
    assert [stage.key for stage in module.stages] == [
        "before_optimizations",
        "0009",
        "0010",
        "before_buffer_assignment",
        "after_optimizations",
        "after_buffer_assignment",
        "after_codegen",
    ]


def test_a_stage_that_extends_a_known_name_stands_behind_it_and_says_so() -> None:
    (module,) = grouped(
        "module_0000.f.after_codegen_after_hlo_sanitization.txt",
        "module_0000.f.after_codegen.txt",
        "module_0000.f.before_optimizations.txt",
        "module_0000.f.0000.p.after_a.before_b.txt",
    ).modules
    assert [stage.label for stage in module.stages] == [
        "before optimizations",
        "0000 p: after a, before b",
        "after codegen",
        "after codegen after hlo sanitization (placed by name)",
    ]


def test_the_snapshot_after_partitioning_stands_where_the_gpu_compiler_wrote_it() -> None:
    names = (
        "before_optimizations",
        "0000.pre.after_pipeline-start.before_a",
        "0001.sharding-removal.after_pipeline-start.before_b",
        "0002.optimization.after_pipeline-start.before_c",
        "after_spmd_partitioner",
    )
    (module,) = grouped(*(f"module_0000.f.{name}.txt" for name in names)).modules
    order = ["before_optimizations", "0000", "0001", "after_spmd_partitioner", "0002"]
    assert [stage.key for stage in module.stages] == order


def test_forms_of_one_moment_are_one_stage_and_text_is_read_first() -> None:
    (module,) = grouped(
        "module_0000.f.before_optimizations.dot",
        "module_0000.f.before_optimizations.hlo.pb",
        "module_0000.f.before_optimizations.txt",
    ).modules
    (stage,) = module.stages
    kinds = [one.name.kind for one in stage.readable()]
    assert kinds == ["hlo-text", "hlo-proto", "hlo-dot"]


def test_the_same_id_with_other_names_are_other_modules() -> None:
    found = grouped(
        "module_0008.jit_a.before_optimizations.txt",
        "module_0008.jit_b.before_optimizations.txt",
        "run2/module_0008.jit_a.before_optimizations.txt",
    ).modules
    assert [module.key for module in found] == [
        "module_0008.jit_a",
        "module_0008.jit_b",
        "module_0008.jit_a~2",
    ]
    assert len({module.slug for module in found}) == 3


def test_files_without_a_name_join_the_only_module_of_their_id() -> None:
    (module,) = grouped(
        "module_0014.jit_long.before_optimizations.txt",
        "module_0014.0000.p.after_a.before_b.txt",
        "module_0014.metadata.textproto",
    ).modules
    assert (module.key, len(module.artifacts)) == ("module_0014.jit_long", 3)


def test_files_without_a_name_stay_apart_where_two_modules_claim_them() -> None:
    found = grouped(
        "module_0001.jit_a.before_optimizations.txt",
        "module_0001.jit_b.before_optimizations.txt",
        "module_0001.metadata.textproto",
    ).modules
    assert [module.key for module in found] == [
        "module_0001",
        "module_0001.jit_a",
        "module_0001.jit_b",
    ]


def test_files_without_the_timestamp_join_the_module_that_has_it() -> None:
    (module,) = grouped(
        "1795254934081269.module_0000.before_optimizations.txt",
        "module_0000.ir-no-opt.ll",
    ).modules
    assert module.key == "1795254934081269.module_0000"
    assert module.timestamp == 1795254934081269


def test_a_folder_of_a_module_belongs_to_the_module_above() -> None:
    (module,) = grouped(
        "module_0000.jit_f.before_optimizations.txt",
        "module_0000.jit_f/module.mlir",
        "shardy/module_0000.jit_f/00.input_module.mlir",
    ).modules
    assert len(module.artifacts) == 3


def test_a_folder_that_kept_its_letters_joins_the_files_that_lost_them() -> None:
    (module,) = grouped(
        "module_0010.jit_na__ve.before_optimizations.txt", "module_0010.jit_naïve/module.mlir"
    ).modules
    assert (module.name, len(module.artifacts)) == ("jit_na__ve", 2)


def test_one_number_for_two_snapshots_is_said_to_be_two_runs() -> None:
    groups = grouped(
        "module_0000.f.0003.p.after_a.before_b.txt",
        "module_0000.f.0003.q.after_c.before_d.txt",
    )
    assert "two runs" in groups.problems[0].message
    assert [stage.pipeline for stage in groups.modules[0].stages] == ["p", "q"]


def test_a_single_hlo_file_of_any_name_is_a_module() -> None:
    (module,) = grouped("hlo_mixtral.hlo").modules
    assert (module.key, module.name, len(module.stages)) == ("hlo_mixtral", "hlo_mixtral", 1)


def test_addresses_are_short_plain_and_unique() -> None:
    long = "x" * 190
    found = grouped(
        f"module_0000.jit_{long}a.before_optimizations.txt",
        f"module_0000.jit_{long}b.before_optimizations.txt",
        "module_0000.jit_UPPER.before_optimizations.txt",
        "module_0000.jit_upper.before_optimizations.txt",
    ).modules
    slugs = [module.slug for module in found]
    assert len(set(slugs)) == 4
    assert all(len(slug.encode()) < 100 and slug == slug.casefold() for slug in slugs)


def test_folders_that_name_the_build_or_nothing_belong_to_their_modules() -> None:
    groups = grouped(
        "1795254934081269.module_0000.jit_f.cl_1003875606.before_optimizations.txt",
        "module_0000.jit_f.cl_1003875606/module.mlir",
        "module_0000.metadata.textproto",
        "module_0014.before_optimizations.txt",
        "module_0014/module.mlir",
    )
    keys = [module.key for module in groups.modules]
    assert keys == ["module_0014", "1795254934081269.module_0000.jit_f"]


def test_a_compilation_that_changed_its_id_on_the_way_is_one_module() -> None:
    groups = grouped(
        "module_0024.jit_f.before_optimizations.txt",
        "module_0024.jit_f.0000.a.after_x.before_y.txt",
        "module_0026.jit_f.0000.b.after_y.before_z.txt",
        "module_0026.jit_f.after_optimizations.txt",
        "module_0030.jit_f.before_optimizations.txt",
        "module_0030.jit_f.after_optimizations.txt",
    )
    first, other = groups.modules
    assert (first.id, first.second_id, other.second_id) == (24, 26, None)
    names = [(stage.name, stage.pipeline) for stage in first.stages]
    assert names == [
        ("before_optimizations", None),
        ("pass", "a"),
        ("pass", "b"),
        ("after_optimizations", None),
    ]
    assert len(first.artifacts) == 4
    assert groups.problems == ()


def test_a_compilation_that_changed_its_id_is_one_module_where_only_its_ends_were_dumped() -> None:
    groups = grouped(
        "module_0475.jit_f.cl_9.before_optimizations.txt",
        "module_0475.jit_f.cl_9.target_arguments.txt",
        "module_0476.jit_g.cl_9.before_optimizations.txt",
        "module_0478.jit_f.cl_9.after_optimizations.txt",
        "module_0478.jit_f.cl_9.debug_options",
    )
    first, other = groups.modules
    assert (first.id, first.second_id) == (475, 478)
    assert [stage.name for stage in first.stages] == ["before_optimizations", "after_optimizations"]
    assert (other.id, other.second_id) == (476, None)


def test_a_compilation_that_failed_and_was_tried_again_stays_two_modules() -> None:
    groups = grouped(
        "module_0024.jit_f.before_optimizations.txt",
        "module_0024.jit_f.0000.a.after_x.before_y.txt",
        "module_0026.jit_f.before_optimizations.txt",
        "module_0026.jit_f.after_optimizations.txt",
    )
    assert [module.id for module in groups.modules] == [24, 26]


def test_a_sentence_names_a_text_by_its_key_and_a_step_by_its_label() -> None:
    step = SnapshotFiles("pass", 17, "simplification", "algsimp", None, ())
    assert step.place == step.label == "0017 simplification: after algsimp"
    text = SnapshotFiles("after_optimizations", None, None, None, None, ())
    assert text.place == "the text after_optimizations"


def test_a_module_is_found_by_its_function() -> None:
    name = "a_inference_{}__XlaMustCompile_true_config_proto_1_executor_type_2_.7"
    functions = ("conv_step_321", "train_step_133", "train_step_224")
    paths = [
        f"module_000{number}.{name.format(function)}.before_optimizations.txt"
        for number, function in enumerate(functions)
    ]
    modules = grouped(*paths, "module_0009.conv_step.before_optimizations.txt").modules
    assert find_module(modules[:3], "conv_step", "d").id == 0
    assert find_module(modules, "conv_step", "d").id == 9, "a name goes before a function"
    with pytest.raises(UnknownNameError, match="d holds 2 modules 'train_step'"):
        find_module(modules, "train_step", "d")
    with pytest.raises(UnknownNameError, match="d holds no module 'step'"):
        find_module(modules, "step", "d")


def named(source: Source, many: int, monkeypatch: pytest.MonkeyPatch) -> NamedDump:
    monkeypatch.setattr(grouping, "MANY_FILES", many)
    return name_and_group(source)


@pytest.mark.usefixtures("processes")
def test_another_process_groups_a_large_dump_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(120):
        for stage in ("before_optimizations", "cpu_after_optimizations"):
            (tmp_path / f"module_{number:04d}.jit_f.{stage}.txt").write_text(str(number))
    (tmp_path / "notes.md").write_text("nothing")
    with open_source(tmp_path) as source:
        small = named(source, 1_000, monkeypatch)
        large = named(source, 100, monkeypatch)
    assert isinstance(small.grouped.modules, tuple)
    assert not isinstance(large.grouped.modules, tuple)
    assert tuple(large.grouped.modules) == small.grouped.modules
    assert list(large.artifacts) == small.artifacts
    assert large.artifacts[-1].path == "notes.md"
    assert large.artifacts[100:103] == small.artifacts[100:103]
    assert large.grouped.others == small.grouped.others
    assert list(large.owners) == list(small.owners)
    assert list(large.owners)[-3:] == [119, 119, NO_OWNER]
