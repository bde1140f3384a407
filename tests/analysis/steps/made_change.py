"""A change of one instruction."""

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.details import ElementsChange
from xlareport.analysis.steps.kinds import Kind
from xlareport.knowledge.grades import Grade


def change(kind: Kind, name: str = "add.1", grade: Grade = Grade.EXACT) -> Change:
    return Change(
        kind=kind,
        before=Place("main", name),
        after=Place("main", f"{name}.new"),
        grade=grade,
        reason="for a reason",
        scope="layer_1/mlp",
        opcodes=("add", "multiply"),
        kinds=(kind,),
        details=(ElementsChange(3, 2) if kind is Kind.CARRIED else "this → that",),
    )
