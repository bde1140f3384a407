"""Two programs of a scene of Gaussians: a training step by tiles of pictures, and a step that prunes, splits and clones.

Ahead of time for 2x4 v6e: mesh view 4 x tile 2. Gaussians with spherical harmonics are projected to each view, the nearest
of each tile are kept by a top-k over packed depths, blended front to back by running products in a scan over pieces with
remat; a loss of absolute differences and structural similarity by separable windows, depths by Pearson correlation, camera
corrections, Adam with a rate for each kind of parameter, sums of slopes on the screen; then slots of a fixed pool are
given anew by ranks, opacities are reset by a conditional, and a grid of densities is counted by scatters.
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

topo = topologies.get_topology_desc(platform="tpu", topology_name="v6e:2x4")
mesh = Mesh(np.array(topo.devices).reshape(4, 2), ("view", "tile"))
f32, i32, bf = jnp.float32, jnp.int32, jnp.bfloat16


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))
# Gaussians, views, height, width, edge of a tile, those kept for a tile, those of a piece, harmonics, cells of the grid
N, B, HT, WD, EDGE, KEEP, PIECE, SH, GRID = 65536, 4, 256, 256, 16, 256, 32, 9, 64
TY, TX = HT // EDGE, WD // EDGE
scene = dict(
    mean=S((N, 3), f32, "tile"),
    scale=S((N, 3), f32, "tile"),
    turn=S((N, 4), f32, "tile"),
    opacity=S((N,), f32, "tile"),
    color=S((N, SH, 3), f32, "tile"),
)
camera = dict(move=S((64, 6), f32))
weights = dict(scene=scene, camera=camera)
state = dict(
    weights=weights,
    m=weights,
    v=weights,
    slope=S((N,), f32, "tile"),
    seen=S((N,), f32, "tile"),
    alive=S((N,), jnp.bool_, "tile"),
    step=S((), i32),
    key=S((2,), jnp.uint32),
)
batch = dict(
    number=S((B,), i32, "view"),
    pose=S((B, 3, 4), f32, "view"),
    focal=S((B, 2), f32, "view"),
    picture=S((B, HT, WD, 3), jnp.uint8, "view", "tile"),
    depth=S((B, HT, WD), f32, "view", "tile"),
)


def rotation(q):
    q = q / (jnp.linalg.norm(q, axis=-1, keepdims=True) + 1e-8)
    w, x, y, z = jnp.moveaxis(q, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return jnp.stack([jnp.stack(row, -1) for row in rows], -2)


def harmonics(d):
    x, y, z = jnp.moveaxis(d, -1, 0)
    one = jnp.full_like(x, 0.2821)
    first = [-0.4886 * y, 0.4886 * z, -0.4886 * x]
    second = [
        1.0925 * x * y,
        -1.0925 * y * z,
        0.3154 * (3 * z * z - 1),
        -1.0925 * x * z,
        0.5463 * (x * x - y * y),
    ]
    return jnp.stack([one, *first, *second], -1)


def project(s, alive, pose, focal, shift):
    """Means, inverse covariances, depths, opacities and colors on the screen of one view."""
    r, t = pose[:, :3], pose[:, 3]
    p = s["mean"] @ r.T + t
    z = jnp.maximum(p[:, 2], 0.05)
    uv = p[:, :2] / z[:, None] * focal + jnp.array([WD, HT]) / 2 + shift
    a = rotation(s["turn"]) * jnp.exp(s["scale"])[:, None]
    c = jnp.einsum("ij,njk,nlk,ml->nim", r, a, a, r)
    zero = jnp.zeros_like(z)
    j = jnp.stack(
        [
            jnp.stack([focal[0] / z, zero, -focal[0] * p[:, 0] / z**2], -1),
            jnp.stack([zero, focal[1] / z, -focal[1] * p[:, 1] / z**2], -1),
        ],
        1,
    )
    q = jnp.einsum("nij,njk,nlk->nil", j, c, j) + 0.3 * jnp.eye(2)
    det = q[:, 0, 0] * q[:, 1, 1] - q[:, 0, 1] ** 2
    inverse = jnp.stack([q[:, 1, 1], -q[:, 0, 1], q[:, 0, 0]], -1) / jnp.maximum(det, 1e-6)[:, None]
    half = (q[:, 0, 0] + q[:, 1, 1]) / 2
    radius = 3 * jnp.sqrt(half + jnp.sqrt(jnp.maximum(half**2 - det, 0.1)))
    eye = s["mean"] + r.T @ t
    eye = eye / (jnp.linalg.norm(eye, axis=-1, keepdims=True) + 1e-8)
    rgb = jnp.maximum(jnp.einsum("nk,nkc->nc", harmonics(eye), s["color"]) + 0.5, 0)
    good = alive & (p[:, 2] > 0.05)
    return uv, inverse, z, jnp.where(good, jax.nn.sigmoid(s["opacity"]), 0), rgb, radius


def nearest(uv, z, alpha, radius):
    """For each tile the nearest Gaussians that reach it: a top-k of depths."""
    cy = (jnp.arange(TY) + 0.5) * EDGE
    cx = (jnp.arange(TX) + 0.5) * EDGE
    far = jnp.maximum(
        jnp.abs(uv[:, 0] - cx[:, None])[None], jnp.abs(uv[:, 1] - cy[:, None])[:, None]
    )
    hit = (far < radius + EDGE / 2) & (alpha > 1 / 255)
    key = jnp.where(hit, -z, -jnp.inf).reshape(TY * TX, N)
    near, which = lax.top_k(key, KEEP)
    return which, jnp.isfinite(near)


def blended(which, good, uv, inverse, z, alpha, rgb):
    """Colors, depths and what shines through of the pixels of one tile row by row of Gaussians."""
    place = jnp.arange(TY * TX)
    base = jnp.stack([place % TX, place // TX], -1) * EDGE
    inside = jnp.stack(jnp.meshgrid(jnp.arange(EDGE), jnp.arange(EDGE)), -1).reshape(-1, 2) + 0.5
    at = base[:, None] + inside
    cut = lambda x: jnp.moveaxis(x.reshape(TY * TX, KEEP // PIECE, PIECE, *x.shape[2:]), 1, 0)
    rows = (uv[which], inverse[which], z[which], jnp.where(good, alpha[which], 0), rgb[which])

    def piece(carry, c):
        through, color, depth = carry
        uv, inverse, z, alpha, rgb = c
        d = at[:, :, None] - uv[:, None]
        power = inverse[:, None, :, 0] * d[..., 0] ** 2 + inverse[:, None, :, 2] * d[..., 1] ** 2
        power = -0.5 * power - inverse[:, None, :, 1] * d[..., 0] * d[..., 1]
        a = jnp.minimum(alpha[:, None] * jnp.exp(jnp.minimum(power, 0)), 0.99)
        a = jnp.where(a > 1 / 255, a, 0)
        before = jnp.cumprod(1 - a, -1)
        w = (
            a
            * through[..., None]
            * jnp.concatenate([jnp.ones_like(a[..., :1]), before[..., :-1]], -1)
        )
        color = color + jnp.einsum("tpk,tkc->tpc", w, rgb)
        return (through * before[..., -1], color, depth + jnp.einsum("tpk,tk->tp", w, z)), None

    flat = (TY * TX, EDGE * EDGE)
    start = (jnp.ones(flat), jnp.zeros((*flat, 3)), jnp.zeros(flat))
    (through, color, depth), _ = lax.scan(jax.checkpoint(piece), start, tuple(map(cut, rows)))
    back = lambda x: x.reshape(TY, TX, EDGE, EDGE, -1).swapaxes(1, 2).reshape(HT, WD, -1)
    return back(color + 0.1 * through[..., None]), back(depth)[..., 0]


def similarity(a, b):
    """Structural similarity by separable Gaussian windows."""
    k = np.exp(-0.5 * (np.arange(11) - 5) ** 2 / 1.5**2)
    k = jnp.asarray(k / k.sum(), f32)

    def blur(x):
        x = jnp.moveaxis(x, -1, 1).reshape(-1, HT, WD, 1)
        dims = ("NHWC", "HWIO", "NHWC")
        x = lax.conv_general_dilated(
            x, k.reshape(11, 1, 1, 1), (1, 1), "SAME", dimension_numbers=dims
        )
        return lax.conv_general_dilated(
            x, k.reshape(1, 11, 1, 1), (1, 1), "SAME", dimension_numbers=dims
        )

    ma, mb = blur(a), blur(b)
    va, vb, vab = blur(a * a) - ma**2, blur(b * b) - mb**2, blur(a * b) - ma * mb
    top = (2 * ma * mb + 0.01**2) * (2 * vab + 0.03**2)
    return jnp.mean(top / ((ma**2 + mb**2 + 0.01**2) * (va + vb + 0.03**2)))


def loss(w, shift, alive, g):
    s = w["scene"]
    small = w["camera"]["move"][g["number"]]
    bent = jnp.broadcast_to(jnp.eye(3), (B, 3, 3)) + jnp.stack(
        [jnp.cross(jnp.eye(3)[i], small[:, :3]) for i in range(3)], 1
    )
    pose = jnp.concatenate(
        [bent @ g["pose"][:, :, :3], (g["pose"][:, :, 3] + small[:, 3:])[..., None]], -1
    )
    parts = jax.vmap(project, (None, None, 0, 0, 0))(s, alive, pose, g["focal"], shift)
    uv, inverse, z, alpha, rgb, radius = (con(x, "view", "tile") for x in parts)
    which, good = jax.vmap(nearest)(lax.stop_gradient(uv), lax.stop_gradient(z), alpha, radius)
    which, good = con(which, "view", "tile", None), con(good, "view", "tile", None)
    color, depth = jax.vmap(blended)(which, good, uv, inverse, z, alpha, rgb)
    color = con(color, "view", "tile", None, None)
    seen = g["picture"].astype(f32) / 255
    straight = jnp.mean(jnp.abs(color - seen))
    known = g["depth"] > 0
    mean = lambda x: (
        jnp.sum(jnp.where(known, x, 0), (1, 2)) / jnp.maximum(jnp.sum(known, (1, 2)), 1)
    )
    a, b = depth - mean(depth)[:, None, None], g["depth"] - mean(g["depth"])[:, None, None]
    pearson = mean(a * b) * lax.rsqrt(mean(a * a) * mean(b * b) + 1e-6)
    value = 0.8 * straight + 0.2 * (1 - similarity(color, seen)) + 0.05 * jnp.mean(1 - pearson)
    value = value + 0.01 * jnp.mean(jnp.where(alive, jax.nn.sigmoid(s["opacity"]), 0))
    hits = jnp.zeros(N).at[which.reshape(-1)].add(good.reshape(-1).astype(f32))
    return value, dict(
        straight=straight, hits=hits, psnr=-10 * jnp.log10(jnp.mean((color - seen) ** 2))
    )


rates = dict(mean=1.6e-4, scale=5e-3, turn=1e-3, opacity=5e-2, color=2.5e-3, move=1e-4)


def splat_train_step(state, batch):
    shift = jnp.zeros((B, N, 2))
    (value, aux), (grads, screen) = jax.value_and_grad(loss, (0, 1), has_aux=True)(
        state["weights"], shift, state["alive"], batch
    )
    step = state["step"] + 1
    t = step.astype(f32)

    def update(path, p, g, m, v):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        rate = rates[path[-1].key] * jnp.where(path[-1].key == "mean", 0.01 ** (t / 30000), 1.0)
        return p - rate * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-15), m, v

    out = jax.tree_util.tree_map_with_path(update, state["weights"], grads, state["m"], state["v"])
    w, m, v = jax.tree.transpose(jax.tree.structure(grads), jax.tree.structure((0, 0, 0)), out)
    slope = state["slope"] + jnp.sum(jnp.linalg.norm(screen, axis=-1), 0)
    seen = state["seen"] + (aux["hits"] > 0)
    new = dict(state, weights=w, m=m, v=v, slope=slope, seen=seen, step=step)
    return new, dict(loss=value, straight=aux["straight"], psnr=aux["psnr"])


def splat_pool_step(state):
    """Dead slots are given to Gaussians with large slopes on the screen: large ones split, small ones are cloned."""
    s, key = state["weights"]["scene"], jax.random.wrap_key_data(state["key"])
    key, noise = jax.random.split(key)
    alive = state["alive"] & (jax.nn.sigmoid(s["opacity"]) > 0.005) & (s["scale"].max(-1) < 1.0)
    wanted = alive & (state["slope"] / jnp.maximum(state["seen"], 1) > 2e-4)
    rank = jnp.cumsum(wanted) - 1
    free = jnp.cumsum(~alive) - 1
    giver = jnp.full(N, N, i32).at[jnp.where(wanted, rank, N)].set(jnp.arange(N), mode="drop")
    source = jnp.where(~alive, giver[jnp.minimum(free, N - 1)], N)
    given = source < N
    at = jnp.minimum(source, N - 1)
    large = jnp.exp(s["scale"]).max(-1) > 0.01
    taken = jnp.zeros(N, bool).at[jnp.where(given, at, N)].set(True, mode="drop")
    jump = jnp.einsum(
        "nij,nj->ni", rotation(s["turn"]), jnp.exp(s["scale"]) * jax.random.normal(noise, (N, 3))
    )
    mean = s["mean"] + jnp.where((taken & large)[:, None], jump, 0)
    scale = s["scale"] - jnp.where(taken & large, jnp.log(1.6), 0.0)[:, None]
    s = dict(s, mean=mean, scale=scale)
    pick = lambda x: jnp.where(given.reshape(-1, *[1] * (x.ndim - 1)), x[at], x)
    s = jax.tree.map(pick, s)
    s["mean"] = jnp.where((given & large[at])[:, None], s["mean"] - 2 * jump[at], s["mean"])
    reset = lambda o: jnp.minimum(o, jax.scipy.special.logit(0.01))
    s["opacity"] = lax.cond(state["step"] % 3000 == 0, reset, lambda o: o, s["opacity"])
    clear = lambda x: jnp.where((given | taken).reshape(-1, *[1] * (x.ndim - 1)), 0, x)
    m, v = (dict(x, scene=jax.tree.map(clear, x["scene"])) for x in (state["m"], state["v"]))
    cell = jnp.clip(((s["mean"] + 2) / 4 * GRID).astype(i32), 0, GRID - 1)
    live = alive | given
    grid = jnp.zeros((GRID, GRID, GRID)).at[tuple(cell.T)].add(live * jax.nn.sigmoid(s["opacity"]))
    crowded = grid[tuple(cell.T)] > 50
    order = jnp.argsort(jnp.where(live, s["opacity"], jnp.inf))
    least = jnp.zeros(N, i32).at[order].set(jnp.arange(N)) < jnp.sum(live) // 100
    live = live & ~(crowded & least)
    zero = jnp.zeros(N)
    weights = dict(state["weights"], scene=s)
    new = dict(
        state,
        weights=weights,
        m=m,
        v=v,
        slope=zero,
        seen=zero,
        alive=live,
        key=jax.random.key_data(key),
    )
    return new, dict(live=jnp.sum(live), split=jnp.sum(taken & large), fullest=grid.max())


if __name__ == "__main__":
    with jax.set_mesh(mesh):
        c = jax.jit(splat_pool_step, donate_argnums=0).trace(state)
        c.lower(lowering_platforms=("tpu",)).compile()
        c = jax.jit(splat_train_step, donate_argnums=0).trace(state, batch)
        c.lower(lowering_platforms=("tpu",)).compile()
