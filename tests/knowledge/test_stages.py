import pytest

from xlareport.knowledge import stages

EVERYTHING = list(stages.all_entries().values())


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("before_optimizations", "before_optimizations"),
        ("after_optimizations", "after_optimizations"),
        ("cpu_after_optimizations", "after_optimizations"),
        ("sm_9.0a_gpu_after_optimizations", "after_optimizations"),
        ("_gpu_after_optimizations", "after_optimizations"),
        ("after_optimizations_before_buffer_assignment", "before_buffer_assignment"),
        ("unoptimized", "before_optimizations"),
    ],
)
def test_a_moment_is_found_in_every_spelling(written: str, name: str) -> None:
    stage = stages.find(written)
    assert stage is not None
    assert stage.name == name


def test_an_unknown_moment_has_no_entry() -> None:
    assert stages.find("after_lunch") is None
    assert stages.find("") is None


def test_texts_are_sentences_and_titles_are_not() -> None:
    for stage in EVERYTHING:
        assert stage.words.endswith(".")
        assert not stage.title.endswith(".")
        assert stage.absent is None or stage.absent.endswith(".")


def test_no_spelling_is_there_twice() -> None:
    spelled = [name for entry in EVERYTHING for name in (entry.name, *entry.aliases)]
    assert len(spelled) == len(set(spelled))


@pytest.mark.parametrize(
    "step",
    ["removing_unnecessary_copies", "after removing unnecessary copies", "tiling_rewriter"],
)
def test_a_step_inside_a_pass_is_found_by_its_own_words(step: str) -> None:
    found = stages.find_step(step)

    assert found is not None
    assert found.words.startswith("Inside the pass ")


def test_a_step_that_is_not_known_is_none() -> None:
    assert stages.find_step("washing_up") is None
