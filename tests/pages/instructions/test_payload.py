"""The figures of all instructions, in columns beside the index of the graph."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.modules import count_final_cost

from xlareport.analysis.cost.cost_options import CostOptions
from xlareport.analysis.cost.costed import CostedModule, cost_module
from xlareport.knowledge.devices import nominal_device
from xlareport.pages.instructions import payload as instructions_payload
from xlareport.pages.instructions.payload import instructions_payloads
from xlareport.pages.pictures.snapshot_graph import graph_payloads
from xlareport.program import ParsedModule
from xlareport.report import BuildOptions, read_one_module
from xlareport.storage.payloads import decode_payload
from xlareport.storage.string_folding import Folded, unfold_strings

Unpack = Callable[[str], Path]
DEVICE = nominal_device("cpu")


@pytest.fixture(scope="module")
def module(unpacked: Unpack) -> ParsedModule:
    return read_one_module(unpacked("jax-cpu-train"), "jit_rollout", BuildOptions())


def cost_of(module: ParsedModule) -> CostedModule:
    costed = cost_module(module, None, CostOptions(device=DEVICE))
    assert costed is not None
    return costed


def pieces_of(module: ParsedModule, *, counted: bool = True) -> list[dict[str, Any]]:
    costed = cost_of(module)
    if not counted:
        costed = replace(costed, cost=replace(costed.cost, instructions={}))
    return [decode_payload(file) for file in instructions_payloads("x", costed)]


def test_rows_are_those_of_the_graph_in_its_order(module: ParsedModule) -> None:
    final, cost = module.final, count_final_cost(module)
    assert final is not None
    index = decode_payload(next(graph_payloads("m/x/graph", final, cost)))
    (piece,) = pieces_of(module)
    inside = [name for name, count, _ in index["computations"] for _ in range(count)]
    names = unfold_strings(Folded(*index["names"]), 1_000_000)
    keys = list(zip(inside, names, strict=True))

    assert len(piece["flops"]) == len(piece["scope"]) == len(keys)
    parts = cost_of(module).shares
    heaviest = max(parts, key=lambda key: parts[key])
    place = keys.index(heaviest)
    assert piece["share"][place] == pytest.approx(parts[heaviest], rel=1e-3)
    instruction = cost.instructions[heaviest]
    assert instruction.flops is not None
    assert piece["flops"][place] == instruction.flops * instruction.counted


def test_what_is_not_counted_is_not_known(module: ParsedModule) -> None:
    (piece,) = pieces_of(module, counted=False)
    assert set(piece["share"]) == set(piece["flops"]) == set(piece["bytes"]) == {None}


def test_bytes_as_stored_are_beside_those_of_the_data(
    module: ParsedModule, unpacked: Unpack
) -> None:
    """On a TPU, whose tiles are padded; elsewhere there are none."""
    assert pieces_of(module)[0]["stored"] == []
    of_tpu = read_one_module(unpacked("tagged-tpu-conv"), "jit_train", BuildOptions())
    (piece,) = pieces_of(of_tpu)
    pairs = [pair for pair in zip(piece["bytes"], piece["stored"], strict=True) if pair[1]]
    assert any(stored > accessed for accessed, stored in pairs)
    assert all(stored != accessed for accessed, stored in pairs)


def test_scopes_and_sources_are_written_once(module: ParsedModule) -> None:
    (piece,) = pieces_of(module)
    assert len(set(piece["scopes"])) == len(piece["scopes"])
    assert set(piece["source"]) == set(range(len(piece["sources"])))


def test_large_modules_come_in_pieces(
    module: ParsedModule, monkeypatch: pytest.MonkeyPatch
) -> None:
    (whole,) = pieces_of(module)
    monkeypatch.setattr(instructions_payload, "PIECE", 7)
    pieces = pieces_of(module)
    assert {piece["pieces"] for piece in pieces} == {len(pieces)}
    assert [share for piece in pieces for share in piece["share"]] == whole["share"]


def test_times_made_of_shares_have_four_exact_digits(module: ParsedModule) -> None:
    parts = cost_of(module).shares
    (piece,) = pieces_of(module)
    shares = [share for share in piece["share"] if share]
    assert shares
    exact = {f"{share * 1e6:.4g}" for share in parts.values()}
    assert {f"{share * 1e6:.4g}" for share in shares} <= exact
    assert any(share != float(f"{share:.4g}") for share in shares)
