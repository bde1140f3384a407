"""Known rewrites that move instructions from one computation into another."""

import random

from elementwise import ELEMENTWISE, SHARE
from program import Body, Line, Program, renamed_operand


def fuse(program: Program, chance: random.Random) -> set[int]:
    """Put chains of elementwise operations into fusions; what others read too is copied."""
    touched: set[int] = set()
    made = []
    for body in list(program.bodies):
        by_name = body.by_name()
        users = body.users()
        taken: set[str] = set()
        for root in reversed(list(body.lines)):
            if root.opcode in ELEMENTWISE and root.name not in taken and chance.random() < SHARE:
                members = _fusible(root, by_name, taken, chance)
                if len(members) > 1:
                    made.append(_fuse_group(program, body, members, users))
                    taken |= {line.name for line in members}
                    touched |= {origin for line in members for origin in line.origins}
    program.bodies[:0] = made
    for body in program.bodies:
        _drop_unread(body)
    return touched


def _fusible(
    root: Line, by_name: dict[str, Line], taken: set[str], chance: random.Random
) -> list[Line]:
    """Return the root and some of what leads to it, operands first."""
    members = [root]
    queue = list(root.operands)
    while queue and len(members) < 8:
        line = by_name.get(queue.pop(0))
        free = line is not None and line.opcode in ELEMENTWISE and line not in members
        if line is not None and free and line.name not in taken and chance.random() < 0.8:
            members.append(line)
            queue += line.operands
    order = {name: place for place, name in enumerate(by_name)}
    return sorted(members, key=lambda line: order[line.name])


def _fuse_group(
    program: Program, body: Body, members: list[Line], users: dict[str, list[Line]]
) -> Body:
    del users
    names = {line.name for line in members}
    outside = dict.fromkeys(
        operand for line in members for operand in line.operands if operand not in names
    )
    by_name = body.by_name()
    inside: dict[str, str] = {}
    lines = []
    for number, operand in enumerate(outside):
        name = program.name("param")
        inside[operand] = name
        shape = _shape_of(by_name, operand)
        lines.append(Line(name, "parameter", shape, [], str(number), "", (), is_root=False))
    root = members[-1]
    for line in members:
        name = program.name(line.name)
        operands = [inside[operand] for operand in line.operands]
        inside[line.name] = name
        lines.append(
            Line(
                name, line.opcode, line.shape, operands, "", line.attributes, line.callees,
                line is root, line.origins,
            )
        )  # fmt: skip
    fused = Body(program.name("fused_computation"), lines, is_entry=False)
    place = body.lines.index(root)
    body.lines[place] = Line(
        root.name + ".fusion", "fusion", root.shape, list(outside), "",
        f"kind=kLoop, calls=%{fused.name}", (fused.name,), root.is_root,
    )  # fmt: skip
    for line in body.lines:
        line.operands = [
            body.lines[place].name if name == root.name else name for name in line.operands
        ]
    return fused


def _shape_of(by_name: dict[str, Line], operand: str) -> str:
    name, _, element = operand.partition("#")
    line = by_name.get(name)
    if line is None or element:
        return "f32[]"
    return line.shape


def _drop_unread(body: Body) -> None:
    """Remove elementwise operations that only what was fused had read."""
    while True:
        users = body.users()
        kept = [
            line
            for line in body.lines
            if line.is_root or line.name in users or line.opcode not in ELEMENTWISE
        ]
        if len(kept) == len(body.lines):
            return
        body.lines = kept


def inline(program: Program, chance: random.Random) -> set[int]:
    """Put what calls and fusions call in their place."""
    touched: set[int] = set()
    bodies = {body.name: body for body in program.bodies}
    for body in program.bodies:
        lines: list[Line] = []
        renamed: dict[str, str] = {}
        for line in body.lines:
            line.operands = [renamed_operand(name, renamed) for name in line.operands]
            callee = bodies.get(line.callees[0]) if len(line.callees) == 1 else None
            simple = line.opcode in {"call", "fusion"} and not line.is_root
            if callee is None or not simple or chance.random() > 0.7:
                lines.append(line)
                continue
            root, members = _inlined(program, callee, line.operands)
            if root is None:
                lines.append(line)
                continue
            lines += members
            renamed[line.name] = root
            touched |= {origin for member in members for origin in member.origins}
        body.lines = lines
    called = {name for body in program.bodies for line in body.lines for name in line.callees}
    program.bodies = [body for body in program.bodies if body.is_entry or body.name in called]
    return touched


def _inlined(program: Program, callee: Body, operands: list[str]) -> tuple[str | None, list[Line]]:
    inside: dict[str, str] = {}
    members = []
    root = None
    for line in callee.lines:
        if line.opcode == "parameter":
            inside[line.name] = operands[int(line.argument)]
            if "#" in operands[int(line.argument)]:
                return None, []
            continue
        name = program.name(line.name)
        inside[line.name] = name
        members.append(
            Line(
                name, line.opcode, line.shape,
                [renamed_operand(operand, inside) for operand in line.operands],
                line.argument, line.attributes, line.callees, is_root=False, origins=line.origins,
            )
        )  # fmt: skip
        root = name if line.is_root else root
    if root is None or any(line.opcode == "tuple" for line in members):
        return None, []
    return root, members


def clone_computations(program: Program, chance: random.Random) -> set[int]:
    """Give every caller of a computation its own copy."""
    del chance
    touched: set[int] = set()
    bodies = {body.name: body for body in program.bodies}
    seen: set[str] = set()
    for body in list(program.bodies):
        for line in body.lines:
            new = []
            for name in line.callees:
                if name in seen and name in bodies:
                    copy = cloned(program, bodies[name])
                    program.bodies.insert(0, copy)
                    line.attributes = line.attributes.replace(name, copy.name)
                    new.append(copy.name)
                    touched |= {origin for one in copy.lines for origin in one.origins}
                else:
                    seen.add(name)
                    new.append(name)
            line.callees = tuple(new)
    return touched


def cloned(program: Program, body: Body) -> Body:
    """Return a copy of a computation with fresh names."""
    renamed = {line.name: program.name(line.name) for line in body.lines}
    lines = [
        Line(
            renamed[line.name], line.opcode, line.shape,
            [renamed_operand(name, renamed) for name in line.operands],
            line.argument, line.attributes, line.callees, line.is_root, line.origins,
        )
        for line in body.lines
    ]  # fmt: skip
    return Body(program.name(f"{body.name}.clone"), lines, is_entry=False)
