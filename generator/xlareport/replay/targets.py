"""Compile targets without their hardware: a TPU topology, or a described GPU."""

import re
from pathlib import Path

from msgspec import Struct, to_builtins

from xlareport.dump.modules import ModuleFiles
from xlareport.replay.process import ReplayError

_TPU = re.compile(r"v\d{1,2}[a-z]{0,4}:\d{1,4}(?:x\d{1,4}){1,2}", re.ASCII)
_GPU_CONFIG = "gpu_target_config.pbtxt"
_MOST_BYTES = 100_000


class CompileTarget(Struct, frozen=True):
    """Another device than the CPU, which is not there."""

    platform: str
    """As jax names it: tpu or cuda."""
    topology: str
    config: str = ""
    """Of a GPU: the text of a GpuTargetConfigProto."""

    @property
    def label(self) -> str:
        """The target's name in messages."""
        return f"TPU {self.topology}" if self.platform == "tpu" else "the GPU of the description"

    def request(self) -> dict[str, str]:
        """Return it as the child process takes it."""
        fields: dict[str, str] = to_builtins(self)
        return fields


def parse_target(text: str, files: ModuleFiles) -> CompileTarget:
    """Return the target of `v6e:2x2`, `gpu` or `gpu:FILE`; raises ReplayError.

    `gpu` is the GPU that the dump describes in the module's gpu_target_config.pbtxt.
    """
    if _TPU.fullmatch(text):
        return CompileTarget("tpu", text)
    kind, _, path = text.partition(":")
    if kind != "gpu":
        raise ReplayError(f"{text!r} is no target: v6e:2x2, gpu and gpu:FILE are.")
    try:
        config = Path(path).read_bytes() if path else _described(files)
    except OSError as error:
        raise ReplayError(f"{path or _GPU_CONFIG} cannot be read: {error.strerror}.") from error
    if len(config) > _MOST_BYTES:
        raise ReplayError("The description of the GPU is too long.")
    return CompileTarget("cuda", "1x1x1", config.decode("utf-8", "replace"))


def _described(files: ModuleFiles) -> bytes:
    for artifact in files.artifacts:
        if artifact.path.endswith(_GPU_CONFIG):
            return artifact.entry.read()
    raise ReplayError(f"The dump does not describe a GPU ({_GPU_CONFIG}): name one, gpu:FILE.")
