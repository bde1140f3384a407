"""TensorFlow's log: why its auto-clustering left an operation out.

With `TF_CPP_VMODULE=compilability_check_util=3` and `TF_CPP_MIN_LOG_LEVEL=0` TensorFlow names each
operation that XLA cannot compile, with the reason.
"""

import re
from collections.abc import Mapping

_LINE = re.compile(
    r"Found uncompilable node (?P<name>[^ ]{1,1000}) \(op [^ )]{1,200}\): (?P<reason>[^\n]{1,1000})"
)


def read_tf_log(data: bytes) -> Mapping[str, str]:
    """Return the reasons by the name of the operation; empty for a log without any."""
    text = data.decode(errors="replace")
    return {match["name"]: match["reason"] for match in _LINE.finditer(text)}
