"""What README and the documentation show and name is there; addresses, notices and locks agree."""

import re
import tomllib
from pathlib import Path

import xlareport
from xlareport.cli.build import command

ROOT = Path(__file__).parents[1]
PICTURE = re.compile(r"!\[[^\]]+\]\(([^)]+\.png)\)")
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
SOURCE = SETTINGS["project"]["urls"]["Source"]
"""The address of the repository, from which all others follow."""
OWNER = SOURCE.split("/")[-2]
RAW = f"https://raw.githubusercontent.com/{OWNER}/xlareport/main/"
BLOB = f"{SOURCE}/blob/main/"
ADDRESS = re.compile(
    r"(?:github\.com/|githubusercontent\.com/|uses: )([\w-]+)/xlareport\b"
    r"|([\w-]+)\.github\.io/xlareport"
)
LARGEST = 150_000
NAMED = re.compile(r"`([a-z_]+/[a-z_/]+\.(?:py|toml|md|js|d\.ts))`")
DOCSTRING = re.compile(r'"""(.*?)"""', re.DOTALL)
REFERENCE = re.compile(r"`([a-z_]{3,}(?:\.[a-z_]+)*)(?:\(\))?`")
QUOTED = {"_kernel_module", "hlo.pb.gz"}
"""Parts of names in a dump, which docstrings quote."""
BARE_NOQA = re.compile(r"# noqa(?:: [A-Z0-9, ]+)?$")
ROOTS = ("", "generator/xlareport/", "frontend/src/", "tests/", "tests/data/")


def test_pictures_are_there_and_small() -> None:
    named = {  # those of README by whole addresses: package registries show it too
        (ROOT / path.removeprefix(RAW) if path.startswith(RAW) else page.parent / path).resolve()
        for page in (ROOT / "README.md", ROOT / "docs/tour.md")
        for path in PICTURE.findall(page.read_text())
    }

    assert {path for path in named if path.stat().st_size > LARGEST} == set()
    assert named == set((ROOT / "docs/screenshots").glob("*.png"))


def test_files_that_the_map_names_are_there() -> None:
    named = NAMED.findall((ROOT / "CONTRIBUTING.md").read_text("utf-8"))
    missing = {name for name in named if not any((ROOT / root / name).exists() for root in ROOTS)}

    assert len(named) > 15
    assert missing == set()


def test_names_in_docstrings_are_there() -> None:
    package = ROOT / "generator/xlareport"
    texts = [path.read_text("utf-8") for path in package.rglob("*.py")]
    others = (*package.rglob("*.toml"), *(ROOT / "tests").rglob("*.py"))
    code = [DOCSTRING.sub("", text) for text in texts] + [
        path.read_text("utf-8") for path in others
    ]
    known = {word for text in code for word in re.findall(r"\w+", text)}
    known |= {path.stem for path in package.rglob("*.py")}
    docstrings = "".join(docstring for text in texts for docstring in DOCSTRING.findall(text))
    named = set(REFERENCE.findall(docstrings)) - QUOTED
    modules = {name for name in named if (package / name.split(".")[0] / "__init__.py").exists()}

    assert len(named) > 500
    assert {name for name in named if not known.issuperset(name.split("."))} == set()
    assert {name for name in modules if not _is_in_package(package, name)} == set()


def _is_in_package(package: Path, name: str) -> bool:
    """Whether a dotted name is a folder or module of the package, or something in a module."""
    path = package.joinpath(*name.split("."))
    return path.is_dir() or any(at.with_suffix(".py").exists() for at in (path, path.parent))


def test_links_of_the_readme_are_whole_and_lead_to_files() -> None:
    links = re.findall(r"\]\(([^)]+)\)", (ROOT / "README.md").read_text("utf-8"))
    ours = [link.removeprefix(BLOB).removeprefix(RAW) for link in links if f"/{OWNER}/" in link]

    assert [link for link in links if not link.startswith("https://")] == []
    assert [path for path in ours if not (ROOT / path).exists()] == []


def test_the_readme_has_every_option_of_build() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    options = {name for option in command.params for name in option.opts if name.startswith("--")}

    assert "--out" in options
    assert {name for name in options if name not in text} == set()


def test_each_noqa_has_its_reason() -> None:
    folders = ("generator", "scripts", "tests", "fuzz", "benchmarks")
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    bare = {
        str(path.relative_to(ROOT)): line
        for path in paths
        for line in path.read_text("utf-8").splitlines()
        if BARE_NOQA.search(line)
    }

    assert len(paths) > 1000
    assert bare == {}


def test_the_reference_has_every_public_name() -> None:
    text = (ROOT / "docs/site/api.md").read_text("utf-8")
    entries = dict(re.findall(r"^::: ([a-z._]+)\n(?:    options: (.*))?", text, re.MULTILINE))
    public = {name: getattr(xlareport, name) for name in dir(xlareport) if name != "__version__"}
    missing = [
        name
        for name, value in public.items()
        if value.__module__ not in entries
        or not re.search(rf"\b{name}\b", entries[value.__module__] or name)
    ]
    assert missing == []


def test_the_readme_mails_one_html_file_before_a_zip() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert text.index("pack --single-file") < text.index("zip")


def test_the_version_has_its_changes_and_a_cache_its_note() -> None:
    version = SETTINGS["project"]["version"]
    assert f"\n## {version} (" in (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert "JAX_ENABLE_COMPILATION_CACHE=false" in (ROOT / "README.md").read_text("utf-8")


def test_one_stylesheet_names_classes_of_the_theme() -> None:
    sheets = (ROOT / "site_src/assets").glob("*.css")
    named = [path.name for path in sheets if re.search(r"\.md-", path.read_text("utf-8"))]
    assert named == ["xlareport.css"]


def test_every_address_of_the_repository_is_that_of_the_package() -> None:
    folders = ("recipes", "site_src/guide", "docs/site", "docs", ".github/workflows")
    pages = (path for folder in folders for path in (ROOT / folder).glob("*.*") if path.is_file())
    texts = [path.read_text("utf-8") for path in (ROOT / "README.md", ROOT / "pyproject.toml")]
    owners = ["".join(match) for text in texts for match in ADDRESS.findall(text)]
    others = [
        "".join(match) for page in pages for match in ADDRESS.findall(page.read_text("utf-8"))
    ]

    assert len(owners) > 10
    assert len(others) > 3
    assert set(owners + others) == {OWNER}


def test_actions_are_pinned_by_commit() -> None:
    places = (ROOT / "action.yml", *(ROOT / "recipes").glob("*.yml"))
    used = [
        line.strip()
        for path in (*places, *(ROOT / ".github/workflows").glob("*.yml"))
        for line in path.read_text("utf-8").splitlines()
        if re.match(r"[\s-]*uses:", line)
    ]
    assert len(used) > 15
    assert [line for line in used if not re.search(r"@[0-9a-f]{40} # v[0-9.]+$", line)] == []


def test_notices_are_in_the_report_and_beside_the_license() -> None:
    notices = (ROOT / "NOTICE.md").read_text("utf-8")
    assert notices == (ROOT / "site_src/assets/notices.txt").read_text("utf-8")
    assert "Martin Donath" in notices


def test_locked_dependencies_have_hashes_and_are_those_of_the_package() -> None:
    wanted = {
        re.split(r"[>=<;\[ ]", dependency)[0] for dependency in SETTINGS["project"]["dependencies"]
    }
    for name in ("runtime", "release"):
        text = (ROOT / f"requirements/{name}.txt").read_text("utf-8")
        entries = re.split(r"\n(?=[a-z])", text)
        assert all("--hash=sha256:" in entry for entry in entries), name
    runtime = (ROOT / "requirements/runtime.txt").read_text("utf-8")
    assert wanted <= set(re.findall(r"^([a-z0-9-]+)==", runtime, re.MULTILINE))
