"""Options whose default differs between releases."""

from xlareport.knowledge.changed_defaults import changed_defaults, defaults_of
from xlareport.knowledge.releases import releases


def test_each_has_two_defaults_of_known_releases() -> None:
    known = [version for version, _ in releases()["jax"].months]
    for changes in changed_defaults().values():
        for changed in changes:
            assert changed.older != changed.newer
            assert known.index(changed.before) < known.index(changed.after)


def test_an_option_changes_more_than_once() -> None:
    first, second = changed_defaults()["xla_cpu_enable_concurrency_optimized_scheduler"]
    assert (first.older, first.newer) == (second.newer, second.older) == ("false", "true")
    assert second.source == "the DebugOptions of jaxlib 0.9.0 and 0.9.2"


def test_those_of_a_backend() -> None:
    assert all("gpu" not in changed.name for changed in defaults_of("cpu"))
    assert "xla_gpu_enable_cublaslt" in [each.name for each in defaults_of("gpu")]
