# ruff: noqa: B905, BLE001, C408, E401, E402, E501, E731, E741, FBT002, I001, N802, N806, PTH118, PTH120, PTH123, RUF059, SIM115 - many programs in one list, packed
"""Programs sharded on a 2-D mesh whose memory XLA's own count is recorded.

usage: memory_stats.py TARGET DUMP OUT [PROGRAM...]

TARGET is `cpu` (8 devices), `h100` (8 devices, ahead of time) or a TPU topology such as `v5e:2x4`. OUT gets a
line of JSON for each program: its name, the target, and what `compiled.memory_analysis()` says.
"""

import json, os, sys

target, root, out = sys.argv[1:4]
only = set(sys.argv[4:])
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["TPU_SKIP_MDS_QUERY"] = "1"
os.environ["TPU_WORKER_HOSTNAMES"] = "localhost"
os.environ["XLA_FLAGS"] = (
    os.environ.get("XLA_FLAGS", "")
    + f" --xla_dump_to={root} --xla_dump_hlo_as_text"
    + (" --xla_force_host_platform_device_count=8" if target == "cpu" else "")
)
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

if target == "cpu":
    dev = np.array(jax.devices())
elif target == "h100":
    text = open(os.path.join(os.path.dirname(__file__), "sharded.py")).read()
    H = text.split('H100 = """')[1].split('"""')[0]
    dev = np.array(
        topologies.get_topology_desc(platform="cuda", target_config=H, topology="1x1x8").devices
    )
else:
    more = {"chip_config_name": "megacore"} if target.startswith(("v4", "v5p")) else {}
    dev = np.array(
        topologies.get_topology_desc(platform="tpu", topology_name=target, **more).devices
    )
n = len(dev)
a = max(1, n // 4) if n >= 8 else (2 if n >= 2 else 1)
mesh = Mesh(dev.reshape(a, n // a), ("data", "model"))
f32, bf16, i32 = jnp.float32, jnp.bfloat16, jnp.int32


def S(shape, dt=f32, *spec, kind=None):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec), memory_kind=kind))


PR = []


def prog(*args, **kw):
    def deco(f):
        PR.append((f, args, kw))
        return f

    return deco


# 1 LoRA
D, Hh, F, V, B, T, L = 512, 8, 2048, 4096, 16, 256, 3
lp = lambda: dict(
    qkv=S((D, 3 * D), bf16, None, "model"),
    o=S((D, D), bf16, "model"),
    w1=S((D, F), bf16, None, "model"),
    w2=S((F, D), bf16, "model"),
)
ad = lambda: dict(a=S((D, 16)), b=S((16, 3 * D), f32, None, "model"))


def nrm(x):
    x = x.astype(f32)
    return (x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6)).astype(bf16)


def attn(q, k, v, mask=True):
    s = jnp.einsum("bthk,bshk->bhts", q, k, preferred_element_type=f32) * q.shape[-1] ** -0.5
    if mask:
        s = jnp.where(jnp.tril(jnp.ones(s.shape[-2:], bool)), s, -1e9)
    return jnp.einsum("bhts,bshk->bthk", jax.nn.softmax(s).astype(q.dtype), v)


@prog(
    dict(emb=S((V, D), bf16, "model"), layers=[lp() for _ in range(L)]),
    [dict(p=ad(), m=ad(), v=ad()) for _ in range(L)],
    S((B, T), i32, "data"),
    donate_argnums=1,
)
def lora_finetune(base, ads, tok):
    def loss(aps):
        x = base["emb"][tok]
        for l, a in zip(base["layers"], aps):
            h = nrm(x)
            qkv = h @ l["qkv"] + ((h @ a["a"].astype(bf16)) @ a["b"].astype(bf16))
            q, k, v = [t.reshape(B, T, Hh, -1) for t in jnp.split(qkv, 3, -1)]
            x = x + attn(q, k, v).reshape(B, T, D) @ l["o"]
            x = x + jax.nn.silu(nrm(x) @ l["w1"]) @ l["w2"]
        lg = (nrm(x) @ base["emb"].T).astype(f32)
        return -jnp.take_along_axis(jax.nn.log_softmax(lg[:, :-1]), tok[:, 1:, None], -1).mean()

    l, g = jax.value_and_grad(loss)([a["p"] for a in ads])
    new = []
    for a, gg in zip(ads, g):
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, a["m"], gg)
        v = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, a["v"], gg)
        new.append(
            dict(
                p=jax.tree.map(lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), a["p"], m, v),
                m=m,
                v=v,
            )
        )
    return new, l


# 2 graph attention
N, E, C = 4096, 32768, 128


@prog(S((N, C), f32, "data"), S((E,), i32), S((E,), i32), S((C, C)), S((2 * C,)))
def graph_attention(x, src, dst, w, av):
    def loss(w):
        h = x @ w
        e = jax.nn.leaky_relu(jnp.concatenate([h[src], h[dst]], -1) @ av)
        e = jnp.exp(e - jax.ops.segment_max(e, dst, N)[dst])
        z = jax.ops.segment_sum(e, dst, N)
        return (jax.ops.segment_sum((e / (z[dst] + 1e-9))[:, None] * h[src], dst, N) ** 2).mean()

    return jax.value_and_grad(loss)(w)


# 3 kmeans
@prog(S((8192, 64), f32, "data"), S((32, 64)))
def kmeans_fit(x, c):
    def body(s):
        c, _, i = s
        d = ((x[:, None] - c[None]) ** 2).sum(-1)
        a = jax.nn.one_hot(d.argmin(-1), 32)
        nc = (a.T @ x) / (a.sum(0)[:, None] + 1e-6)
        return nc, jnp.abs(nc - c).max(), i + 1

    return jax.lax.while_loop(lambda s: (s[1] > 1e-4) & (s[2] < 100), body, (c, jnp.float32(1), 0))


# 4 unet
@prog(
    [S((3, 3, 3, 32)), S((3, 3, 32, 64)), S((3, 3, 96, 32)), S((3, 3, 32, 3))],
    S((16, 64, 64, 3), f32, "data"),
    donate_argnums=0,
)
def unet_step(ks, x):
    cv = lambda x, k, s=1: jax.lax.conv_general_dilated(
        x, k.astype(bf16), (s, s), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    gn = lambda x: (
        (x - x.mean((1, 2), keepdims=True)) * jax.lax.rsqrt(x.var((1, 2), keepdims=True) + 1e-5)
    )

    def loss(ks):
        a = jax.nn.gelu(gn(cv(x.astype(bf16), ks[0])))
        b = jax.nn.gelu(gn(cv(a, ks[1], 2)))
        b = jax.image.resize(b, (16, 64, 64, 64), "nearest")
        c = jax.nn.gelu(cv(jnp.concatenate([a, b], -1), ks[2]))
        return ((cv(c, ks[3]).astype(f32) - x) ** 2).mean()

    l, g = jax.value_and_grad(loss)(ks)
    return [k - 0.01 * g for k, g in zip(ks, g)], l


# 5 linear attention by associative scan
@prog(
    S((8, 1024, 256), bf16, "data", None, "model"), S((8, 1024, 256), bf16, "data", None, "model")
)
def decay_mix(k, v):
    def comb(l, r):
        return l[0] * r[0], l[1] * r[0] + r[1]

    return jax.lax.associative_scan(comb, (jax.nn.sigmoid(k.astype(f32)), v.astype(f32)), axis=1)[
        1
    ].astype(bf16)


# 6 ppo
@prog(
    [S((64, 256)), S((256, 17))],
    S((4096, 64), f32, "data"),
    S((4096,), i32, "data"),
    S((4096,), f32, "data"),
    S((2,), jnp.uint32),
    donate_argnums=0,
)
def ppo_epoch(p, obs, act, adv, key):
    perm = jax.random.permutation(key, 4096).reshape(16, 256)

    def mini(p, i):
        def loss(p):
            lg = jnp.tanh(obs[i] @ p[0]) @ p[1]
            lpb = jnp.take_along_axis(jax.nn.log_softmax(lg), act[i][:, None], 1)[:, 0]
            r = jnp.exp(lpb)
            return -jnp.minimum(r * adv[i], jnp.clip(r, 0.8, 1.2) * adv[i]).mean()

        l, g = jax.value_and_grad(loss)(p)
        return jax.tree.map(lambda a, b: a - 3e-4 * b, p, g), l

    return jax.lax.scan(mini, p, perm)


# 7 contrastive
@prog(
    S((1024, 768), f32, None, "model"),
    S((512, 768), f32, None, "model"),
    S((2048, 1024), bf16, "data"),
    S((2048, 512), bf16, "data"),
)
def contrastive_grad(wi, wt, im, tx):
    def loss(wi, wt):
        a = im @ wi.astype(bf16)
        b = tx @ wt.astype(bf16)
        a = a / jnp.linalg.norm(a.astype(f32), axis=-1, keepdims=True).astype(bf16)
        b = b / jnp.linalg.norm(b.astype(f32), axis=-1, keepdims=True).astype(bf16)
        lg = (a @ b.T).astype(f32) * 10
        d = jnp.diagonal(lg)
        return (jax.nn.logsumexp(lg, 0) - d).mean() + (jax.nn.logsumexp(lg, 1) - d).mean()

    return jax.grad(loss, (0, 1))(wi, wt)


# 8 MoE top 2
@prog(
    S((8, 512, 1024), bf16, "model"),
    S((8, 1024, 512), bf16, "model"),
    S((512, 8), f32),
    S((2048, 512), bf16, "data"),
)
def expert_layer(w1, w2, g, x):
    p = jax.nn.softmax(x.astype(f32) @ g)
    v, i = jax.lax.top_k(p, 2)
    cap = 640
    oh = jax.nn.one_hot(i, 8, dtype=f32).sum(1)
    pos = (jnp.cumsum(oh, 0) - 1) * oh
    disp = jax.nn.one_hot(pos.astype(i32), cap, dtype=bf16) * oh[..., None].astype(bf16)
    xe = jnp.einsum("tec,td->ecd", disp, x)
    ye = jnp.einsum("ecf,efd->ecd", jax.nn.gelu(jnp.einsum("ecd,edf->ecf", xe, w1)), w2)
    return jnp.einsum("tec,ecd->td", disp * p[..., None].astype(bf16), ye)


# 9 conjugate gradient on a grid over both axes
@prog(
    S((1024, 1024), f32, "data", "model"),
)
def poisson_cg(b):
    A = lambda u: (
        4 * u - jnp.roll(u, 1, 0) - jnp.roll(u, -1, 0) - jnp.roll(u, 1, 1) - jnp.roll(u, -1, 1)
    )

    def body(_, s):
        x, r, p, rs = s
        ap = A(p)
        al = rs / (p * ap).sum()
        x = x + al * p
        r = r - al * ap
        rn = (r * r).sum()
        return x, r, r + rn / rs * p, rn

    return jax.lax.fori_loop(0, 50, body, (jnp.zeros_like(b), b, b, (b * b).sum()))[0]


# 10 complex
@prog(S((64, 128, 16), jnp.complex64, "data"), S((16, 16), jnp.complex64))
def beamform(x, a):
    X = jnp.fft.fft(x, axis=1)
    R = jnp.einsum("bfi,bfj->fij", X, X.conj()) + jnp.eye(16)
    w = R @ a
    return jnp.einsum("fij,bfj->bfi", w.conj(), X).real.sum()


# 11 vae
@prog(
    [S((784, 400)), S((400, 40)), S((20, 400)), S((400, 784))],
    S((512, 784), f32, "data"),
    S((2,), jnp.uint32),
    donate_argnums=0,
)
def vae_step(p, x, k):
    def loss(p):
        h = jax.nn.relu(x @ p[0]) @ p[1]
        mu, lv = jnp.split(h, 2, -1)
        z = mu + jnp.exp(lv / 2) * jax.random.normal(k, mu.shape)
        y = jax.nn.relu(z @ p[2]) @ p[3]
        return (jax.nn.softplus(y) - x * y).sum(-1).mean() + 0.5 * (
            mu**2 + jnp.exp(lv) - lv - 1
        ).sum(-1).mean()

    l, g = jax.value_and_grad(loss)(p)
    return jax.tree.map(lambda a, b: a - 1e-3 * b, p, g), l


# 12 gaussian process
@prog(S((512, 8)), S((512,)), S((64, 8)))
def gp_predict(x, y, q):
    k = lambda a, b: jnp.exp(-((a[:, None] - b[None]) ** 2).sum(-1))
    c = jnp.linalg.cholesky(k(x, x) + 0.1 * jnp.eye(512))
    al = jax.scipy.linalg.cho_solve((c, True), y)
    v = jax.scipy.linalg.solve_triangular(c, k(x, q), lower=True)
    return k(q, x) @ al, 1 - (v * v).sum(0)


# 13 embedding bag
@prog(S((100000, 64), f32, "model"), S((4096, 20), i32, "data"), S((64,)), donate_argnums=0)
def bag_update(t, i, w):
    l, g = jax.value_and_grad(lambda t: ((t[i].mean(1) @ w) ** 2).mean())(t)
    return t - 0.1 * g, l


# 14 decode
@prog(
    S((4, 2, 512, 3 * 512), bf16, None, None, None, "model"),
    S((4, 8, 1024, 8, 64), bf16, None, "data", None, "model"),
    S((4, 8, 1024, 8, 64), bf16, None, "data", None, "model"),
    S((8, 512), bf16, "data"),
    S((), i32),
    donate_argnums=(1, 2),
)
def cached_decode(w, kc, vc, x, n):
    def step(s):
        x, kc, vc, n = s

        def layer(x, lw):
            w, k, v = lw
            q, kk, vv = [t.reshape(8, 1, 8, 64) for t in jnp.split(nrm(x) @ w[0], 3, -1)]
            k = jax.lax.dynamic_update_slice(k, kk, (0, n, 0, 0))
            v = jax.lax.dynamic_update_slice(v, vv, (0, n, 0, 0))
            s = jnp.einsum("bthk,bshk->bhts", q, k).astype(f32) / 8
            s = jnp.where(jnp.arange(1024) <= n, s, -1e9)
            return x + jnp.einsum("bhts,bshk->bthk", jax.nn.softmax(s).astype(bf16), v).reshape(
                8, 512
            ), (k, v)

        x, (kc, vc) = jax.lax.scan(layer, x, (w, kc, vc))
        return x, kc, vc, n + 1

    return jax.lax.while_loop(lambda s: s[3] < n + 32, step, (x, kc, vc, n))


# 15 dilated causal
@prog([S((2, 64, 64)) for _ in range(6)], S((16, 4096, 64), f32, "data"))
def dilated_stack(ks, x):
    for i, k in enumerate(ks):
        x = x + jnp.tanh(
            jax.lax.conv_general_dilated(
                x,
                k,
                (1,),
                [(2**i, 0)],
                rhs_dilation=(2**i,),
                dimension_numbers=("NWC", "WIO", "NWC"),
            )
        )
    return x.mean(1)


# 16 int8
@prog(S((1024, 4096), jnp.int8, None, "model"), S((4096,)), S((512, 1024), f32, "data"))
def int8_linear(w, s, x):
    a = jnp.abs(x).max(-1, keepdims=True) / 127
    q = jnp.round(x / a).astype(jnp.int8)
    return jax.nn.relu(jax.lax.dot(q, w, preferred_element_type=i32).astype(f32) * a * s)


# 17 hvp
@prog(
    [S((128, 512)), S((512, 512)), S((512, 1))],
    S((1024, 128), f32, "data"),
    [S((128, 512)), S((512, 512)), S((512, 1))],
)
def hessian_product(p, x, v):
    f = lambda p: (jnp.tanh(jnp.tanh(x @ p[0]) @ p[1]) @ p[2]).mean()
    return jax.jvp(jax.grad(f), (p,), (v,))[1]


# 18 sinkhorn
@prog(S((2048, 1024), f32, "data", "model"))
def sinkhorn(c):
    k = jnp.exp(-c / 0.1)

    def body(_, uv):
        u, v = uv
        u = 1 / (k @ v)
        return u, 1 / (k.T @ u)

    u, v = jax.lax.fori_loop(0, 20, body, (jnp.ones(2048), jnp.ones(1024)))
    return (u[:, None] * k * v * c).sum()


# 19 remat scan
@prog(
    S((6, 512, 2048), f32, None, None, "model"),
    S((6, 2048, 512), f32, None, "model"),
    S((64, 128, 512), f32, "data"),
    donate_argnums=(0, 1),
)
def remat_stack(w1, w2, x):
    @jax.checkpoint
    def blk(h, w):
        return h + jax.nn.gelu(h @ w[0].astype(bf16)) @ w[1].astype(bf16), None

    l, g = jax.value_and_grad(
        lambda w: (jax.lax.scan(blk, x.astype(bf16), w)[0].astype(f32) ** 2).mean()
    )((w1, w2))
    return jax.tree.map(lambda a, b: a - 0.1 * b, (w1, w2), g), l


# 20 sorting
@prog(S((16, 8192), f32, "data"), S((16, 8192), i32, "data"))
def top_ranked(s, i):
    o = jnp.argsort(-s, axis=-1)[:, :256]
    return jnp.take_along_axis(i, o, 1), jnp.cumsum(jnp.take_along_axis(s, o, 1), 1)


with open(out, "a") as t:
    for f, args, kw in PR:
        if only and f.__name__ not in only:
            continue
        try:
            c = jax.jit(f, **kw).lower(*args).compile()
            m = c.memory_analysis()
            row = (
                {
                    k: getattr(m, k)
                    for k in dir(m)
                    if k.endswith(("_in_bytes", "_bytes")) and not k.startswith("_")
                }
                if m
                else {}
            )
        except Exception as e:
            print("FAILED", f.__name__, type(e).__name__, str(e)[:200])
            continue
        print(json.dumps(dict(program=f.__name__, target=target, **row)), file=t, flush=True)
