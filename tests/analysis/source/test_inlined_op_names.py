"""Op_names inside of called computations are relative to the call; inlining joins them."""

from tests.modules import parse_module

from xlareport.analysis.collectives.partitioning import _by_op_name
from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.history.lost_metadata import restore_metadata
from xlareport.analysis.history.subjects import find_subjects, list_subjects
from xlareport.analysis.source.inlined_op_names import (
    inlined_prefix,
    sole_scope,
    whole_op_name,
    whole_op_names,
)
from xlareport.hlo.model import HloModule
from xlareport.pages.search.payload import search_index

BODY = """
  b = f32[64,8] parameter(1)
  a = f32[1,64] tanh(x){tanh}
  {root}d = f32[1,8] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}{dot}
"""
OUTER = "jit(f)/transpose(jvp())/shard_map"
META = ', metadata={{op_name="{}"}}'.format
CALLED = f"""twice {{
  p = f32[1,8] parameter(0)
  ROOT s = f32[1,8] sine(p){META("sin")}
}}

shmap {{
  x = f32[1,64] parameter(0){
    BODY.format(tanh=META("gat/tanh"), dot=META("gat/dot_general"), root="ROOT ")
}}}

ENTRY e {{
  q = f32[1,64] parameter(0)
  w = f32[64,8] parameter(1)
  c = f32[1,8] call(q, w), to_apply=shmap{META(OUTER)}
  first.1 = f32[1,8] call(c), to_apply=twice{META("jit(f)/first")}
  ROOT second.1 = f32[1,8] call(first.1), to_apply=twice{META("jit(f)/second")}
}}"""
INLINED = f"""ENTRY e {{
  x = f32[1,64] parameter(0){BODY.format(tanh=META(f"{OUTER}/gat/tanh"), dot="", root="")}
  s.1 = f32[1,8] sine(d){META("jit(f)/first/sin")}
  ROOT s.2 = f32[1,8] sine(s.1){META("jit(f)/second/sin")}
}}"""
DOT = f"{OUTER}/gat/dot_general"


def read(text: str) -> HloModule:
    return parse_module(f"HloModule m\n\n{text}\n")


def names(module: HloModule, place: str, name: str) -> tuple[str, ...]:
    computation = module.by_name[place]
    return whole_op_names(module, computation, computation.by_name[name])


def test_the_op_name_of_a_call_stands_before_those_inside_of_it() -> None:
    module = read(CALLED)
    assert names(module, "shmap", "d") == (DOT,)
    assert set(names(module, "twice", "s")) == {"jit(f)/first/sin", "jit(f)/second/sin"}
    assert names(module, "e", "c") == (OUTER,)
    assert names(module, "shmap", "x") == ()
    twice = module.by_name["twice"]
    assert whole_op_name(module, twice, twice.by_name["s"]) == "sin"


def test_a_loop_inside_of_a_call_is_relative_to_the_call() -> None:
    text = f"""body {{
  t = (f32[8]) parameter(0)
  g = f32[8] get-tuple-element(t), index=0
  h = f32[8] negate(g){META("jvp()/while/body/neg")}
  ROOT r = (f32[8]) tuple(h)
}}

cond {{
  t.1 = (f32[8]) parameter(0)
  ROOT n = pred[] constant(false)
}}

closed {{
  z = (f32[8]) parameter(0)
  ROOT l = (f32[8]) while(z), condition=cond, body=body{META("jvp()/while")}
}}

ENTRY e {{
  p = (f32[8]) parameter(0)
  ROOT c = (f32[8]) call(p), to_apply=closed{META("jit(f)/while/body/closed_call")}
}}"""
    expected = ("jit(f)/while/body/closed_call/jvp()/while/body/neg",)
    assert names(read(text), "body", "h") == expected


def test_a_matmul_that_lost_its_op_name_gets_the_whole_one() -> None:
    module, count = restore_metadata(SnapshotSequence([read(CALLED), read(INLINED)]))
    assert (module.by_name["e"].by_name["d"].metadata.op_name, count) == (DOT, 1)


def test_search_and_history_know_an_op_by_one_name() -> None:
    modules = [read(CALLED), read(INLINED)]
    ops = search_index(modules).op_names
    assert ops[f"{OUTER}/gat/tanh"] == (0, 1)
    assert ops["jit(f)/first/sin"] == (0, 1)
    assert not {"gat/tanh", "gat/dot_general", "sin"} & set(ops)
    snapshots = SnapshotSequence(modules)
    assert DOT in {subject.name for subject in list_subjects(snapshots)}
    (subject,) = find_subjects(snapshots, "gat/dot_general")
    assert (subject.name, len(subject.places)) == (DOT, 1)


def test_the_op_of_a_partitioned_instruction_is_known_by_its_whole_name() -> None:
    assert [line.name for _, line in _by_op_name(read(CALLED))[DOT]] == ["d"]


def test_the_scope_of_a_computation_is_known_where_one_call_is_inlined() -> None:
    module = read(CALLED)
    assert sole_scope(module, "shmap") == OUTER
    assert sole_scope(module, "twice") == ""
    assert sole_scope(module, "e") == ""


def test_inlining_leaves_the_computation_of_a_reduction_alone() -> None:
    module = read(f"""sum {{
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT add = f32[] add(x, y){META("add")}
}}

called {{
  p = f32[8] parameter(0)
  zero = f32[] constant(0)
  ROOT total = f32[] reduce(p, zero), dimensions={{0}}, to_apply=sum{META("reduce_sum")}
}}

ENTRY e {{
  q = f32[8] parameter(0)
  ROOT c = f32[] call(q), to_apply=called{META("jit(f)/norm")}
}}""")
    assert names(module, "called", "total") == ("jit(f)/norm/reduce_sum",)
    assert names(module, "sum", "add") == ("add",)
    total = module.by_name["called"].by_name["total"]
    assert inlined_prefix("jit(f)/norm", total) == ""
