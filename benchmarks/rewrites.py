"""Known rewrites, applied to real modules: what a compiler does, with the answer known.

Each rewrite changes a program in place and returns the numbers of the original lines that it is
about. What a line goes on, or does the work of, stands in its `origins`.
"""

import random
import re
from collections.abc import Callable

import rewrites_of_collectives
import rewrites_of_fusions
import rewrites_of_heavy
import rewrites_of_loops
from elementwise import ELEMENTWISE, SHARE
from program import Body, Line, Program, renamed_operand
from rewrites_of_calls import clone_computations, fuse, inline

Rewrite = Callable[[Program, random.Random], set[int]]

_SPLIT = ELEMENTWISE - {"broadcast", "reshape", "slice", "transpose"}
_OTHER_OPCODE = {
    "add": "subtract",
    "and": "or",
    "divide": "multiply",
    "maximum": "minimum",
    "multiply": "divide",
    "negate": "abs",
    "subtract": "add",
    "exponential": "exponential-minus-one",
    "reshape": "bitcast",
    "xor": "or",
}


def rename(program: Program, chance: random.Random) -> set[int]:
    """Give every instruction and every computation another name, some of them one used before."""
    touched = set()
    names = [line.name for _, line in program.places()]
    chance.shuffle(names)
    for body in program.bodies:
        renamed = {}
        for line in body.lines:
            renamed[line.name] = names.pop() if chance.random() < SHARE else program.name("op")
        _rename_lines(body, renamed)
        touched |= {origin for line in body.lines for origin in line.origins}
        if not body.is_entry:
            program.renamed[body.name] = program.name("computation")
    for body in program.bodies:
        body.name = program.renamed.get(body.name, body.name)
    return touched


def _rename_lines(body: Body, renamed: dict[str, str]) -> None:
    for line in body.lines:
        line.name = renamed[line.name]
        line.operands = [renamed_operand(name, renamed) for name in line.operands]


def renumber(program: Program, chance: random.Random) -> set[int]:
    """Give a third of the instructions another number, as when names are made unique anew."""
    touched = set()
    for body in program.bodies:
        renamed = {line.name: line.name for line in body.lines}
        for line in body.lines:
            if chance.random() < SHARE:
                base = line.name.partition(".")[0]
                renamed[line.name] = program.name(base)
                touched |= set(line.origins)
        _rename_lines(body, renamed)
    return touched


def reorder(program: Program, chance: random.Random) -> set[int]:
    """Put the instructions into another order that respects the operands."""
    touched = set()
    for body in program.bodies:
        by_name = body.by_name()
        waiting = {
            line.name: {
                name
                for name in (operand.partition("#")[0] for operand in line.operands)
                if name in by_name
            }
            for line in body.lines
        }
        users = body.users()
        ready = [line for line in body.lines if not waiting[line.name]]
        order = []
        while ready:
            line = ready.pop(chance.randrange(len(ready)))
            order.append(line)
            for user in users.get(line.name, ()):
                waiting[user.name].discard(line.name)
                if not waiting[user.name] and user not in order and user not in ready:
                    ready.append(user)
        if len(order) == len(body.lines):
            body.lines = order
            touched |= {origin for line in order for origin in line.origins}
    return touched


def merge_common(program: Program, chance: random.Random) -> set[int]:
    """Merge instructions that are written alike: common subexpressions."""
    del chance
    touched = set()
    for body in program.bodies:
        known: dict[tuple[object, ...], Line] = {}
        merged: dict[str, str] = {}
        kept = []
        for line in body.lines:
            line.operands = [renamed_operand(name, merged) for name in line.operands]
            key = _written(line)
            same = known.get(key) if not line.is_root else None
            if same is None or line.opcode in {"parameter", "rng", "rng-bit-generator"}:
                known.setdefault(key, line)
                kept.append(line)
            else:
                merged[line.name] = same.name
                touched |= set(line.origins)
                same.origins = (*same.origins, *line.origins)
        body.lines = kept
    return touched


def _written(line: Line) -> tuple[object, ...]:
    attributes = line.attributes.partition("metadata=")[0]
    return (line.opcode, line.shape, tuple(line.operands), line.argument, attributes)


def remove_dead(program: Program, chance: random.Random) -> set[int]:
    """Cut some readers off, and remove what nothing reads any more."""
    touched = set()
    for body in program.bodies:
        for line in body.lines:
            if line.opcode == "tuple" and line.is_root and len(line.operands) > 2:
                gone = chance.randrange(len(line.operands))
                line.operands[gone] = line.operands[gone - 1]
        while True:
            users = body.users()
            dead = [
                line
                for line in body.lines
                if line.name not in users and not line.is_root and line.opcode != "parameter"
            ]
            if not dead:
                break
            touched |= {origin for line in dead for origin in line.origins}
            gone_lines = set(map(id, dead))
            body.lines = [line for line in body.lines if id(line) not in gone_lines]
    return touched


def replace_algebraically(program: Program, chance: random.Random) -> set[int]:
    """Let another operation under another name do the work of some."""
    touched = set()
    for body in program.bodies:
        renamed = {}
        for line in body.lines:
            other = _OTHER_OPCODE.get(line.opcode)
            if other is not None and chance.random() < SHARE:
                line.opcode = other
                name = program.name(other)
                renamed[line.name] = name
                touched |= set(line.origins)
        _rename_lines(body, {line.name: renamed.get(line.name, line.name) for line in body.lines})
    return touched


def simplify_away(program: Program, chance: random.Random) -> set[int]:
    """Remove operations that change nothing: readers read their operand."""
    touched = set()
    for body in program.bodies:
        by_name = body.by_name()
        gone: dict[str, str] = {}
        kept = []
        for line in body.lines:
            line.operands = [renamed_operand(name, gone) for name in line.operands]
            source = by_name.get(line.operands[0]) if len(line.operands) == 1 else None
            plain = line.opcode in {"copy", "reshape", "bitcast", "convert", "broadcast"}
            if plain and source is not None and not line.is_root and chance.random() < SHARE:
                gone[line.name] = source.name
                touched |= set(line.origins)
            else:
                kept.append(line)
        body.lines = kept
    return touched


def insert_copies(program: Program, chance: random.Random) -> set[int]:
    """Put copies between some instructions and their readers."""
    touched = set()
    for body in program.bodies:
        users = body.users()
        lines = []
        for line in body.lines:
            lines.append(line)
            readers = users.get(line.name, ())
            if readers and not line.shape.startswith("(") and chance.random() < SHARE / 3:
                name = program.name("copy")
                copy = Line(name, "copy", line.shape, [line.name], "", "", (), is_root=False)
                lines.append(copy)
                for reader in readers:
                    reader.operands = [
                        copy.name if name == line.name else name for name in reader.operands
                    ]
                    touched |= set(reader.origins)
        body.lines = lines
    return touched


def reorder_and_renumber(program: Program, chance: random.Random) -> set[int]:
    """Put the instructions into another order, and number some of them anew."""
    return reorder(program, chance) | renumber(program, chance)


def split(program: Program, chance: random.Random) -> set[int]:
    """Compute some instructions in two halves, and put these together."""
    touched = set()
    for body in program.bodies:
        shapes = {line.name: line.shape for line in body.lines}
        lines: list[Line] = []
        renamed = {line.name: line.name for line in body.lines}
        for line in body.lines:
            halves = _halves(line.shape)
            alike = all(shapes.get(name) == line.shape for name in line.operands)
            apt = line.operands and line.opcode in _SPLIT and not line.is_root
            if apt and alike and halves is not None and chance.random() < SHARE:
                lines += _split_line(program, line, halves)
                renamed[line.name] = program.name("concatenate")
                touched |= set(line.origins)
            lines.append(line)
        body.lines = lines
        _rename_lines(body, {one.name: renamed.get(one.name, one.name) for one in lines})
    return touched


def _halves(shape: str) -> tuple[str, str, int] | None:
    """Return the shape of one half, the further dimensions, and the size of the first."""
    found = re.fullmatch(r"(\w+)\[(\d+)((?:,\d+)*)\](\{.*)?", shape)
    if found is None or int(found[2]) % 2:
        return None
    half = f"{found[1]}[{int(found[2]) // 2}{found[3]}]{found[4] or ''}"
    return half, found[3], int(found[2])


def _split_line(program: Program, line: Line, halves: tuple[str, str, int]) -> list[Line]:
    """Let a line put together what is returned: two halves of its work, and slices for them."""
    shape, rest, size = halves
    lines, parts = [], []
    for start, end in ((0, size // 2), (size // 2, size)):
        ranges = [f"[{start}:{end}]", *(f"[0:{part}]" for part in rest.split(",") if part)]
        attributes = f"slice={{{', '.join(ranges)}}}"
        operands = []
        for name in line.operands:
            operands.append(program.name("slice"))
            lines.append(
                Line(operands[-1], "slice", shape, [name], "", attributes, (), is_root=False)
            )
        parts.append(program.name(line.name))
        lines.append(
            Line(
                parts[-1], line.opcode, shape, operands, "", line.attributes, (),
                is_root=False, origins=line.origins,
            )
        )  # fmt: skip
    line.opcode, line.operands, line.attributes = "concatenate", parts, "dimensions={0}"
    return lines


def rematerialise(program: Program, chance: random.Random) -> set[int]:
    """Give one of several readers a copy of its own."""
    touched = set()
    for body in program.bodies:
        users = body.users()
        lines = []
        for line in body.lines:
            lines.append(line)
            readers = users.get(line.name, [])
            copied = line.operands and line.opcode in ELEMENTWISE
            if len(readers) > 1 and copied and chance.random() < SHARE:
                name = program.name(f"{line.name}.remat")
                again = Line(
                    name, line.opcode, line.shape, list(line.operands), "", line.attributes,
                    line.callees, is_root=False, origins=line.origins,
                )  # fmt: skip
                lines.append(again)
                reader = chance.choice(readers)
                reader.operands = [
                    name if operand == line.name else operand for operand in reader.operands
                ]
                touched |= set(line.origins)
        body.lines = lines
    return touched


def change_layouts(program: Program, chance: random.Random) -> set[int]:
    """Store some matrices the other way round."""
    touched = set()
    for _, line in program.places():
        if line.shape.endswith("{1,0}") and chance.random() < SHARE:
            line.shape = line.shape[: -len("{1,0}")] + "{0,1}"
            touched |= set(line.origins)
    return touched


def change_types(program: Program, chance: random.Random) -> set[int]:
    """Compute some instructions in another element type, as float normalization does."""
    touched = set()
    for _, line in program.places():
        if line.shape.startswith("f32[") and line.operands and chance.random() < SHARE:
            line.shape = "bf16" + line.shape[3:]
            touched |= set(line.origins)
    return touched


def mixed(program: Program, chance: random.Random) -> set[int]:
    """Do several of these at once, as between two files that are far apart."""
    touched = simplify_away(program, chance)
    touched |= replace_algebraically(program, chance)
    touched |= merge_common(program, chance)
    touched |= fuse(program, chance)
    return touched | renumber(program, chance)


REWRITES: dict[str, Rewrite] = {
    "rename": rename,
    "renumber": renumber,
    "reorder": reorder,
    "reorder and renumber": reorder_and_renumber,
    "common subexpressions": merge_common,
    "dead code": remove_dead,
    "algebraic replacement": replace_algebraically,
    "simplified away": simplify_away,
    "copies put in": insert_copies,
    "fusion": fuse,
    "inlining": inline,
    "cloned computations": clone_computations,
    "split": split,
    "rematerialisation": rematerialise,
    "layout": change_layouts,
    "element type": change_types,
    "several at once": mixed,
    "dots swapped": rewrites_of_heavy.swap_dots,
    "dots to library calls": rewrites_of_heavy.call_libraries,
    "dots into fusions": rewrites_of_heavy.fuse_dots,
    "split-K": rewrites_of_heavy.split_k,
    "convolutions": rewrites_of_heavy.canonicalize_convolutions,
    "scatters to updates": rewrites_of_heavy.update_slices,
    "rematerialized dots": rewrites_of_heavy.rematerialize_dots,
    "collectives combined": rewrites_of_collectives.combine_collectives,
    "collectives split": rewrites_of_collectives.split_collectives,
    "asynchronous pairs": rewrites_of_collectives.start_collectives,
    "loops shrunk": rewrites_of_loops.shrink_loops,
    "loops peeled": rewrites_of_loops.peel_loops,
    "loops unrolled by two": rewrites_of_loops.unroll_loops,
    "loops unrolled": rewrites_of_loops.unroll_loops_whole,
    "loops split": rewrites_of_loops.split_loops,
    "moved out of loops": rewrites_of_loops.move_out_of_loops,
    "fusion into fusion": rewrites_of_fusions.fuse_into_readers,
    "multi-output fusion": rewrites_of_fusions.fuse_siblings,
    "outlining": rewrites_of_fusions.outline,
    "deduplication": rewrites_of_fusions.deduplicate,
}
