"""The assembler: found only where it is, bounded, cached, and equal to `ptxas -v` by hand."""

import sys
from pathlib import Path

import pytest
from tests.fixtures.dumps import Unpack
from tests.ptxas_listing import listed_kernels

from xlareport import ptxas as runner
from xlareport.ptxas import Ptxas, PtxasError, compile_ptx, find_ptxas

KERNEL = b".version 8.8\n.target sm_90a\n.visible .entry k()\n{\n ret;\n}\n"
ANSWER = """\
ptxas info    : Compiling entry function 'k' for 'sm_90a'
ptxas info    : Function properties for k
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 4 registers, used 0 barriers
"""


def program(folder: Path, body: str) -> Ptxas:
    """Return a program of ours in the assembler's place."""
    path = folder / "ptxas"
    path.write_text(f"#!{sys.executable}\nimport sys\n{body}\n")
    path.chmod(0o755)
    return Ptxas(str(path), "12.9.86")


def test_a_version_is_asked_for(tmp_path: Path) -> None:
    """A program that does not say its version is no assembler."""
    made = program(tmp_path, "print('Cuda compilation tools, release 12.9, V12.9.86')")
    assert find_ptxas(made.path) == made
    assert made.label == "ptxas 12.9.86"
    other = program(tmp_path, "print('hello')")
    with pytest.raises(PtxasError, match="does not say its version"):
        find_ptxas(other.path)
    with pytest.raises(PtxasError, match="does not run"):
        find_ptxas(str(tmp_path / "missing"))


def test_none_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package and without a program the message says what to install."""
    monkeypatch.setattr(runner, "_packaged", lambda: None)
    monkeypatch.setattr(runner.shutil, "which", lambda _: None)
    with pytest.raises(PtxasError, match=r"pip install 'xlareport\[ptxas\]'"):
        find_ptxas()


def test_the_text_is_compiled_for_its_own_target(tmp_path: Path) -> None:
    """The child gets a name of ours, never one of the dump, and the options that were asked for."""
    wanted = ["-v", "-arch=sm_90a", "-O0", "-o", "/dev/null", "kernel.ptx"]
    body = f"sys.stderr.write({ANSWER!r} if sys.argv[1:] == {wanted!r} else str(sys.argv))"
    compiled = compile_ptx(KERNEL, program(tmp_path, body), ("-O0",))
    (kernel,) = compiled.kernels
    assert (kernel.name, kernel.registers, compiled.fault) == ("k", 4, "")


def test_messages_are_kept_by_the_hash_of_what_was_compiled(tmp_path: Path) -> None:
    """The same text is not compiled twice, another one is."""
    count = tmp_path / "count"
    body = f"open({str(count)!r}, 'a').write('x'); sys.stderr.write({ANSWER!r})"
    made = program(tmp_path, body)
    kept = Ptxas(made.path, made.version, tmp_path / "cache")
    first = compile_ptx(KERNEL, kept)
    assert compile_ptx(KERNEL, kept) == first
    assert count.read_text() == "x"
    compile_ptx(KERNEL + b"\n", kept)
    compile_ptx(KERNEL, Ptxas(made.path, "13.0.1", kept.cache))
    assert count.read_text() == "xxx"


def test_a_child_that_does_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is ended, and that is not kept."""
    monkeypatch.setattr(runner, "TIME_LIMIT", 1)
    monkeypatch.setattr(runner, "_PATIENCE", 2)
    made = program(tmp_path, "import time; time.sleep(600)")
    compiled = compile_ptx(KERNEL, Ptxas(made.path, made.version, tmp_path / "cache"))
    assert compiled.kernels == ()
    assert "more than 2 seconds" in compiled.fault
    assert not (tmp_path / "cache").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such clock")
def test_a_child_that_computes_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is ended by the system after its seconds."""
    monkeypatch.setattr(runner, "TIME_LIMIT", 1)
    monkeypatch.setattr(runner, "_PATIENCE", 300)
    compiled = compile_ptx(KERNEL, program(tmp_path, "while True:\n    pass"))
    assert compiled.fault == "it was ended; its limits are 1 seconds and 1 GiB."


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's")
def test_a_child_that_takes_too_much_memory(tmp_path: Path) -> None:
    """It does not get it: the limit is 1 GiB."""
    body = "try:\n    bytearray(1 << 31)\nexcept MemoryError:\n    sys.exit('ptxas fatal : Memory')"
    assert compile_ptx(KERNEL, program(tmp_path, body)).fault == "Memory"


def test_a_child_that_fails_without_a_word(tmp_path: Path) -> None:
    """Its code is the reason; a signal is told as the limits."""
    assert compile_ptx(KERNEL, program(tmp_path, "sys.exit(3)")).fault == "it ended with code 3."
    body = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    assert (
        "its limits are 10 seconds and 1 GiB" in compile_ptx(KERNEL, program(tmp_path, body)).fault
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "The file is empty."),
        (b".target ../../x\n.entry k()\n{\n}\n", "The text names no target."),
        (b".target sm_90a -o /x\n.entry", "The text names no target."),
    ],
)
def test_texts_that_are_never_compiled(text: bytes, reason: str) -> None:
    """No target, no child; a target is letters and digits of one form."""
    assert compile_ptx(text, Ptxas("/nonexistent", "1.2.3")).fault == reason


def test_equal_to_ptxas_by_hand(unpacked: Unpack) -> None:
    """Every kernel of four SM versions: all figures are those of `ptxas -v` (12.9.86) by hand."""
    try:
        ptxas = find_ptxas()
    except PtxasError:
        pytest.skip("needs ptxas: pip install 'xlareport[ptxas]'")
    if ptxas.version != "12.9.86":
        pytest.skip(f"the listings are of ptxas 12.9.86, and this is {ptxas.version}")
    folder, seen, spilled = unpacked("gpu-kernels"), 0, 0
    for listing in sorted(folder.glob("ptxas/*.txt")):
        by_hand = listed_kernels(listing)
        for file in sorted((folder / listing.stem).glob("*.ptx")):
            for kernel in compile_ptx(file.read_bytes(), ptxas).kernels:
                assert kernel in by_hand
                seen += 1
                spilled += bool(kernel.spill_store_bytes)
    assert seen > 20
    assert spilled >= 4
