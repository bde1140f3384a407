"""Of spots alike one is drawn; the rest is counted and named."""

from collections import Counter

from xlareport.pictures.change_regions import ChangeRegion
from xlareport.pictures.left_out import choose


def spot(*names: str, opcode: str = "copy", state: str = "added") -> ChangeRegion:
    return ChangeRegion(dict.fromkeys(names), Counter({(state, opcode): len(names)}))


def test_everything_is_drawn_where_it_is_little() -> None:
    found = choose([spot("main/%a"), spot("main/%b", opcode="dot")])
    assert list(found.chosen) == ["main/%a", "main/%b"]
    assert (found.notes(), found.lines()) == ((), ())


def test_spots_alike_are_drawn_once_and_named() -> None:
    found = choose([spot(f"main/%copy.{n}") for n in range(12)])
    assert list(found.chosen) == ["main/%copy.0"]
    assert found.notes() == ("Not drawn: 11 spots that changed in the same way.",)
    names = ", ".join(f"%copy.{n}" for n in range(1, 9))
    assert found.lines() == (f"11 spots, as drawn: {names} and 3 more",)


def test_what_has_no_room_is_told_by_what_changed() -> None:
    large = spot(*(f"main/%a{n}" for n in range(50)))
    other = ChangeRegion({"f/%b'": None}, Counter({("removed", "dot"): 2, ("added", "fusion"): 1}))
    found = choose([large, other])
    assert len(found.chosen) == 40
    assert found.notes() == (
        "Not drawn: 1 other spot that changed.",
        "Not drawn: 10 instructions that changed together with these.",
    )
    assert found.lines() == ("2 removed dot, added fusion: %b",)


def test_the_first_of_each_line_that_are_small_get_pictures() -> None:
    drawn = spot(*(f"main/%z{n}" for n in range(24)), opcode="dot")
    large = spot(*(f"main/%y{n}" for n in range(30)), opcode="tanh")
    alike = [spot(f"main/%copy.{n}") for n in range(20)]
    others = [spot(f"main/%x{n}", opcode=f"op{n}") for n in range(12)]
    found = choose([drawn, large, *alike, *others])
    told = [(line, next(iter(one.ids))) for line, one in found.places()]
    assert told[:4] == [(0, f"main/%copy.{n}") for n in range(4)]
    assert [line for line, _ in told[4:]] == [*range(2, 14)]
    lines = found.lines()
    assert all(f"%{name.partition('%')[2]}" in lines[line] for line, name in told)


def test_the_list_ends() -> None:
    many = [spot(f"main/%x{n}", opcode=f"op{n}") for n in range(100)]
    assert len(choose(many).lines()) == 61
    assert choose(many).lines()[-1] == "36 more kinds of spots"


def test_nothing_changed() -> None:
    assert choose([]).lines() == choose([]).notes() == ()
