"""Builds the documentation site into build/docs: scripts/documentation.py [--sources].

The guide of the reports, questions, the API from docstrings, and reports of committed dumps.
With --sources only the sources are assembled. Needs the extra `docs`.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES, SITE = ROOT / "build/docs_src", ROOT / "build/docs"
REPORTS = {
    "gpu": "tests/data/gpu-h100x2-train.tar.zst",
    "tpu": "tests/data/tpu-v5e-machine.tar.zst",
    "cpu": "examples/transformer.tar.zst",
    "small": "tests/data/tf-add-multiply.tar.zst",
}
OF_A_REPORT = re.compile(r"\]\(\.\./(?P<page>[a-z]+)\.md(?P<anchor>#[^)]*)?\)")
"""A link of the guide to a page of the report that it is in: here to the small one."""


def assemble() -> None:
    """Put the sources together: our pages, and the guide with links into a report."""
    shutil.rmtree(SOURCES, ignore_errors=True)
    shutil.copytree(ROOT / "docs/site", SOURCES)
    for page in (ROOT / "site_src/guide").glob("*.md"):
        text = OF_A_REPORT.sub(
            r"](../reports/small/\g<page>.html\g<anchor>)", page.read_text("utf-8")
        )
        target = SOURCES / "guide" / page.name
        target.parent.mkdir(exist_ok=True)
        target.write_text(text, "utf-8")


def build() -> None:
    """Build the reports, and the site around them."""
    for name, dump in REPORTS.items():
        out = ROOT / "build/reports" / name
        run("xlareport", "build", ROOT / dump, "--out", out, "--quiet")
        shutil.copytree(out / "site", SOURCES / "reports" / name)
    os.environ["NO_MKDOCS_2_WARNING"] = "1"  # docs/decisions/generator.md
    run("mkdocs", "build", "--strict", "--quiet", "--config-file", ROOT / "docs/mkdocs.yml")


def run(module: str, *arguments: str | Path) -> None:
    """Run a module of this environment to its end; raises CalledProcessError."""
    subprocess.run([sys.executable, "-m", module, *arguments], check=True)


if __name__ == "__main__":
    assemble()
    if "--sources" not in sys.argv[1:]:
        build()
