"""Templates that are compiled, by what Jinja calls them: compiling takes longer than rendering."""

from jinja2 import BytecodeCache
from jinja2.bccache import Bucket


class Compiled(BytecodeCache):
    """What this process has compiled, or was given by one that had time for it."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill the bucket; Jinja checks that its template is still the same."""
        if kept := self.kept.get(bucket.key):
            bucket.bytecode_from_string(kept)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what was compiled."""
        self.kept[bucket.key] = bucket.bytecode_to_string()
