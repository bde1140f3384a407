"""What holds of names whatever they are: nothing is lost, nothing raises, order does not matter."""

import re

from hypothesis import given
from hypothesis import strategies as st
from tests.walks import examples

from xlareport.cli.terminal import printable
from xlareport.dump.classify import classify
from xlareport.dump.filename import parse
from xlareport.dump.instruction_names import explain_instruction
from xlareport.dump.module_names import explain_module
from xlareport.dump.tokens import joined
from xlareport.knowledge import kinds

ANY_TEXT = st.text(
    alphabet=st.characters(exclude_categories=()), max_size=80
)  # lone surrogates stand for bytes that are no UTF-8

FRAGMENTS = st.sampled_from([
    "module_0001", "module_12345", "1590000000123456", "jit_f", "cl_123", "SyncTensorsGraph", "7",
    "0003", "simplification", "after_dce", "before_cse", "before_optimizations",
    "cpu_after_optimizations", "sm_9.0a_gpu_after_optimizations", "ir-no-opt", "obj-file",
    "part_00", "add_fusion", "2_kernel_module", "_fusion", "debug_options", "metadata", "schedule",
    "execution_0000", "hlo_snapshot", "-buffer-assignment", "-pre-optimization", "mosaic-dump",
    "hlo_graph_3", "jax_ir0_", "cluster_0", "__XlaMustCompile_true", "MODULE_", "shardy", "/",
    "txt", "dot", "hlo", "pb", "gz", "html", "mlir", "ll", "ptx", "o", "pbtxt", "", ".", "-", "_",
])  # fmt: skip
PIECED = st.lists(
    st.tuples(FRAGMENTS, st.sampled_from([".", ".", ".", "-", "_", "/", ""])), max_size=12
).map(lambda pairs: "".join(part + sign for part, sign in pairs))
PATHS = ANY_TEXT | PIECED

WORD = st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,20}", fullmatch=True)
MODULE_NAME = st.from_regex(
    r"(jit|pmap)_[a-z_]{1,20}|cluster_[0-9]{1,3}__\.[0-9]{1,4}", fullmatch=True
)
PASS_NAME = WORD.filter(lambda name: not re.match(r"(after|before)_", name))
FORMATS = st.sampled_from(["txt", "hlo.pb", "hlo.pb.gz", "dot", "html", "url", "riegeli"])


@given(PATHS)
@examples(100)
def test_a_name_is_given_back_byte_for_byte(path: str) -> None:
    name = parse(path)

    assert str(name) == path
    assert name.kind in kinds.all_entries()
    assert all(token.text for token in name.tokens)


@given(PATHS)
@examples(100)
def test_module_and_instruction_names_are_given_back(name: str) -> None:
    assert joined(explain_module(name).tokens) == name
    assert joined(explain_instruction(name).tokens) == name


@given(
    timestamp=st.none() | st.integers(10**15, 10**16 - 1),
    module_id=st.integers(0, 10**6),
    module_name=st.none() | MODULE_NAME,
    build=st.none() | st.integers(1, 10**10),
    sequence=st.integers(0, 10**5),
    pipeline=WORD,
    after=PASS_NAME,
    before=PASS_NAME,
    form=FORMATS,
)
@examples(100)
def test_what_was_put_into_a_name_is_found_in_it(
    *,
    timestamp: int | None,
    module_id: int,
    module_name: str | None,
    build: int | None,
    sequence: int,
    pipeline: str,
    after: str,
    before: str,
    form: str,
) -> None:
    build_tag = None if build is None else f"cl_{build}"
    prefix = (None if timestamp is None else str(timestamp), f"module_{module_id:04d}")
    parts = (
        *prefix, module_name, build_tag, f"{sequence:04d}", pipeline, f"after_{after}",
        f"before_{before}", form,
    )  # fmt: skip

    name = parse(".".join(part for part in parts if part is not None))

    assert (name.timestamp, name.module_id) == (timestamp, module_id)
    assert (name.module_name, name.build) == (module_name, build_tag)
    assert (name.sequence, name.pipeline) == (sequence, pipeline)
    assert (name.after, name.before, name.format) == (after, before, form)


@examples(50)
@given(st.lists(PATHS, max_size=15, unique=True), st.randoms(use_true_random=False))
def test_neighbours_settle_the_same_in_any_order(paths: list[str], random: object) -> None:
    shuffled = list(paths)
    random.shuffle(shuffled)  # type: ignore[attr-defined]

    found = dict(zip(paths, classify(paths), strict=True))

    assert [str(name) for name in found.values()] == paths
    assert dict(zip(shuffled, classify(shuffled), strict=True)) == found


@given(ANY_TEXT)
@examples(100)
def test_nothing_that_a_terminal_would_act_upon_is_printed(text: str) -> None:
    assert printable(text).isprintable()
