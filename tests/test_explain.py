import pytest

from xlareport.explain import Explanation, explain_name, suggestions


def _told(one: Explanation) -> dict[str, str]:
    return {token.text: token.meaning for token in one.tokens}


def test_a_file_says_what_it_holds_and_how_to_open_it() -> None:
    one = explain_name("module_0001.jit_f.before_optimizations.hlo.pb")

    assert "HloProto" in one.summary
    assert one.notes


def test_a_doubtful_name_says_so_first() -> None:
    assert explain_name("module_0001.jit_f.9.ptx").notes[0].startswith("Not certain: 9 is read")


def test_passes_in_a_name_are_explained_by_what_they_do() -> None:
    told = _told(explain_name("module_0001.f.0001.simplification.after_algsimp.before_dce.txt"))

    assert "cheaper arithmetic" in told["algsimp"]
    assert "results are unused" in told["dce"]


def test_an_unknown_pass_is_not_known_and_its_class_a_guess() -> None:
    told = _told(
        explain_name("module_0001.f.0001.odd_pipeline.after_my-own.before_pipeline-end.txt")
    )

    assert "not known here" in told["my-own"]
    assert "MyOwn: a guess" in told["my-own"]
    assert told["odd_pipeline"].endswith("This one is not known here.")
    assert "not known" not in told["pipeline-end"]


def test_a_snapshot_inside_a_pass_names_no_unknown_pass() -> None:
    told = _told(explain_name("module_0001.f.0003.copy-insertion.after_some_step_of_its_own.txt"))

    assert told["some_step_of_its_own"] == (
        "The step of the pass that ended last: some_step_of_its_own."
    )
    assert "The running pass." in told["copy-insertion"]


def test_a_word_with_several_meanings_gets_all_of_them() -> None:
    one = explain_name("fusion")

    assert one.kind == "pass"
    assert "Pass: " in one.tokens[0].meaning
    assert "Opcode: " in one.tokens[0].meaning


def test_a_flag_says_where_it_is_set() -> None:
    assert "Set in XLA_FLAGS." in explain_name("--xla_dump_hlo_as_text").notes


def test_sentences_hold_no_markdown() -> None:
    for name in ("fusion", "xla_dump_to", "hlo-text", "module_0001.jit_f.debug_options"):
        one = explain_name(name)
        assert "`" not in " ".join([one.summary, *one.notes, *_told(one).values()])


def test_a_module_s_name_is_told_from_an_instruction_s() -> None:
    assert explain_name("a_inference_f_17__XlaMustCompile_true_.21").kind == "module-name"
    assert explain_name("extracted").kind == "module-name"
    assert explain_name("loop_add_fusion.2").kind == "instruction-name"
    assert explain_name("%while.3").kind == "instruction-name"


def test_an_instruction_named_by_an_opcode_says_what_the_opcode_does() -> None:
    assert "As an opcode: " in _told(explain_name("transpose.5.clone"))["transpose"]


def test_an_empty_name_is_unknown() -> None:
    assert explain_name("").kind == "unknown"


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("AlgebraicSimplifier", "pass", "cheaper arithmetic"),
        ("xla::HloDCE", "pass", "results are unused"),
        ("ForwardAllocation", "pass", "spread over the tiles"),
        ("cusolver_syevd_ffi", "custom-call", "Eigenvalues"),
        ("__cudnn$fmhaSoftmaxBackward", "custom-call", "five matmuls"),
        ("xla.sdy.ShardingGroup", "custom-call", "same sharding"),
        ("AwsNeuronRmsNorm", "custom-call", "normalization"),
        ("te_fused_attn_forward_ffi", "custom-call", "Transformer Engine"),
        ("xla_tpu_scoped_vmem_limit_kib", "flag", "VMEM"),
        ("f32[8,128]{1,0:T(8,128)S(1)}", "shape", "on tpu VMEM"),
        ("bf16[4]{0:T(256)}", "shape", "tiles of (256)"),
        ("S(1)", "memory-space", "on tpu VMEM"),
        ("cumsum", "function of JAX", "jax.numpy.cumsum"),
        ("jit_clip", "module-name", "jax.numpy.clip"),
        ("_XlaCompile", "word", "compiles a cluster"),
    ],
)
def test_names_met_in_dumps_are_explained(name: str, kind: str, words: str) -> None:
    explained = explain_name(name)
    assert explained.kind == kind
    assert words in "".join(token.meaning for token in explained.tokens)


def test_a_pass_by_its_class_says_its_name_in_dumps() -> None:
    assert "Its name in dumps is algsimp." in explain_name("AlgebraicSimplifier").notes


def test_a_flag_that_nobody_documents_says_so() -> None:
    assert "Default in libtpu" in explain_name("xla_tpu_add_random_dma_delays").notes[-1]
    explained = explain_name("--xla_tpu_of_nobody=true")
    assert "it is not published, or does not exist" in explained.notes[0]


def test_what_is_unknown_is_said_to_be_unknown() -> None:
    assert explain_name("xyzzy").is_unknown
    assert explain_name("xyzzy.txt").is_unknown
    assert "Probably" in _told(explain_name("FooBarThing"))["FooBarThing"]
    assert suggestions("AlgebraicSimplifer")[0] == "AlgebraicSimplifier"
    assert suggestions("q" * 10_000) == ()


def test_a_step_before_which_a_tpu_kernel_was_written_had_not_run() -> None:
    told = _told(explain_name("1795343459923494806-mm.3-50-pre-finalize.txt"))
    assert "has not run yet" in told["pre-finalize"]


def test_stages_of_mosaic_are_told_from_its_source_or_not_known() -> None:
    name = "1795343459923494806-0013-mosaic-dump-anonymous-{}.txt"
    assert "passed to Mosaic" in _told(explain_name(name.format("original")))["original"]
    layout = _told(explain_name(name.format("post-infer-vector-layout")))
    assert "infer_vector_layout.cc" in layout["post-infer-vector-layout"]
    assert "not known" in _told(explain_name(name.format("post-xyz")))["post-xyz"]
