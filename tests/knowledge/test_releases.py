"""The month of XLA in a release of a framework."""

import pytest

from xlareport.knowledge.releases import era_of, releases


def test_releases_are_in_order() -> None:
    for release in releases().values():
        numbers = [tuple(map(int, version.split("."))) for version, _ in release.months]
        assert numbers == sorted(numbers)


@pytest.mark.parametrize(
    ("written", "era"),
    [
        ("2024-05", "2024-05"),
        ("jax==0.4.30", "2024-06"),
        ("jaxlib 0.4.30", "2024-06"),
        ("tf==2.13", "2023-05"),
        ("tensorflow==2.0", "2019-07"),
        ("torch-xla==2.2.1", "2023-11"),
        ("jax==0.1", "2022-02"),
    ],
)
def test_a_release_has_the_xla_of_a_month(written: str, era: str) -> None:
    assert era_of(written) == era


@pytest.mark.parametrize("written", ["", "3", "numpy==2", "2024-13", "jax==" + "9" * 5000])
def test_what_is_no_release(written: str) -> None:
    with pytest.raises(ValueError, match="releases are known"):
        era_of(written)
