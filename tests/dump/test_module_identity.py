from xlareport.dump.module_identity import Identity, join_incomplete


def joined(*identities: Identity) -> dict[Identity, list[str]]:
    members = {identity: [str(number)] for number, identity in enumerate(identities)}
    join_incomplete(members)
    return members


WHOLE = Identity("d", None, 1, "jit_f")
STAMPED = Identity("d", 1_700_000_000_000_000, 1, "jit_f")


def test_what_is_incomplete_joins_the_one_that_is_complete() -> None:
    for lost in (
        Identity("d", None, 1, None),
        Identity("d", None, None, "jit_f"),
        Identity("d", None, 1, "jit_f.cl_1003875606"),
    ):
        assert joined(WHOLE, lost) == {WHOLE: ["0", "1"]}


def test_letters_that_files_do_not_keep_are_compared_as_files_have_them() -> None:
    folder, files = Identity("d", None, 1, "jit_é"), Identity("d", None, 1, "jit___")

    assert joined(folder, files) == {files: ["1", "0"]}


def test_a_timestamp_that_is_missing_is_that_of_the_only_module() -> None:
    assert joined(WHOLE, STAMPED) == {STAMPED: ["1", "0"]}


def test_of_several_none_is_taken() -> None:
    other = Identity("d", None, 1, "jit_g")
    lost = Identity("d", None, 1, None)

    assert set(joined(WHOLE, other, lost)) == {WHOLE, other, lost}


def test_another_folder_is_another_module() -> None:
    assert len(joined(WHOLE, Identity("e", None, 1, None))) == 2
