"""What a module costs, on small real dumps."""

from collections.abc import Callable
from pathlib import Path

from xlareport.analysis.cost.costed import cost_module
from xlareport.analysis.cost_report.cost_report import CostReport, report_cost
from xlareport.dump.classify import classify
from xlareport.dump.grouping import group
from xlareport.dump.modules import Artifact
from xlareport.dump.source import open_source
from xlareport.program import ParsedModule, read_module
from xlareport.readers.device_words import read_device_words

Unpack = Callable[[str], Path]


def module_of(dump: Path, name: str) -> ParsedModule:
    with open_source(dump) as source:
        names = classify([entry.path for entry in source.entries])
        groups = group([Artifact(*pair) for pair in zip(source.entries, names, strict=True)])
        (files,) = (module for module in groups.modules if module.name == name)
        return read_module(files)


def cost_of(module: ParsedModule, backend: str) -> CostReport:
    costed = cost_module(module, backend)
    assert costed is not None
    return report_cost(costed)


def test_a_cpu_that_the_dump_does_not_name_is_stood_for_by_round_figures(unpacked: Unpack) -> None:
    found = cost_of(module_of(unpacked("jax-cpu-train"), "jit_train_step"), "cpu")
    assert found.device_grade == "guessed"
    assert found.seconds is not None
    assert found.seconds > 0
    shares = [one.share for one in found.heaviest]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) <= 1.0001


def test_a_tpu_is_known_by_its_topology(unpacked: Unpack) -> None:
    module = module_of(unpacked("tpu-v5e-scan"), "jit_train_step")
    assert "TPU v5 lite" in module.device_words
    found = cost_of(module, "tpu")
    assert found.device_grade == "exact"
    assert found.device.key == "tpu-v5e"


def test_memory_has_its_figures_its_kinds_and_its_largest_values(unpacked: Unpack) -> None:
    memory = cost_of(module_of(unpacked("jax-cpu-train"), "jit_train_step"), "cpu").memory
    set_aside = [kind.size for kind in memory.kinds if kind.kind != "thread-local"]
    assert memory.figures.allocated_bytes == sum(set_aside)
    assert len(set_aside) < len(memory.kinds)
    sizes = [one.size for one in memory.values]
    assert sizes == sorted(sizes, reverse=True)
    assert max(memory.curve) == memory.occupied_peak_bytes
    assert any(one.at_peak for one in memory.values)


def test_device_words_are_read_from_topologies_and_nothing_else() -> None:
    text = b'platform_version: "TFRT TPU v5 lite\\nBuilt"\nother: "x"\n'
    assert read_device_words(text, "t") == ("TFRT TPU v5 lite\\nBuilt", [])
    assert read_device_words(b"", "t") == ("", [])
