"""How devices are connected: `interconnects.toml`, and `links` of a user's own devices."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from msgspec import Struct

TOPOLOGIES = ("switch", "torus")


class Interconnect(Struct, frozen=True):
    """The interconnect of one kind of device; bytes per second in one direction."""

    topology: str
    """`torus`: links to neighbors; `switch`: every device of a domain at full speed."""
    bandwidth: float
    """Sum over all links of one device."""
    source: str
    """Where the figures come from."""
    link: float | None = None
    """Bandwidth of one link of a torus."""
    dimensions: int | None = None
    """Of a torus."""
    wraps: int | None = None
    """Devices along a dimension from which on it is a ring; None where it never is."""
    domain: int | None = None
    """Number of devices connected at full speed; None if there is no limit."""
    beyond: float | None = None
    """Bandwidth of one device to other domains; None if unknown."""
    latency: float = 0.0
    """Seconds of each step; 0 if no figure is published."""


def read_interconnect(entry: Mapping[str, Any]) -> Interconnect:
    """Read an entry of the table. Raises KeyError, TypeError or ValueError."""
    topology = str(entry["topology"])
    if topology not in TOPOLOGIES:
        raise ValueError(f"topology {topology!r} is none of {', '.join(TOPOLOGIES)}")
    return Interconnect(
        topology=topology,
        bandwidth=_positive(entry["bandwidth"]),
        source=str(entry["source"]),
        link=_positive(entry["link"]) if topology == "torus" else None,
        dimensions=int(_positive(entry["dimensions"])) if topology == "torus" else None,
        wraps=int(_positive(entry["wraps"])) if "wraps" in entry else None,
        domain=int(_positive(entry["domain"])) if "domain" in entry else None,
        beyond=_positive(entry["beyond"]) if "beyond" in entry else None,
        latency=_positive(entry["latency"]) if "latency" in entry else 0.0,
    )


def _positive(value: Any) -> float:
    number = float(value)
    if not 0 < number < float("inf"):
        raise ValueError(f"{value} is not above 0")
    return number


@cache
def interconnects() -> Mapping[str, Interconnect]:
    """Return the interconnects that are known, by the key of the device."""
    text = files(__package__).joinpath("interconnects.toml").read_text("utf-8")
    return {key: read_interconnect(entry) for key, entry in tomllib.loads(text).items()}
