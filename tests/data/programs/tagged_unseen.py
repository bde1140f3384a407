"""Tagged dumps, as `tagged.py` makes them, of programs for which no rule of matching was made.

usage: tagged_unseen.py cpu|v5e|v5p|v6e|H100|A100 PROGRAM   with the dump flags in XLA_FLAGS, for
eight devices; with NOTAG set, the op_names are those of the program.
"""
# ruff: noqa: C901, E741, N802, N806, PLR0917, SLF001 - sizes and layers have the letters of papers

import os
import re
import sys

os.environ["XLA_FLAGS"] = (
    os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
)
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
os.environ.setdefault("TPU_WORKER_HOSTNAMES", "localhost")
from functools import partial
from itertools import count, pairwise

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from jaxlib.mlir import ir

BACKEND, PROGRAM = sys.argv[1:3]
H100 = """
gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32 core_count: 132 fpus_per_core: 128
  shared_memory_per_block: 49152 shared_memory_per_core: 233472 threads_per_core_limit: 2048
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  memory_bandwidth: 3352320000000 l2_cache_size: 52428800 clock_rate_ghz: 1.98
  device_memory_size: 84929347584 shared_memory_per_block_optin: 232448
  cuda_compute_capability { major: 9 } registers_per_core_limit: 65536
  registers_per_block_limit: 65536
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 7 }
runtime_version { major: 12 minor: 8 patch: 0 }
device_description_str: "NVIDIA H100 80GB HBM3"
"""
A100 = (
    H100.replace("233472", "167936")
    .replace("132", "108")
    .replace("fpus_per_core: 128", "fpus_per_core: 64")
    .replace("232448", "166912")
    .replace("major: 9 }", "major: 8 }", 1)
    .replace("3352320000000", "2039000000000")
    .replace("1.98", "1.41")
    .replace("NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-80GB")
)
TOPO = {"v5e": "v5e:2x4", "v6e": "v6e:2x4", "v5p": "v5p:2x2x2"}


def devices():
    if BACKEND == "cpu":
        return jax.devices()
    if BACKEND in ("H100", "A100"):
        return topologies.get_topology_desc(
            platform="cuda", target_config=globals()[BACKEND], topology="1x1x8"
        ).devices
    kw = {"chip_config_name": "megacore"} if BACKEND == "v5p" else {}
    return topologies.get_topology_desc(platform="tpu", topology_name=TOPO[BACKEND], **kw).devices[
        :8
    ]


def mesh(**axes):
    return Mesh(np.array(devices()).reshape(*axes.values()), tuple(axes))


def arr(over, shape, *spec, dtype="float32"):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(over, P(*spec)))


def smap(over, ins, outs):
    return partial(jax.shard_map, mesh=over, in_specs=ins, out_specs=outs, check_vma=False)


def rms(x, g):
    return (
        x * lax.rsqrt(jnp.mean(jnp.square(x.astype(jnp.float32)), -1, keepdims=True) + 1e-5)
    ).astype(x.dtype) * g


def llama():
    """GQA, rotary, SwiGLU, stacked layers under scan, cache, prefill and sampling loop."""
    over = mesh(data=2, model=4)
    L, d, h, kv, k, f, v, T, B = 3, 128, 8, 4, 16, 256, 512, 24, 4
    bf = "bfloat16"
    layer = {
        "wq": arr(over, (L, d, h, k), None, None, "model", dtype=bf),
        "wk": arr(over, (L, d, kv, k), None, None, "model", dtype=bf),
        "wv": arr(over, (L, d, kv, k), None, None, "model", dtype=bf),
        "wo": arr(over, (L, h, k, d), None, "model", dtype=bf),
        "gate": arr(over, (L, d, f), None, None, "model", dtype=bf),
        "up": arr(over, (L, d, f), None, None, "model", dtype=bf),
        "down": arr(over, (L, f, d), None, "model", dtype=bf),
        "n1": arr(over, (L, d), dtype=bf),
        "n2": arr(over, (L, d), dtype=bf),
    }
    params = {
        "emb": arr(over, (v, d), "model", dtype=bf),
        "layers": layer,
        "head": arr(over, (d, v), None, "model", dtype=bf),
    }

    def rope(x, pos):
        freq = 1.0 / 10000 ** (jnp.arange(0, k, 2) / k)
        ang = pos[..., None] * freq
        c, s = jnp.cos(ang)[:, :, None], jnp.sin(ang)[:, :, None]
        a, b = jnp.split(x.astype(jnp.float32), 2, -1)
        return jnp.concatenate([a * c - b * s, a * s + b * c], -1).astype(x.dtype)

    def block(x, p, cache, pos, mask):
        n = rms(x, p["n1"])
        q = rope(jnp.einsum("btd,dhk->bthk", n, p["wq"]), pos)
        kk = rope(jnp.einsum("btd,dhk->bthk", n, p["wk"]), pos)
        vv = jnp.einsum("btd,dhk->bthk", n, p["wv"])
        start = pos[0, 0].astype(jnp.int32)
        ck = lax.dynamic_update_slice(cache[0], kk, (0, start, 0, 0))
        cv = lax.dynamic_update_slice(cache[1], vv, (0, start, 0, 0))
        q = q.reshape(*q.shape[:2], kv, h // kv, k)
        s = jnp.einsum("btgrk,bsgk->bgrts", q, ck).astype(jnp.float32) / np.sqrt(k)
        a = jax.nn.softmax(jnp.where(mask, s, -1e9), -1).astype(x.dtype)
        o = jnp.einsum("bgrts,bsgk->btgrk", a, cv).reshape(*x.shape[:2], h, k)
        x = x + jnp.einsum("bthk,hkd->btd", o, p["wo"])
        n = rms(x, p["n2"])
        return x + (jax.nn.silu(n @ p["gate"]) * (n @ p["up"])) @ p["down"], (ck, cv)

    def run(params, cache, tok, start):
        x = params["emb"][tok]
        pos = start + jnp.broadcast_to(jnp.arange(tok.shape[1]), tok.shape).astype(jnp.float32)
        mask = jnp.arange(T) <= pos[0][:, None]

        def body(x, pc):
            p, c = pc
            x, c = block(x, p, c, pos, mask)
            return x, c

        x, cache = lax.scan(body, x, (params["layers"], cache))
        return cache, (x[:, -1] @ params["head"]).astype(jnp.float32)

    def generate(params, prompt, seed):
        cache = (jnp.zeros((L, B, T, kv, k), bf),) * 2
        cache, logits = run(params, cache, prompt, jnp.float32(0))

        def step(c, key):
            cache, logits, at = c
            best, ix = lax.top_k(logits, 8)
            tok = jnp.take_along_axis(ix, jax.random.categorical(key, best)[:, None], 1)
            cache, logits = run(params, cache, tok, at)
            return (cache, logits, at + 1), tok[:, 0]

        _, toks = lax.scan(
            step, (cache, logits, jnp.float32(8)), jax.random.split(jax.random.key(seed[0]), 12)
        )
        return toks

    return (
        generate,
        params,
        arr(over, (B, 8), "data", dtype="int32"),
        arr(over, (1,), dtype="uint32"),
    )


def gpipe():
    """Pipeline over 4 stages of several layers, microbatches unrolled, data parallel beside."""
    over = mesh(data=2, stage=4)
    d, f, M = 64, 128, 5
    around = [(i, i + 1) for i in range(3)]
    params = {
        "up": arr(over, (4, 2, d, f), "stage"),
        "down": arr(over, (4, 2, f, d), "stage"),
        "head": arr(over, (d, 40)),
    }

    @smap(
        over,
        ({"up": P("stage"), "down": P("stage"), "head": P()}, P(None, "data"), P(None, "data")),
        P(),
    )
    def loss(p, xs, ys):
        me = lax.axis_index("stage")

        @jax.checkpoint
        def stage(x):
            for u, w in zip(p["up"][0], p["down"][0], strict=False):
                x = x + jax.nn.gelu(rms(x, 1.0) @ u) @ w
            return x

        here, total = jnp.zeros_like(xs[0]), 0.0
        for t in range(M + 3):
            x = jnp.where(me == 0, xs[min(t, M - 1)], here)
            x = stage(x)
            if t >= 3:
                lg = jax.nn.log_softmax(x @ p["head"])
                total += jnp.where(me == 3, -jnp.mean(jnp.sum(lg * ys[t - 3], -1)), 0.0)
            here = lax.ppermute(x, "stage", around)
        return lax.pmean(lax.psum(total, "stage"), "data")

    def train(p, xs, ys):
        v, g = jax.value_and_grad(loss)(p, xs, ys)
        return jax.tree.map(lambda a, b: a - 0.1 * b, p, g), v

    return train, params, arr(over, (M, 8, d), None, "data"), arr(over, (M, 8, 40), None, "data")


def moe():
    """Top-2 routing with capacity, all_to_all there and back, expert MLP, load balancing loss."""
    over = mesh(data=2, expert=4)
    d, f, E, C, n = 64, 96, 8, 16, 64
    params = {
        "router": arr(over, (d, E)),
        "up": arr(over, (E, d, f), "expert"),
        "gate": arr(over, (E, d, f), "expert"),
        "down": arr(over, (E, f, d), "expert"),
        "wqkv": arr(over, (d, 3 * d)),
        "wo": arr(over, (d, d)),
    }
    both = ("data", "expert")
    spec = {
        "router": P(),
        "up": P("expert"),
        "gate": P("expert"),
        "down": P("expert"),
        "wqkv": P(),
        "wo": P(),
    }

    @smap(over, (spec, P(both)), (P(both), P()))
    def layer(p, x):
        q, k, v = jnp.split(x @ p["wqkv"], 3, -1)
        x = x + jax.nn.softmax(q @ k.T / 8) @ v @ p["wo"]
        probs = jax.nn.softmax(x @ p["router"])
        w, ix = lax.top_k(probs, 2)
        hot = jax.nn.one_hot(ix, E)
        place = jnp.cumsum(hot.reshape(-1, E), 0).reshape(hot.shape) * hot - 1
        slot = jax.nn.one_hot(place.astype(jnp.int32), C) * hot[..., None]
        disp = slot.sum(1)
        comb = (slot * w[..., None, None]).sum(1)
        sent = jnp.einsum("nec,nd->ecd", disp, x)
        got = lax.all_to_all(sent, "expert", 0, 1, tiled=True)
        hid = jax.nn.silu(jnp.einsum("ecd,edf->ecf", got, p["gate"])) * jnp.einsum(
            "ecd,edf->ecf", got, p["up"]
        )
        out = lax.all_to_all(jnp.einsum("ecf,efd->ecd", hid, p["down"]), "expert", 1, 0, tiled=True)
        aux = lax.pmean(jnp.mean(hot.sum(1).mean(0) * probs.mean(0)), both)
        return x + jnp.einsum("nec,ecd->nd", comb, out), aux

    def train(p, x, y):
        def loss(p):
            o, aux = layer(p, x)
            return jnp.mean((o - y) ** 2) + 0.01 * aux

        v, g = jax.value_and_grad(loss)(p)
        return jax.tree.map(lambda a, b: a - 0.1 * b, p, g), v

    rows = arr(over, (8 * n // 4, d), both)
    return train, params, rows, rows


def unet():
    over = mesh(data=4, channel=2)
    c = 16

    def K(*s, sh=True):
        return arr(over, s, *((None, None, None, "channel") if sh else ()))

    params = {
        "inp": K(3, 3, 4, c),
        "d1": K(3, 3, c, 2 * c),
        "d2": K(3, 3, 2 * c, 4 * c),
        "mid": K(3, 3, 4 * c, 4 * c),
        "u2": K(2, 2, 4 * c, 2 * c),
        "m2": K(3, 3, 4 * c, 2 * c),
        "u1": K(2, 2, 2 * c, c),
        "m1": K(3, 3, 2 * c, c),
        "out": K(1, 1, c, 4, sh=False),
        "t": arr(over, (32, 4 * c), None, "channel"),
        "gs": [arr(over, (w,)) for w in (c, 2 * c, 4 * c, 2 * c, c)],
        "attn": arr(over, (4 * c, 12 * c)),
        "proj": arr(over, (4 * c, 4 * c)),
    }
    nums = ("NHWC", "HWIO", "NHWC")

    def conv(x, k, s=1):
        return lax.conv_general_dilated(x, k, (s, s), "SAME", dimension_numbers=nums)

    def up(x, k):
        return lax.conv_transpose(x, k, (2, 2), "SAME", dimension_numbers=nums)

    def gn(x, g):
        y = x.reshape(*x.shape[:3], 4, -1)
        m, v = y.mean((1, 2, 4), keepdims=True), y.var((1, 2, 4), keepdims=True)
        return ((y - m) * lax.rsqrt(v + 1e-5)).reshape(x.shape) * g

    def net(p, x, t):
        a = jax.nn.silu(gn(conv(x, p["inp"]), p["gs"][0]))
        b = jax.nn.silu(gn(conv(a, p["d1"], 2), p["gs"][1]))
        e = jax.nn.silu(gn(conv(b, p["d2"], 2), p["gs"][2])) + (t @ p["t"])[:, None, None]
        e = e + conv(e, p["mid"])
        s = e.reshape(e.shape[0], -1, e.shape[-1])
        q, k, v = jnp.split(s @ p["attn"], 3, -1)
        s = s + jax.nn.softmax(jnp.einsum("bqc,bkc->bqk", q, k) / 8) @ v @ p["proj"]
        e = s.reshape(e.shape)
        y = jnp.concatenate([up(e, p["u2"]), b], -1)
        y = jax.nn.silu(gn(conv(y, p["m2"]), p["gs"][3]))
        y = jnp.concatenate([up(y, p["u1"]), a], -1)
        y = jax.nn.silu(gn(conv(y, p["m1"]), p["gs"][4]))
        return conv(y, p["out"])

    def train(p, x, noise, t):
        v, g = jax.value_and_grad(lambda p: jnp.mean((net(p, x + noise, t) - noise) ** 2))(p)
        return jax.tree.map(lambda a, b: a - 0.1 * b, p, g), v

    im = arr(over, (8, 16, 16, 4), "data")
    return train, params, im, im, arr(over, (8, 32), "data")


def solver():
    """vmapped conjugate gradients with a line search by cond, then an ODE by Runge-Kutta steps."""
    over = mesh(data=8)

    def one(a, b):
        spd = a @ a.T + jnp.eye(16)

        def body(s):
            x, r, p, rs, i = s
            ap = spd @ p
            alpha = rs / (p @ ap)
            x, r = x + alpha * p, r - alpha * ap
            new = r @ r
            p = lax.cond(i % 5 == 4, lambda: r, lambda: r + new / rs * p)
            return x, r, p, new, i + 1

        x, *_ = lax.while_loop(
            lambda s: (s[3] > 1e-6) & (s[4] < 40), body, (jnp.zeros(16), b, b, b @ b, 0)
        )
        return x, jnp.linalg.solve(spd, x), jnp.linalg.cholesky(spd)

    def ode(w, y):
        def f(y):
            return jnp.tanh(y @ w)

        def step(c):
            y, t, h = c
            k1 = f(y)
            k2 = f(y + h / 2 * k1)
            k3 = f(y + h / 2 * k2)
            k4 = f(y + h * k3)
            err = jnp.max(jnp.abs(k4 - k1)) * h
            good = err < 0.5
            y = jnp.where(good, y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), y)
            return y, jnp.where(good, t + h, t), jnp.where(good, h * 1.1, h * 0.5)

        return lax.while_loop(lambda c: (c[1] < 1.0) & (c[2] > 1e-3), step, (y, 0.0, 0.1))[0]

    def solve(a, b, w):
        x, s, l = jax.vmap(one)(a, b)
        return ode(w, x), s, l.sum(), jnp.fft.fft(s).real

    return solve, arr(over, (16, 16, 16), "data"), arr(over, (16, 16), "data"), arr(over, (16, 16))


def accumulate():
    """Gradient accumulation by scan over microbatches, Adam, dropout, clipped by global norm."""
    over = mesh(data=4, model=2)
    sizes = [64, 256, 256, 64]
    params = [
        {
            "w": arr(over, (a, b), None, "model" if i % 2 == 0 else None)
            if i != 1
            else arr(over, (a, b), "model"),
            "b": arr(over, (b,)),
        }
        for i, (a, b) in enumerate(pairwise(sizes))
    ]

    def fwd(p, x, key):
        for i, l in enumerate(p[:-1]):
            x = jax.nn.relu(x @ l["w"] + l["b"])
            x = jnp.where(
                jax.random.bernoulli(jax.random.fold_in(key, i), 0.9, x.shape), x / 0.9, 0
            )
        return x @ p[-1]["w"] + p[-1]["b"]

    def train(p, m, v, xs, ys, seed):
        key = jax.random.key(seed[0])

        def micro(c, xy):
            acc, tot, i = c
            x, y = xy
            l, g = jax.value_and_grad(
                lambda p: jnp.mean((fwd(p, x, jax.random.fold_in(key, i)) - y) ** 2)
            )(p)
            return (jax.tree.map(jnp.add, acc, g), tot + l, i + 1), l

        (g, tot, _), ls = lax.scan(micro, (jax.tree.map(jnp.zeros_like, p), 0.0, 0), (xs, ys))
        norm = jnp.sqrt(sum(jnp.sum(a * a) for a in jax.tree.leaves(g)))
        g = jax.tree.map(lambda a: a * jnp.minimum(1.0, 1.0 / norm), g)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, v, g)
        p = jax.tree.map(lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), p, m, v)
        return p, m, v, tot, ls

    return (
        train,
        params,
        params,
        params,
        arr(over, (4, 32, 64), None, "data"),
        arr(over, (4, 32, 64), None, "data"),
        arr(over, (1,), dtype="uint32"),
    )


def quantized():
    """fp8 matmuls with scales, bf16 residual, f32 master weights, int8 matmul in the head."""
    over = mesh(data=4, model=2)
    d, f = 128, 256
    f8 = jnp.float8_e4m3fn
    params = {
        "layers": [
            {
                "up": arr(over, (d, f), None, "model"),
                "down": arr(over, (f, d), "model"),
                "q": arr(over, (d, d), None, "model"),
                "k": arr(over, (d, d), None, "model"),
                "v": arr(over, (d, d), None, "model"),
                "o": arr(over, (d, d), "model"),
            }
            for _ in range(2)
        ]
    }

    def q8(x):
        s = jnp.max(jnp.abs(x)) / 448.0
        return (x / s).astype(f8), s.astype(jnp.float32)

    @jax.custom_vjp
    def mm(x, w):
        (a, sa), (b, sb) = q8(x.astype(jnp.float32)), q8(w)
        return (
            lax.dot_general(
                a, b, (((x.ndim - 1,), (0,)), ((), ())), preferred_element_type=jnp.float32
            )
            * (sa * sb)
        ).astype(jnp.bfloat16)

    def bwd(res, g):
        x, w = res
        gx = jnp.dot(g, w.T.astype(jnp.bfloat16))
        gw = jnp.einsum("btd,btf->df", x, g, preferred_element_type=jnp.float32)
        return gx, gw

    mm.defvjp(lambda x, w: (mm(x, w), (x, w)), bwd)

    def fwd(p, x):
        x = x.astype(jnp.bfloat16)
        for l in p["layers"]:
            n = rms(x, jnp.bfloat16(1))
            q, k, v = (mm(n, l[z]).reshape(*x.shape[:2], 4, -1) for z in "qkv")
            s = jnp.einsum("bthk,bshk->bhts", q, k, preferred_element_type=jnp.float32) * 0.17
            a = jax.nn.softmax(s, -1).astype(jnp.bfloat16)
            x = x + mm(jnp.einsum("bhts,bshk->bthk", a, v).reshape(x.shape), l["o"])
            x = x + mm(jax.nn.gelu(mm(rms(x, jnp.bfloat16(1)), l["up"])), l["down"])
        return x

    def train(p, x, y, head):
        v, g = jax.value_and_grad(lambda p: jnp.mean((fwd(p, x).astype(jnp.float32) - y) ** 2))(p)
        lo = jnp.clip(jnp.round(fwd(p, x).astype(jnp.float32) * 16), -127, 127).astype(jnp.int8)
        lg = lax.dot_general(lo, head, (((2,), (0,)), ((), ())), preferred_element_type=jnp.int32)
        return jax.tree.map(lambda a, b: a - 0.1 * b, p, g), v, jnp.argmax(lg, -1)

    b = arr(over, (8, 16, d), "data")
    return train, params, b, b, arr(over, (d, 64), dtype="int8")


def ragged():
    """Embedding bags, segment sums, sorting, top_k, ragged dot, searchsorted, with gradients."""
    over = mesh(data=8)
    d = 32

    def train(table, w, ids, seg, y):
        def loss(tw):
            table, w = tw
            bags = jax.ops.segment_sum(table[ids], seg, 64)
            mx = jax.ops.segment_max(table[ids], seg, 64)
            h = jnp.tanh(bags @ w[0]) + jnp.where(jnp.isfinite(mx), mx, 0) @ w[1]
            order = jnp.argsort(h[:, 0])
            s = h[order]
            sizes = jnp.bincount(seg[:64] % 4, length=4)
            r = lax.ragged_dot(s, w, sizes.astype(jnp.int32))
            best, ix = lax.top_k(r.sum(-1), 8)
            at = jnp.searchsorted(jnp.sort(h[:, 1]), h[:, 2])
            return jnp.mean((r - y) ** 2) + jnp.mean(best * h[ix, 3]) + jnp.mean(h[at % 64])

        v, (gt, gw) = jax.value_and_grad(loss)((table, w))
        _ids_s, perm = lax.sort_key_val(ids, jnp.arange(ids.shape[0]))
        return table - 0.1 * gt, w - 0.1 * gw, v, jnp.unique(ids, size=16), perm

    return (
        train,
        arr(over, (128, d), "data"),
        arr(over, (4, d, d)),
        arr(over, (256,), "data", dtype="int32"),
        arr(over, (256,), "data", dtype="int32"),
        arr(over, (64, d), "data"),
    )


def rnn():
    """Two GRU layers, one read backward, remat, gradient; then a layer unrolled by four."""
    over = mesh(data=8)
    d = 32
    cell = {"x": arr(over, (d, 3 * d)), "h": arr(over, (d, 3 * d)), "b": arr(over, (3 * d,))}
    params = {
        "fw": cell,
        "bw": cell,
        "top": cell,
        "emb": arr(over, (100, d)),
        "out": arr(over, (3 * d, 100)),
    }

    def gru(p, h, x):
        gx, gh = x @ p["x"] + p["b"], h @ p["h"]
        rx, zx, nx = jnp.split(gx, 3, -1)
        rh, zh, nh = jnp.split(gh, 3, -1)
        r, z = jax.nn.sigmoid(rx + rh), jax.nn.sigmoid(zx + zh)
        n = jnp.tanh(nx + r * nh)
        h = (1 - z) * n + z * h
        return h, h

    def loss(p, toks):
        x = p["emb"][toks]
        z = jnp.zeros((toks.shape[1], d))
        _, f = lax.scan(jax.checkpoint(partial(gru, p["fw"])), z, x)
        _, b = lax.scan(jax.checkpoint(partial(gru, p["bw"])), z, x, reverse=True)
        _, t = lax.scan(partial(gru, p["top"]), z, f + b, unroll=4)
        lg = jax.nn.log_softmax(jnp.concatenate([f, b, t], -1) @ p["out"])
        return -jnp.mean(jnp.take_along_axis(lg[:-1], toks[1:, :, None], -1))

    def train(p, toks):
        v, g = jax.value_and_grad(loss)(p, toks)
        return jax.tree.map(lambda a, b: a - 0.1 * b, p, g), v

    return train, params, arr(over, (12, 16), None, "data", dtype="int32")


def cube():
    """Batch over data and fsdp, weights over fsdp and tensor, sequence over tensor between."""
    over = mesh(data=2, fsdp=2, tensor=2)
    d, h, f, T = 128, 4, 256, 32
    layer = {
        "qkv": arr(over, (d, 3, h, d // h), "fsdp", None, "tensor"),
        "o": arr(over, (h, d // h, d), "tensor", None, "fsdp"),
        "up": arr(over, (d, f), "fsdp", "tensor"),
        "down": arr(over, (f, d), "tensor", "fsdp"),
    }
    params = {"layers": [layer] * 2, "emb": arr(over, (256, d), "tensor", "fsdp")}
    seq = NamedSharding(over, P(("data", "fsdp"), "tensor"))

    def c(x):
        return lax.with_sharding_constraint(x, seq)

    def block(x, l):
        x = c(x)
        q, k, v = jnp.moveaxis(jnp.einsum("btd,dchk->btchk", rms(x, 1.0), l["qkv"]), 2, 0)
        s = jnp.where(
            jnp.tril(jnp.ones((T, T), bool)), jnp.einsum("bthk,bshk->bhts", q, k) * 0.2, -1e9
        )
        x = c(
            x
            + jnp.einsum(
                "bthk,hkd->btd", jnp.einsum("bhts,bshk->bthk", jax.nn.softmax(s), v), l["o"]
            )
        )
        return c(x + jax.nn.relu(rms(x, 1.0) @ l["up"]) ** 2 @ l["down"])

    def train(p, tok):
        def loss(p):
            x = c(p["emb"][tok])
            for l in p["layers"]:
                x = jax.checkpoint(
                    block, policy=jax.checkpoint_policies.dots_with_no_batch_dims_saveable
                )(x, l)
            lg = jax.nn.log_softmax(x @ p["emb"].T)
            return -jnp.mean(jnp.take_along_axis(lg[:, :-1], tok[:, 1:, None], -1))

        v, g = jax.value_and_grad(loss)(p)
        return jax.tree.map(lambda a, b: a - 0.1 * b, p, g), v

    return train, params, arr(over, (8, T), ("data", "fsdp"), dtype="int32")


def tag(lowered):
    module = lowered._lowering._hlo
    text = module.operation.get_asm(enable_debug_info=True)
    body = "\n".join(line for line in text.split("\n") if not line.startswith("#loc"))
    n = count()
    out, at = [], 0
    for m in re.finditer(r"\bloc\(", body):
        if m.start() < at:
            continue
        out.append(body[at : m.start()])
        depth, i, quoted = 0, m.end() - 1, False
        while True:
            c = body[i]
            if quoted:
                if c == "\\":
                    i += 1
                elif c == '"':
                    quoted = False
            elif c == '"':
                quoted = True
            elif c == "(":
                depth += 1
            elif c == ")":
                depth -= 1
                if not depth:
                    break
            i += 1
        out.append(f'loc("t{next(n)}")')
        at = i + 1
    body = "".join(out) + body[at:]
    with module.context:
        lowered._lowering._hlo = ir.Module.parse(body)
    return lowered


def compiled(programs):
    """Compile the program that the command line names, tagged unless NOTAG is set."""
    fun, *args = programs[PROGRAM]()
    low = jax.jit(fun).lower(*args)
    (low if os.environ.get("NOTAG") else tag(low)).compile()
    print("compiled", BACKEND, PROGRAM)


if __name__ == "__main__":
    compiled(globals())
