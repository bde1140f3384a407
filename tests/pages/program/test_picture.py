"""The picture of the whole program."""

from msgspec.structs import replace
from tests.pages.records_of_modules import module, report

from xlareport.analysis.modules.module_links import ModuleLink
from xlareport.analysis.modules.recompilations import RecompilationGroup
from xlareport.pages.program.picture import program_picture
from xlareport.pictures.drawing import Drawing
from xlareport.records.report import ModuleRecord, ReportRecord


def keyed(key: str, role: str = "unknown", **fields: object) -> ModuleRecord:
    return replace(module(role), key=key, slug=key, name=f"jit_{key}", **fields)


def drawing(made: ReportRecord) -> Drawing:
    picture = program_picture(made)
    assert picture is not None
    (only,) = picture.drawings
    return only


def link(source: str, target: str, grade: str = "exact", tensors: int = 1) -> ModuleLink:
    return ModuleLink(source, target, grade, ("f32[4]",) * tensors, "")  # type: ignore[arg-type]


def test_one_module_alone_is_not_drawn() -> None:
    assert program_picture(report(keyed("a", "main"))) is None


def test_links_are_arrows_by_their_grade_and_number() -> None:
    made = report(keyed("a", "initialization"), keyed("b", "main"))
    shown = drawing(replace(made, links=(link("a", "b", tensors=3), link("b", "b", "guessed"))))
    assert [(edge.source, edge.target, edge.label) for edge in shown.edges] == [
        ("a", "b", "3"),
        ("b", "b", ""),
    ]
    assert len({edge.style for edge in shown.edges}) == 2


def test_helpers_are_drawn_only_where_they_are_linked() -> None:
    modules = keyed("a", "main"), keyed("b"), keyed("c", "eager op"), keyed("d", "eager op")
    shown = drawing(replace(report(*modules), links=(link("c", "a"),)))
    assert [node.id for node in shown.nodes] == ["a", "b", "c"]
    assert shown.notes == ("1 module not shown: eager op (1).",)


def test_of_very_many_the_lowest_ranked_are_left_out() -> None:
    modules = [keyed(f"m{rank}", rank=rank) for rank in range(100, 0, -1)]
    shown = drawing(report(*modules))
    assert len(shown.nodes) == 60
    assert shown.nodes[-1].id == "m1"
    assert "m61" not in {node.id for node in shown.nodes}


def test_recompilations_of_one_function_have_a_frame() -> None:
    modules = [keyed("a", "main", retrace_group=0), keyed("b", "main", retrace_group=0), keyed("c")]
    group = RecompilationGroup("f", ("a", "b"), (), "their names", 0)
    (frame,) = drawing(replace(report(*modules), retrace_groups=(group,))).groups
    assert (frame.title, frame.members) == ("f, compiled again", ("a", "b"))


def test_of_several_processes_the_frames_are_theirs() -> None:
    modules = [keyed("a", "main", process=1), keyed("b", "main", process=2)]
    made = replace(report(*modules), processes=2, ranks=("rank0", "rank1"))
    assert [group.title for group in drawing(made).groups] == ["rank0", "rank1"]
