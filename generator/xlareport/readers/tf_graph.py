"""TensorFlow's GraphDef as text: its nodes, and the unit in which XLA compiles each.

Files are `mark_for_compilation*.pbtxt` and others that TensorFlow writes next to XLA's dump. Its
log names each operation that XLA cannot compile, with the reason, with
`TF_CPP_VMODULE=compilability_check_util=3` and `TF_CPP_MIN_LOG_LEVEL=0`.
"""

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from xlareport.readers.textproto import Message, read_textproto
from xlareport.runtime.errors import Problem

_LINE = re.compile(
    r"Found uncompilable node (?P<name>[^ ]{1,1000}) \(op [^ )]{1,200}\): (?P<reason>[^\n]{1,1000})"
)


def read_tf_log(data: bytes) -> Mapping[str, str]:
    """Return the reasons by the name of the operation; empty for a log without any."""
    text = data.decode(errors="replace")
    return {match["name"]: match["reason"] for match in _LINE.finditer(text)}


_RUNS = ("_XlaRun", "XlaLaunch", "XlaLaunchV2")
_CALLS = ("PartitionedCall", "StatefulPartitionedCall")


class GraphNode(Struct, frozen=True):
    """An operation of the framework's graph."""

    name: str
    op: str
    inputs: tuple[str, ...]
    """Names of the nodes whose results it takes, in order, with `:1` for a second result."""
    unit: str
    """The unit of compilation: a cluster or a function; empty outside of XLA."""
    has_text: bool
    """Whether it processes text (DT_STRING), a type that XLA does not have."""


class FrameworkGraph(Struct, frozen=True):
    """A graph of the framework; the functions of its library are graphs of their own."""

    path: str
    name: str
    """Of the function; empty for the graph itself."""
    nodes: tuple[GraphNode, ...]


def read_tf_graph(data: bytes, path: str) -> tuple[tuple[FrameworkGraph, ...], list[Problem]]:
    """Read a GraphDef and the functions of its library."""
    whole, problems = read_textproto(data, path)
    graphs = [FrameworkGraph(path, "", tuple(_nodes(whole.messages("node"))))]
    for library in whole.messages("library"):
        for function in library.messages("function"):
            names = [message.text("name") for message in function.messages("signature")]
            nodes = tuple(_nodes(function.messages("node_def")))
            graphs.append(FrameworkGraph(path, names[0] if names else "", nodes))
    return tuple(graphs), problems


def _nodes(messages: tuple[Message, ...]) -> Iterator[GraphNode]:
    compiled = {message.text("name"): _function(message) for message in messages}
    for message in messages:
        inputs = message.texts("input")
        yield GraphNode(
            name=message.text("name"),
            op=message.text("op"),
            inputs=tuple(name for name in inputs if not name.startswith("^")),
            unit=_unit(message, compiled),
            has_text=_has_text(message),
        )


def _has_text(node: Message) -> bool:
    named = "String" in node.text("op")
    return named or any("DT_STRING" in value.texts("type") for _, value in _attributes(node))


def _unit(node: Message, compiled: dict[str, str]) -> str:
    """Return the unit of compilation: a node's cluster, or the function that it calls."""
    cluster = next((v.text("s") for key, v in _attributes(node) if key == "_XlaCluster"), "")
    if cluster:
        return cluster
    if node.text("op") in _RUNS:
        keys = (compiled.get(name.partition(":")[0], "") for name in node.texts("input"))
        return _function(node) or next(filter(None, keys), "")
    if node.text("op") in _CALLS:
        return _function(node)
    return ""


def _function(node: Message) -> str:
    """Return the function that an attribute of a node names."""
    for _, value in _attributes(node):
        for function in value.messages("func"):
            return function.text("name")
    return ""


def _attributes(node: Message) -> Iterator[tuple[str, Message]]:
    for message in node.messages("attr"):
        for value in message.messages("value"):
            yield message.text("key"), value
