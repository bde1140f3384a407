"""A module compiled again on the CPU, as it was and with a change: two dumps to compare."""

import re
from collections.abc import Collection, Mapping
from pathlib import Path, PurePosixPath

from msgspec import Struct, to_builtins

from xlareport.dump.modules import ModuleFiles
from xlareport.hlo.digests import HloDigests
from xlareport.hlo.model import HloModule
from xlareport.program import ParsedModule, read_snapshots
from xlareport.replay.child_process import Child, ReplayError, RunError
from xlareport.replay.rewrite import runnable
from xlareport.replay.runnable_program import Line, NotRunnableError, take_program
from xlareport.report import BuildOptions, read_one_module
from xlareport.runtime.errors import error_reason
from xlareport.snapshots import ParsedSnapshot, final_snapshot

_TPU = re.compile(r"v\d{1,2}[a-z]{0,4}:\d{1,4}(?:x\d{1,4}){1,2}", re.ASCII)
_GPU_CONFIG = "gpu_target_config.pbtxt"
_MOST_BYTES = 100_000
_BEFORE = "before_optimizations"
_SWITCHES = frozenset(
    {
        "xla_allow_excess_precision",
        "xla_cpu_copy_insertion_use_region_analysis",
        "xla_cpu_enable_concurrency_optimized_scheduler",
        "xla_cpu_enable_fast_math",
        "xla_cpu_enable_fast_min_max",
        "xla_cpu_fast_math_honor_division",
        "xla_cpu_fast_math_honor_functions",
        "xla_cpu_fast_math_honor_infs",
        "xla_cpu_fast_math_honor_nans",
        "xla_llvm_disable_expensive_passes",
    }
)
"""Options that are taken from a dump where they are true or false: none is a path."""
_KEPT_OF_HEADER = ("entry_computation_layout", "input_output_alias", "buffer_donor")
_DEVICES = ("replica_count", "num_partitions")
_PLAIN = re.compile(r"[\w\[\]{}(),:\s>*/=\-]{0,1000000}", re.ASCII)
_WITHOUT = frozenset({"sharding", "frontend_attributes", "backend_config", "statistics"})


_NOTES = frozenset({"metadata", "origin"})
_OF_CALLS = frozenset({"backend_config", "frontend_attributes"})
_KERNELS = frozenset({"tpu_custom_call"})
"""Pallas kernels, whose code is in the config: libtpu compiles it."""


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
        """Return the target as the fields of a request to the child process."""
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
        raise ReplayError(
            f"{path or _GPU_CONFIG} cannot be read: {error_reason(error)}."
        ) from error
    if len(config) > _MOST_BYTES:
        raise ReplayError("The description of the GPU is too long.")
    return CompileTarget("cuda", "1x1x1", config.decode("utf-8", "replace"))


def _described(files: ModuleFiles) -> bytes:
    for artifact in files.artifacts:
        if artifact.path.endswith(_GPU_CONFIG):
            return artifact.entry.read()
    raise ReplayError(f"The dump does not describe a GPU ({_GPU_CONFIG}): name one, gpu:FILE.")


class Control(Struct, frozen=True):
    """How far a compilation without the change is the dump's own."""

    release: str
    """Of the jaxlib that compiled."""
    imported: bool
    """Whether the compiler was given the module of the dump: the way through MLIR can change it."""
    header: tuple[str, ...]
    """Attributes of the module that were lost on the way: donation, aliasing, layouts."""
    optimized: bool
    """Whether the optimized modules have one form: equal but for names and metadata."""


class Recompiled(Struct, frozen=True):
    """Two dumps of one module."""

    base: Path
    head: Path
    own_options: Mapping[str, str]
    """The options of the dump that were used."""
    left_out: tuple[str, ...]
    """Options of the dump that were not used: not known to be harmless."""
    control: Control


def own_options(module: ParsedModule) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the dump's options that a compilation takes over, and the names of the others.

    Those that only say what is dumped are in neither.
    """
    taken = {
        setting.name: setting.value
        for setting in module.settings
        if setting.name in _SWITCHES and setting.value in {"true", "false"}
    }
    others = dict.fromkeys(
        setting.name
        for setting in module.settings
        if setting.name not in taken and not setting.name.startswith("xla_dump_")
    )
    return taken, tuple(others)


def recompile(
    module: ParsedModule,
    child: Child,
    changes: Mapping[str, str],
    *,
    target: CompileTarget | None = None,
    other: Child | None = None,
) -> Recompiled:
    """Compile before_optimizations twice, with and without changes of options.

    `other` compiles the changed one, with another release. For a target alone, without changes,
    the first side are the files of the dump. Raises ReplayError where it cannot be compiled.
    """
    before = next(
        (snapshot for snapshot in module.snapshots if snapshot.stage.name == _BEFORE), None
    )
    if before is None:
        raise ReplayError(f"{module.files.key} has no snapshot {_BEFORE}.")
    for_tpu = target is not None and target.platform == "tpu"
    text = compilable_text(before.hlo, _KERNELS if for_tpu else ())
    taken, left_out = own_options(module)
    compiler = _Compiler(text, target)
    if target is not None and not changes:
        head = compiler.compiled(child, "head", taken)
        control = _control(module, before, head, child.release)
        return Recompiled(_own_files(module, child.folder / "base"), head, taken, left_out, control)
    base = compiler.compiled(child, "base", taken)
    child.restart()  # some passes count in their names how often they ran in the process
    head = compiler.compiled(other or child, "head", {**taken, **changes})
    control = _control(module, before, base, child.release)
    return Recompiled(base, head, taken, left_out, control)


def _is_kept(line: Line, kept_calls: Collection[str]) -> bool:
    return line.call_target in kept_calls


def _own_files(module: ParsedModule, folder: Path) -> Path:
    """Copy the files of a module out of its dump."""
    folder.mkdir()
    for artifact in module.files.artifacts:
        try:
            content = artifact.entry.read()
        except OSError:
            continue  # the report of the dump lists it
        (folder / PurePosixPath(artifact.path).name).write_bytes(content)
    return folder


def compilable_text(module: HloModule, kept_calls: Collection[str] = ()) -> str:
    """Return the text of a module for recompilation; raises ReplayError.

    Custom calls with targets in `kept_calls` stay, with their backend configs.
    """
    for key in _DEVICES:
        if module.attributes.get(key, "1") != "1":
            several = f"it is for several devices, {key}={module.attributes[key]}"
            raise ReplayError(f"{module.name} cannot be compiled again: {several}.")
    try:
        runnable(module, kept_calls=kept_calls)
        program = take_program(module)
    except NotRunnableError as error:
        raise ReplayError(f"{module.name} cannot be compiled again: {error}.") from error
    for body in program.bodies:
        body.lines = [
            line.without((_WITHOUT | _NOTES) - (_OF_CALLS if _is_kept(line, kept_calls) else set()))
            for line in body.lines
        ]
    pairs = [(key, module.attributes.get(key, "")) for key in _KEPT_OF_HEADER]
    header = "".join(
        f", {key}={value}" for key, value in pairs if value and _PLAIN.fullmatch(value)
    )
    name = re.sub(r"[^\w.-]", "_", module.name, flags=re.ASCII)
    return program.text().replace("HloModule replayed", f"HloModule {name}{header}", 1)


class _Compiler(Struct, frozen=True):
    text: str
    target: CompileTarget | None

    def compiled(self, child: Child, name: str, options: Mapping[str, str]) -> Path:
        """Return the folder of a dump; raises ReplayError."""
        folder, source = child.folder / name, child.folder / "module.txt"
        folder.mkdir()
        source.write_text(self.text, "utf-8")
        dumping = {"xla_dump_to": str(folder), "xla_dump_hlo_pass_re": ".*"}
        dumping["xla_dump_hlo_as_text"] = "true"
        target = None if self.target is None else self.target.request()
        try:
            child.ask("compile", text=str(source), options={**options, **dumping}, target=target)
        except RunError as error:
            shown = ", ".join(f"{key}={value}" for key, value in options.items())
            where = f" for {self.target.label}" if self.target is not None else ""
            raise ReplayError(
                f"It was not compiled{where} with jaxlib {child.release} and "
                f"{shown or 'default options'}: {error}."
            ) from error
        return folder


def _control(module: ParsedModule, before: ParsedSnapshot, folder: Path, release: str) -> Control:
    again = read_one_module(folder, None, BuildOptions(jobs=1))
    snapshots = read_snapshots(again.files)
    first, last, final = snapshots[0], final_snapshot(snapshots), module.final
    digests = HloDigests(_WITHOUT)
    lost = tuple(
        key
        for key in _KEPT_OF_HEADER
        if before.hlo.attributes.get(key, "") != first.hlo.attributes.get(key, "")
    )
    return Control(
        release,
        imported=digests.of_module(before.hlo) == digests.of_module(first.hlo),
        header=lost,
        optimized=last is not None
        and final is not None
        and digests.of_module(final.hlo) == digests.of_module(last.hlo),
    )
