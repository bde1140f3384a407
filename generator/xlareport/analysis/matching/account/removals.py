"""Explains instructions that are only in the old module."""

from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from xlareport.analysis.matching.account.carried import dropped
from xlareport.analysis.matching.account.dead import DeadLines
from xlareport.analysis.matching.account.epilogues import taken_over
from xlareport.analysis.matching.account.loop_starts import LoopStarts
from xlareport.analysis.matching.account.neutral import beside_given, gives_operand
from xlareport.analysis.matching.account.reads import (
    WITHOUT_NODES,
    as_written,
    gives_another,
    has_other_operands,
    put_again,
    read_place,
    reads_now,
)
from xlareport.analysis.matching.account.twins import twin_after
from xlareport.analysis.matching.account.unread_arguments import unread_argument
from xlareport.analysis.matching.search.nodes import (
    PairVerdict,
    equal_element_read,
    is_root,
    is_written_operand,
    node_after,
    paired_users,
    place_of,
    read_at,
    same_fill,
)
from xlareport.analysis.matching.search.pairing import ChangeCause
from xlareport.analysis.matching.search.reasons import (
    REDUCED_NOTHING,
    Reason,
    RegroupedInto,
    WithUser,
)
from xlareport.analysis.matching.search.search import NodePair, Search
from xlareport.analysis.matching.sides.elements import taken_again
from xlareport.analysis.matching.sides.graph import Node, element_taken, opened_root
from xlareport.analysis.matching.sides.halves import is_done, is_start
from xlareport.analysis.matching.sides.loop_results import behind_copies
from xlareport.analysis.matching.sides.passed import reduces_nothing
from xlareport.hlo.model import Instruction
from xlareport.hlo.opcode_groups import TUPLES
from xlareport.knowledge.grades import Grade

_CARRIERS = frozenset({"call", "conditional", "get-tuple-element", "tuple", "while"})
"""Opcodes that pass values on, to a callee or as elements of a tuple."""
_ELEMENT = "get-tuple-element"
_FARTHEST = 100
"""Limit on removed users that are followed to a remaining one."""
_BY_CALLER = frozenset({ChangeCause.OPERAND, ChangeCause.UNMATCHED})
"""Causes that are as sure as the pairing of the caller."""


class Removals:
    """Explains removed instructions: merged, read elsewhere, or dead."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._starts = LoopStarts(search)
        self._lives: dict[Node, bool] = {}
        for node in reversed(search.before.values.order):
            self._lives[node] = node.partner is not None or self._merged(node)
        self._dead = DeadLines(search.before, self._lives)

    def verdict(self, node: Node) -> PairVerdict:
        """Return the explanation for a removed node: its duplicate, replacement or cause."""
        twin = self.twin(node) or self._same_element(node) or taken_again(node)
        if twin is not None and not reduces_nothing(self._search.before, node):
            kept = self._read_equal(node, twin)
            return PairVerdict(kept, Grade.EXACT, "a duplicate of what was kept")
        whole = self._done_at_once(node)
        if whole is not None:
            name = whole.instruction.name
            return PairVerdict(whole, Grade.MATCHED, f"%{name} is begun and ended at once")
        cause = self.cause(node)
        if cause is not None:
            grade = Grade.MATCHED if cause in _BY_CALLER else Grade.EXACT
            return PairVerdict(None, grade, str(cause), cause)
        for likely, words in self._likely_twins(node):
            return PairVerdict(likely, Grade.MATCHED, words)
        for reason in self._reasons(node):
            return PairVerdict(None, Grade.MATCHED, reason)
        return PairVerdict(None, Grade.GUESSED, "no continuation was found")

    def _read_equal(self, node: Node, twin: Node) -> Node:
        """Return which of the equal nodes beside a twin the users of a node read now.

        Of a user that was merged too, what it was merged into.
        """
        reads: list[Node] = []
        for user, position in self._search.before.users.get(node, ()):
            other = user.partner or self.twin(user)
            if other is not None and not has_other_operands(user, other):
                read = read_at(self._search.after, other, position)
                if read and read.frame is twin.frame and read.token == twin.token:
                    reads.append(read)
        return twin if twin in reads or not reads else reads[0]

    def _likely_twins(self, node: Node) -> Iterator[tuple[Node, str]]:
        """Yield what has the value of a removed node and is read in its place, with the reason."""
        element = equal_element_read(node)
        if element is not None:
            yield element, "a duplicate of what was kept"
        fill = same_fill(self._search.before, self._search.after, node)
        if fill is not None:
            yield fill, f"%{fill.instruction.name} repeats the same constant"

    def _same_element(self, node: Node) -> Node | None:
        """Return the new node for a duplicate `get-tuple-element` of the same tuple element."""
        line, computation = node.instruction, node.frame.computation
        if line.opcode != _ELEMENT or not line.operand_names:
            return None
        operand = next(iter(line.operand_names))
        for other in computation.users.get(operand, ()):
            alike = other.opcode == _ELEMENT and other.operands == line.operands
            if other is line or not alike or element_taken(other) != element_taken(line):
                continue
            twin = node.frame.node(other)
            after = node_after(self._search, twin)
            if after is not None and self._is_read_instead(node, after):
                return after
        return None

    def _is_read_instead(self, node: Node, after: Node) -> bool:
        """Return whether a user of `node` reads `after` in the same operand position now."""
        name = node.instruction.name
        for line in node.frame.computation.users.get(name, ()):
            reader = node.frame.nodes.get(line.name)
            now = None if reader is None or reader.partner is None else reader.partner.instruction
            if now is None or (len(now.operands) != len(line.operands) and now.opcode != "tuple"):
                continue
            places = [*line.operand_names], [*now.operand_names]
            if (name, after.instruction.name) in zip(*places, strict=False):
                return True
        return False

    def twin(self, node: Node) -> Node | None:
        """Return the node that a merged node became; None if it was not merged."""
        return self._twin(node) if self._lives.get(node) else None

    def _twin(self, node: Node) -> Node | None:
        """Return the new node with the value of `node`, or that of the node that it duplicated.

        Nothing was merged into what another program has.
        """
        if self._search.parted is not None:
            return None
        twin = twin_after(self._search, node, self._starts)
        if twin is not None or node.partner is not None or node.constant or not node.inputs:
            return twin
        link = self._linked_repeats.get(self._search.before.own_values.get(node))
        return None if link is None else link.after

    @cached_property
    def _linked_repeats(self) -> Mapping[Hashable, NodePair]:
        """The first link of each value, by the value numbers of the old module alone."""
        values = self._search.before.own_values
        links: dict[Hashable, NodePair] = {}
        for link in self._search.links:
            if not link.before.kept:
                links.setdefault(values.get(link.before), link)
        links.pop(None, None)
        return links

    def _done_at_once(self, node: Node) -> Node | None:
        """For a `done`, return the synchronous instruction that replaced start and done."""
        if not is_done(node):
            return None
        operands = self._search.before.graph.operands(node)
        whole = operands[0][0].partner if operands else None
        return None if whole is None or is_start(whole) else whole

    def _merged(self, node: Node) -> bool:
        """Whether a reader that lives on can have taken the twin for it."""
        twin = self._twin(node)
        if twin is None:
            return False
        result = opened_root(node) or node
        users = self._search.before.users.get(result, ())
        given = is_root(node) and self._is_needed(node.frame.caller)
        return given or any(self._takes_twin(node, twin, use) for use in users)

    def _is_needed(self, caller: Node | None) -> bool:
        """Whether what a fusion or call gives can have been read on; so if it is not known."""
        if caller is None or is_root(caller):
            return True
        readers = caller.frame.computation.users.get(caller.instruction.name, ())
        nodes = (caller.frame.nodes.get(reader.name) for reader in readers)
        return any(
            node is None
            or node.instruction.opcode in WITHOUT_NODES
            or self._lives.get(node, node.kept)
            for node in nodes
        )

    def _takes_twin(self, node: Node, twin: Node, use: tuple[Node, int]) -> bool:
        """Whether a reader lives on and reads the same value."""
        user, position = use
        if user.partner is None:
            return self._lives.get(user, user.kept)
        if has_other_operands(user, user.partner):
            side = self._search.after
            given = side.graph.operands(user.partner)
            return any(behind_copies(side, operand)[0] is twin for operand in given)
        read = read_at(self._search.after, user.partner, position)
        return read is not None and (read is twin or read.token == node.token)

    def cause(self, node: Node) -> ChangeCause | None:
        """Return the cause that alone explains the removal; None if there is none."""
        if self._dead.had_no_callers(node.frame):
            return ChangeCause.UNCALLED
        caller = node.frame.caller if node.instruction.opcode == "parameter" else None
        if caller is not None and self._is_dissolved(caller):
            return self._cause_of_parameter(caller)
        if node.instruction.name in self._dead.of(node.frame):
            return ChangeCause.UNUSED if self._is_read(node) else ChangeCause.UNREAD
        return None if caller is None else self._cause_of_parameter(caller)

    def _is_dissolved(self, caller: Node) -> bool:
        """Return whether a call was inlined, or a fusion merged: it is gone and was not dead."""
        gone = caller.partner is None and not caller.kept
        return gone and caller.instruction.name not in self._dead.of(caller.frame)

    def _cause_of_parameter(self, caller: Node) -> ChangeCause:
        """Return why a parameter is gone, by what became of the fusion or call that it is of."""
        if caller.kept or caller.partner is not None:
            return ChangeCause.OPERAND
        two_programs = self._search.parted is not None
        return ChangeCause.UNMATCHED if two_programs else ChangeCause.ARGUMENT

    def _reasons(self, node: Node) -> Iterator[Reason]:
        if node in self._search.regrouped:
            words, whole = self._search.regrouped[node], self._search.regrouped_into[node]
            yield RegroupedInto(*place_of(whole), f"replaced by {words}")
        if reduces_nothing(self._search.before, node):
            yield REDUCED_NOTHING
        users = self._search.before.users.get(node, [])
        given = gives_operand(self._search.before, node)
        if given is not None and (is_root(node) or any(self._living_users(users))):
            yield given
        yield from self._without_users(node) if not users else self._with_users(node, users)

    @staticmethod
    def _is_read(node: Node) -> bool:
        return is_root(node) or bool(node.frame.computation.users.get(node.instruction.name))

    def _without_users(self, node: Node) -> Iterator[str]:
        readers = node.frame.computation.users.get(node.instruction.name, ())
        yield from self._read_as_element(node)
        yield from put_again(self._search, node)
        if len(readers) == 1:
            reader = node.frame.nodes.get(readers[0].name)
            now = None if reader is None else reader.partner
            yield from dropped(self._search, node, now, readers[0])
        yield from self._named_anew(node, readers)
        if len(readers) == 1:
            yield f"it only gave a value to %{readers[0].name}"
        if readers and all(reader.opcode in _CARRIERS for reader in readers):
            yield f"its {len(readers)} users only passed its value on"
        if readers:
            yield f"its {len(readers)} users no longer use it"
        name = node.frame.computation.name
        root = self._root_after(name)
        if is_root(node) and root is not None:
            yield f"%{root} is the root of its computation instead"
        if name not in self._search.after.graph.module.by_name:
            yield from self._without_callers(name)

    def _named_anew(self, node: Node, readers: Sequence[Instruction]) -> Iterator[str]:
        """Yield what has the name of a node now, for readers that stayed as they were written."""
        home = self._search.after.frames.get(node.frame.number)
        line = None if home is None else home.computation.by_name.get(node.instruction.name)
        if home is None or line is None or not all(user in node.frame.kept for user in readers):
            return
        former = home.node(line).partner
        if readers and former is not None and former is not node:
            use = f"its {len(readers)} users use" if readers[1:] else f"%{readers[0].name} uses"
            yield f"{use} what was %{former.instruction.name}, which has its name now"

    def _read_as_element(self, node: Node) -> Iterator[str]:
        """Yield what the users of an element or of an opened call read now: these are no nodes."""
        if node.instruction.opcode not in WITHOUT_NODES:
            return
        for reader, other, place in paired_users(node):
            is_tuple = reader.instruction.opcode in TUPLES
            if is_tuple and not self._puts_the_same(reader, other, place):
                continue
            name = [*other.instruction.operand_names][place]
            if name != node.instruction.name:
                yield f"%{other.instruction.name} uses %{name} instead"

    def _puts_the_same(self, reader: Node, partner: Node, place: int) -> bool:
        """Return whether a tuple and its partner have one value at a place."""
        read = self._search.before.graph.operands(reader)[place:]
        now = self._search.after.graph.operands(partner)[place:]
        pairs = zip(read[:1], now[:1], strict=False)
        return any(
            node.token == other.token and path == there for (node, path), (other, there) in pairs
        )

    def _without_callers(self, computation: str) -> Iterator[str]:
        """Yield why a removed computation has no call left: it was changed or removed."""
        for home, call in self._search.before.graph.call_sites(computation)[:1]:
            frame = self._search.before.homes.get(home.name)
            node = None if frame is None else frame.node(call.instruction)
            lives = node is not None and (node.kept or node.partner is not None)
            name = call.instruction.name
            fate = "no longer calls its computation"
            yield f"%{name} {fate if lives else 'called its computation, and is gone'}"

    def _root_after(self, computation: str) -> str | None:
        """Return the name of the root of the computation that continues `computation`."""
        name = self._search.computations.pairs.get(computation, "")
        result = self._search.after.graph.module.by_name.get(name)
        return None if result is None or result.root is None else result.root.name

    def _with_users(self, node: Node, users: list[tuple[Node, int]]) -> Iterator[Reason]:
        known = [use for use in users if use[0].partner is not None]
        unread = unread_argument(self._search, users)
        if unread:
            yield unread
        yield from taken_over(self._search, node, known)
        yield from self._reads_of(node, known, near=True)
        farther = self._reads_of(node, self._living_users(users), near=False)
        if not any(self._lives.get(user, user.kept) for user, _ in users):
            more = beside_given(self._search.before, node) or next(farther, "")
            yield self._with_user(users[0][0], node, more)
        yield from farther

    def _with_user(self, user: Node, node: Node, more: str) -> WithUser:
        """Return the removal with a user of a node, or of its value behind a call."""
        former, direct = self._former(user), is_written_operand(user, node)
        subject = f"its user {former}" if direct else f"{former} used its value and"
        return WithUser(user.instruction.name, subject, more)

    def _former(self, user: Node) -> str:
        """Return a removed instruction's name, with a note if another instruction has it now."""
        name = user.instruction.name
        home = user.frame.computation.name
        computation = self._search.computations.pairs.get(home, home)
        after = self._search.after.graph.module.by_name.get(computation)
        taken = after is not None and name in after.by_name
        return f"%{name}, whose name another has now," if taken else f"%{name}"

    def _reads_of(
        self, node: Node, uses: Iterable[tuple[Node, int]], *, near: bool
    ) -> Iterator[str]:
        """Yield what remaining users, or users of users, read now; those without operands last."""
        constants = list[str]()
        for user, position in uses:
            if user.partner is None:
                continue
            if has_other_operands(user, user.partner):
                yield from dropped(self._search, node, user.partner, user.instruction)
                yield f"%{user.partner.instruction.name} no longer uses it"
                continue
            place = read_place(self._search, node, user, position)
            now = read_at(self._search.after, user.partner, place)
            yield from self._root_instead(node, user, place, now)
            if now is not None and not gives_another(node, user, now):
                yield reads_now(node, user.partner, place, now, near=near)
                continue
            former, name = self._former(user), f"%{user.partner.instruction.name}"
            if user.partner.instruction.operands:
                yield f"{'its user ' if near else ''}{former} became {name}"
                continue
            subject = f"its user {former}" if near else f"{former}, which depended on it,"
            constants.append(f"{subject} became {name}, which has no operands")
        yield from constants

    def _root_instead(
        self, node: Node, user: Node, position: int, now: Node | None
    ) -> Iterator[str]:
        """Yield what is the root of a fusion now, whose reader reads the same fusion as before."""
        if now is None or user.partner is None or not is_root(node):
            return
        if as_written(user, position, node) != as_written(user.partner, position, now):
            return
        root = self._root_after(node.frame.computation.name)
        if root is not None and root != node.instruction.name:
            yield f"%{root} is the root of its computation instead"

    def _living_users(self, users: list[tuple[Node, int]]) -> Iterator[tuple[Node, int]]:
        """Yield the nearest users that have a partner, looking through removed users but tuples."""
        waiting = deque(users)
        for _ in range(_FARTHEST):
            if not waiting:
                return
            user, position = waiting.popleft()
            if user.partner is not None:
                yield user, position
            elif not user.kept and user.instruction.opcode != "tuple":
                waiting.extend(self._search.before.users.get(user, ()))
