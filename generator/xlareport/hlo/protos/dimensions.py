"""Windows, padding and dimension numbers of protos as text: `{size=3x3 pad=1_1x1_1}`."""

from collections.abc import Callable, Iterable, Sequence

from xlareport.hlo.protos.schema import Message


def window_text(window: Message) -> str:
    """Return a window with its braces; empty where it has no dimension."""
    sides = window.dimensions
    words = [
        _by_side("size", sides, lambda side: str(side.size), unless=None),
        _by_side("stride", sides, lambda side: str(side.stride), unless="1"),
        _by_side("pad", sides, _padding, unless="0_0"),
        _by_side("lhs_dilate", sides, lambda side: str(side.base_dilation), unless="1"),
        _by_side("rhs_dilate", sides, lambda side: str(side.window_dilation), unless="1"),
        _by_side("rhs_reversal", sides, lambda side: str(int(side.window_reversal)), unless="0"),
    ]
    return "{" + " ".join(filter(None, words)) + "}" if sides else ""


def _padding(side: Message) -> str:
    return f"{side.padding_low}_{side.padding_high}"


def _by_side(
    name: str, sides: Iterable[Message], word: Callable[[Message], str], *, unless: str | None
) -> str:
    """Return `name=axb`; empty if all values are defaults that XLA omits."""
    words = list(map(word, sides))
    return "" if all(word == unless for word in words) else f"{name}={'x'.join(words)}"


def padding_text(padding: Message) -> str:
    """Return `0_1x2_3`, with a third number where one dimension is padded inside."""
    sides = padding.dimensions
    inside = any(side.interior_padding for side in sides)
    return "x".join(
        f"{side.edge_padding_low}_{side.edge_padding_high}"
        + (f"_{side.interior_padding}" if inside else "")
        for side in sides
    )


def convolution_text(numbers: Message) -> str:
    """Return `b01f_01io->b01f`."""
    operand = _letters(
        ("b", numbers.input_batch_dimension),
        ("f", numbers.input_feature_dimension),
        numbers.input_spatial_dimensions,
    )
    kernel = _letters(
        ("i", numbers.kernel_input_feature_dimension),
        ("o", numbers.kernel_output_feature_dimension),
        numbers.kernel_spatial_dimensions,
    )
    result = _letters(
        ("b", numbers.output_batch_dimension),
        ("f", numbers.output_feature_dimension),
        numbers.output_spatial_dimensions,
    )
    return f"{operand}_{kernel}->{result}"


def _letters(first: tuple[str, int], second: tuple[str, int], spatial: Sequence[int]) -> str:
    places = {place: str(n) for n, place in enumerate(spatial)}
    places |= {place: letter for letter, place in (first, second)}
    return "".join(places[place] for place in sorted(places))


def slice_text(sides: Iterable[Message]) -> str:
    """Return `{[0:16], [1:512:2]}`."""
    words = (
        f"[{side.start}:{side.limit}" + (f":{side.stride}]" if side.stride != 1 else "]")
        for side in sides
    )
    return "{" + ", ".join(words) + "}"
