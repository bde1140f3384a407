"""Runs jobs of workflows as GitHub does, on this machine.

The steps are those of the files, word for word; expressions, conditions, outputs, summaries and
composite actions are followed. What actions of other repositories do is done by stand-ins: the
checkout is a clone; caches, artifacts and pages are folders. Anything else is refused.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
_INPUTS = {
    "actions/checkout": set(),
    "actions/setup-python": {"python-version"},
    "actions/cache/restore": {"path", "key", "restore-keys"},
    "actions/cache/save": {"path", "key"},
    "actions/upload-artifact": {"name", "path", "if-no-files-found"},
    "actions/upload-pages-artifact": {"path"},
    "actions/deploy-pages": set(),
}
"""The actions that have a stand-in, with the inputs of theirs that it knows."""
_JOB_KEYS = {"runs-on", "steps", "environment", "strategy"}
"""What a job may say; what it runs on and its strategy are the caller's business."""
_STEP_KEYS = {"name", "id", "if", "uses", "with", "run", "env", "shell"}
Values = Mapping[str, Any]


class NotSupportedError(Exception):
    """A workflow asks for something that has no stand-in."""


@dataclass
class Step:
    """What became of a step."""

    name: str
    outcome: str
    """`success`, `failure` or `skipped`."""
    outputs: dict[str, str] = field(default_factory=dict)


@dataclass
class Service:
    """What outlives a job: the repository, and folders for caches, artifacts and pages."""

    repository: Path
    folder: Path
    environ: Mapping[str, str]
    github: Values = field(default_factory=dict)
    """The context `github`."""
    make_python: bool = False
    """Whether `setup-python` makes an environment; else `python` is on the path already."""

    def run_job(self, workflow: Path, name: str, matrix: Values | None = None) -> "Job":
        """Run a job of a workflow in an empty workspace, to its end."""
        job = yaml.safe_load(workflow.read_text("utf-8"))["jobs"][name]
        if unknown := set(job) - _JOB_KEYS:
            raise NotSupportedError(f"{name}: {', '.join(unknown)}")
        workspace = self.folder / "workspace"
        shutil.rmtree(workspace, ignore_errors=True)
        workspace.mkdir(parents=True)
        run = Job(self, workspace, {"github": self.github, "matrix": matrix or {}, "steps": {}})
        run.run_steps(job["steps"])
        return run


@dataclass
class Job:
    """One job that runs, or the steps of a composite action in it."""

    service: Service
    workspace: Path
    contexts: dict[str, Any]
    action: Path | None = None
    steps: list[Step] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        """Whether a step has failed."""
        return any(step.outcome == "failure" for step in self.steps)

    @property
    def summary(self) -> str:
        """What the steps wrote into the summary of the job."""
        path = self.service.folder / "summary.md"
        return path.read_text("utf-8") if path.exists() else ""

    def run_steps(self, steps: list[dict[str, Any]]) -> None:
        """Run steps in order; after a failure, those only that want to run always."""
        for number, each in enumerate(steps):
            name = each.get("name") or each.get("uses") or each["run"].splitlines()[0]
            step = Step(f"{number} {name}", "skipped")
            if self.wanted(str(each.get("if", "success()"))):
                step.outcome = "success" if self.run_step(each, step) else "failure"
            self.steps.append(step)
            self.contexts["steps"][each.get("id")] = {"outputs": step.outputs}

    def wanted(self, condition: str) -> bool:
        """Say whether a condition holds; without `always()` it also needs that nothing failed."""
        parts = [part.strip() for part in condition.split("&&")]
        unsaid = not any(part in ("always()", "failure()") for part in parts)
        return all(map(self.holds, parts)) and not (unsaid and self.failed)

    def holds(self, part: str) -> bool:
        """Say whether one comparison or function holds."""
        compared = re.fullmatch(r"(.+?)\s*(==|!=)\s*(.+)", part)
        if compared is None:
            known = {"always()": True, "success()": not self.failed, "failure()": self.failed}
            if part not in known:
                raise NotSupportedError(part)
            return known[part]
        return (self.value(compared[1]) == self.value(compared[3])) is (compared[2] == "==")

    def value(self, expression: str) -> str:
        """Return a literal, or what a context holds; empty where it has no such key."""
        if literal := re.fullmatch(r"'(.*)'|\"(.*)\"", expression):
            return literal[1] or literal[2] or ""
        found: Any = self.contexts
        for key in expression.split("."):
            if found is self.contexts and key not in found:
                raise NotSupportedError(expression)
            found = found.get(key, {})
        return "" if found == {} else str(found)

    def filled(self, text: object) -> str:
        """Return a text of the file with its expressions filled in."""
        plain = str(text).lower() if isinstance(text, bool) else str(text)
        return _EXPRESSION.sub(lambda match: self.value(match[1]), plain)

    def run_step(self, step: Values, result: Step) -> bool:
        """Run a step and say whether it succeeded."""
        if unknown := set(step) - _STEP_KEYS:
            raise NotSupportedError(f"{result.name}: {', '.join(unknown)}")
        if "uses" in step:
            given = {key: self.filled(value) for key, value in step.get("with", {}).items()}
            return self.use(step["uses"].partition("@")[0], given, result)
        outputs = self.service.folder / "outputs"
        outputs.write_text("", "utf-8")
        script = self.service.folder / "step.sh"
        script.write_text(self.filled(step["run"]), "utf-8")
        # As GitHub runs it: https://docs.github.com/actions/reference/workflows-and-actions
        named = ("--noprofile", "--norc", "-eo", "pipefail") if "shell" in step else ("-e",)
        environ = {
            **self.service.environ,
            **{key: self.filled(value) for key, value in step.get("env", {}).items()},
            "CI": "true",
            "GITHUB_OUTPUT": str(outputs),
            "GITHUB_STEP_SUMMARY": str(self.service.folder / "summary.md"),
            "GITHUB_REPOSITORY": "owner/repository",
            "GITHUB_REF_NAME": str(self.contexts["github"].get("ref_name", "main")),
            "GITHUB_ACTION_PATH": str(self.action or ""),
        }
        done = subprocess.run(
            ["bash", *named, script], cwd=self.workspace, env=environ, check=False
        )
        lines = outputs.read_text("utf-8").splitlines()
        result.outputs.update(line.split("=", 1) for line in lines)
        return done.returncode == 0

    def use(self, action: str, given: dict[str, str], result: Step) -> bool:
        """Do what an action of another repository does, or run the composite one of this."""
        if action.endswith("/xlareport") or action == "./":
            return self.use_composite(ROOT if action != "./" else self.workspace, given, result)
        if action not in _INPUTS or not set(given) <= _INPUTS[action]:
            raise NotSupportedError(f"{action} with {', '.join(given)}")
        stand_in = action.rpartition("/")[2].replace("-", "_")
        return bool(getattr(self, stand_in)(**{key.replace("-", "_"): given[key] for key in given}))

    def use_composite(self, folder: Path, given: Values, result: Step) -> bool:
        """Run the steps of an action.yml with its defaults, in the same workspace."""
        action = yaml.safe_load((folder / "action.yml").read_text("utf-8"))
        if unknown := set(given) - set(action["inputs"]):
            raise NotSupportedError(f"no input {unknown}")
        required = {key for key, each in action["inputs"].items() if each.get("required")}
        if not required <= set(given):
            raise NotSupportedError(f"without {required - set(given)}")
        defaults = {key: each.get("default") for key, each in action["inputs"].items()}
        contexts = {**self.contexts, "inputs": defaults | dict(given), "steps": {}}
        inner = Job(self.service, self.workspace, contexts, folder)
        inner.run_steps(action["runs"]["steps"])
        self.steps += [Step(f"  {step.name}", step.outcome) for step in inner.steps]
        for key, output in action["outputs"].items():
            result.outputs[key] = inner.filled(output["value"])
        return not inner.failed

    def checkout(self) -> bool:
        """Clone the repository into the workspace."""
        clone = ["git", "clone", "--quiet", str(self.service.repository), str(self.workspace)]
        return subprocess.run(clone, env=self.service.environ, check=False).returncode == 0

    def setup_python(self, python_version: str) -> bool:
        """Put an environment of that Python first on the path, if this machine has it."""
        if not self.service.make_python:
            return True
        place = self.service.folder / "python"
        venv = [f"python{python_version}", "-m", "venv", "--clear", str(place)]
        if shutil.which(venv[0]) is None or subprocess.run(venv, check=False).returncode:
            raise NotSupportedError(f"{venv[0]} does not run on this machine")
        path = f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}"
        self.service.environ = {**self.service.environ, "PATH": path}
        return True

    def restore(self, path: str, key: str, restore_keys: str) -> bool:
        """Copy the newest cache of that key, else of one that begins so."""
        caches = self.service.folder / "caches"
        for prefix in (key, *restore_keys.split()):
            paths = [each for each in caches.glob("*") if each.name.startswith(prefix)]
            if paths:
                newest = max(paths, key=lambda each: each.stat().st_mtime_ns)
                shutil.copytree(newest, self.workspace / path)
                return True
        return True

    def save(self, path: str, key: str) -> bool:
        """Keep a folder; a key that is there already stays as it is, which is no failure."""
        place = self.service.folder / "caches" / key
        if (self.workspace / path).exists() and not place.exists():
            shutil.copytree(self.workspace / path, place, symlinks=True)
            os.utime(place)
        return True

    def upload_artifact(self, name: str, path: str, if_no_files_found: str = "warn") -> bool:
        """Keep a file or folder; a missing one fails where the step says so."""
        kept = self.keep(self.workspace / path, self.service.folder / "artifacts" / name)
        return kept or if_no_files_found != "error"

    def upload_pages_artifact(self, path: str) -> bool:
        """Keep the folder that is to be published."""
        return self.keep(self.workspace / path, self.service.folder / "pages-artifact")

    def deploy_pages(self) -> bool:
        """Publish what was kept."""
        return self.keep(self.service.folder / "pages-artifact", self.service.folder / "pages")

    @staticmethod
    def keep(source: Path, place: Path) -> bool:
        """Replace a place by a copy; say whether there is something to copy."""
        shutil.rmtree(place, ignore_errors=True)
        if source.is_dir():
            shutil.copytree(source, place)
        elif source.is_file():
            place.mkdir(parents=True)
            shutil.copy(source, place)
        return source.exists()
