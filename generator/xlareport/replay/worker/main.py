"""The loop of the child process: a request per line of JSON in, a line of JSON out."""

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

_ADAPTER = "xlareport.replay.worker.jaxlib_"
FAMILIES: Mapping[tuple[int, int], str] = {
    (0, 4): f"{_ADAPTER}0_4",
    (0, 5): f"{_ADAPTER}0_4",
    (0, 6): f"{_ADAPTER}0_6",
    (0, 7): f"{_ADAPTER}0_6",
    (0, 8): f"{_ADAPTER}0_6",
    (0, 9): f"{_ADAPTER}0_6",
    (0, 10): f"{_ADAPTER}0_6",
    (0, 12): f"{_ADAPTER}0_6",
}
"""Adapters by release of jaxlib: other releases have other interfaces."""
_LONGEST_MESSAGE = 2_000


def main() -> None:
    """Answer requests until the input ends; what an operation raises is its answer."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what jaxlib prints is no answer
    for line in sys.stdin:
        answers.write(f"{json.dumps(_answer(json.loads(line)))}\n")
        answers.flush()


def _answer(request: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return {"result": _OPERATIONS[request["operation"]](request)}
    except MemoryError:
        return {"error": "out of memory"}
    except Exception as error:  # noqa: BLE001 - jaxlib raises types of its own
        return {"error": f"{type(error).__name__}: {error}"[:_LONGEST_MESSAGE]}


def _hello(_request: Mapping[str, Any]) -> dict[str, Any]:
    try:
        jaxlib = import_module("jaxlib.version")
        import_module("jax")
    except ImportError as error:
        return {"absent": str(error)}
    release = str(jaxlib.__version__)
    is_known = release_family(release) in FAMILIES
    if is_known:
        _adapter()
    return {"release": release, "known": is_known}


def release_family(release: str) -> tuple[int, int]:
    """Return the first two numbers of a release such as `0.10.2`; raises ValueError."""
    first, second, *_ = release.split(".")
    return int(first), int(second)


def _adapter() -> Any:
    release = import_module("jaxlib.version").__version__
    return import_module(FAMILIES[release_family(release)])


def _make_inputs(request: Mapping[str, Any]) -> dict[str, Any]:
    arrays = import_module("xlareport.replay.worker.arrays")
    arrays.save(Path(request["to"]), arrays.make_inputs(request["ranges"], request["seed"]))
    return {}


def _describe(request: Mapping[str, Any]) -> dict[str, Any]:
    arrays = import_module("xlareport.replay.worker.arrays")
    held = arrays.load(Path(request["path"]))
    return {"arrays": [[array.dtype.name, list(array.shape)] for array in held]}


def _run_request(request: Mapping[str, Any]) -> dict[str, Any]:
    arrays, adapter = import_module("xlareport.replay.worker.arrays"), _adapter()
    inputs = arrays.load(Path(request["inputs"]))
    if request.get("wide"):
        inputs = [arrays.widened(array) for array in inputs]
    text = Path(request["text"]).read_text("utf-8")
    outputs = _outputs(adapter, text, inputs, request)
    arrays.save_outputs(Path(request["outputs"]), outputs)
    return {"outputs": [arrays.describe(copies) for copies in outputs]}


def _outputs(
    adapter: Any, text: str, inputs: Sequence[Any], request: Mapping[str, Any]
) -> list[list[Any]]:
    """Return each output, with its other copies where devices do not agree."""
    executing = import_module("xlareport.replay.worker.executing")
    placement, module = request.get("placement"), executing.import_text(text)
    if placement is None:
        executable = adapter.compile_module(module, request["options"], 1)
        parts = executing.execute(executable, [[array] for array in inputs])
        return [list(devices) for devices in parts]
    placing, devices = import_module("xlareport.replay.worker.placing"), placement["devices"]
    executable = adapter.compile_module(module, request["options"], devices)
    given = zip(inputs, placement["parameters"], strict=True)
    parts = executing.execute(executable, [placing.parts_of(*argument) for argument in given])
    results = zip(parts, placement["results"], strict=True)
    return [placing.whole_of(*result) for result in results]


def _compare(request: Mapping[str, Any]) -> dict[str, Any]:
    arrays = import_module("xlareport.replay.worker.arrays")
    first, second = (arrays.load_outputs(Path(request[side])) for side in ("expected", "actual"))
    if len(first) != len(second):
        return {"outputs": None}
    pairs = zip(first, second, strict=True)
    return {"outputs": [arrays.worst_difference(*pair) for pair in pairs]}


def _compile(request: Mapping[str, Any]) -> dict[str, Any]:
    executing, adapter = import_module("xlareport.replay.worker.executing"), _adapter()
    broadcasts = import_module("xlareport.replay.broadcasts")
    module = executing.import_text(Path(request["text"]).read_text("utf-8"))
    module = broadcasts.with_whole_broadcasts(module)
    if request.get("target"):
        topologies = import_module("xlareport.replay.worker.topologies")
        topologies.compile_for(request["target"], module, request["options"])
    else:
        adapter.compile_module(module, request["options"], 1)
    return {}


_OPERATIONS: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "hello": _hello,
    "make_inputs": _make_inputs,
    "describe": _describe,
    "run": _run_request,
    "compare": _compare,
    "compile": _compile,
}
