"""Records that hold fields of other records under the same names."""

from typing import Any, TypeVar

from msgspec import Struct

R = TypeVar("R", bound=Struct)


def derive(record: type[R], *sources: object, **own: Any) -> R:
    """Return a record: a field that is not in `own` is that of the first source with its name.

    Raises TypeError for a field without a default that nothing has.
    """
    for source in sources:
        for name in record.__struct_fields__:
            if name not in own and hasattr(source, name):
                own[name] = getattr(source, name)
    return record(**own)
