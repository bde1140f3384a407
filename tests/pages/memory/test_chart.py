from xlareport.pages.memory.chart import memory_chart

HELD = {"parameter": 2, "output": 1, "constant": 0}


def test_what_is_held_stands_below_what_comes_and_goes() -> None:
    chart = memory_chart("device memory", (3, 8, 4), HELD, 3, (1, "%x"))
    assert chart is not None
    layers = [(layer.name, layer.figure) for layer in chart.layers]
    assert layers == [("arguments", "2 B"), ("outputs", "1 B"), ("temp", "5 B")]
    assert chart.chart.count("xr-fill-") == 3
    assert ">peak 8 B</text>" in chart.chart
    assert "maximum 8 B at schedule position 1 of 2, %x" in chart.chart


def test_names_are_escaped() -> None:
    chart = memory_chart('<i>"space"', (1, 2), {}, 2, (1, '<b>"%x"'))
    assert chart is not None
    assert "<b>" not in chart.chart
    assert "<i>" not in chart.chart
    assert chart.layers == ()


def test_nothing_is_drawn_of_nothing() -> None:
    assert memory_chart("device memory", (), {}, 0, (0, "")) is None
    assert memory_chart("device memory", (0, 0), {}, 2, (0, "")) is None
