"""What the autotuner measured for a module: the results that its dump holds."""

from dataclasses import dataclass

from xlareport.program import ParsedModule
from xlareport.readers.autotune_results import TuningResult, read_autotune_results

_STAGE = "autotune_results"


@dataclass(frozen=True, slots=True)
class ModuleTuning:
    """The content of `autotune_results`."""

    results: tuple[TuningResult, ...]
    """Of every module that the process had tuned by then; empty where nothing was measured."""


def read_tuning_results(module: ParsedModule) -> ModuleTuning | None:
    """Return what was measured; None where the dump has no such file."""
    for artifact in module.files.artifacts:
        if artifact.name.stage == _STAGE:
            try:
                results, _ = read_autotune_results(artifact.entry.read(), artifact.path)
            except OSError:
                return None
            return ModuleTuning(results)
    return None
