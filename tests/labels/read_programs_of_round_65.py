"""Vision-language step: conv patch embedding, 3 ViT blocks under scan with dropout, text tower that reads the image by
cross attention (captioning), pooled image and text towers for the contrastive loss, LayerNorm, Adam with weight decay,
clipping by global norm; weights sharded over fsdp x tensor, batch over fsdp, bf16 compute."""

import os, sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
os.environ.setdefault("TPU_WORKER_HOSTNAMES", "localhost")
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

d = np.array(
    topologies.get_topology_desc(
        platform="tpu", topology_name="v5p:2x2x1", chip_config_name="megacore"
    ).devices
)
over = Mesh(d.reshape(2, 2), ("fsdp", "tensor"))
f32, bf, i32 = jnp.float32, jnp.bfloat16, jnp.int32
B, IM, PT, D, H, F, L, V, T, Z = 8, 64, 8, 256, 4, 512, 3, 1024, 24, 128
N, K = (IM // PT) ** 2, D // H


def arr(s, *p, dtype=f32):
    return jax.ShapeDtypeStruct(s, dtype, sharding=NamedSharding(over, P(*p)))


def shard(x, *s):
    return lax.with_sharding_constraint(x, NamedSharding(over, P(*s)))


def att(*l):
    n = (None,) * len(l)
    return dict(
        q=arr((*l, D, H, K), *n, "fsdp", "tensor"),
        kv=arr((*l, D, 2, H, K), *n, "fsdp", None, "tensor"),
        o=arr((*l, H, K, D), *n, "tensor", None, "fsdp"),
    )


def mlp(*l):
    n = (None,) * len(l)
    return dict(
        up=arr((*l, D, F), *n, "fsdp", "tensor"),
        ub=arr((*l, F), *n, "tensor"),
        down=arr((*l, F, D), *n, "tensor", "fsdp"),
        db=arr((*l, D), *n),
    )


def nrm(*l):
    return dict(g=arr((*l, D)), b=arr((*l, D)))


params = dict(
    patch=arr((PT, PT, 3, D), None, None, None, "tensor"),
    pb=arr((D,)),
    pos=arr((N, D), None, "fsdp"),
    vit=dict(n1=nrm(L), at=att(L), n2=nrm(L), ml=mlp(L)),
    vn=nrm(),
    emb=arr((V, D), "tensor", "fsdp"),
    tpos=arr((T, D)),
    txt=[dict(n1=nrm(), sa=att(), n2=nrm(), ml=mlp()) for _ in range(1)],
    dec=dict(n1=nrm(), ca=att(), nk=nrm(), n2=nrm(), ml=mlp()),
    tn=nrm(),
    zi=arr((D, Z), "fsdp", "tensor"),
    zt=arr((D, Z), "fsdp", "tensor"),
    tau=arr(()),
    probe=arr((1, D)),
    pool=att(),
)


def ln(x, p):
    a = x.astype(f32)
    mu = a.mean(-1, keepdims=True)
    v = jnp.var(a, -1, keepdims=True)
    return ((a - mu) * lax.rsqrt(v + 1e-6) * p["g"] + p["b"]).astype(bf)


def attend(x, y, p, mask=None):
    q = jnp.einsum("btd,dhk->bthk", x, p["q"].astype(bf))
    k, v = jnp.moveaxis(jnp.einsum("bsd,dchk->bschk", y, p["kv"].astype(bf)), 2, 0)
    s = jnp.einsum("bthk,bshk->bhts", q, k, preferred_element_type=f32) * K**-0.5
    if mask is not None:
        s = jnp.where(mask, s, -1e9)
    return jnp.einsum("bhts,bshk,hkd->btd", jax.nn.softmax(s, -1).astype(bf), v, p["o"].astype(bf))


def drop(k, x, r=0.1):
    return jnp.where(jax.random.bernoulli(k, 1 - r, x.shape), x / bf(1 - r), bf(0))


def ffn(x, p):
    return jax.nn.gelu(x @ p["up"].astype(bf) + p["ub"].astype(bf)) @ p["down"].astype(bf) + p[
        "db"
    ].astype(bf)


def vit(p, img, key):
    x = lax.conv_general_dilated(
        img.astype(bf),
        p["patch"].astype(bf),
        (PT, PT),
        "VALID",
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
    ).reshape(B, N, D)
    x = shard(x + p["pb"].astype(bf) + p["pos"].astype(bf), "fsdp")

    def block(x, wk):
        w, k = wk
        k1, k2 = jax.random.split(k)
        n = ln(x, w["n1"])
        x = x + drop(k1, attend(n, n, w["at"]))
        x = shard(x, "fsdp")
        return shard(x + drop(k2, ffn(ln(x, w["n2"]), w["ml"])), "fsdp"), jnp.mean(
            jnp.square(x.astype(f32))
        )

    x, act = lax.scan(
        jax.checkpoint(block, policy=jax.checkpoint_policies.dots_with_no_batch_dims_saveable),
        x,
        (p["vit"], jax.random.split(key, L)),
    )
    return ln(x, p["vn"]), act


def unit(x):
    return x * lax.rsqrt(jnp.sum(x * x, -1, keepdims=True) + 1e-8)


def vlm_train_step(st, img, tok):
    key, k1, k2, k3 = jax.random.split(st["key"], 4)

    def loss(p):
        with jax.named_scope("image"):
            v, act = vit(p, img, k1)
        live = tok != 0
        causal = jnp.tril(jnp.ones((T, T), bool))
        with jax.named_scope("text"):
            x = drop(k2, (p["emb"][tok] + p["tpos"]).astype(bf))
            x = shard(x, "fsdp")
            for w in p["txt"]:
                n = ln(x, w["n1"])
                x = x + attend(n, n, w["sa"], causal & live[:, None, None])
                x = x + ffn(ln(x, w["n2"]), w["ml"])
        with jax.named_scope("contrast"):
            pr = jnp.broadcast_to(p["probe"].astype(bf), (B, 1, D))
            zi = unit((attend(pr, v, p["pool"])[:, 0] @ p["zi"].astype(bf)).astype(f32))
            last = jnp.maximum(live.sum(1) - 1, 0)
            zt = unit(
                (
                    jnp.take_along_axis(ln(x, p["tn"]), last[:, None, None], 1)[:, 0]
                    @ p["zt"].astype(bf)
                ).astype(f32)
            )
            lg = jnp.einsum("iz,jz->ij", zi, zt) * jnp.exp(jnp.clip(p["tau"], 0.0, 4.6))
            on = jnp.arange(B)
            con = -0.5 * (
                jnp.mean(jax.nn.log_softmax(lg, 1)[on, on])
                + jnp.mean(jax.nn.log_softmax(lg, 0)[on, on])
            )
            acc = jnp.mean(jnp.argmax(lg, 1) == on)
        with jax.named_scope("caption"):
            w = p["dec"]
            y = x + drop(k3, attend(ln(x, w["n1"]), ln(v, w["nk"]), w["ca"]))
            y = y + ffn(ln(y, w["n2"]), w["ml"])
            o = jnp.einsum(
                "btd,vd->btv", ln(y, p["tn"]), p["emb"].astype(bf), preferred_element_type=f32
            )[:, :-1]
            t = tok[:, 1:]
            ce = jax.nn.logsumexp(o, -1) - jnp.take_along_axis(o, t[..., None], -1)[..., 0]
            m = (t != 0).astype(f32)
            cap = jnp.sum(ce * m) / jnp.maximum(m.sum(), 1.0)
        return con + 2.0 * cap, dict(con=con, cap=cap, acc=acc, act=act)

    (l, aux), g = jax.value_and_grad(loss, has_aux=True)(st["p"])
    gn = jnp.sqrt(sum(jnp.sum(jnp.square(a)) for a in jax.tree.leaves(g)))
    sc = jnp.minimum(1.0, 1.0 / (gn + 1e-6))
    n = st["n"] + 1
    t = n.astype(f32)
    lr = 1e-3 * jnp.minimum(t / 100.0, lax.rsqrt(t / 100.0))
    g = jax.tree.map(lambda a: a * sc, g)
    m = jax.tree.map(lambda m, a: 0.9 * m + 0.1 * a, st["m"], g)
    v = jax.tree.map(lambda v, a: 0.95 * v + 0.05 * a * a, st["v"], g)
    p = jax.tree.map(
        lambda p, m, v: (
            p
            - lr
            * (
                m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.95**t)) + 1e-8)
                + (0.1 * p if p.ndim > 1 else 0.0)
            )
        ),
        st["p"],
        m,
        v,
    )
    return dict(p=p, m=m, v=v, n=n, key=key), dict(aux, loss=l, gn=gn, lr=lr)


st = dict(p=params, m=params, v=params, n=arr((), dtype=i32), key=arr((2,), dtype=jnp.uint32))
c = (
    jax.jit(vlm_train_step, donate_argnums=0)
    .lower(st, arr((B, IM, IM, 3), "fsdp"), arr((B, T), "fsdp", dtype=i32))
    .compile()
)
print("compiled", c.memory_analysis())
