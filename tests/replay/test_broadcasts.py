"""Broadcasts of StableHLO that are put together again."""

from xlareport.replay.broadcasts import with_whole_broadcasts

LINES = (
    "    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<6x1xi1>) -> tensor<6x1xi1>",
    "    %2 = stablehlo.reshape %1 : (tensor<6x1xi1>) -> tensor<6xi1> loc(#loc4)",
    "    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<6xi1>) -> tensor<6x9xi1> loc(#a)",
)
TAKEN_APART = "\n".join(LINES)
WHOLE = (
    "    %3 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<6x1xi1>) -> "
    "tensor<6x9xi1> loc(#a)"
)


def last(text: str) -> str:
    return with_whole_broadcasts(text).split("\n")[-1]


def test_three_operations_become_one() -> None:
    assert last(TAKEN_APART) == WHOLE


def test_others_stay() -> None:
    moved = TAKEN_APART.replace("dims = [0] :", "dims = [1] :")
    other_size = TAKEN_APART.replace("6xi1> loc(#loc4)", "2x3xi1> loc")
    between = TAKEN_APART.replace("broadcast_in_dim %2", "broadcast_in_dim %9")
    for text in (moved, other_size, between):
        assert with_whole_broadcasts(text) == text


def test_a_name_that_stands_for_something_else_by_now_is_not_followed() -> None:
    again = "    %2 = stablehlo.negate %7 : tensor<6xi1>"
    text = "\n".join((*LINES[:2], again, LINES[2]))
    assert with_whole_broadcasts(text) == text
