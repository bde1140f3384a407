"""How much of an input is taken: each message names its option."""

import pytest

from xlareport.cli.build import command
from xlareport.runtime.limits import (
    LIMITS,
    FileTooLargeError,
    Limits,
    too_large,
    too_many_bytes,
    too_many_files,
)

OPTIONS = {option for parameter in command.params for option in parameter.opts}


@pytest.mark.parametrize(
    ("message", "option", "figure"),
    [
        (str(too_many_files(Limits(files=1_000))), "--max-files", "1,000 files"),
        (str(too_many_bytes(Limits(total_bytes=2_000))), "--max-total-size", "2,000 bytes"),
        (str(FileTooLargeError(Limits(file_bytes=3_000))), "--max-file-size", "3,000 bytes"),
        (too_large(4_000, "--max-beside-size"), "--max-beside-size", "4,000 bytes"),
    ],
)
def test_a_limit_is_named_with_the_option_that_raises_it(
    message: str, option: str, figure: str
) -> None:
    assert figure in message
    assert message.endswith(f"allow more with {option}")
    assert option in OPTIONS


def test_the_defaults_are_those_of_the_command() -> None:
    defaults = {parameter.name: parameter.default for parameter in command.params}
    assert defaults["max_files"] == LIMITS.files
