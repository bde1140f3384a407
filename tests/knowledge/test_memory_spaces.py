from xlareport.knowledge.memory_spaces import find_space, memory_spaces, space_words


def test_a_number_means_what_the_backend_means_by_it() -> None:
    assert space_words("tpu", 1) == "VMEM, vector memory on the chip"
    assert space_words("gpu", 1) == "device memory that collectives use directly"
    assert space_words("tpu", 5) == "host memory"


def test_a_chip_comes_before_its_backend() -> None:
    assert space_words("tpu", 3, "tpu-v4") == "CMEM, common memory on the chip"
    assert space_words("tpu", 0, "tpu-v4") == "HBM"
    assert find_space("tpu", 3, "tpu-v5e") is None


def test_an_unknown_number_stays_a_number() -> None:
    assert space_words("tpu", 77) == "memory space 77"
    assert space_words(None, 0) == "memory space 0"


def test_every_space_says_where_it_is_and_what_shows_it() -> None:
    for space in memory_spaces().values():
        assert space.where in ("main", "chip", "host")
        assert space.evidence
