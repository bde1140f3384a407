"""What the home page answers at once, on dumps of several frameworks and devices."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.pages.records_of_modules import module, report

from xlareport.analysis.dump import AnalyzedDump, relate_modules
from xlareport.analysis.modules.recompilations import RecompilationGroup
from xlareport.dump.source import open_source
from xlareport.dump_reading import ReadingOptions, analyze, begin_reading
from xlareport.pages.home.answers import (
    HomeSummary,
    _again,
    _other_programs,
    summarize_home,
)
from xlareport.records.build import build_report
from xlareport.records.report import (
    CandidateRecord,
    MainProgramRecord,
    ReportRecord,
)
from xlareport.runtime.progress import silent
from xlareport.runtime.worker_pool import WorkerPool

Unpack = Callable[[str], Path]


Teller = Callable[[str], tuple[HomeSummary, dict[str, str]]]


@pytest.fixture(scope="module")
def read(unpacked: Unpack) -> Callable[[str], AnalyzedDump]:
    @cache
    def read_dump(name: str) -> AnalyzedDump:
        options = ReadingOptions(pictures="none")
        with open_source(unpacked(name)) as source, WorkerPool(1) as workers:
            return analyze(begin_reading(source, options, workers, silent, pages=True))

    return read_dump


@pytest.fixture(scope="module")
def told(read: Callable[[str], AnalyzedDump]) -> Teller:
    def tell_of(name: str) -> tuple[HomeSummary, dict[str, str]]:
        analysed = read(name)
        home = summarize_home(build_report(analysed, relate_modules(analysed)), analysed)
        return home, {answer.label: answer.words.striptags() for answer in home.answers}

    return tell_of


def test_a_device_that_the_dump_names_is_named_and_a_training_step_by_its_form(
    told: Teller,
) -> None:
    found, _ = told("gpu-h100x2-train")

    assert found.lead.startswith("A JAX program compiled for NVIDIA H100 SXM5: ")


def test_a_training_step_is_known_by_its_form(told: Teller) -> None:
    found, _ = told("jax-cpu-train")

    assert found.lead.startswith("A JAX program, apparently a training step, compiled for CPU: ")


def test_cost_and_memory_name_what_is_largest(told: Teller) -> None:
    found, said = told("gpu-h100x2-train")
    cost = next(answer for answer in found.answers if answer.label == "Cost")

    assert "% of the roofline time" in said["Cost"]
    assert " without launches on NVIDIA H100 SXM5 per execution" in said["Cost"]
    assert "Per-device figures (2 devices)." in said["Cost"]
    work, *_, largest = cost.words.split("\n")
    assert " per execution" in work
    assert "&#32;account for " in largest
    assert cost.words.count('<a href="m/') == 3
    assert "Largest buffer at the peak: %" in said["Memory"]
    assert " To lower it: " in said["Memory"]


def test_the_largest_buffer_leads_to_its_trace(told: Teller) -> None:
    home, _ = told("gpu-h100x2-train")
    (memory,) = (answer.words for answer in home.answers if answer.label == "Memory")
    assert "jit_train_step.html&#35;i&#61;" in memory.partition("Largest buffer")[2]


def test_the_largest_buffer_of_a_tpu_has_its_memory_space(told: Teller) -> None:
    _, said = told("tpu-v5e-scan")

    assert "Largest buffer at the peak of HBM: " in said["Memory"]
    assert "Not counted in the peak: VMEM, at most " in said["Memory"]


def test_the_two_peaks_of_a_cpu_are_told_apart(told: Teller) -> None:
    _, on_cpu = told("jax-cpu-train")
    _, on_gpu = told("gpu-h100x2-train")

    assert "(from jaxlib 0.7.0 on; on CPU it excludes temporaries)" in on_cpu["Memory"]
    assert "leaves out temporaries" not in on_gpu["Memory"]


def test_words_of_jax_stand_on_reports_of_jax_alone(told: Teller) -> None:
    _, of_tensorflow = told("tf-add-multiply")

    assert "Buffer assignment: arguments " in of_tensorflow["Memory"]
    assert "memory_analysis" not in of_tensorflow["Memory"]
    assert "jaxlib" not in of_tensorflow["Memory"]


def test_what_is_not_the_end_of_a_compilation_says_so(told: Teller) -> None:
    _, said = told("ipu-dot-only")

    assert said["Cost"].startswith("Last snapshot: ")


def test_passes_that_changed_most_are_named_where_there_are_many(told: Teller) -> None:
    _, said = told("jax-cpu-train")

    assert "Steps of most effect: " in said["Compilation"]


def test_what_was_compiled_again_is_named_but_for_helpers(told: Teller) -> None:
    _, said = told("labelled-retraced")

    assert "was compiled" in said["All modules"]
    assert "broadcast" not in said["All modules"]


def test_one_module_has_no_others(told: Teller) -> None:
    _, said = told("labelled-alone")

    assert said["Other modules"] == "None."


_OF_TENSORFLOW = "a_inference_{}__XlaMustCompile_true_config_proto_13561319589895757934_.7"


def compiled(*functions: str) -> ReportRecord:
    """Return a report of modules with names as TensorFlow gives them; the first is the main one."""
    names = [_OF_TENSORFLOW.format(name) for name in functions]
    modules = [
        replace(module("main"), key=f"m{i}.{name}", name=name) for i, name in enumerate(names)
    ]
    programs = tuple(CandidateRecord(record.key, record.name) for record in modules)
    main = MainProgramRecord(modules[0].key, names[0], 1.0, (), (), programs)
    return replace(report(*modules), main=main)


def test_a_function_of_tensorflow_has_one_name_however_often_it_was_compiled() -> None:
    two = compiled("conv_step_321", "train_step_133", "train_step_224")
    keys = tuple(record.key for record in two.modules[1:])
    group = RecompilationGroup("a_inference_train_step", keys, (), "the same name", 1)
    again = replace(two, retrace_groups=(group,))
    assert list(_again(again)) == ["`train_step` was compiled 2 times."]
    assert list(_other_programs(again)) == ["`train_step` may be a main program too."]
    three = compiled("conv_step_321", "train_step_133", "report_148")
    assert list(_other_programs(three)) == ["`train_step` and `report` may be main programs too."]
