"""Runs the jobs of a `.gitlab-ci.yml` as GitLab does: stages, caches, artifacts, needs.

The lines of `script` are those of the file. Each job begins in a clone of its own; unknown keys
are refused.
"""

import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from tests.workflows.github import NotSupportedError

_KEYS = {"image", "rules", "cache", "script", "artifacts", "stage", "needs"}
_STAGES = ("build", "test", "deploy")


@dataclass
class GitLab:
    """A project that a pipeline runs for; `pages` is what is published."""

    repository: Path
    folder: Path
    environ: Mapping[str, str]

    @property
    def pages(self) -> Path:
        """What is published."""
        return self.folder / "pages"

    def run_pipeline(self, file: Path) -> dict[str, int]:
        """Run a pipeline of a schedule and return the exit code of each job that ran."""
        jobs = yaml.safe_load(file.read_text("utf-8"))
        codes: dict[str, int] = {}
        for name in sorted(jobs, key=lambda each: _STAGES.index(jobs[each].get("stage", "test"))):
            job = jobs[name]
            if unknown := set(job) - _KEYS:
                raise NotSupportedError(f"{name}: {', '.join(unknown)}")
            always = any(rule.get("when") == "always" for rule in job["rules"])
            if always or not any(codes[each] for each in job.get("needs", codes)):
                codes[name] = self.run_job(name, job)
        return codes

    def run_job(self, name: str, job: Mapping[str, Any]) -> int:
        """Run one job in a clone, with its cache and what the jobs that it needs left."""
        place = self.folder / "build"
        shutil.rmtree(place, ignore_errors=True)
        clone = ["git", "clone", "--quiet", str(self.repository), str(place)]
        subprocess.run(clone, env=self.environ, check=True)
        caches = self.folder / "caches" / job.get("cache", {}).get("key", "none")
        copy(caches, place)
        for needed in job.get("needs", ()):
            copy(self.folder / "artifacts" / needed, place)
        code = 0
        for line in job["script"]:
            shell = ["bash", "-e", "-c", line]
            code = (
                code or subprocess.run(shell, cwd=place, env=self.environ, check=False).returncode
            )
        for key, target in (("cache", caches), ("artifacts", self.folder / "artifacts" / name)):
            kept = job.get(key, {})
            if code == 0 or kept.get("when") == "always":
                keep(kept.get("paths", ()), place, target)
        if report := job.get("artifacts", {}).get("reports", {}).get("junit"):
            keep([report], place, self.folder / "reports")
        if name == "pages" and code == 0:
            keep(["."], place / "public", self.pages)
        return code


def copy(source: Path, target: Path) -> None:
    """Copy what a folder holds, if it is there, into another."""
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True, symlinks=True)


def keep(paths: Iterable[str], place: Path, target: Path) -> None:
    """Replace a folder by the named files and folders of another."""
    shutil.rmtree(target, ignore_errors=True)
    for path in paths:
        source = place / path
        if source.is_dir():
            shutil.copytree(source, target / path, dirs_exist_ok=True, symlinks=True)
        elif source.exists():
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target / path)
