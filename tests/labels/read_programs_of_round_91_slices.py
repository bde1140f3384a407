"""Two programs of electron microscopy: a training step of a volume model with a search of poses, and a reconstruction.

Ahead of time for 2x4 H100: mesh image 4 x slab 2. The step encodes particle images by strided convolutions (bfloat16),
scores candidate poses by a coarse volume, refines the best ones in a while loop, evaluates a residual network of
coordinates (scan, remat) on the slices, applies contrast transfer and shifts in Fourier space, sums gradients over
micro-batches by a scan, clips them, skips steps with bad values by a conditional, AdamW with sharded moments. The
reconstruction inserts slices into two half volumes (scatter, summed over images and split into slabs in a shard_map),
compares shells, filters, transforms back, flattens the solvent and ranks particles by their residuals.
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
mesh = Mesh(np.array(topo.devices).reshape(4, 2), ("image", "slab"))
bf, f32, i32 = jnp.bfloat16, jnp.float32, jnp.int32
con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


# images, micro-batches, side, points of a slice, candidates, kept, latent, width, layers, frequencies
B, MICRO, N, POINTS, CAND, KEEP, Z, D, L, FREQ = 128, 4, 64, 1024, 256, 4, 16, 512, 4, 8
CH = (1, 32, 64, 128, 256)
params = dict(
    conv=[S((3, 3, a, b), f32, None, None, None, "slab") for a, b in zip(CH, CH[1:])],
    scale=[S((b,), f32) for b in CH[1:]],
    heads=S((4 * 4 * CH[-1], 2 * Z), f32, "slab", None),
    first=S((6 * FREQ + Z, D), f32, None, "slab"),
    up=S((L, D, 2 * D), f32, None, "image", "slab"),
    down=S((L, 2 * D, D), f32, None, "slab", "image"),
    norm=S((L, D), f32),
    last=S((D, 2), f32, "slab", None),
    coarse=S((16, 16, 16, 2), f32),
)
batch = dict(
    images=S((B, N, N), f32, "image"),
    defocus=S((B, 3), f32, "image"),
    shifts=S((B, 2), f32, "image"),
    weight=S((B,), f32, "image"),
    key=S((2,), jnp.uint32),
)


def matrix(q):
    """Rotation matrices of quaternions."""
    w, x, y, z = jnp.moveaxis(q / jnp.linalg.norm(q, axis=-1, keepdims=True), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return jnp.stack([jnp.stack(r, -1) for r in rows], -2)


def product(a, b):
    """Product of quaternions."""
    aw, ax, ay, az = jnp.moveaxis(a, -1, 0)
    bw, bx, by, bz = jnp.moveaxis(b, -1, 0)
    return jnp.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        -1,
    )


def grid(side, points):
    """Frequencies of the first points of a square, by radius."""
    k = jnp.arange(side, dtype=f32) - side // 2
    flat = jnp.stack(jnp.meshgrid(k, k, indexing="ij"), -1).reshape(-1, 2)
    order = jnp.argsort(jnp.sum(flat**2, -1))[:points]
    return flat[order] / side, order


def transfer(k, d):
    """Contrast transfer at frequencies, for defocus in two directions and an angle."""
    angle = jnp.arctan2(k[:, 1], k[:, 0])
    r2 = jnp.sum(k * k, -1)
    u, v, a = d[:, 0, None], d[:, 1, None], d[:, 2, None]
    depth = 0.5 * (u + v + (u - v) * jnp.cos(2 * (angle - a)))
    phase = jnp.pi * (depth * r2 - 0.5 * 2.7 * r2 * r2)
    return -jnp.sqrt(1 - 0.07**2) * jnp.sin(phase) - 0.07 * jnp.cos(phase)


def trilinear(volume, at):
    """Values of a volume of channels at coordinates in -0.5 to 0.5."""
    side = volume.shape[0]
    x = (at + 0.5) * (side - 1)
    low = jnp.clip(jnp.floor(x), 0, side - 2)
    f, low = x - low, low.astype(i32)
    out = 0.0
    for corner in np.ndindex(2, 2, 2):
        c = jnp.array(corner)
        w = jnp.prod(jnp.where(c == 1, f, 1 - f), -1)
        i = low + c
        out += w[..., None] * volume[i[..., 0], i[..., 1], i[..., 2]]
    return out


def encode(p, images):
    x = images[..., None].astype(bf)
    for w, s in zip(p["conv"], p["scale"]):
        x = lax.conv_general_dilated(
            x, w.astype(bf), (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        m = x.astype(f32).mean((1, 2), keepdims=True)
        v = x.astype(f32).var((1, 2), keepdims=True)
        x = jax.nn.gelu(((x - m) * lax.rsqrt(v + 1e-5) * s)).astype(bf)
        x = con(x, "image", None, None, "slab")
    mean, log = jnp.split(x.reshape(len(x), -1).astype(f32) @ p["heads"], 2, -1)
    return mean, jnp.clip(log, -8, 4)


def search(coarse, seen, ctf, k, key):
    """The poses that fit best: all candidates by a coarse volume, then a refinement of a few."""
    few = 128
    q = jax.random.normal(key, (CAND, 4))
    q = q / jnp.linalg.norm(q, axis=-1, keepdims=True)
    flat = jnp.pad(k[:few], ((0, 0), (0, 1)))

    def score(q):
        value = trilinear(coarse, jnp.einsum("...ij,pj->...pi", matrix(q), flat))
        return lax.complex(value[..., 0], value[..., 1])

    slices = score(q)
    part, c = seen[:, :few], ctf[:, :few]
    norm = jnp.einsum("bp,cp->bc", c**2, jnp.abs(slices) ** 2)
    fit = jnp.einsum("bp,cp->bc", c * part.conj(), slices).real / jnp.sqrt(norm + 1e-6)
    best, which = lax.top_k(con(fit, "image", "slab"), KEEP)
    q = q[which]
    directions = jnp.concatenate([jnp.eye(3), -jnp.eye(3), jnp.zeros((1, 3))])

    def more(state):
        n, _, _, gain, _ = state
        return (n < 6) & (gain > 1e-3)

    def refine(state):
        n, q, best, _, width = state
        turn = jnp.concatenate([jnp.ones((7, 1)), directions * width], -1)
        trial = product(q[:, :, None], turn)
        s = score(trial)
        e = -jnp.sum(jnp.abs(part[:, None, None] - c[:, None, None] * s) ** 2, -1)
        at = jnp.argmax(e, -1)
        new = jnp.take_along_axis(e, at[..., None], -1)[..., 0]
        q = jnp.take_along_axis(trial, at[..., None, None], 2)[:, :, 0]
        gain = jnp.max(jnp.where(n == 0, 1.0, new - best))
        return n + 1, q, new, gain, width * 0.6

    start = (jnp.int32(0), q, best, jnp.float32(1), jnp.float32(0.1))
    _, q, e, _, _ = lax.while_loop(more, refine, start)
    return jnp.take_along_axis(q, jnp.argmax(e, -1)[:, None, None], 1)[:, 0]


def network(p, at, z):
    """The volume at coordinates, for a latent of an image."""
    angle = at[..., None] * 2.0 ** jnp.arange(FREQ) * jnp.pi
    wave = jnp.concatenate([jnp.sin(angle), jnp.cos(angle)], -1).reshape(*at.shape[:-1], -1)
    z = jnp.broadcast_to(z[:, None], (*wave.shape[:2], Z))
    h = jnp.concatenate([wave, z], -1).astype(bf) @ p["first"].astype(bf)

    def layer(h, c):
        up, down, norm = c
        x = h.astype(f32)
        x = (x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * norm).astype(bf)
        x = jax.nn.silu(con(x @ up.astype(bf), "image", None, "slab")) @ down.astype(bf)
        return con(h + x, "image", None, None), None

    h, _ = lax.scan(jax.checkpoint(layer), h, (p["up"], p["down"], p["norm"]))
    out = h.astype(f32) @ p["last"]
    return lax.complex(out[..., 0], out[..., 1])


def loss(p, b):
    k, order = grid(N, POINTS)
    noise, draw = jax.random.split(jax.random.wrap_key_data(b["key"]))
    wide = jnp.fft.fftshift(jnp.fft.fft2(b["images"]), (1, 2)).reshape(len(b["images"]), -1)
    seen = wide[:, order] * jnp.exp(2j * jnp.pi * (b["shifts"] @ k.T))
    ctf = transfer(k, b["defocus"])
    mean, log = encode(p, b["images"])
    z = mean + jnp.exp(0.5 * log) * jax.random.normal(noise, mean.shape)
    q = lax.stop_gradient(search(p["coarse"], seen, ctf, k, draw))
    at = jnp.einsum("bij,pj->bpi", matrix(q), jnp.pad(k, ((0, 0), (0, 1))))
    made = network(p, at, z)
    coarse = trilinear(p["coarse"], at)
    made = ctf * made
    low = ctf * lax.complex(coarse[..., 0], coarse[..., 1])
    miss = jnp.mean(jnp.abs(seen - made) ** 2 + 0.1 * jnp.abs(seen - low) ** 2, -1)
    kl = 0.5 * jnp.sum(jnp.exp(log) + mean**2 - 1 - log, -1)
    return jnp.sum(b["weight"] * (miss + 1e-3 * kl)) / B, jnp.sum(kl)


def volume_train_step(state, batch):
    p = state["params"]
    split = lambda x: con(x.reshape(MICRO, B // MICRO, *x.shape[1:]), None, "image")
    parts = {n: split(x) for n, x in batch.items() if n != "key"}
    parts["key"] = jax.random.split(jax.random.wrap_key_data(batch["key"]), MICRO)
    parts["key"] = jax.random.key_data(parts["key"])

    def add(total, part):
        (value, kl), g = jax.value_and_grad(loss, has_aux=True)(p, part)
        return jax.tree.map(jnp.add, total, (value, kl, g)), None

    zero = (jnp.float32(0), jnp.float32(0), jax.tree.map(jnp.zeros_like, p))
    (value, kl, g), _ = lax.scan(add, zero, parts)
    size = jnp.sqrt(sum(jnp.sum(x * x) for x in jax.tree.leaves(g)))
    step = state["step"] + 1

    def update():
        c = jnp.minimum(1.0, 1.0 / (size + 1e-9))
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * c * g, state["m"], g)
        v = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * (c * g) ** 2, state["v"], g)
        t = step.astype(f32)
        move = lambda p, m, v: (
            p
            - 2e-4
            * (m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.99**t)) + 1e-8) + 0.01 * p * (p.ndim > 1))
        )
        return jax.tree.map(move, p, m, v), m, v

    keep = lambda: (p, state["m"], state["v"])
    new, m, v = lax.cond(jnp.isfinite(size), update, keep)
    return dict(params=new, m=m, v=v, step=step), dict(loss=value, kl=kl, size=size)


M, G = 4096, 64
particles = dict(
    images=S((M, N, N), f32, "image"),
    poses=S((M, 4), f32, "image"),
    defocus=S((M, 3), f32, "image"),
    half=S((M,), i32, "image"),
)


def insert(values, weights, at, half):
    """Slices of the images of a device into both half volumes, of which each device keeps a slab."""
    x = (at + 0.5) * (G - 1)
    low = jnp.clip(jnp.floor(x), 0, G - 2)
    f, low = x - low, low.astype(i32)
    total = jnp.zeros((2, G * G * G, 3), f32)

    def chunk(total, c):
        f, low, v, w, half = c
        for corner in np.ndindex(2, 2, 2):
            s = jnp.prod(jnp.where(jnp.array(corner) == 1, f, 1 - f), -1)
            i = low + jnp.array(corner)
            i = (i[..., 0] * G + i[..., 1]) * G + i[..., 2]
            new = jnp.stack([s * v.real, s * v.imag, s * w], -1)
            total = total.at[half[:, None], i].add(new)
        return total, None

    pieces = lambda x: x.reshape(8, -1, *x.shape[1:])
    total, _ = lax.scan(chunk, total, jax.tree.map(pieces, (f, low, values, weights, half)))
    total = total.reshape(2, G, G, G, 3)
    total = lax.psum_scatter(total, "slab", scatter_dimension=1, tiled=True)
    return lax.psum(total, "image") / lax.axis_size("slab") * 2


inserted = jax.shard_map(
    insert,
    mesh=mesh,
    in_specs=(P(("image", "slab")),) * 4,
    out_specs=P(None, "slab"),
    check_vma=False,
)


def reconstruct(particles):
    k, order = grid(N, N * N)
    wide = jnp.fft.fftshift(jnp.fft.fft2(particles["images"]), (1, 2)).reshape(M, -1)[:, order]
    ctf = transfer(k, particles["defocus"])
    at = jnp.einsum("bij,pj->bpi", matrix(particles["poses"]), jnp.pad(k, ((0, 0), (0, 1))))
    both = inserted(ctf * wide, ctf**2, at, particles["half"])
    value = lax.complex(both[..., 0], both[..., 1]) / (both[..., 2] + 1e-2)
    c = jnp.arange(G) - G // 2
    radius = jnp.sqrt(c[:, None, None] ** 2 + c[:, None] ** 2 + c**2)
    shell = jnp.minimum(radius.astype(i32), G // 2).reshape(-1)
    total = lambda x: jax.ops.segment_sum(x.reshape(-1), shell, G // 2 + 1)
    a, b = value
    cross = total((a * b.conj()).real)
    fsc = cross / jnp.sqrt(total(jnp.abs(a) ** 2) * total(jnp.abs(b) ** 2) + 1e-9)
    first = jnp.argmax(fsc < 0.143)
    full = 2 * fsc / (1 + fsc)
    filtered = (
        0.5 * (a + b) * jnp.where(jnp.arange(len(full)) < first, full, 0)[shell].reshape(a.shape)
    )
    real = jnp.fft.ifftn(jnp.fft.ifftshift(filtered)).real
    level = jnp.quantile(real.reshape(-1), 0.95)
    mask = lax.reduce_window((real > level).astype(f32), 0.0, lax.add, (3, 3, 3), (1, 1, 1), "SAME")
    real = jnp.where(mask > 0, real, jnp.mean(real))
    back = jnp.fft.fftshift(jnp.fft.fftn(real))
    pair = con(jnp.stack([back.real, back.imag], -1), None, None, None, None)

    def residual(_, c):
        at, seen, t = c
        s = trilinear(pair, at)
        return None, jnp.mean(jnp.abs(seen - t * lax.complex(s[..., 0], s[..., 1])) ** 2, -1)

    pieces = lambda x: con(x.reshape(16, -1, *x.shape[1:]), None, "image")
    _, miss = lax.scan(residual, None, jax.tree.map(pieces, (at, wide, ctf)))
    miss = miss.reshape(-1)
    rank = jnp.argsort(miss)
    keep = jnp.zeros(M, bool).at[rank[: M * 9 // 10]].set(True)
    return dict(map=real, fsc=fsc, first=first, keep=keep, order=rank, miss=miss)


if __name__ == "__main__":
    state = dict(params=params, m=params, v=params, step=S((), i32))
    with jax.set_mesh(mesh):
        c = jax.jit(volume_train_step, donate_argnums=0).trace(state, batch)
        c.lower(lowering_platforms=("cuda",)).compile()
        c = jax.jit(reconstruct).trace(particles)
        c.lower(lowering_platforms=("cuda",)).compile()
