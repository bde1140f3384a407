"""Writes docs/architecture.md from the code: usage: scripts/architecture.py [--check].

Folders, modules and floors are read from the sources and from pyproject.toml. The call tree is
checked against the sources: each function has to be reached from the one above it within that one's
module, and what it returns is its annotation. With --check nothing is written, and the exit code is
1 where the page is not current.
"""

import ast
import gc
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "generator" / "xlareport"
PAGE = ROOT / "docs" / "architecture.md"
INTRODUCTION = ROOT / "docs" / "architecture.head.md"

PIPELINE = """
report.py build
  dump/source.py open_source
  dump_reading.py begin_reading
    dump/grouping.py group_source
      dump/grouping.py name_files
      dump/grouping.py group
      dump/rank_modules.py merge_rank_modules
  dump_reading.py DumpReading.results
    module_work/tasks.py ModuleWork.__call__
      module_work/process.py process_module
        analysis/module.py analyze_module
          program.py read_module
          analysis/module_steps.py analyze_steps
        pages/module/output.py ModulePages.output
  module_work/module_pictures.py ModuleDrawing.files
    pictures/draw.py Renderer.draw
  dump_reading.py analyze
  analysis/dump.py relate_modules
  records/build.py build_report
  pages/site_files.py site_files
    pages/module/module_pages.py module_files
  site/writer.py write_sources
  site/builder.py build_site
"""
"""Functions that a dump passes on its way to the browser, in the order of their calls, each below
the one that calls it."""
LEFT = {
    "write_sources": "Markdown, payloads and pictures in OUT/site_src",
    "build_site": "HTML in OUT/site",
}
"""What functions leave on disk."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Module:
    """One module of the package."""

    path: str
    """Relative to the package: `analysis/cost/work.py`."""
    tree: ast.Module

    @property
    def sentence(self) -> str:
        """The first line of its docstring."""
        return (ast.get_docstring(self.tree) or "").partition("\n")[0]


@cache
def modules() -> Mapping[str, Module]:
    """Return every module of the package by its path."""
    gc.disable()  # all trees are kept: looking for garbage among them takes longer than parsing
    paths = sorted(PACKAGE.rglob("*.py"))
    names = [path.relative_to(PACKAGE).as_posix() for path in paths]
    parsed = {
        name: Module(name, ast.parse(path.read_text("utf-8")))
        for name, path in zip(names, paths, strict=True)
    }
    gc.freeze()
    gc.enable()
    return parsed


def floors() -> Sequence[Sequence[str]]:
    """Return the floors that import-linter checks, the highest first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]
    return [[name.strip() for name in layer.split("|")] for layer in contract["layers"]]


def page() -> str:
    """Return the whole page."""
    parts = (
        INTRODUCTION.read_text("utf-8").rstrip(),
        "## From a dump to the browser",
        drawing(),
        "## Floors",
        floor_table(),
        "## Pages",
        page_table(),
        "## Folders and modules",
        *(folder_section(folder) for folder in folders()),
    )
    return "\n\n".join(parts) + "\n"


def drawing() -> str:
    """Return the pipeline as a call tree; raises LookupError where it is not that of the code."""
    rows = list(_calls())
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    lines = (
        f"{call:{widths[0]}}  {path:{widths[1]}}  {result}".rstrip() for call, path, result in rows
    )
    return "\n".join(["```text", *lines, "```"])


def _calls() -> Iterator[tuple[str, str, str]]:
    """Yield (call, its module, what it returns) of each line of the tree."""
    above: list[tuple[str, str]] = []
    for line in filter(None, PIPELINE.splitlines()):
        depth = (len(line) - len(line.lstrip())) // 2
        path, name = line.split()
        wanted = set(name.removesuffix(".__call__").split("."))
        if depth and not wanted <= _reached(*above[depth - 1]):
            raise LookupError(f"{' '.join(above[depth - 1])} does not call {name}; see PIPELINE.")
        function = _definition(path, name)
        above[depth:] = [(path, name)]
        result = LEFT.get(name) or _returned(function)
        yield f"{'  ' * depth}{name.removesuffix('.__call__')}()", path, result


def _definition(path: str, name: str) -> Function:
    """Return a function or method of a module; raises LookupError."""
    module = modules().get(path)
    nodes: Sequence[ast.stmt] = module.tree.body if module else ()
    *classes, last = name.split(".")
    for owner in classes:
        inside = [node for node in nodes if isinstance(node, ast.ClassDef) and node.name == owner]
        nodes = inside[0].body if inside else ()
    functions = [node for node in nodes if isinstance(node, Function) and node.name == last]
    if not functions:
        raise LookupError(f"{path} has no function {name}; see PIPELINE.")
    return functions[0]


@cache
def _reached(path: str, name: str) -> frozenset[str]:
    """Return the names that a function uses, itself or by what its own module defines."""
    defined = {
        node.name: node
        for node in modules()[path].tree.body
        if isinstance(node, Function | ast.ClassDef)
    }
    waiting, known, fields = [name.partition(".")[0]], set[str](), set[str]()
    while waiting:
        nodes = [*ast.walk(defined[waiting.pop()])]
        used = {node.id for node in nodes if isinstance(node, ast.Name)}
        fields |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        waiting += [each for each in used - known if each in defined]
        known |= used
    return frozenset(known | fields)


def _returned(function: Function) -> str:
    """Return the annotation of what a function returns, or of each value that it yields."""
    written = ast.unparse(function.returns) if function.returns else "None"
    yielded = re.fullmatch(r"(?:Iterator|Generator)\[(.+?)(?:, None, None)?\]", written)
    if yielded is None:
        return written
    is_context = any(ast.unparse(mark) == "contextmanager" for mark in function.decorator_list)
    return yielded[1] if is_context else f"each {yielded[1]}"


def floor_table() -> str:
    """Return the floors as a table, the highest first, neighbors in one row."""
    rows = (
        f"| {number} | `{_shown(name)}` | {_sentence(name)} |"
        for number, floor in reversed([*enumerate(reversed(floors()))])
        for name in floor
    )
    return "\n".join(["| floor | part | what it is for |", "|---|---|---|", *rows])


def _shown(name: str) -> str:
    return f"{name}/" if f"{name}/__init__.py" in modules() else f"{name}.py"


def _sentence(name: str) -> str:
    shown = _shown(name)
    return modules()[f"{shown}__init__.py" if shown.endswith("/") else shown].sentence


def page_table() -> str:
    """Return the templates of pages with the modules that render them, and the payload keys."""
    pages = [module for module in modules().values() if module.path.startswith("pages/")]
    templates = [
        f"| `templates/{name}.md.jinja` | `{module.path}` |"
        for module in pages
        for name in sorted(set(_templates(module)))
    ]
    used: dict[str, list[str]] = {}
    for module in pages:
        for key in sorted(set(_payload_keys(module))):
            used.setdefault(key, []).append(f"`{module.path}`")
    keys = [f"| `navigation.{key}` | {', '.join(paths)} |" for key, paths in sorted(used.items())]
    head = ["| page template | rendered in |", "|---|---|"]
    more = ["", "| payload key | used in |", "|---|---|"]
    return "\n".join([*head, *templates, *more, *keys])


def _templates(module: Module) -> Iterator[str]:
    """Yield the names of templates that a module renders."""
    for node in ast.walk(module.tree):
        match node:
            case ast.Call(func=ast.Name("render"), args=[ast.Constant(str(name)), *_]):
                yield name


def _payload_keys(module: Module) -> Iterator[str]:
    """Yield the functions of `pages/navigation.py` by which a module names payloads."""
    for node in ast.walk(module.tree):
        match node:
            case ast.Attribute(value=ast.Name("navigation"), attr=name) if name.endswith("_key"):
                yield name


def folders() -> Sequence[str]:
    """Return the folders of the package, `.` first."""
    return sorted({_folder(module) for module in modules().values()})


def _folder(module: Module) -> str:
    return module.path.rpartition("/")[0] or "."


def folder_section(folder: str) -> str:
    """Return a heading, what the folder is for, and a line for each module in it."""
    inside = [module for module in modules().values() if _folder(module) == folder]
    first, *others = sorted(inside, key=lambda module: not module.path.endswith("__init__.py"))
    rows = [f"| `{module.path.rpartition('/')[2]}` | {module.sentence} |" for module in others]
    title = "xlareport" if folder == "." else folder
    table = ["| module | what it does |", "|---|---|", *rows] if rows else []
    return "\n".join([f"### `{title}/`", "", first.sentence, *([""] if rows else []), *table])


def main() -> int:
    """Write the page, or with --check say whether it is current."""
    text = page()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(text, "utf-8")
        return 0
    if PAGE.is_file() and PAGE.read_text("utf-8") == text:
        return 0
    sys.stderr.write(f"{PAGE.relative_to(ROOT)} is not current: run `make architecture`.\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
