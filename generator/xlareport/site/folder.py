"""The folder of a report: its parts, and which of them belong to xlareport or the user."""

import ctypes
import errno
import json
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout
from msgspec import Struct

from xlareport.dump.source import local_path
from xlareport.runtime.errors import InputInsideOutputError, OutputInsideInputError, XlareportError
from xlareport.runtime.resources import find_resource

_CURRENT_FOLDER = -100
_EXCHANGE = 2
_CANNOT = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)
"""Error numbers of a kernel or file system that cannot exchange folders."""


def replace_file(path: Path, content: bytes) -> None:
    """Write a file as a whole or not at all; raises OSError."""
    aside = path.with_name(f".{path.name}.part")
    aside.write_bytes(content)
    aside.replace(path)


def exchange_folders(path: Path, other: Path) -> bool:
    """Let two folders that exist change places; False where that is not possible here.

    Raises OSError where it is possible and fails.
    """
    failed = _exchange(os.fsencode(path), os.fsencode(other))
    if failed in _CANNOT:
        return False
    if failed:
        raise OSError(failed, os.strerror(failed), str(path))
    return True


def _exchange(value: bytes, other: bytes) -> int:
    """Call Linux's renameat2 with RENAME_EXCHANGE, or macOS' renamex_np with RENAME_SWAP.

    Return the error number, 0 where all is well. Python has neither call.
    """
    if sys.platform not in ("linux", "darwin"):
        return errno.ENOSYS
    library = ctypes.CDLL(None, use_errno=True)
    if hasattr(library, "renameat2"):
        failed = library.renameat2(_CURRENT_FOLDER, value, _CURRENT_FOLDER, other, _EXCHANGE)
    elif hasattr(library, "renamex_np"):
        failed = library.renamex_np(value, other, _EXCHANGE)
    else:
        return errno.ENOSYS
    return ctypes.get_errno() if failed else 0


_INHERIT = re.compile(
    r"""^INHERIT:[ ]*["']?(?:\./)?site_src/xlareport\.yml["']?[ ]*(?:\#.*)?$""", re.MULTILINE
)
_MARK = "assets/xlareport.css"
"""A file that every site of xlareport has, and other folders do not have."""


class ForeignSettingsError(XlareportError):
    """OUT holds the settings of another site."""

    def __init__(self, settings: Path) -> None:
        super().__init__(
            f"{settings} belongs to another site: it does not take in our settings. Choose another "
            f"folder with --out, or add the line `INHERIT: site_src/xlareport.yml` to it."
        )


class ForeignFileError(XlareportError):
    """A page or the site would replace something that xlareport did not write."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} is not xlareport's, and the report would replace it. Move it away, or choose "
            f"another folder with --out."
        )


class FolderInUseError(XlareportError):
    """Another process is writing a report into OUT."""

    def __init__(self, out: Path) -> None:
        super().__init__(
            f"Another xlareport is writing into {out}. Wait until it has ended, or choose another "
            f"folder with --out."
        )


class Folder(Struct, frozen=True):
    """The places in the folder OUT."""

    out: Path

    @property
    def sources(self) -> Path:
        """The sources for MkDocs: hand-written and generated pages, payloads, the user's pages."""
        return self.out / "site_src"

    @property
    def site(self) -> Path:
        """The static site."""
        return self.out / "site"

    @property
    def manifest(self) -> Path:
        """The list of what we wrote into the sources: nothing else is ever removed."""
        return self.sources / ".xlareport-files"

    @property
    def aside(self) -> Path:
        """Where everything is written before it is put in place."""
        return self.out / ".xlareport"

    @property
    def former_site(self) -> Path:
        """Where the former site waits for the moment in which it is replaced."""
        return self.aside / "former-site"

    @property
    def cache(self) -> Path:
        """The folder of data for the next build: layouts of pictures, and the lock."""
        return self.out / ".cache/xlareport"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other builds out of the folder; raises FolderInUseError where one is at work.

        The system gives the lock back when a process ends, however it ends.
        """
        self._check_settings()
        self.cache.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(self.cache / "lock", timeout=0):
                yield
        except Timeout:
            raise FolderInUseError(self.out) from None

    def prepare(self) -> None:
        """Check that the report may be written here, and repair what a killed build left."""
        self._check_settings()
        self.repair()
        if self.site.exists() and any(self.site.iterdir()) and not (self.site / _MARK).exists():
            raise ForeignFileError(self.site)

    def replaced(self) -> tuple[Path, ...]:
        """Return the places whose content a build replaces."""
        return self.sources, self.site, self.aside

    def _check_settings(self) -> None:
        for settings in (self.out / "mkdocs.yml", self.out / "mkdocs.yaml"):
            if settings.exists() and not _INHERIT.search(settings.read_text("utf-8", "replace")):
                raise ForeignSettingsError(settings)

    def has_own_settings(self) -> bool:
        """Return whether the user has left the settings as they came; raises OSError."""
        ours = find_resource("templates") / "mkdocs.yml"
        is_own = (self.out / "mkdocs.yml").read_bytes() == ours.read_bytes()
        return is_own and not (self.out / "mkdocs.yaml").exists()

    def settle(self, title: str | None = None) -> None:
        """Write the user's mkdocs.yml if there is none, atomically.

        `title` is the title in the head of every page.
        """
        if not any((self.out / name).exists() for name in ("mkdocs.yml", "mkdocs.yaml")):
            self.aside.mkdir(parents=True, exist_ok=True)
            settings = (find_resource("templates") / "mkdocs.yml").read_text("utf-8")
            if title:  # JSON is YAML
                named = f"site_name: {json.dumps(title)}"
                settings = settings.replace("# site_name: My report", named, 1)
            (self.aside / "mkdocs.yml").write_text(settings, "utf-8")
            (self.aside / "mkdocs.yml").replace(self.out / "mkdocs.yml")

    def swap(self, fresh: Path) -> None:
        """Put the finished site `fresh` in the place of the former one, whole until then.

        Where the system cannot exchange two folders there is a moment without a site; `repair`
        brings the former one back if the build ends in it.
        """
        if self.site.exists() and exchange_folders(fresh, self.site):
            return
        if self.site.exists():
            self.site.rename(self.former_site)
        fresh.rename(self.site)

    def repair(self) -> None:
        """Finish what `swap` began: the former site comes back where no other took its place."""
        if self.former_site.exists() and not self.site.exists():
            self.former_site.rename(self.site)
        shutil.rmtree(self.aside, ignore_errors=True)


def check_apart(dump: str | Path, out: Path, replaced: Iterable[Path] = ()) -> None:
    """Refuse to write into the dump, where the next build would read its own pages, or over it.

    What cannot be looked at is for `open_source` to say.
    """
    place = local_path(dump)
    if place is None:
        return
    source, target = os.path.realpath(place), os.path.realpath(out)
    if Path(target).is_relative_to(source):
        raise OutputInsideInputError(Path(source), Path(target))
    for path in replaced:
        if Path(source).is_relative_to(os.path.realpath(path)):
            raise InputInsideOutputError(place, path)
