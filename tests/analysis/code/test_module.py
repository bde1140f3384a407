"""Pallas kernels of a real TPU program, and the custom calls that they were compiled for."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from xlareport.analysis.code.files import CodeLink
from xlareport.analysis.code.module import mosaic_links
from xlareport.dump.modules import group, name_files
from xlareport.dump.source import open_source
from xlareport.hlo.model import HloModule
from xlareport.program import CodeText, read_module, read_nameless


def pallas(folder: Path) -> tuple[tuple[CodeText, ...], HloModule]:
    with open_source(folder) as source:
        (files,) = group(name_files(source)).modules
        texts, problems = read_nameless(files)
        final = read_module(files).final
    assert not problems
    assert final is not None
    assert files.is_alone
    return texts, final.hlo


def shapes(links: list[CodeLink], module: HloModule) -> dict[str, set[str]]:
    """Return the shapes of the calls by the moment at which the compilation of a kernel began."""
    found: dict[str, set[str]] = {}
    for link in links:
        for place in link.places:
            call = module.by_name[place.computation].by_name[place.instruction]
            found.setdefault(link.file.path[:19], set()).add(call.shape.text.partition("{")[0])
    return found


def test_each_file_finds_the_call_of_its_grid(unpacked: Callable[[str], Path]) -> None:
    texts, module = pallas(unpacked("tpu-v5e-kernels"))
    links = list(mosaic_links(texts, module, alone=True))
    assert len(links) == len(texts) == 50
    assert {place.grade for link in links for place in link.places} == {"matched"}
    found = shapes(links, module)
    assert all(len(one) == 1 for one in found.values())
    assert set().union(*found.values()) == {"f32[16,256]", "f32[64,256]"}


def test_beside_another_module_it_is_a_guess(unpacked: Callable[[str], Path]) -> None:
    texts, module = pallas(unpacked("tpu-v5e-kernels"))
    links = list(mosaic_links(texts, module, alone=False))
    assert {place.grade for link in links for place in link.places} == {"guessed"}


def test_kernels_of_another_name_are_not_its_own(unpacked: Callable[[str], Path]) -> None:
    texts, module = pallas(unpacked("tpu-v5e-kernels"))
    others = [
        replace(one, content=(one.content or b"").replace(b"@scaled_sum", b"@b")) for one in texts
    ]
    assert not list(mosaic_links(others, module, alone=True))
