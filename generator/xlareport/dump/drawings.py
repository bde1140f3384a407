"""The title inside a drawing tells module, pipeline and pass where the file's name does not.

XLA before March 2019 named its drawings `hlo_graph_5.HOST-TID-PID-TIME.dot` and wrote the rest into
the label of the graph: `simplification: after algsimp, before dce<br/>Computation cluster_0`.
"""

import re
from dataclasses import replace

from xlareport.dump.filename import DumpName
from xlareport.dump.module_names import explain_module

_LABEL = re.compile(
    r"label = <(?:<b>)?(?P<title>[^<>\n]{1,512})<br/>Computation (?P<entry>[^<>\s]{1,512})"
)
_BETWEEN = re.compile(
    r"(?P<pipeline>[^:]+): (?:after (?P<after>[^,]+)|pipeline start), "
    r"(?:before (?P<before>[^,]+)|pipeline end)"
)
_NAMED = re.compile(r"(?P<stage>(?:before|after)[ _]optimizations?)")


def with_title(name: DumpName, first_bytes: bytes) -> DumpName:
    """Return the name of a drawing with what its title says; unchanged where it says nothing.

    The entry computation names the module: such a drawing says no other name of it.
    """
    label = _LABEL.search(first_bytes.decode("utf-8", "replace"))
    if label is None:
        return name
    between = _BETWEEN.fullmatch(label["title"])
    named = _NAMED.fullmatch(label["title"])
    if not (between or named):
        return name
    titled = replace(
        name,
        module_name=label["entry"],
        frontend=explain_module(label["entry"]).frontend or name.frontend,
    )
    if between is not None:
        return _between_passes(titled, between)
    return replace(titled, stage=named["stage"].replace(" ", "_")) if named else titled


def _between_passes(name: DumpName, title: re.Match[str]) -> DumpName:
    """Return the name with pipeline and passes; pipelines begin and end with XLA's later words."""
    return replace(
        name,
        stage="pass",
        pipeline=title["pipeline"],
        after=title["after"] or "pipeline-start",
        before=title["before"] or "pipeline-end",
    )
