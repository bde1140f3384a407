"""What a site weighs, and what of it is too much."""

from pathlib import Path

import pytest

from xlareport.site.sizes import SiteSizes, describe_sizes, find_overruns, measure_site

FILES = {
    "index.html": 10,
    "m/x.html": 40,
    "assets/xlareport.js": 100,
    "assets/data/m/x/steps.js": 1000,
    "guide/index.html": 5,
    "glossary.html": 7,
    "report.json": 3,
}
MB = 1_000_000


@pytest.fixture
def site(tmp_path: Path) -> Path:
    for path, size in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(b"x" * size)
    return tmp_path


def test_what_every_report_has_stands_apart(site: Path) -> None:
    sizes = measure_site(site)

    assert (sizes.fixed, sizes.grown) == (112, 1053)
    assert sizes.largest_page == "m/x.html"


def test_it_is_told_in_words() -> None:
    sizes = SiteSizes(3 * MB, 9 * MB, {"index.html": 36_000, "names.html": 76_000})

    site, page = describe_sizes(sizes, 428 * MB, 57.2)
    assert site.startswith("The site has 12.0 MB: 3.00 MB that every report has, 9.00 MB for this")
    assert site.endswith(" dump of 428 MB, 2.1% of it.")
    assert page == "Its largest page is names.html, 76.0 kB; the build took 57.2 s."
    assert describe_sizes(sizes, 1 * MB, 1)[0].endswith("for this dump of 1.00 MB.")
    assert not list(find_overruns(sizes, 428 * MB))


def test_what_is_too_much_is_told() -> None:
    sizes = SiteSizes(7 * MB, 4 * MB, {"index.html": 400_000, "m/x.html": 2 * MB})
    said = list(find_overruns(sizes, 101 * MB))

    assert said == [
        "what every report has may be 6.00 MB",
        "what grows with the dump may be 3.0% of it, 3.03 MB",
        "the home page has 400 kB and may have 300 kB",
        "m/x.html has 2.00 MB, and a page may have 1.50 MB",
    ]


def test_the_pages_of_a_small_dump_may_be_larger_than_it() -> None:
    sizes = SiteSizes(0, 5 * MB, {"index.html": 1})

    assert not list(find_overruns(sizes, 1 * MB))
