"""Reading a dump of every pass: ours against XLA's parser, on the same files in the same run.

Each figure is the least of some runs in processes of their own, with files from the page cache. On
a busy machine CPU time says more. Both readers run under one interpreter, which needs jaxlib 0.10;
where there is none the reason is printed and XLA's columns stay empty. The tables are printed and
written as JSON.
"""

import argparse
import json
import os
import platform
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import zstandard
from measuring import Measured, NoParserError, Readers, find_parser
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[1]
BUNDLED = ROOT / "examples" / "transformer.tar.zst"
LARGE = "jax-gpt2-allpasses"
SIZES = 8
"""How many modules of different sizes are measured alone."""
AGAIN = 10
"""How often the largest snapshot is read again."""
COLUMNS = (
    *("texts", "MB", "ours s", "CPU s", "MB/s", "peak MB"),
    *("XLA s", "CPU s", "MB/s", "peak MB", "ratio", "of CPU"),
)


def main() -> None:
    """Measure the dump that the command line names, else a large one, else the bundled one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dump", type=Path, nargs="?", help="a folder of HLO texts")
    parser.add_argument("--runs", type=int, default=3, help="take the least of so many (3)")
    parser.add_argument("--json", type=Path, default=ROOT / "build" / "bench_reading.json")
    arguments = parser.parse_args()
    with dump_folder(arguments.dump) as folder:
        texts = find_texts(folder)
        if not texts:
            sys.exit(f"{folder} holds no HLO text")
        report = measure(folder, texts, arguments.runs)
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    show(report)
    print(f"written to {arguments.json}")


@contextmanager
def dump_folder(named: Path | None) -> Iterator[Path]:
    """Yield the folder to read."""
    large = Path(os.environ.get("XLAREPORT_DUMPS", "")) / LARGE
    if named is not None or large.is_dir():
        yield named or large
        return
    with tempfile.TemporaryDirectory() as folder:
        with (
            BUNDLED.open("rb") as packed,
            zstandard.ZstdDecompressor().stream_reader(packed) as stream,
            tarfile.open(fileobj=stream, mode="r|") as archive,
        ):
            archive.extractall(folder, filter="data")
        yield Path(folder)


def find_texts(folder: Path) -> list[Path]:
    """Return the HLO texts of a dump by name."""
    paths = (path for path in folder.rglob("*.txt") if path.is_file())
    return sorted(path for path in paths if _starts_a_module(path))


def _starts_a_module(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(10) == b"HloModule "


def measure(folder: Path, texts: Sequence[Path], runs: int) -> Measured:
    """Measure the whole dump, the growth with passes and with size, and identical snapshots."""
    python, jaxlib, reason = sys.executable, None, None
    try:
        python, jaxlib = find_parser()
    except NoParserError as error:
        reason = str(error)
    readers = Readers(python, runs, with_xla=jaxlib is not None)
    passes = snapshots_of_largest(texts)
    largest = max(texts, key=_size)
    return {
        "dump": folder.name,
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
        "python": python,
        "jaxlib": jaxlib,
        "without_xla": reason,
        "runs": runs,
        "whole": [readers.both(texts)],
        "by_passes": [readers.both(passes[:count]) for count in doubling(len(passes))],
        "by_size": [readers.both([path]) for path in of_sizes(texts)],
        "again": [readers.both([largest] * count) for count in (1, 1 + AGAIN)],
    }


def _size(path: Path) -> int:
    return path.stat().st_size


def snapshots_of_largest(texts: Sequence[Path]) -> list[Path]:
    """Return the texts of the module whose texts hold the most bytes, in order of names."""
    sizes: Counter[str] = Counter()
    for path in texts:
        sizes[_module(path)] += _size(path)
    (largest, _), *_ = sizes.most_common(1)
    return [path for path in texts if _module(path) == largest]


def _module(path: Path) -> str:
    """Return what the names of a module's snapshots begin with: `module_0008.jit_f`."""
    return ".".join(path.name.split(".")[:2])


def doubling(most: int) -> list[int]:
    """Return 2, 4, 8... and the most there are."""
    counts = [1 << n for n in range(1, most.bit_length()) if 1 << n < most]
    return [*counts, most]


def of_sizes(texts: Sequence[Path]) -> list[Path]:
    """Return texts from the smallest to the largest, each about the same factor larger."""
    by_size = sorted(texts, key=_size)
    least, most = _size(by_size[0]), _size(by_size[-1])
    wanted = [least * (most / least) ** (n / (SIZES - 1)) for n in range(SIZES)]
    nearest = (min(by_size, key=lambda path: abs(_size(path) - size)) for size in wanted)
    return list(dict.fromkeys(nearest))


def show(report: Measured) -> None:
    """Print the tables."""
    console = Console(width=110)
    console.print(f"{report['dump']}: {report['machine']}, least of {report['runs']} runs")
    if report["without_xla"]:
        console.print(f"without XLA's parser: {report['without_xla']}")
    for key, title in (
        ("whole", "The whole dump"),
        ("by_passes", "The first passes of the largest module"),
        ("by_size", "Single texts by size"),
        ("again", f"The largest text, once and {AGAIN} times more"),
    ):
        console.print(table(title, report[key]))
    once, more = (one["ours"]["seconds"] for one in report["again"])
    console.print(f"a further identical text: {(more - once) / AGAIN / once:.1%} of the first")


def table(title: str, rows: Sequence[Measured]) -> Table:
    """Return a table with one row for each measurement."""
    made = Table(*COLUMNS, title=title, title_justify="left")
    for column in made.columns:
        column.justify = "right"
    for row in rows:
        made.add_row(*cells(row))
    return made


def cells(row: Measured) -> list[str]:
    """Return the texts of a row; what was not measured stays empty."""
    megabytes = row["bytes"] / 1e6
    words = [str(row["texts"]), f"{megabytes:.2f}"]
    for one in (row["ours"], row["xla"]):
        if one is None:
            words += ["", "", "", ""]
        else:
            seconds = one["seconds"]
            peak = one["peak_bytes"] / 1e6
            words += [f"{seconds:.3f}", f"{one['cpu_seconds']:.3f}"]
            words += [f"{megabytes / seconds:.0f}", f"{peak:.0f}"]
    ratios = (row["ratio"], row["cpu_ratio"])
    return [*words, *(f"{ratio:.1f}" if ratio else "" for ratio in ratios)]


if __name__ == "__main__":
    main()
