"""Texts that a report carries, written back as files."""

from pathlib import Path

from xlareport.extract import extract_texts

MAIN = "m/module_0002.jit_train_step"


OTHER = "module_0006.jit_rollout"


def test_it_gives_the_texts_back_byte_for_byte(
    single: Path, two_modules: Path, tmp_path: Path
) -> None:
    written, problems = extract_texts(single, tmp_path / "texts")
    back = {path.name: path.read_bytes() for path in (tmp_path / "texts").iterdir()}

    assert problems == ()
    assert written == len(back) > 5
    assert all((two_modules / name).read_bytes() == content for name, content in back.items())
    assert {path.name for path in two_modules.glob("module_0002*.txt")} <= set(back)


def test_a_damaged_one_says_what_is_lost(single: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "bug.html"
    text = single.read_text()
    damaged.write_text(text.replace(f'["{MAIN}/texts-0","', f'["{MAIN}/texts-0",7,"'))
    _, problems = extract_texts(damaged, tmp_path / "texts")

    assert any("texts-0" in problem.message for problem in problems)
