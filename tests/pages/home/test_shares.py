from xlareport.pages.home.shares import HUES, shares_bar


def test_parts_sum_to_the_whole_and_the_unnamed_come_last() -> None:
    bar = shares_bar("By phase", [("a", 3.0), ("", 1.0), ("b", 4.0), ("none", 0.0)], "not known")
    assert [(part.name, part.figure) for part in bar.parts] == [
        ("a", "38%"),
        ("b", "50%"),
        ("not known", "12%"),
    ]
    assert sum(float(part.percent) for part in bar.parts) == 100
    assert bar.parts[-1].hue == HUES - 1


def test_what_is_beyond_the_colors_is_put_together() -> None:
    bar = shares_bar("By layer", [(f"layer_{n}", 1.0) for n in range(10)], "not known")
    assert [part.name for part in bar.parts][-1] == "5 more"
    assert len({part.hue for part in bar.parts}) == len(bar.parts) == HUES - 1
