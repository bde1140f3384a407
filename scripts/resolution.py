"""Resolves what the package needs for each platform, from wheels alone: `make resolution`.

Nothing is installed: uv chooses, for every platform and the oldest and newest Python, releases that
have a wheel there. A package that has none must be listed here, with its reason.
"""

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
UV = Path(sys.executable).with_name("uv")
PYTHONS = ("3.11", "3.14")
PLATFORMS = (
    *("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"),
    *("x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl"),
    *("x86_64-apple-darwin", "aarch64-apple-darwin"),
    *("x86_64-pc-windows-msvc", "aarch64-pc-windows-msvc"),
)
WITHOUT_WHEEL = {
    ("linux-musl", "3.11"): {"watchdog"},  # its C part is for macOS: builds without a compiler
    ("linux-musl", "3.14"): {"watchdog"},
    ("aarch64-pc-windows-msvc", "3.11"): {"pyyaml"},  # leaves out its C part without a compiler
}


def main() -> int:
    """Return 0 if every platform has all packages; print what each needs."""
    codes = [check(platform, python) for platform in PLATFORMS for python in PYTHONS]
    return max(codes)


def check(platform: str, python: str) -> int:
    """Resolve for one platform and Python; return 1 where a package has no wheel."""
    built = {
        name
        for (ending, version), names in WITHOUT_WHEEL.items()
        if platform.endswith(ending) and python == version
        for name in names
    }
    names = resolve(platform, python, ())
    found = resolve(platform, python, set(names) - built) if names else []
    state = f"{len(found)} packages" if found else "has no resolution from wheels"
    beside = f", {', '.join(sorted(built))} from source" if built else ""
    print(f"{platform}, {python}: {state}{beside}")  # noqa: T201 - its output
    return int(not found)


def resolve(platform: str, python: str, wheels: Iterable[str]) -> list[str]:
    """Return the packages that are needed, or none where some of `wheels` has no wheel."""
    binary = [f"--only-binary={name}" for name in sorted(wheels)]
    command = (
        *(str(UV), "pip", "compile", "--quiet", "--no-header", "--no-annotate", *binary),
        *("--python-platform", platform, "--python-version", python, str(ROOT / "pyproject.toml")),
    )
    done = subprocess.run(command, text=True, stdout=-1, check=False)
    lines = done.stdout.splitlines() if done.returncode == 0 else []
    return [line.partition("==")[0] for line in lines if "==" in line]


if __name__ == "__main__":
    sys.exit(main())
