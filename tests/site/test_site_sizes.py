"""What a site weighs."""

from pathlib import Path

import pytest

from xlareport.site.site_sizes import SiteSizes, describe_sizes, measure_site

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
