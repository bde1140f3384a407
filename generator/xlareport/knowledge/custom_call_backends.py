"""Which backend a custom call shows: the table `custom_call_backends.toml`."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files


def backend_of(target: str) -> str | None:
    """Return the backend that alone has such a target; None where several may, or nobody knows."""
    table = _table().items()
    return next((name for name, starts in table if target.startswith(tuple(starts))), None)


@cache
def _table() -> Mapping[str, Sequence[str]]:
    text = files(__package__).joinpath("custom_call_backends.toml").read_text("utf-8")
    return tomllib.loads(text)
