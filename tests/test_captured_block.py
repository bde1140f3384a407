"""A `with` block around what JAX compiles: a stand-in for JAX, and JAX itself where it is."""

import importlib.util
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import xlareport
from xlareport import UncapturedProcessError, UnreadableInputError

HLO = "HloModule jit_step\n\nENTRY main {\n  ROOT x = f32[2]{0} parameter(0)\n}\n"


class Options:
    def __init__(self) -> None:
        self.env_option_overrides = [("xla_dump_to", "elsewhere"), ("xla_own", "1")]


class Jitted:
    """A function that JAX compiled once."""

    def __init__(self, name: str, programs: int) -> None:
        self.__module__, self.__qualname__, self.programs = "train", name, programs

    def _cache_size(self) -> int:
        return self.programs


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return a stand-in for the part of JAX that compiles: it dumps where its options say."""

    def compile_or_get_cached(
        _backend: object, _module: object, _at: object, given: Options
    ) -> Any:
        options = dict(given.env_option_overrides)
        folder = Path(options["xla_dump_to"])
        if folder.is_dir():
            (folder / "module_0001.jit_step.before_optimizations.txt").write_text(HLO)
            (folder / "module_0001.jit_step.after_optimizations.txt").write_text(HLO)
        return options

    jax: Any = types.ModuleType("jax")
    jax.__version__ = "0.10.2.dev3"
    jax.default_backend = lambda: "cpu"
    jax.jit = lambda _: Jitted("nothing", 0)
    compiler: Any = types.ModuleType("jax._src.compiler")
    compiler.compile_or_get_cached = compile_or_get_cached
    cache: Any = types.ModuleType("jax._src.compilation_cache")
    cache.is_cache_used = lambda _backend: True
    compiler.cache = cache
    for name, module in (
        ("jax", jax),
        ("jax._src", types.ModuleType("jax._src")),
        ("jax._src.compiler", compiler),
        ("jax._src.compilation_cache", cache),
    ):
        monkeypatch.setitem(sys.modules, name, module)
    return compiler


def test_what_is_compiled_in_the_block_is_in_the_report(compiler: Any, tmp_path: Path) -> None:
    compiles, is_used = compiler.compile_or_get_cached, compiler.cache.is_cache_used
    with xlareport.capture(tmp_path / "dump") as captured:
        options = compiler.compile_or_get_cached(None, None, None, Options())
        assert compiler.cache.is_cache_used(None) is False

    assert options["xla_own"] == "1"
    assert options["xla_dump_to"] == str(tmp_path / "dump")
    assert options["xla_dump_hlo_as_text"] is True
    assert ("xla_dump_hlo_pass_re", ".*") in options.items()
    assert captured.report.main.name == "jit_step"
    assert (compiler.compile_or_get_cached, compiler.cache.is_cache_used) == (compiles, is_used)


def test_functions_compiled_before_are_named(compiler: Any, tmp_path: Path) -> None:
    before, again = Jitted("before", 1), Jitted("again", 1)
    with xlareport.capture(tmp_path / "dump") as captured:
        again.programs += 1

    assert captured.missed == ("train.before",)
    with pytest.raises(UnreadableInputError, match=r"Compiled before it: train\.before;"):
        _ = captured.report
    assert before.programs == 1
    assert compiler


def test_an_error_in_the_block_is_the_callers_and_ends_the_capture(
    compiler: Any, tmp_path: Path
) -> None:
    compiles = compiler.compile_or_get_cached
    with pytest.raises(ZeroDivisionError), xlareport.capture(tmp_path / "dump"):
        _ = 1 / 0
    assert compiler.compile_or_get_cached is compiles
    with xlareport.capture() as captured:
        pass
    assert captured.folder.is_dir()


@pytest.mark.usefixtures("compiler")
def test_two_captures_at_once_are_refused(tmp_path: Path) -> None:
    with (
        xlareport.capture(tmp_path / "one"),
        pytest.raises(UncapturedProcessError, match="under way"),
        xlareport.capture(tmp_path / "two"),
    ):
        pass


def test_a_jax_that_compiles_in_another_way_is_named(compiler: Any) -> None:
    del compiler.compile_or_get_cached
    with pytest.raises(UncapturedProcessError, match=r"How JAX 0\.10\.2"), xlareport.capture():
        pass


def test_real_jax_that_ran_before(tmp_path: Path) -> None:
    if importlib.util.find_spec("jax") is None:
        pytest.skip("needs jax: `make test-replay`")
    code = """
import sys, jax, jax.numpy as jnp, xlareport
before = jax.jit(lambda x: jnp.sin(x) * 2)
x = jnp.ones((4, 4))
before(x)
@jax.jit
def step(x):
    return jnp.tanh(x @ x).sum()
with xlareport.capture(sys.argv[1]) as captured:
    step(x)
    before(x)
print(captured.report.main.name, captured.missed, len(captured.report.main.steps) > 3)
(dot,) = [each for each in captured.report.main.first.instructions(opcode="dot")]
print(dot.source.function, dot.source.line)
"""
    folder = tmp_path / "dump"
    said = subprocess.run(
        [sys.executable, "-c", code, folder], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert said[0] == "jit_step ('__main__.<lambda>',) True"
    assert said[1].endswith(" 8")
