"""Who compiled a module and for what: backend and frontend, from names and HLO."""

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from xlareport.dump.modules import ModuleFiles
from xlareport.hlo.model import HloModule
from xlareport.knowledge import passes
from xlareport.knowledge.custom_calls import backend_of
from xlareport.program import ParsedModule
from xlareport.runtime import units

_TPU_FILES = ("tpu_comp_env", "target_arguments", "transfer_stats")
_PYTORCH = ("SyncTensorsGraph", "IrToHlo", "ReplicateShardedData", "ReshardData")
_TENSORFLOW = ("a_inference_", "a_forward_", "a_backward_", "cluster_")
_JAX = ("jit_", "pmap_", "pjit_", "xmap_")


class Origin(Struct, frozen=True):
    """Backend (`cpu`, `gpu`, `tpu`, `ipu`, `neuron`) and frontend (`jax`, ...), None if unknown."""

    backend: str | None
    frontend: str | None
    backend_reason: str = ""
    """Why the backend is a guess; empty if a file states it or nothing indicates it."""


def origin_of(module: ParsedModule) -> Origin:
    """Return backend and frontend of a module that was read."""
    texts = (snapshot.hlo for snapshot in module.snapshots)
    return find_origin(module.files, texts, module.device_words)


def find_origin(
    files: ModuleFiles, snapshots: Iterable[HloModule], device_words: str = ""
) -> Origin:
    """Return backend and frontend of a module; `device_words` names the device in the dump."""
    texts = tuple(snapshots)
    stated = _backend(files, texts) or _backend_by_device(device_words)
    frontend = _frontend(files, texts)
    if stated:
        return Origin(stated, frontend)
    guess, reason = _backend_by_calls(texts)
    if guess is None:
        guess, reason = _backend_by_passes(files)
    return Origin(guess, frontend, reason)


def _backend(files: ModuleFiles, snapshots: tuple[HloModule, ...]) -> str | None:
    targets = {artifact.name.target or "" for artifact in files.artifacts}
    if any("gpu" in target or target.startswith(("sm_", "gfx")) for target in targets):
        return "gpu"
    if "cpu" in targets:
        return "cpu"
    if any(word in artifact.path for artifact in files.artifacts for word in _TPU_FILES):
        return "tpu"
    if any(artifact.name.build for artifact in files.artifacts):
        return "tpu"
    if "IPU" in targets or any(stage.pipeline == "IPU" for stage in files.stages):
        return "ipu"
    return _backend_by_text(files, snapshots)


def _backend_by_text(files: ModuleFiles, snapshots: tuple[HloModule, ...]) -> str | None:
    kinds = {artifact.name.kind for artifact in files.artifacts}
    if kinds & {"ptx", "autotune"}:
        return "gpu"
    if any("T(8,128)" in module.header for module in snapshots):
        return "tpu"
    return "cpu" if "object" in kinds or "assembly" in kinds else None


_DEVICES = (("gpu", ("cuda", "rocm", "nvidia", "gpu")), ("tpu", ("tpu",)), ("cpu", ("cpu",)))
"""Words in the name of a topology or target configuration, by backend."""
_FEWEST = 2


def _backend_by_device(device_words: str) -> str | None:
    words = device_words.lower()
    return next((name for name, item in _DEVICES if any(text in words for text in item)), None)


def _backend_by_calls(snapshots: tuple[HloModule, ...]) -> tuple[str | None, str]:
    """Return the backend whose calls occur in the first or last snapshot, and why it is a guess."""
    ends = {id(module): module for module in (*snapshots[:1], *snapshots[-1:])}.values()
    targets = {
        instruction.call_target
        for module in ends
        for instruction in module.instructions
        if instruction.opcode == "custom-call"
    }
    backend_by_target = {target: backend_of(target) for target in sorted(targets)}
    backends = {backend for backend in backend_by_target.values() if backend}
    if len(backends) != 1:
        return None, ""
    shown = next(target for target, backend in backend_by_target.items() if backend)
    return backends.pop(), f"it calls {shown}, which programs for no other backend do"


def _backend_by_passes(files: ModuleFiles) -> tuple[str | None, str]:
    """Return the backend whose passes occur in file names, and why it is a guess."""
    named = {
        name
        for stage in files.stages
        for name in (stage.pipeline, stage.after, stage.before)
        if name
    }
    infos = (passes.find_either(name) for name in named)
    votes = Counter(
        pass_info.backends[0] for pass_info in infos if pass_info and len(pass_info.backends) == 1
    )
    if len(votes) != 1 or votes.total() < _FEWEST:
        return None, ""
    backend, count = votes.most_common(1)[0]
    named_so = units.plural(count, "pass", "passes")
    return backend, f"{named_so} that only {backend.upper()} compilers have, and none of others"


def _frontend(files: ModuleFiles, snapshots: tuple[HloModule, ...]) -> str | None:
    frontends = [artifact.name.frontend for artifact in files.artifacts if artifact.name.frontend]
    if frontends:
        return frontends[0]
    names = (files.name, *(module.name for module in snapshots[:1]))
    for frontend, starts in (("jax", _JAX), ("tensorflow", _TENSORFLOW), ("pytorch_xla", _PYTORCH)):
        if any(name.startswith(starts) for name in names):
            return frontend
    return _frontend_by_text(snapshots)


def _frontend_by_text(snapshots: tuple[HloModule, ...]) -> str | None:
    """Read the framework off the op names: JAX writes `jit(f)/...`, XLA_Args is TensorFlow's."""
    last = [computation for module in snapshots[:1] for computation in module.computations[-1:]]
    for instruction in (line for computation in last for line in computation.instructions[:200]):
        name = instruction.metadata.op_name
        if name.startswith(("jit(", "pmap(", "pjit(")):
            return "jax"
        if name.startswith(("XLA_Args", "XLA_Retvals")):
            return "tensorflow"
    return None
