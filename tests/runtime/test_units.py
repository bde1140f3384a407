import pytest

from xlareport.runtime import units


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1536, "1.5 KiB"),
        (1_395_864_371, "1.3 GiB"),
        (102_400, "100 KiB"),
        (1_048_575, "1.0 MiB"),
        (2**70, "1048576 PiB"),
        (-2048, "\N{MINUS SIGN}2.0 KiB"),
    ],
)
def test_bytes_read_well(number: int, words: str) -> None:
    assert units.byte_size(number) == words


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "0"),
        (999, "999 FLOP"),
        (2.1e9, "2.10 GFLOP"),
        (0.25, "0.25 FLOP"),
        (1e6, "1.00 MFLOP"),
    ],
)
def test_quantities_have_decimal_prefixes(number: float, words: str) -> None:
    assert units.quantity(number, "FLOP") == words


@pytest.mark.parametrize(
    ("fraction", "words"),
    [
        (0, "0%"),
        (0.0004, "<0.1%"),
        (0.004, "0.4%"),
        (0.84, "84%"),
        (0.9996, ">99.9%"),
        (1, "100%"),
    ],
)
def test_a_share_is_never_rounded_to_nothing_or_to_all(fraction: float, words: str) -> None:
    assert units.share(fraction) == words


def test_differences_carry_their_sign() -> None:
    shares = (0.123, -0.0006, -0.0003, 1e-9, 0.0)
    assert [units.signed_share(share) for share in shares] == [
        *("+12.3%", "\N{MINUS SIGN}0.1%", "<0.1% less", "<0.1% more", "+0.0%")
    ]
    factors = [units.signed_share(change) for change in (8.99, 9, 928.0, 12345.6)]
    assert factors == ["+899.0%", "10x", "929x", "12,347x"]
    assert [units.signed(one) for one in (5, 0, -1234)] == ["+5", "±0", "\N{MINUS SIGN}1,234"]


def test_sizes_carry_the_sign_of_a_difference() -> None:
    assert units.with_sign(-(1 << 20), units.byte_size) == "\N{MINUS SIGN}1.0 MiB"
    assert units.with_sign(0.5, units.seconds) == "+500 ms"


def test_counts_and_nouns() -> None:
    assert units.count(1_234_567) == "1,234,567"
    assert units.plural(1, "step") == "1 step"
    assert units.plural(2, "step") == "2 steps"
    assert units.plural(3, "entry", "entries") == "3 entries"


@pytest.mark.parametrize(
    ("unit", "scale"),
    [
        ("", 1),
        ("B", 1),
        ("k", 1000),
        ("KiB", 1024),
        ("MB", 10**6),
        ("MiB", 2**20),
        ("Gi", 2**30),
        ("T", 10**12),
    ],
)
def test_units_that_people_write(unit: str, scale: int) -> None:
    assert units.unit_scale(unit) == scale


@pytest.mark.parametrize(
    ("text", "size"),
    [("500MB", 500 * 10**6), ("2 GiB", 2**31), ("1.5k", 1500), ("4096", 4096), ("10mb", 10**7)],
)
def test_sizes_that_people_write(text: str, size: int) -> None:
    assert units.parse_byte_size(text) == size


@pytest.mark.parametrize("text", ["", "MB", "5 apples", "-1", "1e9", "5 TiBs"])
def test_what_is_no_size(text: str) -> None:
    assert units.parse_byte_size(text) is None


@pytest.mark.parametrize(
    ("fraction", "words"),
    [
        (0, "0%"),
        (0.0001, "<0.1%"),
        (0.125, "12.5%"),
        (2 / 3, "66.7%"),
        (0.9999, ">99.9%"),
        (1, "100%"),
    ],
)
def test_a_precise_share_has_three_digits(fraction: float, words: str) -> None:
    assert units.precise_share(fraction) == words


@pytest.mark.parametrize(
    ("time", "words"),
    [(0.0, "0 ns"), (2e-13, "<1 ns"), (1e-9, "1 ns"), (2.1e-6, "2.1 µs"), (1.5, "1.5 s")],
)
def test_times_read_well(time: float, words: str) -> None:
    assert units.seconds(time) == words


@pytest.mark.parametrize(
    ("number", "digits", "words"),
    [
        (31.25, 1, "31.3"),
        (0.125, 2, "0.13"),
        (128.5, 0, "129"),
        (31.24, 1, "31.2"),
        (2.0**60, 1, "1152921504606846976.0"),
        (float("inf"), 1, "inf"),
        (float("nan"), 0, "nan"),
    ],
)
def test_halves_are_rounded_up_as_scripts_do(number: float, digits: int, words: str) -> None:
    assert units.rounded(number, digits) == words


def test_bytes_and_shares_round_halves_up() -> None:
    assert units.byte_size(32_768_000) == "31.3 MiB"
    assert units.share(0.125) == "13%"


def test_two_figures_that_differ_are_written_with_more_digits() -> None:
    assert units.sizes_apart(2260 << 20, 2298 << 20) == ("2.21 GiB", "2.24 GiB")
    assert units.sizes_apart(1 << 30, 2 << 30) == ("1.0 GiB", "2.0 GiB")
    assert units.sizes_apart(5, 5) == ("5 B", "5 B")
    assert units.sizes_apart(200 << 10, (200 << 10) + 100) == ("200.0 KiB", "200.1 KiB")
    assert units.times_apart(0.41901, 0.41932) == ("419.0 ms", "419.3 ms")
    assert units.times_apart(0.41904, 0.4191) == ("419.0 ms", "419.1 ms")
    apart = units.quantities_apart(1_660_000_000_000, 1_660_100_000_000, "FLOP")
    assert apart == ("1.6600 TFLOP", "1.6601 TFLOP")


def test_two_figures_that_no_digits_distinguish_are_written_short() -> None:
    assert units.sizes_apart(1_687_151_000, 1_687_151_032) == ("1.6 GiB", "1.6 GiB")


def test_sizes_of_an_axis_have_one_unit() -> None:
    most = 2.1 * 1024**2
    assert units.byte_size_as(110.5 * (1 << 20), 110.5 * (1 << 20)) == "111 MiB"
    assert [units.byte_size_as(most * share, most) for share in (0, 0.4, 1)] == [
        "0",
        "0.8 MiB",
        "2.1 MiB",
    ]
