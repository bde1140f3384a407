from xlareport.knowledge import kinds


def test_a_kind_is_found_by_its_name() -> None:
    kind = kinds.find("pass-metadata")
    assert kind is not None
    assert kind.flags == ("xla_dump_module_metadata",)
    assert kinds.find("txt") is None
