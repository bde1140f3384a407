"""The named scopes that only one of two programs has, the outermost ones."""

from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.source.scopes import scope_of, split_merged
from xlareport.hlo.model import HloModule

_OF_TRANSFORMATIONS = frozenset({"checkpoint", "rematted_computation", "vmap()", "body", "while"})


def one_sided_scopes(matching: Matching) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the scopes that only the module before has, then those that only the one after has.

    A scope inside one of these is left out; both are empty if `matching.same_program`.
    """
    if matching.same_program:
        return (), ()
    before, after = _scopes(matching.before), _scopes(matching.after)
    return _outermost(before, after), _outermost(after, before)


def _scopes(module: HloModule) -> dict[str, None]:
    """Return the scopes in a module, and those around them, in order."""
    scopes: dict[str, None] = {}
    for op_name in dict.fromkeys(line.metadata.op_name for line in module.instructions):
        for name in split_merged(op_name) if "/" in op_name else ():
            words = [word for word in scope_of(name).split("/") if word]
            words = [word for word in words if word not in _OF_TRANSFORMATIONS]
            for end in range(1, len(words) + 1):
                scopes["/".join(words[:end])] = None
    return scopes


def _outermost(scopes: dict[str, None], known: dict[str, None]) -> tuple[str, ...]:
    alone = [scope for scope in scopes if scope not in known]
    return tuple(scope for scope in alone if scope.rpartition("/")[0] not in alone)
