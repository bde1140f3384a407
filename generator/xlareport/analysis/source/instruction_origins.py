"""The op_name and the source line of each instruction of a module, or of the op that it serves."""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.source.combined_ops import is_combined, member_op_names
from xlareport.analysis.source.locations import SourcePlace, op_name_of, places_by_op, places_of
from xlareport.analysis.source.member_places import MemberPlaces
from xlareport.analysis.source.served_ops import main_op, serve_ops
from xlareport.hlo.model import HloModule, Instruction

MemberOrigin = tuple[str, SourcePlace | None]
"""The op_name of a member of a combined collective, empty if unknown, and its line."""


class InstructionOrigin(Struct, frozen=True):
    """The program's operation behind an instruction."""

    instruction: Instruction | None = None
    """None for a name that the module does not have."""
    op_name: str = ""
    place: SourcePlace | None = None


class InstructionOrigins:
    """The origins of the instructions of one module, by name."""

    def __init__(
        self,
        origins: Mapping[str, InstructionOrigin],
        members: Mapping[str, tuple[MemberOrigin, ...]] | None = None,
    ) -> None:
        """Keep them; `members` has the op_names and lines of members of combined collectives."""
        self._origins = origins
        self._members = members or {}

    def find(self, name: str) -> InstructionOrigin:
        """Return the origin of an instruction; an empty one for an unknown name."""
        return self._origins.get(name, _UNKNOWN)

    def find_value(self, name: str, index: tuple[int, ...]) -> InstructionOrigin:
        """Return the origin of a value; an element of a combined collective has its member's."""
        origin, members = self.find(name), self._members.get(name, ())
        member = members[index[-1]] if index and index[-1] < len(members) else ("", None)
        op_name, place = member
        return replace(origin, op_name=op_name, place=place) if op_name else origin


_UNKNOWN = InstructionOrigin()


def find_origins(module: HloModule) -> InstructionOrigins:
    """Return the origins of all instructions.

    An instruction without op_name has that of the op it serves, and a line if all lines of the
    module with that op_name are one. Arguments serve no op.
    """
    served, place_of = serve_ops(module), places_of(module)
    pairs = list(module.placed)
    places = places_by_op(module)
    origins: dict[str, InstructionOrigin] = {}
    for computation, instruction in pairs:
        op_name, place = op_name_of(instruction, module), place_of(instruction)
        if not op_name and instruction.opcode != "parameter":
            op_name = main_op(served.get((computation.name, instruction.name), ()))
            place = place or places.get(op_name)
        origins[instruction.name] = InstructionOrigin(instruction, op_name, place)
    member_places = MemberPlaces(module)
    members = {
        instruction.name: tuple(
            zip(
                member_op_names(module, computation, instruction),
                member_places.of(computation, instruction),
                strict=True,
            )
        )
        for computation, instruction in pairs
        if is_combined(instruction)
    }
    return InstructionOrigins(origins, members)
