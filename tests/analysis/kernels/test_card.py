"""The card that occupancy is of: the dump's own first, and said where it is another one."""

from xlareport.analysis.kernels.card import find_card, known_cards
from xlareport.knowledge.devices import devices
from xlareport.knowledge.multiprocessors import capability_of, multiprocessors
from xlareport.readers.gpu_objects import ObjectKernel

H100 = "NVIDIA H100 80GB HBM3"


def test_the_dump_says_how_many_multiprocessors_there_are() -> None:
    """`core_count` of the target configuration is before the table: cards are sold with fewer."""
    card = find_card(H100, "sm_90a", 114, None)
    assert card is not None
    assert (card.key, card.unit.capability, card.count) == ("nvidia-h100", "9.0", 114)
    assert "core_count" in card.count_source
    assert not card.is_hypothetical


def test_without_a_configuration_the_table_counts() -> None:
    """Its source is the table's."""
    card = find_card(H100, "sm_90a", None, None)
    assert card is not None
    assert card.count == 132


def test_the_target_is_enough() -> None:
    """A target names its compute capability, and one card of it stands for the others."""
    card = find_card("", "sm_80", None, None)
    assert card is not None
    assert (card.key, card.unit.capability) == ("nvidia-a100", "8.0")


def test_another_card_is_hypothetical() -> None:
    """The user's choice counts, and is said to be one."""
    card = find_card(H100, "sm_90a", 132, devices()["nvidia-a100"])
    assert card is not None
    assert (card.key, card.count, card.is_hypothetical) == ("nvidia-a100", 108, True)
    same = find_card(H100, "sm_90a", 132, devices()["nvidia-h100"])
    assert same is not None
    assert not same.is_hypothetical


def test_no_card() -> None:
    """Neither a TPU, nor a target that the tables do not have, whatever the user chose."""
    assert find_card("TPU v5e", "", None, None) is None
    assert find_card("", "sm_99", None, None) is None
    assert find_card("gfx803", "", None, devices()["amd-mi300x"]) is None


def test_amd_gpus() -> None:
    """A target is enough; another AMD GPU can be imagined, one of NVIDIA's can not."""
    target = "amdgcn-amd-amdhsa--gfx90a:sramecc+"
    card = find_card("", target, 104, None)
    assert card is not None
    assert (card.key, card.unit.capability, card.count) == ("", "gfx90a", 104)
    unknown = find_card("gfx90a", "", None, None)
    assert unknown is not None
    assert unknown.count is None
    assert find_card("gfx90a", "", None, devices()["nvidia-a100"]) == unknown
    other = find_card("gfx90a", "", None, devices()["amd-mi300x"])
    assert other is not None
    assert (other.key, other.count, other.is_hypothetical) == ("amd-mi300x", 304, True)


def test_pairs_of_compute_units() -> None:
    """In WGP mode a work-group has two compute units, of which a card has half as many."""
    card = next(
        known_card for known_card in known_cards() if known_card.unit.capability == "gfx1100"
    )
    code = ObjectKernel("k", 1, 0, 0, 0, "", warp=32, in_pairs=True)
    paired = card.running(code)
    assert (card.count, paired.count) == (96, 48)
    assert paired.unit.warps == 2 * card.unit.warps
    assert card.running(None) == card


def test_every_nvidia_gpu_of_the_table_is_a_card() -> None:
    """Devices and multiprocessors are two tables; each has its source."""
    keys = {card.key for card in known_cards() if card.key}
    assert keys == {key for key in devices() if key.startswith(("nvidia-", "amd-"))}
    assert len({card.name for card in known_cards()}) == len(known_cards())
    assert all(card.count and card.count_source for card in known_cards())
    assert all(sm.source for sm in multiprocessors().values())


def test_capabilities_of_targets() -> None:
    """Every form that a dump writes."""
    names = ("sm_90a", "sm_9.0", "sm_9.0a", "sm_75", "sm_100a", "sm_12.0", "gfx90a", "")
    wanted = ["9.0", "9.0", "9.0", "7.5", "10.0", "12.0", "", ""]
    assert [capability_of(name) for name in names] == wanted
