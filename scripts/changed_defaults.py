"""Writes knowledge/changed_defaults.tsv: options of XLA whose default differs between releases.

Usage: `python scripts/changed_defaults.py VERSION=PYTHON...`, each an interpreter that has that
release of jaxlib; protobuf has to be installed for each. The options and their defaults are those
of the DebugOptions in a new CompileOptions; the descriptor inside of the library has their names.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "generator/xlareport/knowledge/changed_defaults.tsv"
_COLUMNS = ("option", "older", "newer", "before", "after")
_DUMPING = "xla_dump_"
_READER = r"""
import json, struct, sys
from pathlib import Path
import jaxlib
from google.protobuf import descriptor_pb2, empty_pb2
from google.protobuf.unknown_fields import UnknownFieldSet

try:
    from jaxlib import xla_client
    options = xla_client.CompileOptions()
except AttributeError:
    from jaxlib import _jax
    options = _jax.CompileOptions()
options.executable_build_options.debug_options


def read(data):
    message = empty_pb2.Empty()
    message.ParseFromString(data)
    return [(each.field_number, each.wire_type, each.data) for each in UnknownFieldSet(message)]


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return value, at


def described():
    folder = Path(jaxlib.__file__).parent
    for library in sorted(folder.glob("*.so"), key=lambda path: -path.stat().st_size):
        content = library.read_bytes()
        start = content.find(b"\x0a\x0dxla/xla.proto")
        if start >= 0:
            end = start
            while True:  # the length is not beside it: fields of a FileDescriptorProto follow
                tag, at = varint(content, end)
                if not 1 <= tag >> 3 <= 14 or tag & 7 not in (0, 2):
                    break
                value, at = varint(content, at)
                end = at + value if tag & 7 == 2 else at
            return descriptor_pb2.FileDescriptorProto.FromString(content[start:end])


file = described()
enums = {f".xla.{each.name}": each for each in file.enum_type}
for message in file.message_type:
    enums |= {f".xla.{message.name}.{each.name}": each for each in message.enum_type}
fields = {
    field.number: field
    for message in file.message_type
    if message.name == "DebugOptions"
    for field in message.field
}
(build,) = [data for number, _, data in read(options.SerializeAsString()) if number == 3]
(debug,) = [data for number, _, data in read(build) if number == 3]


def written(field, kind, data):
    if field.type == field.TYPE_BOOL:
        return "true" if data else "false"
    if field.type == field.TYPE_ENUM:
        numbers, at = ([data], 0) if kind == 0 else ([], 0)
        while kind == 2 and at < len(data):
            number, at = varint(data, at)
            numbers.append(number)
        names = {each.number: each.name for each in enums[field.type_name].value}
        return ",".join(names[number] for number in numbers)
    if field.type == field.TYPE_STRING:
        return data.decode()
    if field.type in (field.TYPE_FLOAT, field.TYPE_DOUBLE):
        form, size = ("<f", 4) if kind == 5 else ("<d", 8)
        return str(struct.unpack(form, data.to_bytes(size, "little"))[0])
    return str(data - (1 << 64) if data >> 63 else data)


def empty(field):
    if field.label == field.LABEL_REPEATED or field.type == field.TYPE_STRING:
        return ""
    if field.type == field.TYPE_ENUM:
        return enums[field.type_name].value[0].name
    return "false" if field.type == field.TYPE_BOOL else "0"


simple = {
    number: field
    for number, field in fields.items()
    if field.type != field.TYPE_MESSAGE
    and (field.type != field.TYPE_ENUM or field.type_name in enums)
}
values = {field.name: [] for field in simple.values()}
stored = {field.name: [] for field in simple.values()}
for number, kind, data in read(debug):
    if number in simple:
        values[simple[number].name].append(written(simple[number], kind, data))
        stored[simple[number].name].append(str(data))
print(
    json.dumps(
        {
            field.name: (
                ",".join(values[field.name]) or empty(field),
                ",".join(stored[field.name]) if field.type == field.TYPE_ENUM else "",
            )
            for field in simple.values()
        }
    )
)
"""


Default = tuple[str, str]
"""As the option is written, and the number of an enum, of which the names change."""


def read_defaults(python: str) -> Mapping[str, Default]:
    """Return the defaults of the jaxlib of an interpreter; raises CalledProcessError."""
    environment = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    command = [python, "-c", _READER]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    values = json.loads(done.stdout.splitlines()[-1])
    return {name: (text, number) for name, (text, number) in values.items()}


def changed_rows(
    releases: Sequence[tuple[str, Mapping[str, Default]]],
) -> Iterator[tuple[str, ...]]:
    """Yield a row for each default that differs from one release to the next that has the option.

    Lists are held against each other without their order.
    """
    names = sorted({name for _, values in releases for name in values})
    for name in names:
        known = [(version, values[name]) for version, values in releases if name in values]
        for (before, (older, old)), (after, (newer, new)) in pairwise(known):
            renamed = old == new and bool(old)
            if not renamed and sorted(older.split(",")) != sorted(newer.split(",")):
                yield name, older or '""', newer or '""', before, after


def main() -> None:
    """Write the table."""
    pairs = [argument.partition("=")[::2] for argument in sys.argv[1:]]
    releases = [(version, read_defaults(python)) for version, python in pairs]
    rows = [row for row in changed_rows(releases) if not row[0].startswith(_DUMPING)]
    TABLE.write_text("".join("\t".join(row) + "\n" for row in (_COLUMNS, *rows)), "utf-8")
    sys.stdout.write(f"{len(rows)} changed defaults of {len(releases)} releases\n")


if __name__ == "__main__":
    main()
