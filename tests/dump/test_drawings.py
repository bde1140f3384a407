"""Titles of drawings in the form of TensorFlow 1.4; the drawings here are written by hand."""

from pathlib import Path

from xlareport.dump.drawings import with_title
from xlareport.dump.filename import parse
from xlareport.dump.modules import group
from xlareport.dump.source import open_source
from xlareport.program import read_module
from xlareport.report import name_files

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
        read = [read_module(one) for one in modules]

    assert [one.name for one in modules] == [CLUSTER, other, CLUSTER]
    assert [one.folder for one in modules] == ["/node1_6893", "/node1_6893", "/node1_7001"]
    assert [[one.stage.label for one in each.snapshots] for each in read[:2]] == [
        [
            "0000 optimization: after pipeline-start, before a",
            "0001 optimization: after a, before pipeline-end",
        ],
        [
            "0002 optimization: after pipeline-start, before a",
            "0003 optimization: after a, before pipeline-end",
        ],
    ]
