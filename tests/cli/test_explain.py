import json
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console

from xlareport.cli.explain import command
from xlareport.cli.terminal import printable

KEYS = [
    "name", "kind", "stage", "module_id", "module_name", "timestamp", "build", "sequence",
    "pipeline", "after", "before", "target", "kernel", "format", "frontend", "tokens",
]  # fmt: skip
BETWEEN_STEPS = (
    "1795255005013552.module_0023.jit_f.cl_77.0017.simplification.after_algsimp.before_dce.txt"
)


def _run(*arguments: str) -> str:
    done = CliRunner().invoke(command, list(arguments))
    assert done.exit_code == 0, done.output
    return done.output


def _records(*names: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(_run("--json", *names))
    return found


def test_json_has_one_record_a_name_with_exactly_the_documented_keys() -> None:
    records = _records(BETWEEN_STEPS, "algsimp")

    assert [list(record) for record in records] == [KEYS, KEYS]
    assert [record["name"] for record in records] == [BETWEEN_STEPS, "algsimp"]


def test_json_gives_the_fields_of_a_name_and_null_where_there_are_none() -> None:
    (record,) = _records(BETWEEN_STEPS)

    assert {key: record[key] for key in KEYS[1:-1]} == {
        "kind": "hlo-text",
        "stage": "pass",
        "module_id": 23,
        "module_name": "jit_f",
        "timestamp": 1795255005013552,
        "build": "cl_77",
        "sequence": 17,
        "pipeline": "simplification",
        "after": "algsimp",
        "before": "dce",
        "target": None,
        "kernel": None,
        "format": "txt",
        "frontend": "jax",
    }


def test_the_texts_of_the_tokens_are_the_name_and_each_has_a_sentence() -> None:
    (record,) = _records(BETWEEN_STEPS)

    assert "".join(token["text"] for token in record["tokens"]) == BETWEEN_STEPS
    assert all(token["meaning"] for token in record["tokens"])
    assert all(set(token) == {"text", "meaning"} for token in record["tokens"])


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("some/dump/module_0001.jit_f.debug_options", "flags"),
        ("jit__lambda", "module-name"),
        ("algsimp", "pass"),
        ("reshape", "opcode"),
        ("--xla_dump_to=/dump", "flag"),
        ("TF_XLA_FLAGS", "flag"),
        ("live-range", "kind"),
        ("fused_computation.3", "instruction-name"),
    ],
)
def test_every_kind_of_word_can_be_asked_about(name: str, kind: str) -> None:
    assert _records(name)[0]["kind"] == kind


def test_without_a_terminal_the_output_is_plain_lines() -> None:
    output = _run(BETWEEN_STEPS)

    assert "\x1b" not in output
    assert output.splitlines()[0] == f"{BETWEEN_STEPS}  (hlo-text)"
    assert any(line.startswith("  algsimp ") for line in output.splitlines())


def test_on_a_terminal_the_parts_are_a_colored_table(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Console] = []

    def terminal(**options: Any) -> Console:
        seen.append(Console(record=True, force_terminal=True, width=100, **options))
        return seen[-1]

    monkeypatch.setattr("rich.console.Console", terminal)
    monkeypatch.setenv("FORCE_COLOR", "1")
    _run(BETWEEN_STEPS)

    colored = seen[0].export_text(styles=True, clear=False)
    assert "\x1b[32m" in colored
    assert max(map(len, seen[0].export_text().splitlines()[2:8])) <= 100


def test_escape_sequences_of_hostile_names_do_not_reach_the_terminal() -> None:
    hostile = "module_0001.jit_\x1b]0;owned\x07\x1b[31m\u202e.debug_options", "\x1b[2J", "a\rb"
    output = CliRunner().invoke(command, list(hostile)).output

    assert not {"\x1b", "\x07", "\u202e", "\r"} & set(output)
    assert r"\x1b]0;owned\x07\x1b[31m\u202e" in output


def test_names_are_not_read_as_markup() -> None:
    assert "[red]x[/red]" in CliRunner().invoke(command, ["[red]x[/red]"]).output


def test_bytes_that_are_no_utf_8_are_spelled_out() -> None:
    assert printable("a\udcffb") == r"a\udcffb"


def test_a_name_is_needed() -> None:
    assert CliRunner().invoke(command, []).exit_code == 2


def test_a_name_that_nobody_knows_ends_with_2_and_what_may_have_been_meant() -> None:
    done = CliRunner().invoke(command, ["algsmip", "algsimp"])
    assert done.exit_code == 2
    assert "Nothing is known of algsmip. Did you mean algsimp" in done.output
    assert "cheaper arithmetic" in done.output


@pytest.mark.parametrize("name", ["conv_step", "fusionn", "model.predict", "layer_3/mlp/dot"])
def test_names_of_a_program_are_looked_up_in_its_dump(name: str) -> None:
    done = CliRunner().invoke(command, [name])
    assert done.exit_code == 2
    assert f"{name}  (unknown)\n  Nothing here knows this name." in done.output
    assert f"Nothing is known of {name}." in done.output
    assert "xlareport skeleton DUMP --module NAME" in done.output


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("conv_step.1", "can be called this too"),
        ("my_fusion_step", "can be called this too"),
        ("add.3", "The name of an instruction or a computation."),
        ("jit(train_step)/sgd/mul", "An op_name of JAX"),
        ("sample.cl_933746096", "The build of the TPU compiler"),
    ],
)
def test_what_a_form_tells_and_no_more(name: str, words: str) -> None:
    assert words in _run(name)
