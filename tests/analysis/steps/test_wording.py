from xlareport.analysis.steps import wording


def test_the_heaviest_are_named_and_the_rest_counted() -> None:
    counts = [("add", 1), ("copy", 14), ("dot", 2), ("sine", 1), ("tanh", 1)]
    assert wording.counted(counts) == "2 dots, 14 copies, 1 add and 2 others"
    four = [("add", 4), ("copy", 3), ("sine", 2), ("select", 1)]
    assert wording.counted(four, "dead").count("dead") == 4


def test_long_names_lose_their_middle_and_backticks_are_kept_even() -> None:
    assert wording.short("short") == "short"
    assert len(wording.short("x" * 200)) == 44
    hashed = "a_inference_train_step_133__XlaMustCompile_true_config_proto_135613195898957_.7"
    assert wording.short(hashed) == "a_inference_train_step_133…"
    assert wording.code("a`b") == "`a'b`"
    assert wording.noun("and") == "logical and"


def test_scopes_lose_control_flow_and_then_their_first_levels() -> None:
    assert wording.short_scope("while/body/closed_call/attention") == "attention"
    assert wording.short_scope("while/body/closed_call") == "while/body/closed_call"
    deep = f"{'block_with_a_name/' * 3}attention/write_cache"
    assert wording.short_scope(deep) == "…/block_with_a_name/attention/write_cache"
    assert len(wording.short_scope("x" * 200)) == 44
    assert wording.short_scope("") == ""


def test_names_are_listed_without_their_sign_and_element() -> None:
    sentences = "used by %add.5, and %loop_fusion#1", "100% of `%x`"
    assert wording.list_names(*sentences) == ["add.5", "loop_fusion", "x"]
