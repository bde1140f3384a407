"""Print random shardings with XLA's own expansion of each: which device holds which tile.

    python tests/oracle/expand_shardings.py SEED COUNT > tests/hlo/shardings/data/expanded.tsv

Needs jaxlib (0.10.2 wrote the table). Each is parsed in a process of its own, because jaxlib
aborts on some texts that it cannot parse. Columns: the text; the kind; the parts of each dimension
with the sizes of subgroups after them; the kinds of subgroups; the devices in order.
"""

import os
import random
import sys
from collections.abc import Iterable
from math import prod

from jaxlib.xla_client import HloSharding

DICE = random.Random()  # noqa: S311  nothing secret
KINDS = ("manual", "replicated", "unreduced")
Part = tuple[str, int | None, int | None]


def factors(total: int) -> list[int]:
    """Return factors of a number, in any order."""
    result = []
    while total > 1:
        result.append(
            DICE.choice([number for number in range(2, total + 1) if total % number == 0])
        )
        total //= result[-1]
    DICE.shuffle(result)
    return result or [1]


def listed(words: Iterable[object]) -> str:
    """Return words or numbers with commas between them."""
    return ",".join(map(str, words))


def shuffled(count: int) -> list[int]:
    """Return the numbers below a count in any order."""
    return DICE.sample(range(count), count)


def iota(total: int) -> str:
    """Return a count that is reshaped, and transposed perhaps."""
    sizes = factors(total)
    order = shuffled(len(sizes))
    turned = f"T({listed(order)})" if order != sorted(order) else ""
    return f"[{listed(sizes)}]{turned}"


def tiled() -> str:
    """Return a sharding in GSPMD's notation."""
    total = DICE.choice([2, 4, 6, 8, 12, 16])
    tiles = factors(total)
    for _ in range(DICE.randint(0, 2)):
        tiles.insert(DICE.randint(0, len(tiles)), 1)
    devices = listed(shuffled(total)) if DICE.random() < 0.4 else f"<={iota(total)}"
    last = ""
    if len(tiles) > 1 and DICE.random() < 0.6:
        kinds = DICE.sample(KINDS, DICE.randint(1, min(2, len(tiles) - 1)))
        replicate = kinds == ["replicated"]
        last = " last_tile_dim_replicate" if replicate else f" last_tile_dims={{{listed(kinds)}}}"
    return f"{{devices=[{listed(tiles)}]{devices}{last}}}"


def parts_of(mesh: list[tuple[str, int]]) -> list[Part]:
    """Return axes of a mesh, some of them in parts, some left out."""
    result: list[Part] = []
    for name, size in mesh:
        before = 1
        pieces = factors(size) if DICE.random() < 0.5 else [size]
        for piece in pieces:
            whole = len(pieces) == 1
            if DICE.random() < 0.85:
                result.append((name, None, None) if whole else (name, before, piece))
            before *= piece
    return DICE.sample(result, len(result))


def written(part: Part) -> str:
    """Return a part of an axis as HLO writes it."""
    name, before, size = part
    return f"'{name}'" if size is None else f"'{name}':({before}){size}"


def named() -> str:
    """Return a sharding along the axes of a mesh."""
    mesh = [(name, DICE.choice([2, 2, 3, 4, 8])) for name in "xyz"[: DICE.randint(1, 3)]]
    total = prod(size for _, size in mesh)
    ids = ""
    if DICE.random() < 0.4:
        order = iota(total)
        in_order = "T" in order and DICE.random() < 0.5
        ids = f", device_ids=({order if in_order else listed(shuffled(total))})"
    dimensions: list[list[Part]] = [[] for _ in range(DICE.randint(1, 3))]
    rest: dict[str, list[Part]] = {kind: [] for kind in ("replicated", "unreduced", "manual")}
    for part in parts_of(mesh):
        place = dimensions if DICE.random() < 0.65 else list(rest.values())
        DICE.choice(place).append(part)
    words = [
        ", ".join([*map(written, parts), *(["?"] if DICE.random() < 0.2 else [])])
        for parts in dimensions
    ]
    after = "".join(
        f", {kind}={{{', '.join(written(part) for part in sorted(parts, key=str))}}}"
        for kind, parts in rest.items()
        if parts
    )
    axes = ",".join(f"'{name}'={size}" for name, size in mesh)
    return f"{{mesh[{axes}]{ids}, [{', '.join(f'{{{word}}}' for word in words)}]{after}}}"


def expanded(text: str) -> str:
    """Return the row of a sharding, as XLA expands it."""
    sharding = HloSharding.from_string(text)
    if "mesh" in text:
        sharding = sharding.v3_to_v2_sharding()
    kind = next(kind for kind in ("tiled", *KINDS) if getattr(sharding, _ASKED[kind])())
    tiles = sharding.tile_assignment_dimensions() if kind == "tiled" else []
    devices = sharding.tile_assignment_devices() if kind == "tiled" else []
    groups = [group.name.lower() for group in sharding.subgroup_types()]
    if sharding.replicate_on_last_tile_dim():
        groups = ["replicated"]
    return "\t".join([text, kind, listed(tiles), listed(groups), listed(devices)])


_ASKED = {
    "tiled": "is_tiled",
    "manual": "is_manual",
    "replicated": "is_replicated",
    "unreduced": "is_unreduced",
}


def apart(text: str) -> None:
    """Print the row of a sharding in a child, whose abort is nothing to the others."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        sys.stdout.write(expanded(text) + "\n")
        sys.stdout.flush()
    finally:
        os._exit(0)


def main() -> None:
    """Print as many rows as XLA can expand of so many texts."""
    seed, count = map(int, sys.argv[1:])
    DICE.seed(seed)
    for _ in range(count):
        apart(DICE.choice([tiled, named])())


if __name__ == "__main__":
    main()
