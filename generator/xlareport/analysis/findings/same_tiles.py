"""One GEMM tile for all shapes, or GEMM tiles that nothing measured.

GPU only. All Triton GEMMs, of three or more result shapes, have the same tile in their
backend_config, or its transpose, or the autotune_results of the dump are empty. The compiler does
this without autotuning, as in ahead-of-time compilation. GEMMs that together take less than 5% of
the module's roofline time, which assumes good tiles, are omitted; *Kernels* shows their tile.
"""

import re
from collections import Counter
from collections.abc import Iterator

from xlareport.analysis.findings.finding import Case, Finding, join_names
from xlareport.runtime import units
from xlareport.runtime.english import first_few

_SAME = "One GEMM tile for all shapes"
_UNTUNED = "GEMM tiles not autotuned"
LEAST_SHAPES = 3
LEAST_SHARE = 0.05
"""Of the module's roofline time, all of them together."""
_LEVEL = "xla_gpu_autotune_level"
_MOST_TILES = 3
_FLAT = 2
"""Sizes of a tile of a matrix."""
_TILE = re.compile(r'"output_tiles":\[\{"sizes":\[([0-9",]{1,80})\]', re.ASCII)
_BLOCK = re.compile(r'"block_([mnk])":"?(\d{1,6})', re.ASCII)


def same_tiles(case: Case) -> Iterator[Finding]:
    """Report Triton products of several shapes with the same tile, or that were not autotuned."""
    tiles = Counter[str]()
    products: list[tuple[float, str, tuple[str, str]]] = []
    for computation, instruction, cost in case.scheduled:
        tile = find_tile(instruction.attributes_text) if cost.matrix_flops else ""
        if tile:
            place = (computation.name, instruction.name)
            tiles[tile] += 1
            products.append((case.least(cost), instruction.shape.text, place))
    is_same = len({*map(_either_way, tiles)}) == 1
    if not is_same and not case.is_untuned:
        return
    seconds = sum(time for time, _, _ in products)
    shapes = {shape for _, shape, _ in products}
    if len(shapes) >= LEAST_SHAPES and case.is_noticeable(seconds, LEAST_SHARE):
        products.sort(key=lambda item: (-item[0], item[2]))
        yield Finding(
            title=_SAME if is_same else _UNTUNED,
            places=tuple(place for _, _, place in products),
            evidence=(
                f"{units.plural(len(products), 'GEMM')} of {len(shapes)} result shapes "
                f"({join_names(place[1] for _, _, place in products)}) "
                f"{_words(tiles) if is_same else _several(tiles)}; they are "
                f"{case.share_words(seconds)}."
                f"{' autotune_results is empty.' if case.is_untuned else ''}"
            ),
            suggestion=_advise(case.flags.get(_LEVEL, ""), is_same=is_same),
            grade="matched",
            weight=seconds,
        )


def _advise(level: str, *, is_same: bool) -> str:
    """Return what to do, by the value of the flag; empty where the dump does not state it."""
    load = "or load results of autotuning with xla_gpu_load_autotune_results_from"
    if level == "0":
        return f"Autotuning is off: set {_LEVEL} to 4, its default, {load}."
    stated = f" {_LEVEL} is {level} here, so the flag is not the cause." if level else ""
    unmeasured = (
        "XLA gave every GEMM the same tile" if is_same else "no tile is known to be the fastest"
    )
    return f"Compile on the device that runs it, {load}: without measurements {unmeasured}.{stated}"


def _either_way(tile: str) -> str:
    """Return a tile of two sizes with the larger one first; another as it is."""
    sizes = tile.split("x")
    return "x".join(sorted(sizes, key=int, reverse=True)) if len(sizes) == _FLAT else tile


def _words(tiles: Counter[str]) -> str:
    """Return the tile of most, and the transpose with its count, where some have that."""
    (tile, _), *others = tiles.most_common()
    transposed = "".join(f" ({count} the transpose {other})" for other, count in others)
    return f"all have the tile {tile}{transposed}"


def _several(tiles: Counter[str]) -> str:
    """Return the most frequent tiles with their counts."""
    named = [f"{tile} ({count})" for tile, count in tiles.most_common()]
    return f"have the tiles {first_few(named, _MOST_TILES)}"


def find_tile(text: str) -> str:
    """Return the tile in a backend config, `16x8`; empty where it has none."""
    match = _TILE.search(text)
    if match is not None:
        sizes = match[1].replace('"', "").split(",")
        while len(sizes) > _FLAT and sizes[0] == "1":  # dimensions of a batch, one at a time
            del sizes[0]
        return "x".join(sizes)
    return "x".join(size for _, size in sorted(set(_BLOCK.findall(text))))
