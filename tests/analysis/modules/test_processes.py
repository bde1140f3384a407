"""Processes: by folder, and by time where numbers come twice; else nobody knows."""

from pathlib import Path

from msgspec.structs import replace
from tests.analysis import texts
from tests.analysis.conftest import Compile

from xlareport.analysis.modules.module_links import link_modules
from xlareport.analysis.modules.processes import assign_processes
from xlareport.analysis.modules.recompilations import group_recompilations
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.analysis.ranks.members import list_ranks
from xlareport.analysis.ranks.rank_groups import group_ranks
from xlareport.dump.classify import classify
from xlareport.dump.filename import DumpName
from xlareport.dump.grouping import group
from xlareport.dump.modules import Artifact
from xlareport.dump.source import Entry

ADD = """\
  %a = f32[2,3]{1,0} parameter(0)
  %b = f32[2,3]{1,0} parameter(1)
  ROOT %sum = f32[2,3]{1,0} add(%a, %b)"""


def modules(compiled: Compile, *names: str) -> list[ModuleSummary]:
    return list(compiled({f"{name}.before_optimizations.txt": ADD for name in names}))


def at(one: ModuleSummary, second: float) -> ModuleSummary:
    """Return the module as if its files had been written at that second."""
    told = tuple(
        replace(artifact, entry=replace(artifact.entry, modified=second))
        for artifact in one.files.artifacts
    )
    return replace(one, files=replace(one.files, artifacts=told))


def beside(name: DumpName) -> Artifact:
    return Artifact(Entry(str(name), 10, None, Path(str(name))), name)


def numbers(found: list[ModuleSummary]) -> list[int | None]:
    apart = assign_processes(found)
    told = [apart[one.files.key] for one in found]
    return [None if one is None else one[1] for one in told]


def test_numbers_that_come_once_are_of_one_process(compiled: Compile) -> None:
    assert numbers(modules(compiled, "module_0000.f", "module_0002.g", "module_0004.f")) == [
        0,
        0,
        0,
    ]


def test_numbers_that_begin_anew_are_of_another_process(compiled: Compile) -> None:
    found = modules(compiled, "module_0000.f", "module_0000.g", "module_0002.h", "module_0002.k")
    told = [at(one, second) for one, second in zip(found, (10, 20, 11, 21), strict=True)]
    assert numbers(told) == [0, 1, 0, 1]


def test_compilers_of_two_backends_in_a_process_count_each_from_zero(compiled: Compile) -> None:
    found = modules(compiled, "module_0000.f", "module_0000.g", "module_0002.h")
    backends = ("tpu", "cpu", "cpu")
    told = [
        replace(module, origin=replace(module.origin, backend=backend))
        for module, backend in zip(found, backends, strict=True)
    ]
    assert numbers(told) == [0, 0, 0]
    assert len(list_ranks(told, group([])).names) == 1
    again = [replace(module, files=replace(module.files, key="again")) for module in told[:1]]
    of_two = [at(module, 10 + second) for second, module in enumerate([*told, *again])]
    assert numbers(of_two) == [0, 0, 0, 1]


def test_processes_at_the_same_time_cannot_be_told_apart(compiled: Compile) -> None:
    found = modules(compiled, "module_0000.f", "module_0000.g", "module_0002.h", "module_0002.k")
    told = [at(one, second) for one, second in zip(found, (10, 11, 13, 12), strict=True)]
    assert numbers(told) == [None] * 4


def test_programs_that_differ_in_an_attribute_or_a_constant_do_not_repeat(
    compiled: Compile,
) -> None:
    """As the two iotas of `jnp.eye` do, and what JAX compiles for each static argument."""
    form = "  ROOT %%i = s32[8,8]{1,0} iota(), iota_dimension=%d"
    scaled = """\
  %%a = f32[] parameter(0)
  %%c = f32[] constant(%d)
  ROOT %%m = f32[] multiply(%%a, %%c)"""
    texts_of = {
        "module_0000.iota": form % 0,
        "module_0002.iota": form % 1,
        "module_0004.scale": scaled % 2,
        "module_0006.scale": scaled % 3,
        "module_0000.later": ADD,
    }
    found = compiled({f"{name}.before_optimizations.txt": text for name, text in texts_of.items()})
    seconds = {name: at for at, name in enumerate(texts_of)}
    told = [at(one, 10 + seconds[one.files.key]) for one in found]
    assert sorted(number for number in numbers(told) if number is not None) == [0, 0, 0, 0, 1]
    again = [
        at(one, 10 + seconds[one.files.key])
        for one in compiled(
            {
                f"{name}.before_optimizations.txt": texts_of["module_0000.iota"]
                if "iota" in name
                else text
                for name, text in texts_of.items()
            }
        )
    ]
    assert numbers(again) == [None] * 5


def test_nothing_joins_modules_of_different_processes(compiled: Compile) -> None:
    found = modules(compiled, "module_0000.f", "module_0000.g", "module_0002.f")
    told = [at(one, second) for one, second in zip(found, (10, 20, 21), strict=True)]
    assert [(one.source, one.target) for one in link_modules(told, assign_processes(told))] == []
    assert group_recompilations(told, assign_processes(told)) == ()
    assert len(group_recompilations(found[::2], assign_processes(found[::2]))) == 1


def test_a_folder_of_compiler_inputs_is_no_process_of_its_own(compiled: Compile) -> None:
    """jaxlib 0.7 to 0.9 put the inputs of each compilation into a folder named for the time."""
    found = compiled(
        {
            "module_0001.f.before_optimizations.txt": ADD,
            "module_0003.g.before_optimizations.txt": ADD,
        }
    )
    inputs = classify(["jit_f_1795254297557/module.mlir", "shardy/module_0003.g/00.input.mlir"])
    told = [
        replace(one, files=replace(one.files, artifacts=(beside(name), *one.files.artifacts)))
        for one, name in zip(found, inputs, strict=True)
    ]
    assert numbers(told) == [0, 0]
    assert list_ranks(told, group([])).count(told) == 1


def test_a_folder_for_each_module_and_process_tells_the_process() -> None:
    names = classify(
        [
            "jit_f/host_17/module_0001.jit_f.before_optimizations.txt",
            "jit_g/host_17/module_0003.jit_g.before_optimizations.txt",
            "jit_f/host_18/module_0001.jit_f.before_optimizations.txt",
        ]
    )
    folders = [name.process_folder for name in names]
    assert folders == ["/host_17", "/host_17", "/host_18"]


def test_files_beside_lost_modules_are_no_process(compiled: Compile) -> None:
    """Options bear no timestamp: two processes that stamp their snapshots write one such file."""
    found = modules(compiled, "module_0000.f", "module_0000.g")
    lost = replace(found[0], files=replace(found[0].files, key="options"), stages=())
    told = [lost, at(found[0], 10), at(found[1], 20)]
    assert numbers(told) == [None, 0, 1]
    assert list_ranks(told, group([])).count(told) == 2


def test_ranks_that_write_into_one_folder_at_once_keep_their_links(compiled: Compile) -> None:
    """Rank 0 alone compiles `log`, so that the numbers behind it shift."""
    texts_of_ranks = {
        "module_0000.init": texts.INIT,
        "module_0002.log": texts.SUMMARY,
        "module_0002.step": texts.train(16),
        "module_0004.step": texts.train(16),
    }
    found = compiled(
        {f"{key}.before_optimizations.txt": text for key, text in texts_of_ranks.items()}
    )
    told = [at(one, second) for one, second in zip(found, (10, 12, 11, 11), strict=True)]
    assert list_ranks(told, group([])).count(told) is None
    assert [len(group.modules) for group in group_ranks(told, list_ranks(told, group([])))] == [2]
    assert all(
        "several ranks" in link.reason for link in link_modules(told, assign_processes(told))
    )
    assert link_modules(told, assign_processes(told))
    assert group_recompilations(told, assign_processes(told)) == ()
