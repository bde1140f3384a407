"""Every pass and pipeline that is known: the tables `passes*.toml` and `pipelines.toml`.

Names come from openxla/xla, from graphcore/tensorflow and, for the closed TPU compiler, from dumps.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Literal

from msgspec import Struct

from xlareport.knowledge.table_files import read_table
from xlareport.runtime.english import first_sentence

CLOSED_SOURCE = "closed source"
"""The `source` of unpublished passes."""

_BASIS_WORDS = {
    "source": "Read in its source.",
    "dumps": "Taken from what it changed in real dumps.",
    "name": "A guess from its name and its neighbors.",
}


class PassInfo(Struct, frozen=True):
    """A pass, or a pipeline of passes."""

    name: str
    """As XLA spells it; file names have `_` for spaces."""
    words: str
    """Its changes and their significance, in one to three sentences."""
    kind: Literal["pass", "pipeline"]
    xla_class: str | None = None
    source: str | None = None
    """A path in `repository`, or `CLOSED_SOURCE`; None where it was not found."""
    backends: tuple[str, ...] = ()
    """Some of cpu, gpu, tpu, ipu; empty where only tools are known to run it."""
    aliases: tuple[str, ...] = ()
    until: str | None = None
    """The month, `yyyy-mm`, in which its file was removed; None if it was not."""
    known_from: Literal["source", "dumps", "name"] = "source"
    """The basis of `words`; `name` is a guess and must be shown as one."""
    numbered: bool = False
    """Whether a dash and a number may follow the name."""
    example: str | None = None
    """A step of a real dump with its changes, as a sentence."""

    @property
    def summary(self) -> str:
        """The first sentence of `words`."""
        return first_sentence(self.words)

    @property
    def basis(self) -> str:
        """The basis of `words`, as a sentence."""
        return _BASIS_WORDS[self.known_from]


@cache
def all_entries() -> Mapping[str, PassInfo]:
    """Return all passes by name: those of openxla/xla, of the TPU, of the IPU."""
    ours = partial(PassInfo, kind="pass")
    tpu = partial(ours, source=CLOSED_SOURCE, backends=("tpu",))
    ipu = partial(ours, backends=("ipu",))
    return {
        **read_table("passes", ours),
        **read_table("passes_tpu", tpu),
        **read_table("passes_ipu", ipu),
    }


@cache
def all_pipelines() -> Mapping[str, PassInfo]:
    """Return all pipelines by name."""
    return read_table("pipelines", partial(PassInfo, kind="pipeline"))


def find(name: str) -> PassInfo | None:
    """Return the pass with this name, or the pipeline used in place of a pass.

    Spaces, dashes and underscores are interchangeable if that is not ambiguous.
    """
    passes, pipelines = _index(all_entries), _index(all_pipelines)
    return (
        passes.exact.get(_file_form(name))
        or pipelines.exact.get(_file_form(name))
        or passes.loose.get(_loose_form(name))
        or pipelines.loose.get(_loose_form(name))
        or _numbered(name)
    )


def find_class(name: str) -> PassInfo | None:
    """Return the pass of a C++ class; the name may include namespaces."""
    return _classes().get(name.rpartition("::")[2])


@cache
def _classes() -> Mapping[str, PassInfo]:
    """Return passes by class, without the classes of several passes."""
    entries = [entry for entry in all_entries().values() if entry.xla_class]
    uses = Counter(entry.xla_class for entry in entries)
    return {
        entry.xla_class: entry
        for entry in entries
        if entry.xla_class and uses[entry.xla_class] == 1
    }


def find_pipeline(name: str) -> PassInfo | None:
    """Return the pipeline called so, in the same spellings."""
    pipelines = _index(all_pipelines)
    return pipelines.exact.get(_file_form(name)) or pipelines.loose.get(_loose_form(name))


def find_either(name: str) -> PassInfo | None:
    """Return the entry of a pass or pipeline of this name, one that is no guess where there is."""
    pass_info, pipeline = find(name), find_pipeline(name)
    if pass_info is None or (pass_info.known_from == "name" and pipeline is not None):
        return pipeline
    return pass_info


def derived_class(name: str) -> str:
    """Guess the C++ class of an unknown pass: XLA makes names from classes by dashes."""
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"[^A-Za-z0-9]+", name))


class _Index(Struct, frozen=True):
    exact: Mapping[str, PassInfo]
    loose: Mapping[str, PassInfo]
    """Without the spellings that two entries share."""


@cache
def _index(table: Callable[[], Mapping[str, PassInfo]]) -> _Index:
    spelled = [
        (name, pass_info)
        for pass_info in table().values()
        for name in (pass_info.name, *pass_info.aliases)
    ]
    uses = Counter(_loose_form(name) for name, _ in spelled)
    return _Index(
        exact={_file_form(name): pass_info for name, pass_info in spelled},
        loose={
            _loose_form(name): pass_info
            for name, pass_info in spelled
            if uses[_loose_form(name)] == 1
        },
    )


def _file_form(name: str) -> str:
    return name.replace(" ", "_")


def _loose_form(name: str) -> str:
    return re.sub(r"[ _]", "-", name)


def _numbered(name: str) -> PassInfo | None:
    pass_info = _index(all_entries).exact.get(re.sub(r"-\d+$", "", name))
    return pass_info if pass_info and pass_info.numbered else None
