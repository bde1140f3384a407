import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from xlareport.dump.classify import LONGEST_NAME, classify, with_title
from xlareport.dump.filename import DumpName, parse
from xlareport.dump.grouping import group, name_files
from xlareport.dump.source import open_source
from xlareport.program import read_module

LARGE = os.environ.get("XLAREPORT_DUMPS")
TRICKY = "jit_module_0001.fake.0003.pipe.after_a.before_b"


def _one(paths: Sequence[str], path: str) -> DumpName:
    return classify(paths)[paths.index(path)]


def test_names_come_back_in_order_and_whole() -> None:
    paths = ["b.txt", "module_0001.jit_f.before_optimizations.txt", "a/b/c.dot"]

    assert [str(name) for name in classify(paths)] == paths


def test_neighbours_tell_the_number_of_a_gpu_kernel_from_that_of_an_old_jax_name() -> None:
    new = ["module_0001.jit_x.before_optimizations.txt", "module_0001.jit_x.9.ptx"]
    old = ["module_0001.jit_x.9.before_optimizations.txt", "module_0001.jit_x.9.ptx"]

    assert _one(new, new[1]).module_name == "jit_x"
    assert _one(old, old[1]).module_name == "jit_x.9"
    assert _one(new, new[1]).ambiguous is None
    assert _one(old, old[1]).ambiguous is None


def test_neighbours_tell_where_a_name_with_dots_ends() -> None:
    paths = [
        "module_0001.jit_train.step.debug_options",
        "module_0001.jit_train.step.wrapped_scatter.clone-pre-optimization.mlir",
        "module_0001.jit_train.step.nobody_knows.txt",
    ]

    names = classify(paths)

    assert {name.module_name for name in names} == {"jit_train.step"}
    assert names[1].kernel == "wrapped_scatter.clone"


def test_a_name_that_looks_like_a_pass_is_certain_once_two_files_agree() -> None:
    paths = [
        f"module_0016.{TRICKY}.debug_options",
        f"module_0016.{TRICKY}.0011.dce.after_pipeline-start.before_dce.txt",
    ]

    names = classify(paths)

    assert [name.ambiguous for name in names] == [None, None]
    assert {name.module_name for name in names} == {TRICKY}


def test_files_without_a_timestamp_join_the_one_module_that_has_one() -> None:
    paths = [
        "1590000000123456.module_0000.before_optimizations.txt",
        "module_0000.ir-no-opt.ll",
    ]

    assert _one(paths, paths[1]).module_prefix == "1590000000123456.module_0000"


def test_files_of_a_second_run_without_timestamps_stay_apart() -> None:
    paths = [
        "1590000000123456.module_0000.jit_f.before_optimizations.txt",
        "module_0000.jit_f.before_optimizations.txt",
        "module_0000.jit_f.debug_options",
    ]

    assert _one(paths, paths[1]).module_prefix == "module_0000.jit_f"
    assert _one(paths, paths[1]).ambiguous is None
    assert "any of 2 modules" in (_one(paths, paths[2]).ambiguous or "")


def test_a_file_that_may_belong_to_several_modules_says_so() -> None:
    paths = [
        "module_0000.jit_f.before_optimizations.txt",
        "module_0000.jit_g.before_optimizations.txt",
        "module_0000.metadata.textproto",
    ]

    name = _one(paths, paths[2])

    assert name.module_prefix == "module_0000"
    assert "any of 2 modules: module_0000.jit_f, module_0000.jit_g" in (name.ambiguous or "")


LONG_NAME = "jit_" + "x" * 180
LONG_FILE = (
    "module_0014.0003.simplification-after-everything-else-has-been-done"
    ".after_a-pass-with-a-long-name.before_another.txt"
)


def test_names_dropped_for_their_length_are_found_again() -> None:
    paths = [f"module_0014.{LONG_NAME}.before_optimizations.txt", LONG_FILE]

    assert len(LONG_FILE) + len(LONG_NAME) > LONGEST_NAME
    assert _one(paths, LONG_FILE).module_prefix == f"module_0014.{LONG_NAME}"


def test_a_short_name_without_module_name_is_of_another_run() -> None:
    short = "module_0014.before_optimizations.dot"
    paths = [f"module_0014.{LONG_NAME}.before_optimizations.txt", LONG_FILE, short]

    assert _one(paths, short).module_prefix == "module_0014"
    assert "any of 2 modules" in (_one(paths, LONG_FILE).ambiguous or "")


def test_a_schedule_without_id_joins_the_one_module_of_its_name() -> None:
    paths = ["module_0690.jit_f.before_optimizations.txt", "jit_f.schedule.txt"]

    assert _one(paths, paths[1]).module_prefix == "module_0690.jit_f"


def test_an_old_compile_input_says_when_several_modules_bear_its_name() -> None:
    paths = [
        "module_0001.jit_f.before_optimizations.txt",
        "module_0003.jit_f.before_optimizations.txt",
        "jit_f_1795253747247/module.mlir",
    ]

    assert _one(paths, paths[2]).module_prefix is None
    assert "2 modules" in (_one(paths, paths[2]).ambiguous or "")


def test_one_pipeline_of_the_ipu_tells_the_frontend_of_the_whole_module() -> None:
    paths = [
        "module_0001.before_optimizations.dot",
        "module_0001.0001.IPU.after_dce.before_cse.dot",
        "module_0002.before_optimizations.dot",
    ]

    assert [name.frontend for name in classify(paths)] == ["ipu", "ipu", None]


def test_folders_keep_modules_apart() -> None:
    paths = [
        "a/module_0001.jit_f.g.debug_options",
        "b/module_0001.jit_f.g.ptx",
    ]

    assert _one(paths, paths[1]).module_name == "jit_f.g"
    assert _one(paths, paths[1]).ambiguous is not None


def test_content_is_looked_at_only_where_the_name_says_nothing() -> None:
    asked = []

    def peek(path: str) -> bytes:
        asked.append(path)
        if path == "gone.txt":
            raise FileNotFoundError(path)
        return b"HloModule jit_f, is_scheduled=true\n"

    paths = ["mine.txt", "module_0001.jit_f.before_optimizations.txt", "gone.txt"]
    names = classify(paths, peek)

    assert asked == ["mine.txt", "gone.txt"]
    assert [name.kind for name in names] == ["hlo-text", "hlo-text", "unknown"]


@pytest.mark.skipif(LARGE is None, reason="XLAREPORT_DUMPS is not set")
def test_every_file_of_every_dump_is_classified() -> None:
    counts: Counter[str] = Counter()
    doubtful = []
    for dump in sorted(Path(LARGE or "").iterdir()):
        root = dump / dump.name
        paths = [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()]
        names = classify(paths)
        assert [str(name) for name in names] == paths
        counts.update(name.kind for name in names)
        doubtful += [str(name) for name in names if name.ambiguous]

    assert counts.total() > 20_000
    assert counts["unknown"] + counts["foreign"] == 0
    assert doubtful == []


def test_a_kernel_is_not_taken_for_the_name_that_all_long_files_lost() -> None:
    name = "jit_" + "long_name_" * 22
    found = classify(
        [
            f"module_0022.{name}.debug_options",
            "module_0022.0001.simplification.after_dce.before_constant_folding.txt",
            "module_0022.wrapped_scatter.1.ir-with-opt.ll",
        ]
    )

    assert [one.module_name for one in found] == [name, None, None]
    assert found[2].kernel == "wrapped_scatter.1"


def test_thousands_of_modules_can_share_an_id() -> None:
    names = [f"module_0001.jit_f{number}" for number in range(3000)]
    paths = [f"{name}.before_optimizations.txt" for name in names]
    found = classify([*paths, "module_0001.jit_f7.debug_options", "module_0001.metadata.textproto"])

    assert [one.module_prefix for one in found[:3000]] == names
    assert found[3000].module_prefix == "module_0001.jit_f7"
    assert found[3001].ambiguous == (
        "It may belong to any of 3000 modules: module_0001.jit_f0, module_0001.jit_f1, "
        "module_0001.jit_f10."
    )


def test_folders_of_compiler_inputs_go_to_the_modules_of_their_name_in_order() -> None:
    found = classify(
        [
            "module_0021.jit_iota.before_optimizations.txt",
            "module_0009.jit_iota.before_optimizations.txt",
            "jit_iota_1795254296209/module.mlir",
            "jit_iota_1795254295455/module.mlir",
        ]
    )
    assert [name.module_id for name in found] == [21, 9, 21, 9]
    assert found[2].module_prefix == "module_0021.jit_iota"


def test_folders_of_compiler_inputs_stay_open_where_a_module_is_missing() -> None:
    found = classify(
        [
            "module_0021.jit_iota.before_optimizations.txt",
            "jit_iota_1795254296209/module.mlir",
            "jit_iota_1795254295455/module.mlir",
        ]
    )
    assert [name.module_id for name in found] == [21, None, None]


CLUSTER = "cluster_0__XlaCompiledKernel_true__XlaNumConstantArgs_0__XlaNumResourceArgs_0_.v3"
NAME = "hlo_graph_5.node1-51ffb700-6893-562b1355a942f.dot"


def drawing(title: str, cluster: str = CLUSTER) -> str:
    """Return a drawing of a module with one instruction beside its parameter."""
    nodes = "".join(
        f'{number} [label=<{label}>, shape=rect, tooltip=" ", style="filled"];\n'
        for number, label in enumerate(
            ("<b>Parameter 0</b><br/>f32[8]", "<b>negate</b><br/>f32[8]")
        )
    )
    return f"""digraph G {{
rankdir = TB;
compound = true;
label = <<b>{title}<br/>Computation {cluster}</b>>;
labelloc = t;
{nodes}0 -> 1 [tooltip="p -> negate" ];
}}"""


def test_a_title_tells_pipeline_passes_and_module() -> None:
    name = with_title(parse(NAME), drawing("simplification: after algsimp, before dce").encode())
    assert (name.stage, name.pipeline, name.after, name.before) == (
        "pass",
        "simplification",
        "algsimp",
        "dce",
    )
    assert (name.module_name, name.frontend, name.sequence) == (CLUSTER, "tensorflow", 5)


def test_pipelines_begin_and_end_with_the_words_of_later_releases() -> None:
    name = with_title(
        parse(NAME), drawing("reduce-precision: pipeline start, pipeline end").encode()
    )
    assert (name.after, name.before) == ("pipeline-start", "pipeline-end")


def test_what_has_no_such_title_keeps_its_name() -> None:
    name = parse(NAME)
    assert with_title(name, b"digraph G { label = <<b>mine</b>>; }") is name
    assert with_title(name, drawing("a drawing of mine").encode()) is name
    assert with_title(name, b"\xff\x00 label = <") is name


def test_a_series_of_drawings_is_a_module_for_each_cluster_and_process(tmp_path: Path) -> None:
    titles = ("optimization: pipeline start, before a", "optimization: after a, pipeline end")
    other = CLUSTER.replace("cluster_0", "cluster_1")
    series = [(title, cluster) for cluster in (CLUSTER, other) for title in titles]
    for number, (title, cluster) in enumerate(series):
        name = f"hlo_graph_{number}.node1-51ffb700-6893-562b1355a94{number}f.dot"
        (tmp_path / name).write_text(drawing(title, cluster))
    again = "hlo_graph_0.node1-51ffb700-7001-562b13560942f.dot"
    (tmp_path / again).write_text(drawing(titles[0]))

    with open_source(tmp_path) as source:
        modules = group(name_files(source)).modules
        read = [read_module(module) for module in modules]

    assert [module.name for module in modules] == [CLUSTER, other, CLUSTER]
    assert [module.folder for module in modules] == ["/node1_6893", "/node1_6893", "/node1_7001"]
    assert [[snapshot.stage.label for snapshot in module.snapshots] for module in read[:2]] == [
        [
            "0000 optimization: after pipeline-start, before a",
            "0001 optimization: after a, before pipeline-end",
        ],
        [
            "0002 optimization: after pipeline-start, before a",
            "0003 optimization: after a, before pipeline-end",
        ],
    ]
