"""Reads the tables of this package: TOML files of named entries, one record each."""

import tomllib
from collections.abc import Callable, Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Any, TypeVar

from msgspec import Struct

Record = TypeVar("Record")


class Meaning(Struct, frozen=True):
    """A name with its meaning in one or two sentences, which may contain `code` as in Markdown."""

    name: str
    words: str


def read_table(table: str, record: Callable[..., Record]) -> Mapping[str, Record]:
    """Return the entries of `<table>.toml` by name, in the order of the file, each as a record.

    `record` gets the entry's key as `name` and its fields by keyword, lists as tuples. An unknown
    or missing field raises TypeError: a table and its record must agree.
    """
    text = files(__package__).joinpath(f"{table}.toml").read_text("utf-8")
    entries = tomllib.loads(text).items()
    return MappingProxyType({key: record(name=key, **_frozen(fields)) for key, fields in entries})


def _frozen(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()
    }
