"""Speech recogniser step: STFT by rfft on frames, log-mel, masks per utterance (vmap), conv subsampling frontend, scan over 2 conformer blocks
(relative attention, gated depthwise conv), CTC loss in log space by lax.scan over time
greedy decode with collapse (sort), sign update; mesh 2x2 (u utterance x h heads/hidden)."""

import os, sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
os.environ.setdefault("TPU_WORKER_HOSTNAMES", "localhost")
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

kind = sys.argv[1]
if kind == "gpu":
    H100 = open(os.environ["TARGET"]).read()
    topo = topologies.get_topology_desc(platform="cuda", target_config=H100, topology="1x1x4")
else:
    topo = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
mesh = Mesh(np.array(topo.devices).reshape(2, 2), ("u", "h"))


def S(shape, dt=jnp.float32, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


def con(x, *s):
    return lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))


f32, bf, i32 = jnp.float32, jnp.bfloat16, jnp.int32
L, D, H, F, V, B, N, M, U, K = 2, 128, 4, 256, 96, 8, 8000, 64, 12, 7
NF, HOP, WIN = 97, 80, 320  # frames, hop, window
W = dict(
    mel=S((WIN // 2 + 1, M)),
    c1=S((3, 3, 1, 32)),
    c2=S((3, 3, 32, 32), f32, None, None, None, "h"),
    pin=S((16 * 32, D), f32, None, "h"),
    blk=dict(
        qkv=S((L, D, 3, H, D // H), f32, None, None, None, "h"),
        r=S((L, H, D // H, 49), f32, None, "h"),
        o=S((L, H, D // H, D), f32, None, "h"),
        pw=S((L, D, 2 * D), f32, None, None, "h"),
        dw=S((L, K, 1, D), f32, None, None, None, "h"),
        g=S((L, 4, D)),
    ),
    out=S((D, V), f32, None, "h"),
)
jax.config.update("jax_traceback_in_locations_limit", 1)


def ln(x, g):
    m = x.mean(-1, keepdims=True)
    return (x - m) * lax.rsqrt(jnp.var(x, -1, keepdims=True) + 1e-5) * g


def feats(w, a, key):
    idx = np.arange(NF)[:, None] * HOP + np.arange(WIN)
    fr = a[:, idx] * np.hanning(WIN).astype("f4")
    sp = jnp.abs(jnp.fft.rfft(fr)) ** 2
    x = jnp.log(jnp.maximum(sp @ jax.nn.relu(w["mel"]), 1e-5))

    def aug(k, x):
        t0, tw, m0, mw = (k * jnp.array([NF - 10, 10, M - 8, 8])).astype(i32)
        t, m = jnp.arange(NF), jnp.arange(M)
        return jnp.where(
            ((t >= t0) & (t < t0 + tw))[:, None] | ((m >= m0) & (m < m0 + mw))[None], 0, x
        )

    return jax.vmap(aug)(jax.random.uniform(key, (a.shape[0], 4)), x)


def conv(x, k, s):
    return lax.conv_general_dilated(x, k, s, "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def block(x, p, ok):
    h = ln(x, p["g"][1])
    T = x.shape[1]
    q, k, v = jnp.moveaxis(jnp.einsum("btd,dchk->btchk", h, p["qkv"]), 2, 0)
    rel = jax.nn.one_hot(jnp.clip(jnp.arange(T)[:, None] - jnp.arange(T) + 24, 0, 48), 49)
    s = (jnp.einsum("bthk,bshk->bhts", q, k) + jnp.einsum("bthk,hkr,tsr->bhts", q, p["r"], rel)) * (
        D // H
    ) ** -0.5
    a = jax.nn.softmax(jnp.where(ok[:, None, None], s, -1e9))
    x = x + jnp.einsum("bhts,bshk,hkd->btd", a, v, p["o"])
    h = jax.nn.glu(ln(x, p["g"][2]) @ p["pw"])
    h = lax.conv_general_dilated(
        h, p["dw"], (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"), feature_group_count=D
    )
    h = jax.nn.silu(h)
    x = con(x + h, "u", None, None)
    return con(ln(x, p["g"][3]), "u", None, None), x.std()


def encode(w, a, n, key):
    x = feats(w, a, key)[..., None]
    x = jax.nn.relu(conv(x, w["c1"], (2, 2)))
    x = jax.nn.relu(conv(x, w["c2"], (2, 2)))
    x = con(x.reshape(*x.shape[:2], -1) @ w["pin"], "u", None, None)
    ok = jnp.arange(x.shape[1]) < (n[:, None] // (4 * HOP))
    x, st = lax.scan(lambda x, p: block(x, p, ok), x, w["blk"])
    return x, ok, st


def lse(*xs):
    m = jnp.maximum(lax.stop_gradient(jnp.stack(xs).max(0)), -1e30)
    return jnp.log(sum(jnp.exp(x - m) for x in xs)) + m


def ctc(lp, ok, y, ny):
    b = y.shape[0]
    ext = jnp.stack([jnp.zeros_like(y), y], -1).reshape(b, -1)
    ext = jnp.pad(ext, ((0, 0), (0, 1)))
    skip = jnp.pad((ext[:, 2:] != ext[:, :-2]) & (ext[:, 2:] != 0), ((0, 0), (2, 0)))
    e = jnp.take_along_axis(lp, jnp.broadcast_to(ext[:, None], (b, lp.shape[1], ext.shape[1])), -1)

    def step(al, te):
        e, ok = te
        s1 = jnp.pad(al, ((0, 0), (1, 0)), constant_values=-1e30)[:, :-1]
        s2 = jnp.where(skip, jnp.pad(al, ((0, 0), (2, 0)), constant_values=-1e30)[:, :-2], -1e30)
        return jnp.where(ok[:, None], lse(al, s1, s2) + e, al), None

    al0 = jnp.where(jnp.arange(ext.shape[1]) < 2, e[:, 0], -1e30)
    al, _ = lax.scan(step, al0, (jnp.moveaxis(e, 1, 0)[1:], ok.T[1:]))
    g = lambda i: jnp.take_along_axis(al, i[:, None], 1)[:, 0]
    return -lse(g(2 * ny), g(jnp.maximum(2 * ny - 1, 0)))


def loss(w, a, n, y, ny, key):
    x, ok, st = encode(w, a, n, key)
    lp = jax.nn.log_softmax(con(x @ w["out"], "u", None, "h"))
    c = ctc(lp, ok, y, ny)
    return (c / jnp.maximum(ny, 1)).mean(), (lp, ok, st, c)


def speech_step(w, run, seed, a, n, y, ny):
    (l, (lp, ok, st, c)), g = jax.value_and_grad(loss, has_aux=True)(
        w, a, n, y, ny, jax.random.key(seed, impl="rbg")
    )
    w2 = jax.tree.map(lambda w, g: w - 1e-3 * (jnp.sign(g) + 0.01 * w), w, g)
    run = 0.9 * run + 0.1 * st.mean()
    b = jnp.argmax(lp, -1)
    keep = (b != 0) & (b != jnp.pad(b, ((0, 0), (1, 0)))[:, :-1]) & ok
    hyp = jnp.take_along_axis(jnp.where(keep, b, 0), jnp.argsort(~keep, -1, stable=True), -1)[:, :U]
    return w2, run, l, hyp


sw = W
ru = S(())
c = (
    jax.jit(speech_step, donate_argnums=(0, 1))
    .lower(
        sw,
        ru,
        S((), jnp.uint32),
        S((B, N), f32, "u"),
        S((B,), i32, "u"),
        S((B, U), i32, "u"),
        S((B,), i32, "u"),
    )
    .compile()
)
print("compiled", len(c.as_text() or ""))
