"""Two programs of a liquid of particles on a grid: a time step with a multigrid pressure solver, and a picture of its surface.

For four v5p chips, ahead of time: mesh x 2 x y 2, plain jit, halos left to the partitioner. Particles carry velocities
(FLIP with a share of PIC), scattered to faces by eight corners and read back by gathers, cells that hold particles are
liquid, walls and a moving paddle are solid; pressure by conjugate gradients in a while loop, its preconditioner one cycle
over three grids with damped sweeps in loops, time steps by the largest velocity, two stages to move particles; the picture:
distances by a scatter of minima, upwind steps until they rest in a while loop, rays along z, smoothed, shaded.
"""

import os

os.environ.update(
    JAX_PLATFORMS="cpu",
    TPU_SKIP_MDS_QUERY="1",
    TPU_WORKER_HOSTNAMES="localhost",
    ALLOW_MULTIPLE_LIBTPU_LOAD="1",
)
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

topo = topologies.get_topology_desc(platform="tpu", topology_name="v5p:2x2x1")
mesh = Mesh(np.array(topo.devices).reshape(2, 2), ("x", "y"))
f32, i32 = jnp.float32, jnp.int32
X, Y, Z, N = 128, 128, 32, 1 << 18  # cells and particles


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))
grid = lambda x: con(x, "x", "y", None)
state = dict(
    at=S((N, 3), f32, ("x", "y")),
    v=S((N, 3), f32, ("x", "y")),
    p=S((X, Y, Z), f32, "x", "y"),
    wall=S((X, Y, Z), jnp.bool_, "x", "y"),
    time=S((), f32),
)
size = np.array([X, Y, Z], np.float32)
corners = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)], np.int32)


def weights(at, axis):
    s = at - jnp.where(jnp.arange(3) == axis, 0.0, 0.5)
    low = jnp.floor(s)
    f = (s - low)[:, None]
    w = jnp.prod(jnp.where(corners == 1, f, 1 - f), -1)
    cell = jnp.clip(low.astype(i32)[:, None] + corners, 0, jnp.array([X - 1, Y - 1, Z - 1]))
    return (cell[..., 0] * Y + cell[..., 1]) * Z + cell[..., 2], w


def to_faces(at, v, axis):
    cell, w = weights(at, axis)
    both = jnp.stack([w * v[:, axis, None], w], -1)
    out = jnp.zeros((X * Y * Z, 2), f32).at[cell].add(both)
    out = con(out.reshape(X, Y, Z, 2), "x", "y", None, None)
    return out[..., 0] / jnp.maximum(out[..., 1], 1e-6)


def read(face, at, axis):
    cell, w = weights(at, axis)
    return jnp.sum(face.reshape(-1)[cell] * w, -1)


def shift(x, axis, by):
    """Neighbors; none beyond the box."""
    pad = [(0, 0, 0)] * 3
    pad[axis] = (by, -by, 0)
    return grid(lax.pad(x, jnp.zeros((), x.dtype), pad))


def laplace(p, wet, open_):
    near = sum(shift(p * wet, a, s) for a in range(3) for s in (1, -1))
    return (open_ * p - near) * wet


def sweeps(p, b, wet, open_, n):
    def one(_, p):
        return p + 0.8 * wet * (b - laplace(p, wet, open_)) / jnp.maximum(open_, 1)

    return lax.fori_loop(0, n, one, p)


def halves(x, how):
    return grid(
        how(x.reshape(x.shape[0] // 2, 2, x.shape[1] // 2, 2, x.shape[2] // 2, 2), (1, 3, 5))
    )


def doubled(x):
    return grid(jnp.repeat(jnp.repeat(jnp.repeat(x, 2, 0), 2, 1), 2, 2))


def cycle(b, levels):
    (wet, open_), *rest = levels
    p = sweeps(jnp.zeros_like(b), b, wet, open_, 3)
    if rest:
        r = halves(b - laplace(p, wet, open_), jnp.sum) * 0.5
        p = p + wet * doubled(cycle(r, rest))
    return sweeps(p, b, wet, open_, 3 if rest else 12)


def openings(wall):
    free = (~wall).astype(f32)
    return sum(shift(free, a, s) for a in range(3) for s in (1, -1))


def fluid_step(state):
    at, v, wall = state["at"], state["v"], state["wall"]
    paddle = jnp.abs(jnp.arange(X) - (20 + 8 * jnp.sin(state["time"]))) < 2
    wall = grid(wall | paddle[:, None, None])
    dt = jnp.minimum(0.1, 2.0 / jnp.max(jnp.linalg.norm(v, axis=1)))
    v = v.at[:, 2].add(-9.8 * dt)
    faces = [to_faces(at, v, a) for a in range(3)]
    cell = at.astype(i32)
    held = jnp.zeros((X, Y, Z), i32).at[cell[:, 0], cell[:, 1], cell[:, 2]].add(1, mode="drop")
    wet = grid(((held > 0) & ~wall).astype(f32))
    speed = jnp.where(paddle, 8 * jnp.cos(state["time"]), 0.0)[:, None, None]
    shut = [wall | shift(wall, a, 1) for a in range(3)]
    old = [
        jnp.where(s, speed if a == 0 else 0.0, f)
        for a, (f, s) in enumerate(zip(faces, shut, strict=True))
    ]
    div = sum(shift(f, a, -1) - f for a, f in enumerate(old)) * wet
    crowd = 0.5 * jnp.maximum(held.astype(f32) - 8, 0) * wet
    b = -(div - crowd) / dt
    levels = [(wet, openings(wall))]
    for _ in range(2):
        w, o = levels[-1]
        levels.append((halves(w, jnp.max), halves(o, jnp.mean)))

    def turn(c):
        p, r, s, rz, n = c
        a = laplace(s, wet, levels[0][1])
        alpha = rz / (jnp.vdot(s, a) + 1e-20)
        p, r = p + alpha * s, r - alpha * a
        z = cycle(r, levels)
        new = jnp.vdot(r, z)
        return p, r, z + new / rz * s, new, n + 1

    p = state["p"] * wet
    r = b - laplace(p, wet, levels[0][1])
    z = cycle(r, levels)
    more = lambda c: (jnp.max(jnp.abs(c[1])) > 1e-3) & (c[4] < 40)
    p, r, _, _, turns = lax.while_loop(more, turn, (p, r, z, jnp.vdot(r, z), 0))
    new = [
        jnp.where(s, f, f - dt * (p - shift(p, a, 1)))
        for a, (f, s) in enumerate(zip(old, shut, strict=True))
    ]
    pic = jnp.stack([read(f, at, a) for a, f in enumerate(new)], -1)
    was = jnp.stack([read(f, at, a) for a, f in enumerate(faces)], -1)
    v = 0.05 * pic + 0.95 * (v + pic - was)
    middle = at + 0.5 * dt * pic
    at = at + dt * jnp.stack([read(f, middle, a) for a, f in enumerate(new)], -1)
    hit = (at < 1) | (at > size - 1)
    at, v = jnp.clip(at, 1, size - 1.001), jnp.where(hit, 0.0, v)
    out = dict(at=at, v=v, p=p, wall=state["wall"], time=state["time"] + dt)
    return out, (turns, jnp.sqrt(jnp.mean(r * r)), jnp.sum(wet), jnp.sum(v * v))


def fluid_picture(at, wall, light):
    cell, _ = weights(at, -1)
    middle = jnp.stack([cell // (Y * Z), cell // Z % Y, cell % Z], -1) + 0.5
    d = jnp.linalg.norm(at[:, None] - middle, axis=-1) - 0.9
    phi = grid(jnp.full((X * Y * Z,), 3.0).at[cell].min(d).reshape(X, Y, Z))
    sign = phi / jnp.sqrt(phi * phi + 1)

    def upwind(c):
        phi, _, n = c
        square = 0.0
        for a in range(3):
            low, high = phi - jnp.roll(phi, 1, a), jnp.roll(phi, -1, a) - phi
            up = jnp.maximum(jnp.maximum(low, 0) ** 2, jnp.minimum(high, 0) ** 2)
            down = jnp.maximum(jnp.minimum(low, 0) ** 2, jnp.maximum(high, 0) ** 2)
            square = square + jnp.where(sign > 0, up, down)
        new = grid(phi - 0.3 * sign * (jnp.sqrt(square) - 1))
        return new, jnp.max(jnp.abs(new - phi)), n + 1

    phi, *_ = lax.while_loop(
        lambda c: (c[1] > 0.02) & (c[2] < 50), upwind, (phi, jnp.array(1.0), 0)
    )
    k = jnp.array([0.25, 0.5, 0.25], f32)
    kernel = k[:, None, None, None, None] * k[:, None, None, None] * k[:, None, None]
    soft = lax.conv_general_dilated(
        phi[None, ..., None],
        kernel,
        (1, 1, 1),
        "SAME",
        dimension_numbers=("NDHWC", "DHWIO", "NDHWC"),
    )
    soft = grid(jnp.where(wall, 3.0, soft[0, ..., 0]))[..., ::-1]
    inside = soft < 0
    first = jnp.argmax(inside, -1)
    pick = lambda g: jnp.take_along_axis(g, first[..., None], -1)[..., 0]
    normal = jnp.stack([pick(g) for g in jnp.gradient(soft)], -1)
    normal = normal * lax.rsqrt(jnp.sum(normal**2, -1, keepdims=True) + 1e-6)
    clear = jnp.cumprod(jnp.where(inside, 0.9, 1.0), -1)[..., -1]
    shade = jnp.maximum(normal @ light, 0.1) * (1 - clear)
    return (
        con(jnp.where(inside.any(-1), shade, 0.0), "x", "y"),
        first,
        jnp.histogram(first, bins=Z, range=(0, Z))[0],
    )


if __name__ == "__main__":
    with jax.set_mesh(mesh):
        jax.jit(fluid_step, donate_argnums=0).lower(state).compile()
        c = jax.jit(fluid_picture).lower(state["at"], state["wall"], S((3,), f32))
        c.compile()
