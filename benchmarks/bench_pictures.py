"""Pictures: a complete report against `dot -Tsvg` on every .dot file, and growth with the module.

The report is that of a dump with its .dot files: everything, not only pictures. `dot` is what the
user has on the PATH, run on one file after the other; the two take turns, and the least time of
each counts. On a busy machine CPU time says more. The modules of the growth are made here: layers
with fusions, with scopes of a framework and without.
"""

import argparse
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from measuring import Measured, environment, seconds_of
from rich.console import Console
from rich.table import Table

from xlareport.dump.source import open_source
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader
from xlareport.pictures.dot_text import dot_text
from xlareport.pictures.layout import Layout
from xlareport.pictures.layout_pool import LayoutPool
from xlareport.pictures.levels import ModulePictures, all_levels
from xlareport.pictures.svg import svg_text

ROOT = Path(__file__).resolve().parent.parent
BUNDLED = ROOT / "tests/data/jax-cpu-train-allformats.tar.zst"
LARGE = "jax-cpu-mlp/jax-cpu-mlp"
"""Used instead where XLAREPORT_DUMPS names a folder that has it."""
LAYER = 40
"""Instructions of one layer, fused ones included."""
SIZES = (1_000, 5_000, 10_000, 20_000, 40_000)
AGAINST = ("", "seconds", "CPU s", "share of dot", "of its CPU")
GROWTH = (
    *("instructions", "scopes", "first: make s", "layout s", "boxes", "pictures", "make s"),
    *("layouts", "layout s", "slowest s", "largest KB"),
)


def main() -> None:
    """Measure the dump that the command line names, else a large one, else the bundled one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dump", type=Path, nargs="?", help="a dump with .dot files")
    parser.add_argument("--runs", type=int, default=2, help="take the least of so many (2)")
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES, help="of made modules")
    parser.add_argument("--json", type=Path, default=ROOT / "build" / "bench_pictures.json")
    arguments = parser.parse_args()
    large = Path(os.environ.get("XLAREPORT_DUMPS", "")) / LARGE
    dump = arguments.dump or (large if large.is_dir() else BUNDLED)
    report = {
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
        "dump": dump.name,
        "against": against_dot(dump, arguments.runs),
        "growth": [
            growth(size, scopes=scopes) for scopes in (True, False) for size in arguments.sizes
        ],
    }
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    show(report)
    print(f"written to {arguments.json}")


def against_dot(dump: Path, runs: int) -> Measured:
    """Measure a complete build, and `dot` on every drawing where there is one."""
    dot = shutil.which("dot")
    with drawings(dump) as files:
        ours: list[Measured] = []
        theirs: list[Measured] = []
        for _ in range(runs):
            with tempfile.TemporaryDirectory() as out:
                ours.append(measured(partial(build, dump, Path(out))))
            if dot:
                theirs.append(measured(lambda: draw(dot, files)))
        return {
            "files": len(files),
            "dot": version(dot) if dot else None,
            "ours": min(ours, key=seconds_of),
            "theirs": min(theirs, key=seconds_of) if theirs else None,
        }


@contextmanager
def drawings(dump: Path) -> Iterator[list[Path]]:
    """Yield the .dot files of a dump, unpacked where it is an archive."""
    with open_source(dump) as source, tempfile.TemporaryDirectory() as folder:
        found = []
        for number, entry in enumerate(source.entries):
            if entry.path.endswith(".dot"):
                path = Path(folder) / f"{number}.dot"
                path.write_bytes(entry.read())
                found.append(path)
        yield found


def build(dump: Path, out: Path) -> None:
    """Build the complete report in a new folder, as a user does."""
    subprocess.run(
        [sys.executable, "-m", "xlareport", "build", dump, "--out", out, "--quiet"],
        env=environment(),
        capture_output=True,
        check=True,
    )


def draw(dot: str, files: Sequence[Path]) -> None:
    """Draw one file after the other."""
    for path in files:
        subprocess.run([dot, "-Tsvg", path, "-o", os.devnull], capture_output=True, check=False)


def version(dot: str) -> str:
    """Return what `dot` says of itself."""
    said = subprocess.run([dot, "-V"], capture_output=True, text=True, check=False)
    return (said.stderr or said.stdout).strip()


def measured(work: Callable[[], None]) -> Measured:
    """Return the time that work in other processes takes, on the wall and of processors."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    work()
    seconds = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": seconds, "cpu_seconds": spent}


def growth(size: int, *, scopes: bool) -> Measured:
    """Measure the pictures of a made module: the first one, and all of them."""
    module = made(size, scopes=scopes)
    started = time.process_time()
    first = ModulePictures(module).overview()
    first_made = time.process_time() - started
    started = time.process_time()
    levels = all_levels(module, ModulePictures(module))
    all_made = time.process_time() - started
    dots = {dot_text(level.drawing): level.drawing for level in levels}
    with LayoutPool(1) as pool:
        laid = {dot: laid_out(pool, dot) for dot in (dot_text(first), *dots)}
    times = {dot: seconds for dot, (seconds, _) in laid.items()}
    sizes = [
        len(svg_text(drawing, layout).encode())
        for dot, drawing in dots.items()
        if isinstance(layout := laid[dot][1], Layout)
    ]
    return {
        "instructions": module.instruction_count,
        "scopes": scopes,
        "first_made": first_made,
        "first_layout": times[dot_text(first)],
        "first_boxes": len(first.nodes),
        "pictures": len(levels),
        "all_made": all_made,
        "layouts": len(times),
        "failed": len(dots) - len(sizes),
        "all_layout": sum(times.values()),
        "slowest": max(times.values()),
        "largest_bytes": max(sizes, default=0),
    }


def laid_out(pool: LayoutPool, dot: str) -> tuple[float, object]:
    """Return how long one layout takes on the wall, and the layout."""
    started = time.perf_counter()
    [(_, layout)] = pool.layout_many([("", dot)])
    return time.perf_counter() - started, layout


def made(size: int, *, scopes: bool) -> HloModule:
    """Return a module of about so many instructions: layers, each a chain with some fusions."""
    fused: list[str] = []
    lines = ["  x = f32[64,64] parameter(0)"]
    last = "x"
    for layer in range(size // LAYER):
        scope = f', metadata={{op_name="jit(f)/model/layer_{layer}/op"}}' if scopes else ""
        for place in range(4):
            name = f"l{layer}.{place}"
            fused.append(_fused(name))
            lines.append(f"  {name} = f32[64,64] dot({last}, x){scope}")
            call = f"fusion({name}, {last}), kind=kLoop, calls=f.{name}"
            lines.append(f"  {name}.f = f32[64,64] {call}{scope}")
            last = f"{name}.f"
    entry = "\n".join(["ENTRY main {", *lines, f"  ROOT r = f32[64,64] negate({last})", "}"])
    text = "\n\n".join(["HloModule made", *fused, entry]) + "\n"
    module = TextReader().read(text.encode(), "made")
    if module is None:
        raise ValueError("what was made cannot be read")
    return module


def _fused(name: str) -> str:
    """Return a fused computation of eight instructions."""
    lines = [f"  p.{name} = f32[64,64] parameter(0)", f"  q.{name} = f32[64,64] parameter(1)"]
    last = f"p.{name}"
    for number, opcode in enumerate(("add", "multiply", "maximum", "subtract", "divide")):
        made_here = f"{opcode}.{name}.{number}"
        lines.append(f"  {made_here} = f32[64,64] {opcode}({last}, q.{name})")
        last = made_here
    return "\n".join([f"f.{name} {{", *lines, f"  ROOT t.{name} = f32[64,64] tanh({last})", "}"])


def show(report: Measured) -> None:
    """Print the tables."""
    console = Console(width=130)
    console.print(f"{report['dump']}: {report['machine']}")
    console.print(_against(report["against"]))
    table = Table(*GROWTH, title="Growth with the module", title_justify="left")
    for row in report["growth"]:
        table.add_row(*_growth_cells(row))
    console.print(table)


def _against(found: Measured) -> Table:
    title = f"{found['files']} .dot files; {found['dot'] or 'no dot on the PATH'}"
    table = Table(*AGAINST, title=title, title_justify="left")
    ours, theirs = found["ours"], found["theirs"]
    for name, one in (("complete report", ours), ("dot -Tsvg, one by one", theirs)):
        if one is not None:
            shares = [f"{one[key] / theirs[key]:.2f}" if theirs else "" for key in ours]
            table.add_row(name, f"{one['seconds']:.1f}", f"{one['cpu_seconds']:.1f}", *shares)
    return table


def _growth_cells(row: Measured) -> list[str]:
    return [
        f"{row['instructions']:,}",
        "yes" if row["scopes"] else "no",
        f"{row['first_made']:.2f}",
        f"{row['first_layout']:.2f}",
        str(row["first_boxes"]),
        f"{row['pictures']:,}",
        f"{row['all_made']:.2f}",
        f"{row['layouts']:,}",
        f"{row['all_layout']:.2f}",
        f"{row['slowest']:.2f}",
        f"{row['largest_bytes'] / 1e3:.0f}",
    ]


if __name__ == "__main__":
    main()
