"""Devices as tables: colors come round, and no name is markup."""

from xlareport.pages.rendering.device_table import HUES, DeviceCell, draw_device_table


def test_colors_come_round() -> None:
    drawn = draw_device_table([[DeviceCell("0", 1), DeviceCell("1", 1 + HUES), DeviceCell("2")]])

    assert drawn.count("xr-hue-1") == 2
    assert "<td>2</td>" in drawn
    assert "<thead>" not in drawn


def test_names_are_text() -> None:
    drawn = draw_device_table([[DeviceCell("<b>", 0, '"><i>')]], columns=["<u>"], heads=["x&y"])

    assert not {"<b>", "<i>", "<u>"} & {drawn[i : i + 3] for i in range(len(drawn))}
    assert '<th scope="row">x&amp;y</th>' in drawn
