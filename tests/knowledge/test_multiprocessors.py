"""Limits of multiprocessors agree with what dumps say of them."""

import re

from tests.fixtures.dumps import Unpack

from xlareport.knowledge.multiprocessors import multiprocessors

FIELDS = {
    "threads_per_core_limit": "threads",
    "registers_per_core_limit": "registers",
    "shared_memory_per_core": "shared",
    "shared_memory_per_block": "shared_of_block",
    "shared_memory_per_block_optin": "shared_with_opt_in",
}


def test_the_table_is_what_a_dump_says(unpacked: Unpack) -> None:
    """The target configuration that XLA compiled for has the same limits."""
    config = next(unpacked("gpu-h100x2-train").glob("*gpu_target_config.pbtxt")).read_text()
    hopper = multiprocessors()["9.0"]
    for name, own in FIELDS.items():
        match = re.search(rf"\b{name}: (\d+)", config)
        assert match
        assert int(match[1]) == getattr(hopper, own), name


def test_every_limit_is_possible() -> None:
    """Warps are whole, and what a block may have is there."""
    for sm in multiprocessors().values():
        assert sm.threads % 32 == 0
        assert sm.shared_of_block <= sm.shared_with_opt_in <= sm.shared
        assert sm.shared_with_opt_in + sm.shared_reserved <= sm.shared
        assert sm.warps * 32 == sm.threads
