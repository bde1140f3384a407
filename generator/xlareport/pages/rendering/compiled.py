"""Compiled templates: in memory, and between builds where Python keeps its own bytecode, too."""

import sys
from contextlib import suppress

from jinja2 import BytecodeCache, FileSystemBytecodeCache
from jinja2.bccache import Bucket


class Compiled(BytecodeCache):
    """Templates by what Jinja calls them, those that changed apart.

    Between builds they lie where Jinja keeps such things, in a folder that is the user's alone.
    """

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}
        self._between_builds = _between_builds()

    def load_bytecode(self, bucket: Bucket) -> None:
        """Give a template what is kept of it, unless that is of another text."""
        if kept := self.kept.get(bucket.key):
            bucket.bytecode_from_string(kept)
        if bucket.code is None and self._between_builds:
            with suppress(OSError):
                self._between_builds.load_bytecode(bucket)
            self._take(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a template that was compiled; a full disk costs the next build time, no more."""
        self._take(bucket)
        if self._between_builds:
            with suppress(OSError):
                self._between_builds.dump_bytecode(bucket)

    def _take(self, bucket: Bucket) -> None:
        if bucket.code is not None:
            self.kept[bucket.key] = bucket.bytecode_to_string()


def _between_builds() -> BytecodeCache | None:
    if sys.dont_write_bytecode:
        return None
    try:
        return FileSystemBytecodeCache()
    except (OSError, RuntimeError):  # no temporary folder that is the user's alone
        return None
