"""`xlareport compare`: what it names as the cause, what it says of the same, and its exit codes."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner, Result

from xlareport.cli.compare import command
from xlareport.compare import compare
from xlareport.pages.compare.first_page import compare_page
from xlareport.records.budgets import BudgetError
from xlareport.report import BuildOptions, build
from xlareport.runtime.errors import UnreadableInputError, XlareportError
from xlareport.runtime.resources import PACKAGE
from xlareport.storage.payloads import read_stored_value

Unpack = Callable[[str], Path]
Edit = Callable[[str, str], str]
"""Name and text of a file to the text that stands in its place."""

TUNED = 58
"""The number of the snapshot after the autotuner of `gpu-h100x2-train`."""
LATE = 16
"""The number of the snapshot from which on a derived dump differs."""


def compared(*arguments: object) -> Result:
    return CliRunner().invoke(command, ["--jobs", "1", *(str(argument) for argument in arguments)])


@pytest.fixture(scope="module")
def base(unpacked: Unpack, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return derived(unpacked, tmp_path_factory, lambda _, text: text)


def derived(unpacked: Unpack, factory: pytest.TempPathFactory, edit: Edit) -> Path:
    """Return a dump of two modules, each text edited."""
    folder = factory.mktemp("dump")
    for module in ("module_0002.jit_train_step", "module_0006.jit_rollout"):
        for path in unpacked("jax-cpu-train").glob(f"{module}.*"):
            if path.suffix in (".txt", ".debug_options"):
                (folder / path.name).write_text(edit(path.name, path.read_text()))
    return folder


def late(name: str) -> bool:
    number = re.search(r"\.(\d{4})\.", name)
    return "cpu_after" in name or (number is not None and int(number[1]) >= LATE)


EDITS: dict[str, tuple[Edit, str]] = {
    "operations": (
        lambda name, text: text.replace(" tanh(", " logistic(") if "rollout" in name else text,
        "The program has other operations: the base has more `tanh`; the head has more `logistic`",
    ),
    "disabled pass": (
        lambda name, text: (
            f'{text}xla_disable_hlo_passes: "fusion"\n' if name.endswith("debug_options") else text
        ),
        "`xla_disable_hlo_passes` disables no pass in the base and `fusion` in the head.",
    ),
    "autotuning": (
        lambda name, text: (
            text.replace('"kind":"__ynn_fusion"', '"kind":"__ynn_fusion","selected_algorithm":"7"')
            if late(name)
            else text
        ),
        "Autotuning chose differently: `jit_train_step` ends in the same instructions",
    ),
    "compiler": (
        lambda name, text: text.replace(" multiply(", " maximum(") if late(name) else text,
        "Another version of the compiler, or another machine: the same program with the same",
    ),
}


@pytest.mark.parametrize("kind", EDITS)
def test_the_cause_is_named_first(
    kind: str, base: Path, unpacked: Unpack, tmp_path_factory: pytest.TempPathFactory
) -> None:
    edit, sentence = EDITS[kind]
    done = compared(base, derived(unpacked, tmp_path_factory, edit), "--json")
    view = json.loads(done.stdout)

    assert done.exit_code == 0
    assert view["causes"][0]["kind"] == kind
    assert view["causes"][0]["sentence"].startswith(sentence)


def test_another_choice_of_the_gpus_autotuner_is_named(
    unpacked: Unpack, tmp_path_factory: pytest.TempPathFactory
) -> None:
    sides = []
    for chosen in ("multiply", "maximum"):
        folder = tmp_path_factory.mktemp(chosen)
        for path in unpacked("gpu-h100x2-train").glob("module_0001.jit_train_step.*.txt"):
            number = re.search(r"\.(\d{4})\.", path.name)
            tuned = int(number[1]) >= TUNED if number else "after_opt" in path.name
            text = path.read_text()
            changed = text.replace(" multiply(", f" {chosen}(") if tuned else text
            (folder / path.name).write_text(changed)
        sides.append(folder)
    causes = json.loads(compared(*sides, "--json").stdout)["causes"]

    assert causes[0]["kind"] == "autotuning"
    assert "jit_train_step" in causes[0]["sentence"]


def test_another_signature_and_another_device_are_told(
    base: Path, unpacked: Unpack, tmp_path_factory: pytest.TempPathFactory
) -> None:
    head = derived(unpacked, tmp_path_factory, lambda _, text: text.replace("f32[4,4]", "f32[8,8]"))
    for path in list(head.glob("*cpu_after*")):
        path.rename(path.with_name(path.name.replace(".cpu_after", ".sm_9.0a_gpu_after")))
    view = json.loads(compared(base, head, "--json").stdout)
    rollout = next(module for module in view["modules"] if module["name"] == "jit_rollout")

    assert view["causes"][0]["kind"] == "device"
    assert rollout["ports"][0] == {
        "what": "argument 0",
        "base": "f32[4,4]{1,0}",
        "head": "f32[8,8]{1,0}",
    }


def test_a_dump_does_not_differ_from_itself(base: Path) -> None:
    view = json.loads(compared(base, base, "--json").stdout)

    assert view["identical"]
    assert view["causes"] == []
    assert all(module["identical"] for module in view["modules"])


def test_other_numbers_are_no_difference(
    base: Path, unpacked: Unpack, tmp_path_factory: pytest.TempPathFactory
) -> None:
    def renumber(name: str, text: str) -> str:
        del name
        return re.sub(r"(%[A-Za-z_][\w-]*?)((?:\.\d+)*)(?=[\s,)({#])", r"\1.9\2", text)

    head = derived(unpacked, tmp_path_factory, renumber)

    assert json.loads(compared(base, head, "--json").stdout)["identical"]


def test_a_report_stands_for_its_dump(base: Path, tmp_path: Path) -> None:
    build(base, BuildOptions(out=tmp_path / "report", html=False))

    assert json.loads(compared(base, tmp_path / "report", "--json").stdout)["identical"]


def test_a_bare_report_has_figures_and_says_so(
    base: Path, unpacked: Unpack, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    build(base, BuildOptions(out=tmp_path / "report", html=False))
    bare = tmp_path / "report" / "site_src" / "report.json"
    assert "of 2 modules, 0 have different figures" in compared(bare, base).stdout

    older = json.loads(bare.read_text()) | {"schema": 1}
    (tmp_path / "older.json").write_text(json.dumps(older))
    assert (
        "of 2 modules, 0 have different figures" in compared(tmp_path / "older.json", base).stdout
    )

    head = derived(unpacked, tmp_path_factory, EDITS["operations"][0])
    done = compared(bare, head, "--fail-on", "flops > +500%", "--json")
    view = json.loads(done.stdout)
    assert not view["identical"]
    assert [module["bare"] for module in view["modules"]] == [True, True]
    assert "carries no texts" in view["problems"][0]["message"]
    assert done.exit_code == 0


@pytest.mark.parametrize("text", ["{}", "[", "3", '{"main":null,"modules":[{}],"files":[]}'])
def test_another_json_is_refused(base: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "other.json").write_text(text)

    assert isinstance(compared(tmp_path / "other.json", base).exception, UnreadableInputError)


def test_every_large_dump_is_the_same_as_itself(dumps: Path) -> None:
    for dump in sorted(dumps.iterdir()):
        folder = dump / dump.name
        view = compare(folder, folder, BuildOptions(jobs=2), site=False).view
        assert view.identical, dump.name


LARGE = {
    "pair-base-again": None,
    "pair-flag-nofusion": "disabled pass",
    "pair-jaxlib-0.6.2": "compiler",
    "pair-model-bf16": "dtype",
    "pair-model-relu": "operations",
}


@pytest.mark.parametrize("name", LARGE)
def test_what_the_pairs_differ_in(name: str, dumps: Path) -> None:
    pair = (dumps / one / one for one in ("pair-base", name))
    view = compare(*pair, BuildOptions(jobs=2), site=False).view

    assert next((cause.kind for cause in view.causes), None) == LARGE[name]
    if name == "pair-base-again":
        assert compare_page(view).regression.startswith("No: as fast (the same code)")


def test_a_broken_budget_ends_with_1(
    base: Path, unpacked: Unpack, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    head = derived(unpacked, tmp_path_factory, EDITS["operations"][0])
    files = ("--junit", tmp_path / "j.xml", "--markdown", tmp_path / "s.md")
    done = compared(base, head, "--fail-on", "new:logistic", "--fail-on", "flops > +500%", *files)

    assert done.exit_code == 1
    assert "Over budget: jit_rollout has 1 logistic" in done.stdout
    assert 'tests="2" failures="1"' in (tmp_path / "j.xml").read_text()
    assert "**1 over budget:**" in (tmp_path / "s.md").read_text()


def test_budgets_of_a_file_count(base: Path, tmp_path: Path) -> None:
    config = tmp_path / "xlareport.toml"
    config.write_text('[tool.xlareport.budgets]\nfail-on = ["instructions > 3"]\n')

    assert compared(base, base, "--config", config).exit_code == 1


@pytest.mark.parametrize("text", ["[tool", "[tool.xlareport.budgets]\nfail-on = 3\n"])
def test_a_file_without_sense_is_wrong_usage(base: Path, tmp_path: Path, text: str) -> None:
    config = tmp_path / "xlareport.toml"
    config.write_text(text)
    done = compared(base, base, "--config", config)

    assert done.exit_code == 2 or isinstance(done.exception, BudgetError)


def test_what_is_not_there_cannot_be_compared(base: Path, tmp_path: Path) -> None:
    assert isinstance(compared(base, tmp_path / "nope").exception, UnreadableInputError)


def test_the_site_shows_both_side_by_side(
    base: Path, unpacked: Unpack, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    head = derived(unpacked, tmp_path_factory, EDITS["compiler"][0])
    done = compared(base, head, "--out", tmp_path)

    assert done.exit_code == 0
    assert str(tmp_path / "site" / "index.html") in done.stdout
    page = (tmp_path / "site" / "m" / "module_0002.jit_train_step.html").read_text()
    assert "First divergence" in page
    assert read_stored_value(tmp_path / "site", "m/module_0002.jit_train_step/step-parted")[
        "groups"
    ]
    value = json.loads((tmp_path / "site" / "compare.json").read_text())
    jsonschema.validate(value, json.loads((PACKAGE / "records/compare.schema.json").read_text()))


def test_a_budget_with_a_typo_is_wrong_usage(base: Path) -> None:
    for budget in ("new:alltoall", "instructions[jit_trainstep] > +1%"):
        refused = compared(base, base, "--fail-on", budget).exception
        assert isinstance(refused, XlareportError)
        assert refused.exit_code == 2
        assert "all-to-all" in str(refused) or "jit_train_step" in str(refused)


def test_what_was_not_checked_is_never_green(base: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut"
    cut.mkdir()
    for path in base.iterdir():
        if "after_optimizations" not in path.name:
            (cut / path.name).write_bytes(path.read_bytes())
    files = ("--junit", tmp_path / "budgets.xml", "--markdown", tmp_path / "summary.md")
    budget = ("--fail-on", "new:all-reduce[main]")

    plain = compared(base, cut, *files, *budget)
    strict = compared(base, cut, *budget, "--strict")

    assert (plain.exit_code, strict.exit_code) == (0, 1)
    assert "Not checked: new:all-reduce[main]" in plain.stderr
    assert "<skipped" in (tmp_path / "budgets.xml").read_text()
    assert "1 not checked" in (tmp_path / "summary.md").read_text()
