"""Reads the tables of this package: TOML files of named entries, one record each."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from msgspec import Struct

from xlareport.runtime.resources import read_toml

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
    entries = read_toml(__package__, f"{table}.toml").items()
    return MappingProxyType({key: record(name=key, **_frozen(fields)) for key, fields in entries})


def _frozen(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()
    }
