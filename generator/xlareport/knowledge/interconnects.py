"""How devices are connected: `interconnects.toml`, and `links` of a user's own devices."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Literal

from msgspec import Meta, Struct, convert

from xlareport.runtime.resources import read_toml

Rate = Annotated[float, Meta(gt=0, le=1e30)]
"""A finite number above 0 of something per second."""
Count = Annotated[int, Meta(gt=0)]


class Interconnect(Struct, frozen=True):
    """The interconnect of one kind of device; bytes per second in one direction."""

    topology: Literal["switch", "torus"]
    """`torus`: links to neighbors; `switch`: every device of a domain at full speed."""
    bandwidth: Rate
    """Sum over all links of one device."""
    source: str
    """Where the figures come from."""
    link: Rate | None = None
    """Bandwidth of one link of a torus."""
    dimensions: Count | None = None
    """Of a torus."""
    wraps: Count | None = None
    """Devices along a dimension from which on it is a ring; None where it never is."""
    domain: Count | None = None
    """Number of devices connected at full speed; None if there is no limit."""
    beyond: Rate | None = None
    """Bandwidth of one device to other domains; None if unknown."""
    latency: Annotated[float, Meta(ge=0, le=1e30)] = 0.0
    """Seconds of each step; 0 if no figure is published."""

    def __post_init__(self) -> None:
        """Raise ValueError if a torus lacks a figure."""
        if self.topology == "torus" and (self.link is None or self.dimensions is None):
            raise ValueError("`link` and `dimensions` of a torus are missing")


@cache
def interconnects() -> Mapping[str, Interconnect]:
    """Return the interconnects that are known, by the key of the device."""
    return convert(read_toml(__package__, "interconnects.toml"), dict[str, Interconnect])
