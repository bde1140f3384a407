"""Links: proven by a graph, or guessed from shapes and order and graded so."""

from tests.analysis import texts
from tests.analysis.conftest import Compile

from xlareport.analysis.modules.module_links import ModuleLink, link_modules
from xlareport.analysis.modules.processes import assign_processes
from xlareport.analysis.modules.recompilations import group_recompilations
from xlareport.readers.tf_graph import FrameworkGraph, GraphNode

ADD = """\
  %a = f32[2,3]{1,0} parameter(0)
  %b = f32[2,3]{1,0} parameter(1)
  ROOT %sum = f32[2,3]{1,0} add(%a, %b)"""


def pairs(found: tuple[ModuleLink, ...]) -> list[tuple[str, str]]:
    return [(one.source.split(".")[1], one.target.split(".")[1]) for one in found]


def test_parameters_in_a_row_lead_from_the_initialiser_to_the_step(compiled: Compile) -> None:
    modules = compiled(
        {
            "module_0000.jit_seed.before_optimizations.txt": texts.SEED,
            "module_0002.jit_init.before_optimizations.txt": texts.INIT,
            "module_0004.jit_train.before_optimizations.txt": texts.train(),
            "module_0006.jit_eval.before_optimizations.txt": texts.evaluate(),
        }
    )
    links = link_modules(modules, assign_processes(modules))
    assert {one.grade for one in links} == {"guessed"}
    assert pairs(links) == [
        ("jit_seed", "jit_init"),
        ("jit_train", "jit_train"),
        ("jit_init", "jit_train"),
        ("jit_train", "jit_eval"),
    ]


def test_a_sum_feeds_a_product(compiled: Compile) -> None:
    product = ADD.replace("add(", "multiply(")
    modules = compiled(
        {
            "module_0000.cluster_0.before_optimizations.txt": ADD,
            "module_0001.cluster_1.before_optimizations.txt": product,
        }
    )
    (link,) = link_modules(modules, assign_processes(modules))
    assert pairs((link,)) == [("cluster_0", "cluster_1")]
    assert link.tensors == ("f32[2,3]",)


def test_nothing_is_handed_on_to_what_was_cut_out_of_another_module(compiled: Compile) -> None:
    product = ADD.replace("add(", "multiply(")
    modules = compiled(
        {
            "module_0000.jit_f.before_optimizations.txt": ADD,
            "module_0001.fused_multiply.0000.p.after_a.before_b.txt": product,
            "module_0002.fused_multiply.0000.p.after_a.before_b.txt": product,
        }
    )
    assert not link_modules(modules, assign_processes(modules))
    assert not group_recompilations(modules, assign_processes(modules))


def test_several_tensors_between_two_modules_are_one_link(compiled: Compile) -> None:
    apart = texts.train().replace("parameter(1)", "parameter(3)")
    modules = compiled(
        {
            "module_0000.jit_init.before_optimizations.txt": texts.INIT,
            "module_0002.jit_train.before_optimizations.txt": apart.replace(
                "%v = ", "%z = f32[7]{0} parameter(1)\n  %v = "
            ),
        }
    )
    links = link_modules(modules, assign_processes(modules))
    assert pairs(links).count(("jit_init", "jit_train")) == 1


def test_two_that_could_have_made_it_give_no_guess(compiled: Compile) -> None:
    files = {
        f"module_{at:04d}.jit_f{at}.before_optimizations.txt": body
        for at, body in enumerate((texts.CAST, texts.CAST.replace("%c", "%d"), texts.SUMMARY))
    }
    files["module_0009.jit_use.before_optimizations.txt"] = (
        "  %x = bf16[16,64]{1,0} parameter(0)\n  ROOT %n = bf16[16,64]{1,0} negate(%x)"
    )
    assert link_modules(compiled(files), assign_processes(compiled(files))) == ()


def test_a_graph_proves_links_and_says_what_lies_between(compiled: Compile) -> None:
    modules = compiled(
        {
            "module_0000.cluster_0__Xla.before_optimizations.txt": ADD,
            "module_0001.cluster_10__Xla.before_optimizations.txt": ADD,
        }
    )
    nodes = (
        GraphNode("a", "Add", (), "cluster_0", has_text=False),
        GraphNode("s", "AsString", ("a:0",), "", has_text=True),
        GraphNode("m", "Mul", ("s", "m"), "cluster_10", has_text=False),
    )
    (link,) = link_modules(
        modules, assign_processes(modules), [FrameworkGraph("g.pbtxt", "", nodes)]
    )
    assert link.grade == "exact"
    assert pairs((link,)) == [("cluster_0__Xla", "cluster_10__Xla")]
    assert link.via == ("AsString",)
    assert "g.pbtxt" in link.reason


def test_a_variable_hands_a_value_to_the_next_call(compiled: Compile) -> None:
    modules = compiled(
        {
            "module_0000.cluster_0.before_optimizations.txt": ADD,
            "module_0001.cluster_1.before_optimizations.txt": ADD.replace("add(", "multiply("),
        }
    )
    nodes = (
        GraphNode("handle", "_Arg", (), "", has_text=False),
        GraphNode("read", "ReadVariableOp", ("handle",), "cluster_0", has_text=False),
        GraphNode("sum", "AddV2", ("read", "x"), "cluster_0", has_text=False),
        GraphNode("write", "AssignSubVariableOp", ("handle", "sum"), "cluster_0", has_text=False),
        GraphNode("later", "ReadVariableOp", ("handle",), "", has_text=False),
        GraphNode("product", "Mul", ("later", "y"), "cluster_1", has_text=False),
    )
    links = link_modules(
        modules, assign_processes(modules), [FrameworkGraph("graph.pbtxt", "", nodes)]
    )
    assert pairs(links) == [("cluster_0", "cluster_0"), ("cluster_0", "cluster_1")]
    assert links[0].grade == "exact"
    assert "variable" in links[1].via
