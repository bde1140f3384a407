"""Two programs of a seismic survey: a step of waveform inversion by waves in two dimensions, and a filter of its image.

Ahead of time for 2x4 B200: mesh shot 2 x depth 4. Waves of each shot by stencils of eighth order in a shard_map with
halos by ppermute, absorbing edges, sources added and receivers read by rows, a scan in a scan with remat, an envelope of
traces by FFT, slopes by L-BFGS with a ring of pairs and a line search in a while loop; the image by FFTs with transposes
by all-to-all, a median by sorting, gain by a running sum, and a histogram by scatter.
"""

import os

os.environ.update(JAX_PLATFORMS="cpu")
import jax, jax.numpy as jnp, numpy as np
from functools import partial
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

B200 = """
gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152 shared_memory_per_core: 233472
  threads_per_core_limit: 2048 core_count: 148 fpus_per_core: 128
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  memory_bandwidth: 8000000000000 l2_cache_size: 132644864 clock_rate_ghz: 1.965 device_memory_size: 191502155776
  shared_memory_per_block_optin: 232448 cuda_compute_capability { major: 10 } registers_per_core_limit: 65536 registers_per_block_limit: 65536
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 8 }
runtime_version { major: 12 minor: 8 patch: 0 }
device_description_str: "NVIDIA B200"
"""
topo = topologies.get_topology_desc(platform="cuda", target_config=B200, topology="1x2x4")
mesh = Mesh(np.array(topo.devices).reshape(2, 4), ("shot", "depth"))
f32, i32 = jnp.float32, jnp.int32
# shots, depths, places, receivers, outer and inner time steps, pairs of L-BFGS, half width of a stencil
N, Z, X, R, OUTER, INNER, PAIRS, HALF = 16, 1024, 2048, 256, 20, 50, 5, 4
C8 = np.array([-205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560], np.float32)


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


state = dict(
    slow=S((Z, X), f32, "depth"),
    last=S((Z, X), f32, "depth"),
    grad=S((Z, X), f32, "depth"),
    s=S((PAIRS, Z, X), f32, None, "depth"),
    y=S((PAIRS, Z, X), f32, None, "depth"),
    count=S((), i32),
)
survey = dict(
    wave=S((OUTER, INNER), f32),
    source=S((N, 2), i32, "shot"),
    places=S((R,), i32),
    traces=S((N, OUTER * INNER, R), f32, "shot"),
)


def halo(u):
    """Rows of both neighbors over "depth" around those of this device."""
    n = lax.axis_size("depth")
    down = lax.ppermute(u[:, -HALF:], "depth", [(i, i + 1) for i in range(n - 1)])
    up = lax.ppermute(u[:, :HALF], "depth", [(i + 1, i) for i in range(n - 1)])
    return jnp.concatenate([down, u, up], 1)


def laplace(u):
    z, x = halo(u), jnp.pad(u, ((0, 0), (0, 0), (HALF, HALF)))
    rows, places = u.shape[1:]
    out = 2 * C8[0] * u
    for k in range(1, HALF + 1):
        out += C8[k] * (z[:, HALF - k : HALF - k + rows] + z[:, HALF + k : HALF + k + rows])
        out += C8[k] * (
            x[:, :, HALF - k : HALF - k + places] + x[:, :, HALF + k : HALF + k + places]
        )
    return out


def waves(slow, wave, source, places):
    rows, first = Z // 4, lax.axis_index("depth") * (Z // 4)
    at = first + jnp.arange(rows)
    edge = jnp.minimum(
        jnp.minimum(jnp.arange(X), X - 1 - jnp.arange(X))[None], (Z - 1 - at)[:, None]
    )
    damp = jnp.exp(-((0.015 * jnp.maximum(20 - edge, 0)) ** 2))
    here = (at[None, :, None] == source[:, 0, None, None]) & (
        jnp.arange(X) == source[:, 1, None, None]
    )

    def one(carry, w):
        u, v = carry
        new = damp * (2 * u - damp * v + 0.1 / (slow * slow) * laplace(u) + w * here)
        return (new, u), lax.psum(jnp.where(first == 0, new[:, 8, places], 0.0), "depth")

    zeros = lax.pcast(jnp.zeros((source.shape[0], rows, X), f32), ("shot", "depth"), to="varying")
    block = jax.checkpoint(lambda c, w: lax.scan(one, c, w))
    _, seen = lax.scan(block, (zeros, zeros), wave)
    return jnp.moveaxis(seen.reshape(OUTER * INNER, -1, R), 0, 1)


waves = jax.shard_map(
    waves, mesh=mesh, in_specs=(P("depth"), P(), P("shot"), P()), out_specs=P("shot")
)


def envelope(d):
    n = d.shape[1]
    keep = np.r_[1.0, np.full(n // 2 - 1, 2.0), 1.0, np.zeros(n // 2 - 1)].astype(np.float32)
    a = jnp.fft.ifft(jnp.fft.fft(d, axis=1) * keep[:, None], axis=1)
    return jnp.sqrt(a.real**2 + a.imag**2 + 1e-12)


def misfit(slow, survey):
    d = waves(slow, survey["wave"], survey["source"], survey["places"])
    e = envelope(d) - envelope(survey["traces"])
    loss = jnp.sum(jnp.where(jnp.abs(e) < 0.1, 5 * e * e, jnp.abs(e) - 0.05))
    return loss / d.size + 1e-3 * jnp.mean(jnp.abs(jnp.diff(slow, axis=1)))


def direction(state, grad):
    """Two loops over a ring of pairs."""
    oldest = state["count"] % PAIRS
    order = (oldest + jnp.arange(PAIRS)) % PAIRS
    dot = lambda a, b: jnp.sum(a * b)

    def back(q, i):
        s, y = state["s"][i], state["y"][i]
        rho = jnp.where(i < state["count"], 1 / jnp.maximum(dot(s, y), 1e-12), 0.0)
        a = rho * dot(s, q)
        return q - a * y, (a, rho)

    q, (a, rho) = lax.scan(back, grad, order, reverse=True)
    s, y = state["s"][order[-1]], state["y"][order[-1]]
    q = q * jnp.where(state["count"] > 0, dot(s, y) / jnp.maximum(dot(y, y), 1e-12), 1.0)

    def forth(q, c):
        i, a, rho = c
        return q + (a - rho * dot(state["y"][i], q)) * state["s"][i], None

    return -lax.scan(forth, q, (order, a, rho))[0]


def invert(state, survey):
    loss, grad = jax.value_and_grad(misfit)(state["slow"], survey)
    near = jnp.arange(Z)[:, None] < 12
    grad = jnp.where(near, 0.0, grad)
    at = state["count"] % PAIRS
    s = state["s"].at[at].set(state["slow"] - state["last"])
    y = state["y"].at[at].set(grad - state["grad"])
    new = state | dict(s=s, y=y, count=state["count"] + 1)
    way = direction(new, grad)
    slope = jnp.sum(way * grad)

    def trial(c):
        step, _, turn = c
        step = step * 0.5
        return step, misfit(state["slow"] + step * way, survey), turn + 1

    def more(c):
        return (c[1] > loss + 1e-4 * c[0] * slope) & (c[2] < 6)

    step, value, turns = lax.while_loop(more, trial, (f32(2.0), f32(jnp.inf), i32(0)))
    slow = jnp.clip(state["slow"] + step * way, 0.2, 4.0)
    return new | dict(slow=slow, last=state["slow"], grad=grad), dict(loss=value, turns=turns)


@partial(jax.shard_map, mesh=mesh, in_specs=P("shot", "depth"), out_specs=P("shot", "depth"))
def dips(u):
    """Steep waves removed: a transform over both axes, of which the one of rows is turned by all-to-all."""
    k = jnp.fft.rfft(u, axis=2)[:, :, : X // 2]
    k = lax.all_to_all(k, "depth", 2, 1, tiled=True)
    k = jnp.fft.fft(k, axis=1)
    first = lax.axis_index("depth") * (X // 8)
    ratio = jnp.abs(jnp.fft.fftfreq(Z))[:, None] / ((first + jnp.arange(X // 8) + 0.5) / X)
    k = jnp.fft.ifft(k * jax.nn.sigmoid(8 * (ratio - 0.3)), axis=1)
    k = lax.all_to_all(k, "depth", 1, 2, tiled=True)
    return jnp.fft.irfft(jnp.pad(k, ((0, 0), (0, 0), (0, 1))), X, axis=2)


def refine(images):
    u = dips(images)
    power = jnp.cumsum(u * u, axis=1)
    gain = lax.rsqrt((power - jnp.roll(power, 32, 1)).at[:, :32].set(power[:, :32]) / 32 + 1e-6)
    u = u * gain
    near = jnp.stack([jnp.roll(u, k, 2) for k in range(-2, 3)])
    middle = jnp.sort(near, axis=0)[2]
    weights = jax.nn.softmax(-jnp.var(u - middle, axis=(1, 2)))
    stack = jnp.einsum("n,nzx->zx", weights, middle)
    bins = jnp.clip((stack * 32 + 128).astype(i32), 0, 255)
    count = jnp.zeros((256,), i32).at[bins.reshape(-1)].add(1)
    share = jnp.cumsum(count) / stack.size
    return share[bins], dict(weights=weights, peak=jnp.argmax(jnp.abs(stack), axis=0))


if __name__ == "__main__":
    with jax.set_mesh(mesh):
        kept = jax.tree.map(lambda x: x.sharding, state)
        c = jax.jit(invert, donate_argnums=0, out_shardings=(kept, None)).lower(state, survey)
        print("invert", len(c.compile().as_text()))
        c = jax.jit(refine).lower(S((N, Z, X), f32, "shot", "depth"))
        print("refine", len(c.compile().as_text()))
