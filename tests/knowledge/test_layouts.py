from xlareport.knowledge.layouts import describe_layout_part, layout_sentences, space_sentences


def test_each_part_has_a_sentence_with_its_value() -> None:
    assert all(sentence.count("{}") == 1 for sentence in layout_sentences().values())
    assert describe_layout_part("bits", "4") == "Each element takes 4 bits."


def test_a_memory_space_is_named_where_it_is_known() -> None:
    assert "on tpu" in describe_layout_part("space", "1")
    assert describe_layout_part("space", "77") == "In memory space 77."
    assert set(space_sentences()) >= {"1", "5"}
