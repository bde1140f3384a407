"""Neural speech codec step: causal strided convolutions with dilated residual units (snake), two transformer blocks with
ALiBi under scan with remat, residual vector quantization in a scan over the codebooks in a shard_map (codes over "code":
argmin by pmin of keys, chosen rows by psum, straight through, quantizer dropout), codebooks moved by counts and sums
(segment_sum, psum over "data") after the step with dead codes replaced by random frames (rbg), decoder by transposed
convolutions, mel loss over two windows by rfft, microbatches in a scan, Muon (Newton-Schulz by fori_loop on stacked
matrices) for the blocks and momentum for the others, donated; H100 x 8, mesh data 2 x code 4, ahead of time."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

H100 = """
gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152 shared_memory_per_core: 233472
  threads_per_core_limit: 2048 core_count: 132 fpus_per_core: 128
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  memory_bandwidth: 3352320000000 l2_cache_size: 52428800 clock_rate_ghz: 1.98 device_memory_size: 84929347584
  shared_memory_per_block_optin: 232448 cuda_compute_capability { major: 9 } registers_per_core_limit: 65536 registers_per_block_limit: 65536
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 7 }
runtime_version { major: 12 minor: 8 patch: 0 }
device_description_str: "NVIDIA H100 80GB HBM3"
"""
topo = topologies.get_topology_desc(platform="cuda", target_config=H100, topology="1x1x8")
over = Mesh(np.array(topo.devices).reshape(2, 4), ("data", "code"))
f32, bf, i32 = jnp.float32, jnp.bfloat16, jnp.int32
A, B, S = 2, 8, 4096  # microbatches, clips, samples
UP, C = (4, 8), (32, 64, 256)  # strides and channels
T, D, H, L, F = S // 32, 256, 4, 2, 1024
Q, K, E = 4, 512, 64  # quantizers, codes, width of a code


def arr(shape, *spec, dtype=f32):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(over, P(*spec)))


def put(x, *s):
    return lax.with_sharding_constraint(x, NamedSharding(over, P(*s)))


params = dict(
    inp=arr((7, 1, C[0])),
    enc=[
        dict(res=arr((3, a, a)), a=arr((a,)), down=arr((2 * u, a, b), None, None, "code"))
        for u, a, b in zip(UP, C, C[1:])
    ],
    blocks=dict(
        n=arr((L, 2, D)),
        qkv=arr((L, D, 3 * D), None, "data", "code"),
        o=arr((L, D, D), None, "code", "data"),
        up=arr((L, D, F), None, "data", "code"),
        down=arr((L, F, D), None, "code", "data"),
    ),
    down=arr((D, E)),
    up=arr((E, D)),
    dec=[
        dict(up=arr((2 * u, b, a), None, "code", None), res=arr((3, a, a)), a=arr((a,)))
        for u, a, b in [*zip(UP, C, C[1:])][::-1]
    ],
    out=arr((7, C[0], 1)),
)


def snake(x, a):
    y = x.astype(f32)
    return (y + jnp.sin(a * y) ** 2 / (a + 1e-6)).astype(bf)


def conv(x, w, stride=1, dilation=1):
    pad = (w.shape[0] - 1) * dilation + 1 - stride
    return lax.conv_general_dilated(
        x,
        w.astype(bf),
        (stride,),
        [(pad, 0)],
        rhs_dilation=(dilation,),
        dimension_numbers=("NWC", "WIO", "NWC"),
    )


def rms(x, g):
    w = x.astype(f32)
    return (w * lax.rsqrt(jnp.mean(w * w, -1, keepdims=True) + 1e-6) * g).astype(bf)


def block(x, w):
    q, k, v = jnp.split(rms(x, w["n"][0]) @ w["qkv"].astype(bf), 3, -1)
    q, k, v = (
        put(y.reshape(*y.shape[:2], H, D // H), "data", None, "code", None) for y in (q, k, v)
    )
    s = jnp.einsum("bthk,bshk->bhts", q, k, preferred_element_type=f32) / np.sqrt(D // H)
    away = jnp.arange(T)[:, None] - jnp.arange(T)[None]
    s = jnp.where(away >= 0, s - 2.0 ** -jnp.arange(1.0, H + 1)[:, None, None] * away, -1e9)
    a = jnp.einsum("bhts,bshk->bthk", jax.nn.softmax(s, -1).astype(bf), v).reshape(*x.shape[:2], D)
    x = x + put(a @ w["o"].astype(bf), "data", None, None)
    u = put(jax.nn.gelu(rms(x, w["n"][1]) @ w["up"].astype(bf)), "data", None, "code")
    return x + put(u @ w["down"].astype(bf), "data", None, None), None


def quantize(z, books, depth):
    """Codes, their sum and the statistics of the codebooks, the codes over "code"."""

    def here(z, books, depth):
        low = lax.axis_index("code") * books.shape[1]
        flat = z.reshape(-1, E)
        on = jnp.repeat(depth, T)

        def level(c, qb):
            rest, total, cost = c
            q, book = qb
            d = jnp.sum(book**2, -1) - 2.0 * (rest @ book.T)
            best, at = jnp.min(d, -1), jnp.argmin(d, -1).astype(i32) + low
            top = lax.pmin(best, "code")
            idx = lax.pmin(jnp.where(best <= top, at, K), "code")
            own = (idx >= low) & (idx < low + book.shape[0])
            mine = jnp.where(own[:, None], book[jnp.clip(idx - low, 0, book.shape[0] - 1)], 0.0)
            row = lax.psum(mine, "code")
            use = (q < on).astype(f32)[:, None]
            slot = jnp.where(own & (q < on), idx - low, book.shape[0])
            n = lax.psum(
                jax.ops.segment_sum(jnp.ones_like(slot, f32), slot, book.shape[0] + 1)[:-1], "data"
            )
            s = lax.psum(jax.ops.segment_sum(rest, slot, book.shape[0] + 1)[:-1], "data")
            cost = cost + jnp.sum(jnp.mean((rest - row) ** 2, -1) * use[:, 0])
            return (rest - row * use, total + row * use, cost), (n, s, idx.reshape(z.shape[:2]))

        zero = jnp.zeros_like(flat)
        cost0 = lax.pcast(jnp.zeros((), f32), ("data",), to="varying")
        (_, total, cost), (n, s, idx) = lax.scan(level, (flat, zero, cost0), (jnp.arange(Q), books))
        return total.reshape(z.shape), lax.psum(cost, "data"), n, s, idx

    return jax.shard_map(
        here,
        mesh=over,
        in_specs=(P("data"), P(None, "code"), P("data")),
        out_specs=(P("data"), P(), P(None, "code"), P(None, "code"), P(None, "data")),
    )(z, books, depth)


def mel(x, size):
    hop = size // 4
    at = jnp.arange((S - size) // hop + 1)[:, None] * hop + jnp.arange(size)[None]
    frames = x[:, at] * jnp.hanning(size).astype(f32)
    power = jnp.abs(jnp.fft.rfft(frames)) ** 2 + 1e-7
    bins, band = jnp.arange(size // 2 + 1, dtype=f32), jnp.linspace(0.0, size / 2, 34)
    up = (bins[:, None] - band[:-2]) / (band[1:-1] - band[:-2])
    fall = (band[2:] - bins[:, None]) / (band[2:] - band[1:-1])
    return jnp.log10(jnp.maximum(power @ jnp.maximum(0.0, jnp.minimum(up, fall)), 1e-5))


def loss(p, books, wav, depth):
    x = conv(wav[..., None].astype(bf), p["inp"])
    for u, w in zip(UP, p["enc"]):
        x = x + conv(snake(x, w["a"]), w["res"], dilation=3)
        x = put(conv(x, w["down"], stride=u), "data", None, None)
    x, _ = lax.scan(jax.checkpoint(block), x, p["blocks"])
    z = (x @ p["down"].astype(bf)).astype(f32)
    got, _, n, s, idx = quantize(lax.stop_gradient(z), lax.stop_gradient(books), depth)
    commit = jnp.mean((z - lax.stop_gradient(got)) ** 2)
    x = (z + lax.stop_gradient(got - z)).astype(bf) @ p["up"].astype(bf)
    for u, w in zip(UP[::-1], p["dec"]):
        x = lax.conv_transpose(
            x, w["up"].astype(bf), (u,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")
        )
        x = x + conv(snake(x, w["a"]), w["res"])
    y = jnp.tanh(conv(x, p["out"])[..., 0].astype(f32))
    spec = sum(jnp.mean(jnp.abs(mel(y, w) - mel(wav, w))) for w in (256, 1024))
    total = jnp.mean(jnp.abs(y - wav)) + spec + 0.25 * commit
    return total, dict(
        n=n, s=s, z=z[:, :: T // 16].reshape(-1, E), m=jnp.stack([total, spec, commit])
    )


def muon(g):
    """Newton-Schulz on a stack of matrices."""
    x = g.astype(bf)
    flip = g.shape[1] > g.shape[2]
    x = jnp.swapaxes(x, 1, 2) if flip else x
    x = x / (jnp.sqrt(jnp.sum(x.astype(f32) ** 2, (1, 2), keepdims=True)) + 1e-7).astype(bf)

    def turn(_, x):
        a = jnp.einsum("lij,lkj->lik", x, x)
        b = -4.775 * a + 2.0315 * jnp.einsum("lij,ljk->lik", a, a)
        return 3.4445 * x + jnp.einsum("lij,ljk->lik", b.astype(bf), x)

    x = lax.fori_loop(0, 5, turn, x)
    x = jnp.swapaxes(x, 1, 2) if flip else x
    return x.astype(f32) * np.sqrt(max(1.0, g.shape[1] / g.shape[2]))


def codec_train_step(st, wav, depth):
    books = st["s"] / jnp.maximum(st["n"], 1e-3)[..., None]
    zero = jax.tree.map(jnp.zeros_like, st["p"])
    n0, s0, m0 = jnp.zeros((Q, K), f32), jnp.zeros((Q, K, E), f32), jnp.zeros((3,), f32)

    def micro(c, xs):
        g, aux = jax.grad(loss, has_aux=True)(st["p"], books, *xs)
        add = jax.tree.map(jnp.add, c, (g, aux["n"], aux["s"], aux["m"]))
        return add, aux["z"]

    (g, n, s, m), z = lax.scan(micro, (zero, n0, s0, m0), (wav, depth))
    g = jax.tree.map(lambda a: a / A, g)
    norm = jnp.sqrt(sum(jnp.sum(a * a) for a in jax.tree.leaves(g)))
    g = jax.tree.map(lambda a: a * jnp.minimum(1.0, 1.0 / (norm + 1e-6)), g)
    t = st["k"] + 1
    rate = 1e-3 * jnp.minimum(1.0, t / 500.0)

    def upd(path, p, g, m):
        m = 0.95 * m + g
        if path[0].key == "blocks" and path[1].key != "n":
            return p * (1 - 0.1 * rate) - 0.2 * rate * muon(0.95 * m + g), m
        return p - rate * m, m

    out = jax.tree_util.tree_map_with_path(upd, st["p"], g, st["m"])
    pick = lambda i: jax.tree.map(lambda _, o: o[i], st["p"], out)
    n, s = 0.99 * st["n"] + 0.01 * n, 0.99 * st["s"] + 0.01 * s
    key = jax.random.wrap_key_data(jnp.full((4,), t, jnp.uint32), impl="rbg")
    take = jax.random.bits(key, (Q, K)) % (z.shape[0] * z.shape[1])
    fresh = z.reshape(-1, E)[take]
    dead = n < 0.05
    n, s = jnp.where(dead, 1.0, n), jnp.where(dead[..., None], fresh, s)
    share = n / jnp.sum(n, -1, keepdims=True)
    perplexity = jnp.exp(-jnp.sum(share * jnp.log(share + 1e-9), -1))
    return dict(p=pick(0), m=pick(1), n=n, s=s, k=t), dict(
        m=m / A, norm=norm, perplexity=perplexity
    )


st = dict(
    p=params,
    m=params,
    n=arr((Q, K), None, "code"),
    s=arr((Q, K, E), None, "code"),
    k=arr((), dtype=i32),
)
c = (
    jax.jit(codec_train_step, donate_argnums=0)
    .lower(st, arr((A, B, S), None, "data"), arr((A, B), None, "data", dtype=i32))
    .compile()
)
print("compiled", c.memory_analysis())
