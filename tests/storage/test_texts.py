"""What is stored of texts that repeat one another is little, and gives every byte back."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from xlareport.storage.texts import Chunk, DamagedTextsError, StoredText, TextStore, restore

line = st.sampled_from([b"", b"a", b"  b = f32[] add(x, y)", b"}", b"\xff\r", "ü".encode()])
text = st.lists(line, max_size=12).map(b"\n".join)
FOLDERS = ("jax-cpu-train", "jax-0.4.13-cpu-train", "tpu-v5e-scan")


def stored(contents: Sequence[bytes]) -> TextStore:
    store = TextStore()
    for number, content in enumerate(contents):
        store.add(f"{number}.txt", content, None)
    return store


def given_back(store: TextStore) -> list[bytes]:
    return [b"".join(parts) for _, parts in restore(store.texts, store.chunks)]


@given(st.lists(text, max_size=8))
def test_every_byte_comes_back(contents: list[bytes]) -> None:
    assert given_back(stored(contents)) == contents


@given(st.lists(st.binary(max_size=40), max_size=5))
def test_any_bytes_come_back(contents: list[bytes]) -> None:
    assert given_back(stored(contents)) == contents


@pytest.mark.parametrize("name", FOLDERS)
def test_real_dumps_come_back(name: str, unpacked: Callable[[str], Path]) -> None:
    contents = [path.read_bytes() for path in sorted(unpacked(name).rglob("*.txt"))]

    assert contents
    assert given_back(stored(contents)) == contents


def test_a_text_that_is_there_twice_costs_one_run() -> None:
    content = b"HloModule m\n\nENTRY e {\n  ROOT p = f32[] parameter(0)\n}\n"
    store = stored([content, content, content])

    assert [one.runs for one in store.texts] == [[0, 2], [1, 0, 2], [1, 0, 2]]
    assert sum(len(chunk.lines) for chunk in store.chunks) == 5


def test_a_changed_line_costs_that_line() -> None:
    lines = [b"  %%a.%d = f32[] add(x, y)" % number for number in range(100)]
    changed = [*lines[:50], b"  new", *lines[50:]]
    store = stored([b"\n".join(lines), b"\n".join(changed)])

    assert store.chunks[0].blocks == [[0, 100], [2, 0, 50, 0, 1, 2, 0, 50]]


def test_a_text_needs_no_later_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xlareport.storage.texts._CHUNK", 10)
    contents = [b"one one one one\n\ntwo", b"one one one one\n\nthree three three", b"two\nfour"]
    store = stored(contents)

    assert [one.chunk for one in store.texts] == [0, 1, 2]
    for number in range(3):
        found = restore(store.texts[: number + 1], store.chunks[: number + 1])
        assert [b"".join(parts) for _, parts in found] == contents[: number + 1]


DAMAGED = {
    "lines": ([0, 2], [0, 1]),
    "age": ([3, 0, 1], [0, 1]),
    "itself": ([1, 0, 1], [0, 1]),
    "start": ([0, 1, 1, -2, 1], [0, 1]),
    "count": ([0, 1, 1, 0, -5], [0, 1]),
    "bomb": ([0, 1, 1, 0, 10**12], [0, 1]),
    "cut off": ([0], [0, 1]),
    "blocks": ([0, 1], [0, 9]),
    "block": ([0, 1], [2, 7]),
    "former": ([0, 1], [1, 0, 4]),
    "empty": ([0, 1], []),
    "negative": ([0, 1], [0, -1]),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_what_is_damaged_is_refused(name: str) -> None:
    block, runs = DAMAGED[name]
    chunk = Chunk(["one"], [block])

    with pytest.raises(DamagedTextsError):
        list(restore([StoredText("a.txt", 3, None, 0, runs)], [chunk]))


def test_a_size_that_is_not_the_text_is_refused() -> None:
    store = stored([b"one"])

    with pytest.raises(DamagedTextsError, match=r"0\.txt"):
        list(restore([replace(store.texts[0], size=2)], store.chunks))
