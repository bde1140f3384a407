"""Sites of tests by Zensical, where XLAREPORT_ZENSICAL names its command: `make successor`."""

import os
import subprocess
from pathlib import Path

import pytest

from xlareport.site import builder
from xlareport.site.finish import finish_site
from xlareport.site.folder import Folder

ZENSICAL = os.environ.get("XLAREPORT_ZENSICAL")
of_mkdocs = pytest.mark.skipif(bool(ZENSICAL), reason="about MkDocs or its theme, not Zensical")


def build_with_zensical(folder: Folder, fresh: Path, *_: object, **__: object) -> str:
    """Stand in for what runs MkDocs: the same folder, then the same step after the build."""
    settings = folder.out / "zensical.yml"
    place = fresh.resolve().relative_to(folder.out.resolve())
    settings.write_text(f"INHERIT: mkdocs.yml\nsite_dir: {place.as_posix()}\n")
    command = (str(ZENSICAL), "build", "--config-file", str(settings))
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder.out)
    assert done.returncode == 0, done.stdout + done.stderr
    settings.unlink()
    finish_site(fresh)
    return ""


def use_zensical() -> None:
    """Let every site of this process be built so, if that is asked for."""
    if ZENSICAL:
        pytest.MonkeyPatch().setattr(builder, "_run_mkdocs", build_with_zensical)
