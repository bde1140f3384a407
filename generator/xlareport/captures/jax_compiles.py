"""Lets JAX dump the compilations in one block of a program, even if it compiled before.

XLA reads `XLA_FLAGS` once, but accepts options for a single compilation; JAX has no public way to
set them for all. So the function through which JAX compiles is replaced during the block.
"""

import gc
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

from msgspec import Struct

from xlareport.captures.run import levels
from xlareport.knowledge.releases import era_of
from xlareport.knowledge.wants import BACKENDS, settings_for
from xlareport.runtime.errors import XlareportError

_COMPILES = "compile_or_get_cached"
_CACHE = "is_cache_used"
_OPTIONS = 3
"""The place of the options among the arguments of the function that compiles."""
_OWN = ("jax", "jaxlib")
_busy = threading.Lock()


class UncapturedProcessError(XlareportError):
    """The compilations of this process cannot be captured."""


class CompiledFunction(Struct, frozen=True):
    """A jitted function with how many of its programs are compiled."""

    function: Any
    programs: int

    @property
    def name(self) -> str:
        """Its module and name: `train.step`."""
        module = getattr(self.function, "__module__", "")
        return f"{module}.{getattr(self.function, '__qualname__', '?')}".lstrip(".")


@contextmanager
def dumped_compiles(folder: Path, level: str) -> Iterator[None]:
    """Let XLA dump the compilations of JAX in the `with` block, in any thread, into a folder.

    JAX's compilation cache is off in it. Raises UncapturedProcessError where there is no JAX, where
    its version is unknown, or where another block runs.
    """
    if not _busy.acquire(blocking=False):
        raise UncapturedProcessError("A capture is under way in this process.")
    try:
        with ExitStack() as stack:
            jax, compiler, cache = _jax()
            options = _options(jax, folder, level)
            compiles = _with_options(getattr(compiler, _COMPILES), options)
            stack.enter_context(patch.object(compiler, _COMPILES, compiles))
            stack.enter_context(patch.object(cache, _CACHE, lambda *_, **__: False))
            yield
    finally:
        _busy.release()


def compiled_functions() -> tuple[CompiledFunction, ...]:
    """Return the jitted functions of the program that have compiled programs, JAX's own left out.

    Raises UncapturedProcessError where there is no JAX.
    """
    kind = type(_jax()[0].jit(lambda: None))
    functions = (
        CompiledFunction(value, value._cache_size())  # noqa: SLF001 - what else would say it
        for value in gc.get_objects()
        if type(value) is kind
    )
    return tuple(
        function
        for function in functions
        if function.programs and function.name.split(".")[0] not in _OWN
    )


def _jax() -> tuple[ModuleType, ModuleType, ModuleType]:
    try:
        jax = import_module("jax")
    except ImportError as error:
        raise UncapturedProcessError(
            "JAX cannot be imported here. `xlareport capture -- PROGRAM` runs any program."
        ) from error
    try:
        compiler = import_module("jax._src.compiler")
        cache = import_module("jax._src.compilation_cache")
        present = hasattr(compiler, _COMPILES) and hasattr(cache, _CACHE)
    except ImportError:
        present = False
    if not present:
        raise UncapturedProcessError(
            f"How JAX {jax.__version__} compiles is not known. `xlareport capture -- PROGRAM` "
            "runs any program."
        )
    return jax, compiler, cache


def _options(jax: ModuleType, folder: Path, level: str) -> Mapping[str, str | bool]:
    backend = str(jax.default_backend())
    settings = settings_for(
        levels()[level].wants,
        backend=backend if backend in BACKENDS else "gpu",
        frontend="jax",
        era=era_of(f"jax=={_release(str(jax.__version__))}"),
        folder=str(folder),
    )
    return {
        setting.flag.name: setting.value or True
        for setting in settings
        if setting.variable == "XLA_FLAGS" and setting.flag.name.startswith("xla_dump_")
    }


def _release(version: str) -> str:
    """Return the numbers of a version: `0.12.0` of `0.12.0.dev20261101`."""
    return ".".join(part for part in version.split(".")[:3] if part.isdecimal())


def _with_options(
    compiles: Callable[..., Any], options: Mapping[str, str | bool]
) -> Callable[..., Any]:
    """Return the function that compiles with options in addition to those that it is given."""

    def compile_dumping(*arguments: Any, **named: Any) -> Any:
        given = named.get("compile_options") or arguments[_OPTIONS]
        others = [
            (name, value) for name, value in given.env_option_overrides if name not in options
        ]
        given.env_option_overrides = [*others, *options.items()]
        return compiles(*arguments, **named)

    return compile_dumping
