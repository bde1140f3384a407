"""Kills builds at random moments and checks that the site is the former one or the new one.

Usage: `python benchmarks/kill_builds.py [KILLS] [--renaming]`, 200 kills by default. Two dumps are
built in turns into one folder. Of three kills one takes the whole process group at any moment, one
the group towards the end, where the site is put in place, and one only the process in front, as a
system without memory does. After each fifth a build is left alone and has to repair everything.
`--renaming` behaves as a system that cannot exchange two folders.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from xlareport.site.folder import Folder

DATA = Path(__file__).parent.parent / "tests/data"
DUMPS = {"A": DATA / "ipu-dot-only", "B": DATA / "truncated"}
SOURCES = Path(__file__).parent.parent / "generator"
RENAMING = "from xlareport.site import folder; folder.exchange_folders = lambda *_: False; "
NOTES = "# Notes\n\nOf the user.\n"
WAYS = ("group at any moment", "group at the end", "front process")


@dataclass(slots=True)
class Trial:
    """A folder in which builds are killed."""

    folder: Folder
    renaming: bool
    seconds: float = 0.0
    """How long a build took that was left alone."""

    def start(self, dump: Path) -> subprocess.Popen[bytes]:
        """Begin a build in a process group of its own."""
        arguments = ["build", str(dump), "--out", str(self.folder.out), "--jobs", "2", "-q"]
        code = f"import sys; {RENAMING * self.renaming}from xlareport.cli import main; main()"
        return subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            env=os.environ | {"PYTHONPATH": str(SOURCES)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def whole(self, dump: Path) -> str:
        """Build without a kill and return what the site is; raises where the build fails."""
        began = time.monotonic()
        running = self.start(dump)
        said = running.communicate()[1]
        if running.returncode != 0:
            raise RuntimeError(f"The build failed: {said.decode()}")
        self.seconds = time.monotonic() - began
        return tree(self.folder.site)

    def kill(self, dump: Path, way: str) -> bool:
        """Kill a build; say whether it was still running."""
        least = 0.75 if way == "group at the end" else 0.0
        running = self.start(dump)
        time.sleep(random.uniform(least, 1.15) * self.seconds)  # noqa: S311 - a moment, no secret
        alive = running.poll() is None
        if way == "front process":
            running.kill()
        else:
            os.killpg(running.pid, signal.SIGKILL) if alive else None
        running.wait()
        if running.stderr:
            running.stderr.close()
        return alive


def tree(folder: Path) -> str:
    """Return a hash of the names and contents of all files below a folder; empty without one."""
    if not folder.exists():
        return ""
    seen = blake2b(digest_size=8)
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            content = blake2b(path.read_bytes()).digest()
            seen.update(path.relative_to(folder).as_posix().encode() + b"\0" + content)
    return seen.hexdigest()


def begin(trial: Trial) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return what the sites and the sources of both dumps are, with a page of the user."""
    trial.whole(DUMPS["A"])
    (trial.folder.sources / "notes.md").write_text(NOTES)
    sites: dict[str, str] = {}
    sources: dict[str, str] = {}
    for name in ("A", "B", "A", "B"):
        site = trial.whole(DUMPS[name])
        if sites.setdefault(name, site) != site:
            raise RuntimeError("Two builds of one dump differ without any kill.")
        sources[name] = tree(trial.folder.sources)
    return sites, sources


def wrongs(trial: Trial, sites: Mapping[str, str], former: str, fresh: str) -> list[str]:
    """Return what is wrong after a kill."""
    found = []
    missing = not trial.folder.site.exists()
    if missing and trial.renaming:
        trial.folder.prepare()  # what each command does first
    if tree(trial.folder.site) not in (sites[former], sites[fresh]):
        found.append("the site is missing" if missing else "the site is neither")
    if (trial.folder.out / "mkdocs.yml").read_bytes() != SETTINGS:
        found.append("mkdocs.yml is changed")
    if (trial.folder.sources / "notes.md").read_text() != NOTES:
        found.append("the user's page is changed")
    return found


SETTINGS = (Path(__file__).parent.parent / "templates/mkdocs.yml").read_bytes()


def unrepaired(
    trial: Trial, name: str, sites: Mapping[str, str], sources: Mapping[str, str]
) -> list[str]:
    """Build once more, undisturbed, and return what is wrong then."""
    found = []
    if trial.whole(DUMPS[name]) != sites[name]:
        found.append("the next build did not repair the site")
    if tree(trial.folder.sources) != sources[name]:
        found.append("the next build did not repair the sources")
    if trial.folder.aside.exists():
        found.append("something is left aside")
    return found


def run(trial: Trial, kills: int) -> Counter[str]:
    """Kill so many builds; return what was counted, and print what is wrong."""
    sites, sources = begin(trial)
    counted: Counter[str] = Counter()
    for number in range(kills):
        now = tree(trial.folder.site)
        former = next(name for name, site in sites.items() if site == now)
        fresh = "B" if former == "A" else "A"
        way = WAYS[number % len(WAYS)]
        alive = trial.kill(DUMPS[fresh], way)
        found = wrongs(trial, sites, former, fresh)
        placed = "new" if tree(trial.folder.site) == sites[fresh] else "former"
        counted[f"{way}: {placed if alive else 'ended before'}"] += 1
        if number % 5 == 4:
            found += unrepaired(trial, fresh, sites, sources)
            counted["repaired"] += 1
        for wrong in found:
            print(f"kill {number} ({way}): {wrong}")
        counted["wrong"] += len(found)
        if found:
            trial.whole(DUMPS["A"])
    return counted


def main() -> None:
    """Print what stood in the place of the site after each kind of kill."""
    renaming = "--renaming" in sys.argv
    numbers = [int(one) for one in sys.argv[1:] if one.isdecimal()]
    folder = Path(tempfile.mkdtemp(prefix="kill-builds-"))
    try:
        counted = run(Trial(Folder(folder), renaming), numbers[0] if numbers else 200)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for what in sorted(counted):
        print(f"{what:32}{counted[what]:>6}")
    sys.exit(1 if counted["wrong"] else 0)


if __name__ == "__main__":
    main()
