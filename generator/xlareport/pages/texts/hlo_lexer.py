"""A Pygments lexer for HLO text, of any era: `pygmentize -l hlo FILE`.

It is registered as a plug-in of Pygments; the pages color by script (texts/syntax.js).
It takes linear time: no expression here can fail after more than one walk over what it matched.
"""

from typing import ClassVar

from pygments.lexer import RegexLexer
from pygments.token import (
    Comment,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Text,
    Whitespace,
)

_NAME = r"[A-Za-z_][\w.$-]*+"
_STRING = r'"(?:[^"\\\n]|\\.)*+"?+'
_NUMBER = r"-?(?:0x[0-9a-fA-F]++|\d++(?:\.\d++)?(?:[eE][+-]?\d++)?)"


class HloLexer(RegexLexer):  # type: ignore[misc]
    """HLO text: modules, computations, instructions with shapes, layouts and attributes."""

    name = "HLO"
    url = "https://openxla.org/xla"
    aliases: ClassVar[list[str]] = ["hlo"]
    filenames: ClassVar[list[str]] = ["*.hlo"]
    mimetypes: ClassVar[list[str]] = ["text/x-hlo"]

    tokens: ClassVar = {
        "root": [
            (r"\s++", Whitespace),
            (r"//[^\n]*+", Comment.Single),
            (r"/\*(?:[^*]|\*(?!/))*+(?:\*/)?+", Comment.Multiline),
            (_STRING, String),
            (r"(?:HloModule|ENTRY|ROOT)\b", Keyword),
            (r"(?:FileNames|FunctionNames|FileLocations|StackFrames)\b(?=[ \t]*+\n)", Keyword),
            (r"%[\w.$-]++", Name.Variable),
            (r"(?:pred|token|opaque|[sufc]\d\w*+|bf\d\w*+)(?=\[)", Keyword.Type),
            (r"(?:true|false|inf|nan)\b", Keyword.Constant),
            (r"[a-z_]\w*+(?==[^ ])", Name.Attribute),
            (r"[a-z][\w-]*+(?=\()", Name.Function),
            (_NAME, Name),
            (_NUMBER, Number),
            (r"->|[=<>+*/|-]", Operator),
            (r"[][(){},:;?@#']", Punctuation),
            (r".", Text),
        ]
    }

    @staticmethod
    def analyse_text(text: str) -> float:
        """Return whether a text is HLO: modules begin with a word that nothing else begins with."""
        return 1.0 if text.lstrip().startswith("HloModule ") else 0.0
