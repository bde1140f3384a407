"""A training step of a radiance field: hashed grids of features, a proposal field, rays of cameras that are moved too.

Ahead of time for 2x4 H100: mesh ray 4 x level 2, levels of the grid over "level". Samples by the inverse of a sum of
weights (searchsorted), corners by gathers with bitwise hashes, transmittance by running sums, a distortion loss over
pairs, a loss between histograms, an occupancy grid with decay that skips cells, exposure of each image, Adam on rows.
"""

import os

os.environ.update(JAX_PLATFORMS="cpu")
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

H100 = """
gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152 shared_memory_per_core: 233472
  threads_per_core_limit: 2048 core_count: 132 fpus_per_core: 128
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  memory_bandwidth: 3352320000000 l2_cache_size: 52428800 clock_rate_ghz: 1.98 device_memory_size: 84942979072
  shared_memory_per_block_optin: 232448 cuda_compute_capability { major: 9 } registers_per_core_limit: 65536 registers_per_block_limit: 65536
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 8 }
runtime_version { major: 12 minor: 8 patch: 0 }
device_description_str: "NVIDIA H100 80GB HBM3"
"""
topo = topologies.get_topology_desc(platform="cuda", target_config=H100, topology="1x2x4")
mesh = Mesh(np.array(topo.devices).reshape(4, 2), ("ray", "level"))
bf, f32, i32, u32 = jnp.bfloat16, jnp.float32, jnp.int32, jnp.uint32


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


# rays, samples of the proposal and of the field, levels, rows of a level, features, width, cells of an axis, images
R, NP, NS, LEVELS, ROWS, FEAT, W, CELLS, IMAGES = 8192, 64, 32, 16, 1 << 19, 2, 64, 64, 300
SMALL = 1 << 16
PRIMES = np.array([1, 2654435761, 805459861], np.uint32)
scales = lambda n, low, high: np.floor(low * np.exp(np.log(high / low) / (n - 1) * np.arange(n)))

params = dict(
    grid=S((LEVELS, ROWS, FEAT), f32, "level"),
    coarse=S((4, SMALL, FEAT), f32, "level"),
    density=dict(one=S((LEVELS * FEAT, W), f32), two=S((W, 16), f32)),
    color=dict(one=S((15 + 16 + 8, W), f32), two=S((W, W), f32), three=S((W, 3), f32)),
    proposal=dict(one=S((4 * FEAT, 16), f32), two=S((16, 1), f32)),
    look=S((IMAGES, 8), f32),
    exposure=S((IMAGES, 3), f32),
    pose=S((IMAGES, 6), f32),
)
state = dict(
    params=params, m=params, v=params, ema=params, cells=S((CELLS,) * 3, f32), step=S((), i32)
)
batch = dict(
    pixel=S((R, 2), f32, "ray"),
    image=S((R,), i32, "ray"),
    rgb=S((R, 3), f32, "ray"),
    camera=S((IMAGES, 3, 4), f32),
    focal=S((IMAGES,), f32),
    key=S((2,), u32),
)
con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))


def turn(w):
    """Rotations by Rodrigues."""
    angle2 = jnp.sum(w * w, -1)[:, None, None]
    small = angle2 < 1e-8
    angle = jnp.sqrt(jnp.where(small, 1.0, angle2))
    a = jnp.where(small, 1 - angle2 / 6, jnp.sin(angle) / angle)
    b = jnp.where(small, 0.5 - angle2 / 24, (1 - jnp.cos(angle)) / (angle * angle))
    zero = jnp.zeros_like(w[:, 0])
    x, y, z = w[:, 0], w[:, 1], w[:, 2]
    skew = jnp.stack([zero, -z, y, z, zero, -x, -y, x, zero], -1).reshape(-1, 3, 3)
    return jnp.eye(3) + a * skew + b * (skew @ skew)


def rays(p, g):
    move = p["pose"][g["image"]]
    camera = g["camera"][g["image"]]
    focal = g["focal"][g["image"]]
    ahead = jnp.concatenate([g["pixel"] / focal[:, None], -jnp.ones((R, 1))], -1)
    ahead = jnp.einsum("rij,rjk,rk->ri", turn(move[:, :3]), camera[:, :, :3], ahead)
    start = camera[:, :, 3] + move[:, 3:]
    return start, ahead / jnp.linalg.norm(ahead, axis=-1, keepdims=True)


def inside(x):
    """All of space to a ball of radius 2, then to the unit cube."""
    far = jnp.maximum(jnp.max(jnp.abs(x), -1, keepdims=True), 1e-6)
    x = jnp.where(far > 1, (2 - 1 / far) * (x / far), x)
    return (x + 2) / 4


def lookup(table, x, sizes):
    """Trilinear features of each level: dense rows where they fit, hashed ones elsewhere."""
    rows = table.shape[1]

    def level(table, size):
        at = x * size
        low = jnp.floor(at)
        part = at - low
        low = low.astype(u32)
        total = 0.0
        for corner in np.ndindex(2, 2, 2):
            c = low + np.array(corner, np.uint32)
            mixed = c * PRIMES
            hashed = (mixed[..., 0] ^ mixed[..., 1] ^ mixed[..., 2]) & np.uint32(rows - 1)
            n = size.astype(u32) + 1
            dense = c[..., 0] + n * (c[..., 1] + n * c[..., 2])
            row = jnp.where(n * n * n <= rows, jnp.minimum(dense, rows - 1), hashed)
            weight = jnp.prod(jnp.where(np.array(corner) == 1, part, 1 - part), -1, keepdims=True)
            total = total + weight * table[row.astype(i32)]
        return total

    y = jax.vmap(level)(table, jnp.asarray(sizes, f32))
    y = con(y, "level", "ray")
    return con(jnp.moveaxis(y, 0, -2).reshape(*x.shape[:-1], -1), "ray")


def harmonics(d):
    x, y, z = d[:, 0], d[:, 1], d[:, 2]
    one = jnp.ones_like(x)
    terms = [
        one * 0.28,
        -0.49 * y,
        0.49 * z,
        -0.49 * x,
        1.09 * x * y,
        -1.09 * y * z,
        0.95 * z * z - 0.32,
    ]
    terms += [
        -1.09 * x * z,
        0.55 * (x * x - y * y),
        0.59 * y * (-3 * x * x + y * y),
        2.89 * x * y * z,
    ]
    terms += [0.46 * y * (1 - 5 * z * z), 0.37 * z * (5 * z * z - 3), 0.46 * x * (1 - 5 * z * z)]
    terms += [1.45 * z * (x * x - y * y), 0.59 * x * (-x * x + 3 * y * y)]
    return jnp.stack(terms, -1)


@jax.custom_jvp
def grown(x):
    return jnp.exp(x)


@grown.defjvp
def _(x, dx):
    return grown(x[0]), dx[0] * jnp.exp(jnp.clip(x[0], -15, 15))


def weights(density, edges):
    width = edges[:, 1:] - edges[:, :-1]
    depth = density * width
    through = jnp.exp(-(jnp.cumsum(depth, -1) - depth))
    return (1 - jnp.exp(-depth)) * through


def resample(key, edges, w, count):
    """Edges of equal weight, jittered together for each ray."""
    w = w + 0.01
    total = jnp.concatenate([jnp.zeros((R, 1)), jnp.cumsum(w, -1)], -1)
    total = total / total[:, -1:]
    u = (jnp.arange(count + 1) + jax.random.uniform(key, (R, 1))) / (count + 1)
    place = jax.vmap(lambda c, u: jnp.searchsorted(c, u, side="right"))(total, u)
    low = jnp.clip(place - 1, 0, w.shape[-1] - 1)
    pick = lambda a, i: jnp.take_along_axis(a, i, 1)
    a, b = pick(total, low), pick(total, low + 1)
    part = jnp.clip((u - a) / jnp.maximum(b - a, 1e-7), 0, 1)
    x, y = pick(edges, low), pick(edges, low + 1)
    return lax.stop_gradient(x + part * (y - x))


def points(start, ahead, edges):
    """Inverse depth between near and far."""
    t = 1 / (edges * (1 / 1000.0) + (1 - edges) * (1 / 0.05))
    middle = 0.5 * (t[:, 1:] + t[:, :-1])
    return inside(start[:, None] + middle[..., None] * ahead[:, None]), t


def field(p, x, ahead, look, cells):
    with jax.named_scope("field"):
        h = lookup(p["grid"], x, scales(LEVELS, 16, 2048)).astype(bf)
        h = jax.nn.relu(h @ p["density"]["one"].astype(bf)) @ p["density"]["two"].astype(bf)
        density = grown(h[..., 0].astype(f32) - 1)
        at = jnp.clip((x * CELLS).astype(i32), 0, CELLS - 1)
        held = cells[at[..., 0], at[..., 1], at[..., 2]]
        density = jnp.where(held > 0.01, density, 0.0)
    with jax.named_scope("color"):
        side = jnp.concatenate([harmonics(ahead), look], -1).astype(bf)
        side = jnp.broadcast_to(side[:, None], (R, NS, side.shape[-1]))
        y = jnp.concatenate([h[..., 1:], side], -1)
        y = jax.nn.relu(y @ p["color"]["one"].astype(bf))
        y = jax.nn.relu(y @ p["color"]["two"].astype(bf))
        rgb = jax.nn.sigmoid((y @ p["color"]["three"].astype(bf)).astype(f32))
    return density, rgb


def distortion(edges, w):
    middle = 0.5 * (edges[:, 1:] + edges[:, :-1])
    gap = jnp.abs(middle[:, :, None] - middle[:, None])
    own = jnp.sum(w * w * (edges[:, 1:] - edges[:, :-1]), -1) / 3
    return jnp.mean(jnp.einsum("ri,rij,rj->r", w, gap, w) + own)


def outer(edges, w, wide, coarse):
    """How much of each bin of the fine histogram the coarse one cannot hold."""
    total = jnp.concatenate([jnp.zeros((R, 1)), jnp.cumsum(coarse, -1)], -1)
    find = jax.vmap(lambda c, v, side: jnp.searchsorted(c, v, side=side), (0, 0, None))
    low = jnp.clip(
        jax.vmap(lambda c, v: jnp.searchsorted(c, v, side="right"))(wide, edges[:, :-1]) - 1, 0, NP
    )
    high = jnp.clip(
        jax.vmap(lambda c, v: jnp.searchsorted(c, v, side="left"))(wide, edges[:, 1:]), 0, NP
    )
    room = jnp.take_along_axis(total, high, 1) - jnp.take_along_axis(total, low, 1)
    over = jnp.maximum(lax.stop_gradient(w) - room, 0.0)
    return jnp.mean(jnp.sum(over * over / (lax.stop_gradient(w) + 1e-5), -1))


def loss(p, g, cells, step, keys):
    with jax.named_scope("rays"):
        start, ahead = rays(p, g)
    with jax.named_scope("proposal"):
        even = jnp.broadcast_to(jnp.linspace(0.0, 1.0, NP + 1), (R, NP + 1))
        even = jnp.clip(even + (jax.random.uniform(keys[0], (R, 1)) - 0.5) / NP, 0, 1)
        x, t = points(start, ahead, even)
        h = lookup(p["coarse"], x, scales(4, 16, 256))
        h = jax.nn.relu(h @ p["proposal"]["one"]) @ p["proposal"]["two"]
        coarse = weights(grown(h[..., 0] - 1), t)
    with jax.named_scope("resample"):
        slope = jnp.clip(step / 1000.0, 0, 1)
        edges = resample(keys[1], even, jnp.power(coarse + 1e-6, 10 * slope / (9 * slope + 1)), NS)
        x, t = points(start, ahead, edges)
    look = p["look"][g["image"]]
    density, rgb = jax.checkpoint(field)(p, x, ahead, look, cells)
    with jax.named_scope("render"):
        w = weights(density, t)
        seen = jnp.einsum("rn,rnc->rc", w, rgb)
        back = jax.random.uniform(keys[2], (R, 3))
        seen = seen + (1 - jnp.sum(w, -1, keepdims=True)) * back
        seen = seen * jnp.exp(p["exposure"][g["image"]])
        miss = jnp.sqrt((seen - g["rgb"]) ** 2 + 1e-6)
    parts = dict(
        color=jnp.mean(miss),
        spread=0.01 * distortion(edges, w),
        bound=outer(edges, w, even, coarse),
        size=0.1 * sum(jnp.mean(jnp.sum(x * x, (1, 2))) for x in (p["grid"], p["coarse"])) / ROWS,
    )
    depth = jnp.sum(w * 0.5 * (t[:, 1:] + t[:, :-1]), -1)
    return sum(parts.values()), (parts, depth, x, density)


def field_train_step(s, g):
    keys = jax.random.split(jax.random.wrap_key_data(g["key"]), 5)
    p, step = s["params"], s["step"]
    (total, (parts, depth, x, density)), slope = jax.value_and_grad(loss, has_aux=True)(
        p, g, s["cells"], step.astype(f32), keys
    )
    with jax.named_scope("occupancy"):

        def again(cells):
            at = jnp.clip((x * CELLS).astype(i32), 0, CELLS - 1).reshape(-1, 3)
            new = cells * 0.95
            return new.at[at[:, 0], at[:, 1], at[:, 2]].max(density.reshape(-1) * 0.01, mode="drop")

        cells = lax.cond(step % 16 == 0, again, lambda c: c, s["cells"])
        cells = jnp.where(step < 256, 1.0, cells)
    with jax.named_scope("adam"):
        now = (step + 1).astype(f32)
        rate = 1e-2 * jnp.power(0.1, jnp.clip(now / 20000, 0, 1)) * jnp.clip(now / 500, 0.01, 1)
        ok = jnp.all(jnp.stack([jnp.all(jnp.isfinite(x)) for x in jax.tree.leaves(slope)]))

        def move(w, m, v, d):
            touched = jnp.any(d != 0, -1, keepdims=True) & ok
            m = jnp.where(touched, 0.9 * m + 0.1 * d, m)
            v = jnp.where(touched, 0.99 * v + 0.01 * d * d, v)
            up = (m / (1 - 0.9**now)) / (jnp.sqrt(v / (1 - 0.99**now)) + 1e-15)
            return jnp.where(touched, w - rate * up, w), m, v

        new = jax.tree.map(move, p, s["m"], s["v"], slope)
        p, m, v = (jax.tree.map(lambda _, t: t[i], p, new) for i in range(3))
        ema = jax.tree.map(lambda a, b: 0.95 * a + 0.05 * b, s["ema"], p)
    s = dict(params=p, m=m, v=v, ema=ema, cells=cells, step=step + 1)
    return s, dict(
        parts,
        total=total,
        depth=depth,
        held=jnp.mean(cells > 0.01),
        psnr=-10 * jnp.log10(parts["color"]),
    )


kept = jax.tree.map(lambda x: x.sharding, state)
c = (
    jax.jit(field_train_step, donate_argnums=0, out_shardings=(kept, None))
    .lower(state, batch)
    .compile()
)
print(c.memory_analysis())
