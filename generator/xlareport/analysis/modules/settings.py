"""Who chose an option that the dump shows at another value than its default."""

import re

from msgspec import Struct

from xlareport.knowledge.flags import frontend_settings
from xlareport.readers.debug_options import FlagValue

_BACKEND = re.compile(r"xla_(cpu|gpu|tpu)_")

_OF_LIBTPU = frozenset({("xla_dump_compact_gte", "false")})
"""Options that its compilations without XLA_FLAGS write too."""


class OptionOrigin(Struct, frozen=True):
    """An option with who probably set it, and the grade of that."""

    setting: FlagValue
    by: str
    """`somebody`, a frontend, `libtpu`, or `versions`: client and compiler differ in defaults."""
    grade: str
    """`exact` or `guessed`."""
    reason: str


def classify_option(setting: FlagValue, backend: str | None) -> OptionOrigin:
    """Return who set an option, for a module of a backend (`cpu`, `gpu`, `tpu`; None: not known).

    A file of options names no author, so this is never more than likely but for dump options.
    """
    if backend == "tpu" and (setting.name, setting.value) in _OF_LIBTPU:
        return OptionOrigin(setting, "libtpu", "guessed", "libtpu sets this option itself.")
    if setting.name.startswith("xla_dump_"):
        return OptionOrigin(setting, "somebody", "exact", "XLA dumps only if requested.")
    usual = frontend_settings().get(setting.name)
    if usual is not None and usual.value in ("", setting.value):
        return OptionOrigin(setting, usual.by, "guessed", f"{usual.by} sets this flag itself.")
    match = _BACKEND.match(setting.name)
    if match and backend is not None and match[1] != backend:
        reason = f"No option of {backend}: most likely the default of another version."
        return OptionOrigin(setting, "versions", "guessed", reason)
    return OptionOrigin(
        setting, "somebody", "guessed", "Not at its default; no frontend is known to set it."
    )
