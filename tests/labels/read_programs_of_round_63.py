"""Masked autoencoder + momentum contrast on images and audio: conv patchify, random masking (argsort of noise, gather, scatter back), scan+remat encoder, light decoder,
InfoNCE with all_gather over 'data' in shard_map, queue of negatives, EMA target network, int8 gradients with error feedback, donated state."""

import os, sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
os.environ.setdefault("TPU_WORKER_HOSTNAMES", "localhost")
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

kw = {"chip_config_name": "megacore"} if sys.argv[1].startswith("v5p") else {}
d = np.array(topologies.get_topology_desc(platform="tpu", topology_name=sys.argv[1], **kw).devices)
mesh = Mesh(d.reshape(2, 2), ("data", "model"))
f32, bf, i8, i32 = jnp.float32, jnp.bfloat16, jnp.int8, jnp.int32


def S(shape, dt=f32, *s):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*s)))


B, D, H, F, L, DD, LD, Z, QN = 16, 384, 6, 1536, 4, 256, 2, 128, 2048
IMG, PI, AT, AF, PA = 128, 16, 256, 64, 16
NI, NA = (IMG // PI) ** 2, (AT // PA) * (AF // PA)
KI, KA = NI // 4, NA // 4
m = "model"


def con(x, *s):
    return jax.lax.with_sharding_constraint(x, P(*s))


def ln(x, g, b):
    a = x.astype(f32)
    mu = a.mean(-1, keepdims=True)
    v = jnp.mean((a - mu) ** 2, -1, keepdims=True)
    return ((a - mu) * jax.lax.rsqrt(v + 1e-6) * g + b).astype(bf)


def attn(x, w, h):
    q, k, v = (jnp.einsum("btd,dhk->bthk", x, w["qkv"][:, i].astype(bf)) for i in range(3))
    q = q * jax.lax.rsqrt(jnp.mean(q.astype(f32) ** 2, -1, keepdims=True) + 1e-6).astype(bf)
    s = jnp.einsum("bqhk,bshk->bhqs", q, k, preferred_element_type=f32) * q.shape[-1] ** -0.5
    return jnp.einsum("bhqs,bshk,hkd->bqd", jax.nn.softmax(s, -1).astype(bf), v, w["o"].astype(bf))


def block(h):
    def f(x, w):
        k = w.pop("key") if "key" in w else None
        y = attn(ln(x, w["g1"], w["b1"]), w, h)
        if k is not None:  # stochastic depth per sample
            keep = jax.random.bernoulli(k, 0.9, (x.shape[0], 1, 1))
            y = jnp.where(keep, y / bf(0.9), bf(0))
        x = x + y
        u = jax.nn.gelu(ln(x, w["g2"], w["b2"]) @ w["w1"].astype(bf) + w["c1"].astype(bf))
        return x + u @ w["w2"].astype(bf), jnp.mean(jnp.abs(x.astype(f32)))

    return jax.checkpoint(f, policy=jax.checkpoint_policies.dots_with_no_batch_dims_saveable)


def patches(x, p):
    b, h, w, c = x.shape
    return (
        x.reshape(b, h // p, p, w // p, p, c).transpose(0, 1, 3, 2, 4, 5).reshape(b, -1, p * p * c)
    )


def conv(x, w, p):
    y = jax.lax.conv_general_dilated(
        x.astype(bf), w.astype(bf), (p, p), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    return y.reshape(y.shape[0], -1, y.shape[-1])


def mask(key, x, keep):
    n = x.shape[1]
    noise = jax.random.uniform(key, x.shape[:2])
    ids = jnp.argsort(noise, 1)
    back = jnp.argsort(ids, 1)
    return jnp.take_along_axis(x, ids[:, :keep, None], 1), ids, (back >= keep).astype(f32)


def encode(p, x, key):
    ks = None if key is None else jax.random.split(key, L)
    w = dict(p["enc"]) if ks is None else dict(p["enc"], key=ks)
    x, act = jax.lax.scan(block(H), x, w)
    return ln(x, p["gf"], p["bf"]), act


def tokens(p, img, aud):
    a = conv(img, p["pi"], PI) + p["posi"].astype(bf) + p["mod"][0].astype(bf)
    b = conv(aud, p["pa"], PA) + p["posa"].astype(bf) + p["mod"][1].astype(bf)
    return a, b


def decode(p, x, ids, n, keep, head, pos):
    y = x @ p["din"].astype(bf)
    full = jnp.broadcast_to(p["mtok"].astype(bf), (x.shape[0], n, DD))
    full = full.at[jnp.arange(x.shape[0])[:, None], ids[:, :keep]].set(y) + pos.astype(
        bf
    )  # scatter of the kept tokens back
    full, _ = jax.lax.scan(block(4), full, p["dec"])
    return (full @ p[head].astype(bf)).astype(f32)


def proj(p, x):
    h = x.astype(f32).mean(1)
    h = jax.nn.relu(h @ p["z1"])
    mu = jax.lax.pmean(h.mean(0), "data")
    va = jax.lax.pmean((h * h).mean(0), "data") - mu * mu
    z = ((h - mu) * jax.lax.rsqrt(va + 1e-5)) @ p["z2"]
    return z * jax.lax.rsqrt(jnp.sum(z * z, -1, keepdims=True) + 1e-12)


def rec(pred, target, mk):
    mu = target.mean(-1, keepdims=True)
    t = (target - mu) / jnp.sqrt(target.var(-1, keepdims=True) + 1e-6)
    return jnp.sum(((pred - t) ** 2).mean(-1) * mk) / jnp.maximum(mk.sum(), 1.0)


def nce(q, k, queue, tau):
    ka = jax.lax.all_gather(k, "data", tiled=True)
    lg = jnp.concatenate([q @ ka.T, q @ queue.T.astype(f32)], 1) / tau
    lab = jnp.arange(q.shape[0]) + jax.lax.axis_index("data") * q.shape[0]
    ls = jax.nn.log_softmax(lg, -1)
    acc = jnp.mean(jnp.argmax(lg, -1) == lab)
    _, top = jax.lax.top_k(lg, 5)
    return (
        -jnp.mean(jnp.take_along_axis(ls, lab[:, None], 1)),
        acc,
        jnp.mean(jnp.any(top == lab[:, None], 1)),
    )


def augment(key, x):
    a, b, c = jax.random.split(key, 3)
    n = x.shape[0]
    x = jnp.where(jax.random.bernoulli(a, 0.5, (n, 1, 1, 1)), x[:, :, ::-1], x)
    sh = jax.random.randint(b, (n, 2), 0, 9)
    xp = jnp.pad(x, ((0, 0), (4, 4), (4, 4), (0, 0)), mode="reflect")
    x = jax.vmap(lambda z, s: jax.lax.dynamic_slice(z, (s[0], s[1], 0), x.shape[1:]))(xp, sh)
    return x * (1 + 0.4 * jax.random.uniform(c, (n, 1, 1, x.shape[-1]), minval=-1.0))


def loss(p, tgt, queue, img, aud, key):
    k = jax.random.split(jax.random.fold_in(key, jax.lax.axis_index("data")), 6)
    with jax.named_scope("masked"):
        a, b = tokens(p, augment(k[0], img), aud)
        ai, ii, mi = mask(k[1], a, KI)
        bi, ia, ma = mask(k[2], b, KA)
        x = con(jnp.concatenate([ai, bi], 1), None, None, None)
        x, act = encode(p, x, k[3])
    with jax.named_scope("decoder"):
        ri = rec(decode(p, x[:, :KI], ii, NI, KI, "hi", p["dposi"]), patches(img, PI), mi)
        ra = rec(decode(p, x[:, KI:], ia, NA, KA, "ha", p["dposa"]), patches(aud, PA), ma)
    with jax.named_scope("target"):
        t0, t1 = tokens(tgt, augment(k[4], img), aud)
        t, _ = encode(tgt, jnp.concatenate([t0, t1], 1), None)
        ti, ta = proj(tgt, t[:, :NI]), proj(tgt, t[:, NI:])
        ti, ta = jax.lax.stop_gradient((ti, ta))
    with jax.named_scope("contrast"):
        tau = jnp.clip(jnp.exp(p["tau"]), 0.01, 0.5)
        zi, za = proj(p, x[:, :KI]), proj(p, x[:, KI:])
        c1, acc, top = nce(zi, ta, queue["a"], tau)
        c2, _, _ = nce(za, ti, queue["i"], tau)
    return ri + ra + 0.5 * (c1 + c2), (
        ti,
        ta,
        dict(ri=ri, ra=ra, c1=c1, c2=c2, acc=acc, top=top, act=act),
    )


def compress(g, e):
    """int8 with one scale per row (last axis) shared over data, error kept on its device."""
    g = g + e
    s = jax.lax.pmax(jnp.max(jnp.abs(g), -1, keepdims=True), "data") / 63.0 + 1e-12
    q = jnp.clip(jnp.round(g / s), -63, 63).astype(i8)
    return jax.lax.psum(q, "data").astype(f32) * s / 2, g - q.astype(f32) * s


def mae_moco_step(st, img, aud):
    key, sub = jax.random.split(st["key"])

    def local(p, tgt, queue, err, img, aud, sub):
        (l, (ti, ta, aux)), g = jax.value_and_grad(loss, has_aux=True)(p, tgt, queue, img, aud, sub)
        err = jax.tree.map(lambda e: e[0], err)
        out = jax.tree.map(
            lambda g, e: compress(g, e) if g.ndim > 1 else (jax.lax.pmean(g, "data"), e), g, err
        )
        g = jax.tree.map(lambda o: o[0], out, is_leaf=lambda o: isinstance(o, tuple))
        err = jax.tree.map(lambda o: o[1][None], out, is_leaf=lambda o: isinstance(o, tuple))
        return (
            g,
            err,
            jax.lax.all_gather(ti, "data", tiled=True),
            jax.lax.all_gather(ta, "data", tiled=True),
            jax.lax.pmean(aux, "data"),
            jax.lax.pmean(l, "data"),
        )

    r, dt = P(), P("data")
    g, err, ti, ta, aux, l = jax.shard_map(
        local,
        mesh=mesh,
        in_specs=(r, r, r, dt, dt, dt, r),
        out_specs=(r, dt, r, r, r, r),
        axis_names={"data"},
        check_vma=False,
    )(st["p"], st["t"], st["queue"], st["err"], img, aud, sub)
    n = st["n"] + 1
    gn = jnp.sqrt(sum(jnp.sum(x * x) for x in jax.tree.leaves(g)))
    sc = jnp.minimum(1.0, 1.0 / (gn + 1e-6))
    ok = jnp.isfinite(gn)
    lr = 1e-3 * jnp.where(
        n < 1000, n / 1000.0, 0.5 * (1 + jnp.cos(jnp.pi * jnp.clip((n - 1000) / 99000.0, 0, 1)))
    )
    mom = 1 - 0.004 * (1 + jnp.cos(jnp.pi * n / 1e5)) / 2

    def upd(p, g, m1):  # Lion
        g = g * sc
        u = jnp.sign(0.9 * m1 + 0.1 * g)
        return jnp.where(ok, p - lr * (u + (0.1 * p if p.ndim > 1 else 0.0)), p), jnp.where(
            ok, 0.99 * m1 + 0.01 * g, m1
        )

    o = jax.tree.map(upd, st["p"], g, st["m"])
    pick = lambda i: jax.tree.map(lambda z: z[i], o, is_leaf=lambda z: isinstance(z, tuple))
    p2 = pick(0)
    t2 = jax.tree.map(lambda t, p: mom * t + (1 - mom) * p, st["t"], p2)
    at = (st["n"] * B) % QN
    qd = st["queue"]
    qd = dict(
        i=jax.lax.dynamic_update_slice(qd["i"], ti.astype(bf), (at, 0)),
        a=jax.lax.dynamic_update_slice(qd["a"], ta.astype(bf), (at, 0)),
    )
    err = jax.tree.map(lambda e, z: jnp.where(ok, e, z), err, st["err"])
    return dict(p=p2, m=pick(1), t=t2, queue=qd, err=err, n=n, key=key), dict(
        aux, loss=l, gn=gn, lr=lr
    )


def blk(L, D, H, F):
    return dict(
        qkv=((L, D, 3, H, D // H), (None, None, None, m)),
        o=((L, H, D // H, D), (None, m)),
        w1=((L, D, F), (None, None, m)),
        c1=((L, F), (None, m)),
        w2=((L, F, D), (None, m)),
        **{n: ((L, D), ()) for n in ("g1", "b1", "g2", "b2")},
    )


sp = dict(
    enc=blk(L, D, H, F),
    dec=blk(LD, DD, 4, 1024),
    gf=((D,), ()),
    bf=((D,), ()),
    pi=((PI, PI, 3, D), ()),
    pa=((PA, PA, 1, D), ()),
    posi=((NI, D), ()),
    posa=((NA, D), ()),
    mod=((2, D), ()),
    din=((D, DD), (None, m)),
    mtok=((DD,), ()),
    dposi=((NI, DD), ()),
    dposa=((NA, DD), ()),
    hi=((DD, PI * PI * 3), (None, m)),
    ha=((DD, PA * PA), (None, m)),
    z1=((D, 1024), (None, m)),
    z2=((1024, Z), (m,)),
    tau=((), ()),
)
isl = lambda x: isinstance(x, tuple)
par = lambda: jax.tree.map(lambda x: S(x[0], f32, *x[1]), sp, is_leaf=isl)
st = dict(
    p=par(),
    m=par(),
    t=par(),
    err=jax.tree.map(lambda x: S((2,) + x[0], f32, "data", *x[1]), sp, is_leaf=isl),
    queue=dict(i=S((QN, Z), bf), a=S((QN, Z), bf)),
    n=S((), i32),
    key=S((2,), jnp.uint32),
)
with jax.set_mesh(mesh):
    c = (
        jax.jit(mae_moco_step, donate_argnums=0)
        .lower(st, S((B, IMG, IMG, 3), f32, "data"), S((B, AT, AF, 1), f32, "data"))
        .compile()
    )
print("compiled", c.memory_analysis())
