"""The files of a report: payloads as a build writes them, and the paths in a report.json."""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

from xlareport.pages import navigation
from xlareport.storage.payloads import Payload, module_payloads, write_payload


def payload_files(*payloads: Payload) -> list[tuple[str, str]]:
    """Return the files of payloads as a build writes them: a module's small ones share one."""
    alone: list[Payload] = []
    modules: dict[str, list[Payload]] = {}
    for payload in payloads:
        place = re.fullmatch(r"m/([^/]+)/(?!search|texts).*", payload.key)
        (modules.setdefault(place[1], []) if place else alone).append(payload)
    together = (
        module_payloads(navigation.module_key(slug, "small"), some)
        for slug, some in modules.items()
    )
    return [*map(write_payload, alone), *chain.from_iterable(together)]


def paths_of(report: dict[str, Any]) -> Iterator[str]:
    """Yield the paths in a report.json, as the README says how."""
    for one in (report, *report["modules"]):
        yield from (file["path"] for file in one["files"])
        for files in (stage["files"] for stage in one.get("stages", ())):
            yield from (files["name"] + ending for ending in files["endings"])
