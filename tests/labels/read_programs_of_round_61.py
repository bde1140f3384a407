"""Pipeline-parallel training step of a ConvNeXt-like net: GPipe over 'stage' with ppermute, cross-replica batch norm over 'data', LAMB/LARS, EMA."""

import os, sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
os.environ.setdefault("TPU_WORKER_HOSTNAMES", "localhost")
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

d = np.array(topologies.get_topology_desc(platform="tpu", topology_name=sys.argv[1]).devices)
ST, DA = 4, len(d) // 4
mesh = Mesh(d.reshape(DA, ST), ("data", "stage"))
f32, bf, i32 = jnp.float32, jnp.bfloat16, jnp.int32


def S(shape, dt=f32, *s):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*s)))


MB, M, HW, C, NC, DEPTH, PT = 8, 6, 14, 256, 1000, 2, 16
DROP, SMOOTH, WD = 0.2, 0.1, 0.05


def conv(x, w, pad, groups=1, stride=1):
    return jax.lax.conv_general_dilated(
        x.astype(bf),
        w.astype(bf),
        (stride, stride),
        pad,
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
        feature_group_count=groups,
    )


def sync_bn(x, g, b):
    a = x.astype(f32)
    n = a.shape[0] * a.shape[1] * a.shape[2] * jax.lax.psum(1, "data")
    s, q = jax.lax.psum((a.sum((0, 1, 2)), (a * a).sum((0, 1, 2))), "data")
    mu = s / n
    var = q / n - mu * mu
    return ((a - mu) * jax.lax.rsqrt(var + 1e-5) * g + b).astype(bf), jnp.stack([mu, var])


def grn(x, g, b):
    gx = jnp.sqrt(jnp.sum(x.astype(f32) ** 2, (1, 2), keepdims=True) + 1e-6)
    nx = gx / (jnp.mean(gx, -1, keepdims=True) + 1e-6)
    return (x.astype(f32) * (g * nx + 1.0) + b).astype(bf)


def block(x, w, key, keep):
    h, st = sync_bn(conv(x, w["dw"], "SAME", C), w["bn_g"], w["bn_b"])
    h = jax.nn.gelu(h @ w["w1"].astype(bf) + w["b1"].astype(bf))
    h = grn(h, w["gg"], w["gb"])
    h = (h @ w["w2"].astype(bf) + w["b2"].astype(bf)) * w["ls"].astype(bf)
    m = jax.random.bernoulli(key, keep, (x.shape[0], 1, 1, 1))
    return x + jnp.where(m, h / keep.astype(bf), jnp.zeros_like(h)), st


def stage_fn(ws, x, key, sid):
    def one(c, wi):
        w, i = wi
        keep = 1.0 - DROP * (sid * DEPTH + i).astype(f32) / (ST * DEPTH - 1)
        y, st = block(c, w, jax.random.fold_in(key, i), keep)
        return y, st

    return jax.lax.scan(jax.checkpoint(one), x, (ws, jnp.arange(DEPTH)))


def pipeline(p, img, lab, key):
    ws = jax.tree.map(lambda a: a[0], p["blk"])
    sid = jax.lax.axis_index("stage")
    rid = jax.lax.axis_index("data")
    key = jax.random.fold_in(jax.random.fold_in(jax.random.wrap_key_data(key), sid), rid)
    perm = [(i, (i + 1) % ST) for i in range(ST)]

    def head(y, l):
        z = y.astype(f32).mean((1, 2))
        z = z * jax.lax.rsqrt(jnp.mean(z * z, -1, keepdims=True) + 1e-6) * p["hn"]
        lg = (
            jax.lax.dot_general(
                z.astype(bf),
                p["hw"].astype(bf),
                (((1,), (0,)), ((), ())),
                preferred_element_type=f32,
            )
            + p["hb"]
        )
        t = jax.nn.one_hot(l, NC) * (1 - SMOOTH) + SMOOTH / NC
        return -(t * jax.nn.log_softmax(lg)).sum(), jnp.sum(jax.lax.top_k(lg, 5)[1] == l[:, None])

    def tick(c, t):
        x, loss, hit, bn = c
        mi = jnp.clip(t, 0, M - 1)
        im = jax.lax.dynamic_index_in_dim(img, mi, 0, False)
        first = conv(im, p["stem"], "VALID", 1, PT) + p["sb"].astype(bf)
        x = jnp.where(sid == 0, first, x)
        y, st = stage_fn(ws, x, jax.random.fold_in(key, t), sid)
        oi = jnp.clip(t - (ST - 1), 0, M - 1)
        l, h = jax.lax.cond(
            (sid == ST - 1) & (t >= ST - 1),
            lambda: head(y, jax.lax.dynamic_index_in_dim(lab, oi, 0, False)),
            lambda: jax.lax.pcast((0.0, jnp.int32(0)), ("data", "stage"), to="varying"),
        )
        live = (t >= sid) & (t < sid + M)
        return (
            jax.lax.ppermute(y, "stage", perm),
            loss + l,
            hit + h,
            bn + jnp.where(live, st, 0.0) / M,
        ), None

    va = lambda a, ax: jax.lax.pcast(a, ax, to="varying")
    x0 = va(jnp.zeros((MB, HW, HW, C), bf), ("data", "stage"))
    c0 = (
        x0,
        va(0.0, ("data", "stage")),
        va(jnp.int32(0), ("data", "stage")),
        va(jnp.zeros((DEPTH, 2, C)), ("stage",)),
    )
    (_, loss, hit, bn), _ = jax.lax.scan(jax.checkpoint(tick), c0, jnp.arange(M + ST - 1))
    n = MB * M * DA
    return jax.lax.psum(loss, ("data", "stage")) / n, (
        jax.lax.psum(hit, ("data", "stage")),
        bn[None],
    )


specs = dict(
    blk={k: P("stage") for k in ("dw", "bn_g", "bn_b", "w1", "b1", "gg", "gb", "w2", "b2", "ls")},
    stem=P(),
    sb=P(),
    hn=P(),
    hw=P(),
    hb=P(),
)
pp = jax.shard_map(
    pipeline,
    mesh=mesh,
    in_specs=(specs, P(None, "data"), P(None, "data"), P()),
    out_specs=(P(), (P(), P("stage"))),
)


def is_blk(path):
    return path[0].key == "blk"


def convnext_pp_step(s, img, lab):
    key, sub = jax.random.split(s["key"])
    flip = jax.random.bernoulli(jax.random.fold_in(sub, 7), 0.5, (M, MB * DA))
    x = (img.astype(f32) - s["mean"]) / s["std"]
    x = jnp.where(flip[..., None, None, None], x[:, :, :, ::-1], x)
    (loss, (hit, bn)), g = jax.value_and_grad(pp, has_aux=True)(s["p"], x.astype(bf), lab, sub)
    t = s["t"] + 1
    tf = t.astype(f32)
    lr = (
        jnp.where(
            tf < 500, tf / 500, 0.5 * (1 + jnp.cos(np.pi * jnp.minimum((tf - 500) / 1e5, 1.0)))
        )
        * s["base_lr"]
    )
    gn = jnp.sqrt(sum(jnp.sum(a * a) for a in jax.tree.leaves(g)))
    ok = jnp.isfinite(gn)
    g = jax.tree.map(lambda a: a * jnp.minimum(1.0, 1.0 / (gn + 1e-6)), g)

    def upd(path, p, g, m, v):
        m2 = 0.9 * m + 0.1 * g
        v2 = 0.999 * v + 0.001 * g * g
        u = m2 / (1 - 0.9**tf) / (jnp.sqrt(v2 / (1 - 0.999**tf)) + 1e-6)
        if p.ndim > (3 if is_blk(path) else 1):
            u = u + WD * p
        ax = tuple(range(2, p.ndim)) if is_blk(path) else None  # one norm per layer
        pn = jnp.sqrt(jnp.sum(p * p, ax, keepdims=True))
        un = jnp.sqrt(jnp.sum(u * u, ax, keepdims=True))
        r = jnp.where((pn > 0) & (un > 0), jnp.clip(pn / un, 0.01, 10.0), 1.0)
        return jnp.where(ok, p - lr * r * u, p), jnp.where(ok, m2, m), jnp.where(ok, v2, v), r.max()

    o = jax.tree_util.tree_map_with_path(upd, s["p"], g, s["m"], s["v"])
    pick = lambda i: jax.tree.map(lambda q: q[i], o, is_leaf=lambda q: isinstance(q, tuple))
    p2 = pick(0)
    dec = jnp.minimum(0.9999, (1 + tf) / (10 + tf))
    ema = jax.tree.map(lambda e, q: (e.astype(f32) * dec + q * (1 - dec)).astype(bf), s["ema"], p2)
    run = 0.99 * s["bn"] + 0.01 * bn
    return dict(s, p=p2, m=pick(1), v=pick(2), ema=ema, bn=run, t=t, key=key), dict(
        loss=loss, acc5=hit / (M * MB * DA), gn=gn, lr=lr, trust=jnp.stack(jax.tree.leaves(pick(3)))
    )


def tree(dt):
    B = lambda *sh: S((ST, DEPTH) + sh, dt, "stage")
    return dict(
        blk=dict(
            dw=B(7, 7, 1, C),
            bn_g=B(C),
            bn_b=B(C),
            w1=B(C, 4 * C),
            b1=B(4 * C),
            gg=B(4 * C),
            gb=B(4 * C),
            w2=B(4 * C, C),
            b2=B(C),
            ls=B(C),
        ),
        stem=S((PT, PT, 3, C), dt),
        sb=S((C,), dt),
        hn=S((C,), dt),
        hw=S((C, NC), dt),
        hb=S((NC,), dt),
    )


s = dict(
    p=tree(f32),
    m=tree(f32),
    v=tree(f32),
    ema=tree(bf),
    bn=S((ST, DEPTH, 2, C), f32, "stage"),
    t=S((), i32),
    key=S((2,), jnp.uint32),
    mean=S((3,)),
    std=S((3,)),
    base_lr=S(()),
)
img = S((M, MB * DA, HW * PT, HW * PT, 3), jnp.uint8, None, "data")
lab = S((M, MB * DA), i32, None, "data")
lo = jax.jit(convnext_pp_step, donate_argnums=(0,)).lower(s, img, lab)
c = lo.compile()
print("compiled", c.memory_analysis())
