"""A training step of a vision-language-action policy: two cameras, a prefix language model, an action expert by flow matching.

Ahead of time for v6e 2x4: mesh data 4 x model 2. Images by patches through a vision tower, words and robot state next to
them, an expert of smaller width whose queries read the keys of both in one attention, noisy action chunks with times from
a beta distribution, discrete action tokens as a second loss through knowledge insulation, LoRA on the tower, an EMA.
"""

import os

os.environ.update(JAX_PLATFORMS="cpu", TPU_SKIP_MDS_QUERY="1", TPU_WORKER_HOSTNAMES="localhost")
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

topo = topologies.get_topology_desc(platform="tpu", topology_name="v6e:2x4")
mesh = Mesh(np.array(topo.devices).reshape(4, 2), ("data", "model"))
bf, f32, i32 = jnp.bfloat16, jnp.float32, jnp.int32


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


B, CAM, IMG, PATCH, WORDS, CHUNK, ACT = 32, 2, 112, 14, 64, 32, 32
N = (IMG // PATCH) ** 2
VD, VL, VH, R = 512, 4, 8, 16  # tower: width, layers, heads, rank
D, XD, L, H, HD, F, XF, V = 1024, 512, 4, 8, 128, 4096, 1024, 8192
SEQ = CAM * N + WORDS

tower = dict(
    norm1=S((VL, VD), bf),
    norm2=S((VL, VD), bf),
    qkv=S((VL, VD, 3, VH, VD // VH), bf, None, None, None, "model"),
    out=S((VL, VH, VD // VH, VD), bf, None, "model"),
    up=S((VL, VD, 4 * VD), bf, None, None, "model"),
    down=S((VL, 4 * VD, VD), bf, None, "model"),
)
frozen = dict(patch=S((PATCH, PATCH, 3, VD), bf), place=S((N, VD), bf), tower=tower)


def body(d, f):
    return dict(
        norm1=S((L, d), f32),
        norm2=S((L, d), f32),
        q=S((L, d, H, HD), f32, None, "data", "model"),
        k=S((L, d, HD), f32, None, "data"),
        v=S((L, d, HD), f32, None, "data"),
        o=S((L, H, HD, d), f32, None, "model", None, "data"),
        gate=S((L, d, f), f32, None, "data", "model"),
        up=S((L, d, f), f32, None, "data", "model"),
        down=S((L, f, d), f32, None, "model", "data"),
    )


params = dict(
    lora=dict(a=S((VL, VD, R), f32), b=S((VL, R, 3, VH, VD // VH), f32, None, None, None, "model")),
    project=S((VD, D), f32, None, "model"),
    embed=S((V, D), f32, "model", "data"),
    prefix=body(D, F),
    expert=body(XD, XF) | dict(modulate=S((L, XD, 3 * XD), f32, None, "data", "model")),
    state_in=S((ACT, XD), f32),
    action_in=S((ACT, XD), f32),
    time=[S((XD, XD), f32, "data", "model"), S((XD, XD), f32, "model", "data")],
    action_out=S((XD, ACT), f32),
    norm=S((D,), f32),
    xnorm=S((XD,), f32),
)
batch = dict(
    images=S((B, CAM, IMG, IMG, 3), jnp.uint8, "data"),
    seen=S((B, CAM), jnp.bool_, "data"),
    words=S((B, WORDS), i32, "data"),
    spoken=S((B, WORDS), jnp.bool_, "data"),
    state=S((B, ACT), f32, "data"),
    actions=S((B, CHUNK, ACT), f32, "data"),
    valid=S((B, CHUNK), jnp.bool_, "data"),
)
key, step = S((4,), jnp.uint32), S((), i32)
con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))


def rms(x, g, mod=None):
    x32 = x.astype(f32)
    y = x32 * lax.rsqrt(jnp.mean(x32 * x32, -1, keepdims=True) + 1e-6)
    if mod is None:
        return (y * (1 + g)).astype(bf), None
    scale, shift, gate = jnp.split(mod[:, None], 3, -1)
    return (y * (1 + g + scale) + shift).astype(bf), gate.astype(bf)


def layer_norm(x, g):
    x32 = x.astype(f32)
    x32 = x32 - x32.mean(-1, keepdims=True)
    return (x32 * lax.rsqrt(jnp.var(x32, -1, keepdims=True) + 1e-6)).astype(bf) * g


def rope(x, t):
    w = 10000.0 ** (-jnp.arange(HD // 2, dtype=f32) * 2 / HD)
    a = t[..., None] * w
    a = a[:, :, None] if x.ndim == 4 else a
    x1, x2 = jnp.split(x.astype(f32), 2, -1)
    return jnp.concatenate(
        [x1 * jnp.cos(a) - x2 * jnp.sin(a), x2 * jnp.cos(a) + x1 * jnp.sin(a)], -1
    ).astype(bf)


def see(z, p, images, key):
    """Cameras as one batch, moved a little by noise of brightness and a random crop."""
    x = images.reshape(B * CAM, IMG, IMG, 3).astype(f32) / 127.5 - 1
    k1, k2 = jax.random.split(key)
    bright = jax.random.uniform(k1, (B * CAM, 1, 1, 1), minval=0.8, maxval=1.2)
    shift = jax.random.randint(k2, (B * CAM, 2), 0, 9)
    x = jnp.pad(x, ((0, 0), (4, 4), (4, 4), (0, 0)), mode="edge")
    x = jax.vmap(lambda im, s: lax.dynamic_slice(im, (s[0], s[1], 0), (IMG, IMG, 3)))(x, shift)
    x = con((x * bright).astype(bf), "data")
    x = lax.conv_general_dilated(
        x, z["patch"], (PATCH, PATCH), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    x = x.reshape(B * CAM, N, VD) + z["place"]

    def block(x, w):
        w, a = w
        h = layer_norm(x, w["norm1"])
        qkv = (
            jnp.einsum("bnd,dthc->tbhnc", h, w["qkv"])
            + jnp.einsum("bnr,rthc->tbhnc", h @ a["a"].astype(bf), a["b"].astype(bf)) * 2
        )
        s = (
            jnp.einsum("bhnc,bhmc->bhnm", qkv[0], qkv[1], preferred_element_type=f32)
            * (VD // VH) ** -0.5
        )
        y = jnp.einsum("bhnm,bhmc->bhnc", jax.nn.softmax(s, -1).astype(bf), qkv[2])
        x = x + jnp.einsum("bhnc,hcd->bnd", y, w["out"])
        h = jax.nn.gelu(layer_norm(x, w["norm2"]) @ w["up"])
        return con(x + h @ w["down"], "data"), None

    x, _ = lax.scan(jax.checkpoint(block), x, (z["tower"], p["lora"]))
    return con((x @ p["project"].astype(bf)).reshape(B, CAM * N, D), "data")


def heads(h, w, t):
    q = rope(con(jnp.einsum("bnd,dhc->bnhc", h, w["q"].astype(bf)), "data", None, "model"), t)
    return q, rope(h @ w["k"].astype(bf), t), h @ w["v"].astype(bf)


def swiglu(h, w):
    y = jax.nn.gelu(h @ w["gate"].astype(bf)) * (h @ w["up"].astype(bf))
    return con(y, "data", None, "model") @ w["down"].astype(bf)


def attend(q, k, v, allowed):
    s = jnp.einsum("bnhc,bmc->bhnm", q, k, preferred_element_type=f32) * HD**-0.5
    s = jnp.where(allowed[:, None], s, -2e38)
    p = jax.nn.softmax(s, -1).astype(bf)
    return jnp.einsum("bhnm,bmc->bnhc", p, v)


def forward(p, x, u, cond, allowed, t):
    """Layer by layer: the prefix by itself, the expert over keys of both, without slopes into the prefix."""

    def layer(carry, w):
        x, u = carry
        w, e = w
        h, _ = rms(x, w["norm1"])
        q, k, v = heads(h, w, t[:, :SEQ])
        m, gate = rms(u, e["norm1"], cond @ e["modulate"].astype(bf))
        uq, uk, uv = heads(m, e, t[:, SEQ:])
        y = attend(q, k, v, allowed[:, :SEQ, :SEQ])
        ks, vs = (jnp.concatenate([lax.stop_gradient(a), b], 1) for a, b in ((k, uk), (v, uv)))
        uy = attend(uq, ks, vs, allowed[:, SEQ:])
        x = con(x + jnp.einsum("bnhc,hcd->bnd", y, w["o"].astype(bf)), "data")
        u = u + gate * jnp.einsum("bnhc,hcd->bnd", uy, e["o"].astype(bf))
        x = con(x + swiglu(rms(x, w["norm2"])[0], w), "data")
        u = con(u + swiglu(rms(u, e["norm2"])[0], e), "data")
        return (x, u), None

    policy = jax.checkpoint_policies.dots_with_no_batch_dims_saveable
    (x, u), _ = lax.scan(jax.checkpoint(layer, policy=policy), (x, u), (p["prefix"], p["expert"]))
    return rms(x, p["norm"])[0], rms(u, p["xnorm"])[0]


def loss(p, z, g, key):
    k1, k2, k3, k4 = jax.random.split(key, 4)
    with jax.named_scope("see"):
        eyes = see(z, p, g["images"], k1)
    with jax.named_scope("read"):
        words = con(p["embed"].astype(bf)[g["words"]], "data") * jnp.sqrt(D).astype(bf)
        x = jnp.concatenate([eyes, words], 1)
    with jax.named_scope("flow"):
        noise = jax.random.normal(k2, (B, CHUNK, ACT))
        # Beta(1.5, 1), turned to favor noisy times, by its inverse distribution.
        time = 1 - 0.999 * jax.random.uniform(k3, (B,)) ** (1 / 1.5)
        a = time[:, None, None]
        noisy = (1 - a) * noise + a * g["actions"]
        w = jnp.exp(
            -np.log(4e-3 / 4) * 0
            + jnp.linspace(np.log(2 * np.pi / 4), np.log(2 * np.pi / 4e-3), XD // 2)
        )
        wave = jnp.concatenate([jnp.sin(time[:, None] * w), jnp.cos(time[:, None] * w)], -1).astype(
            bf
        )
        cond = jax.nn.silu(jax.nn.silu(wave @ p["time"][0].astype(bf)) @ p["time"][1].astype(bf))
        u = jnp.concatenate(
            [
                g["state"].astype(bf)[:, None] @ p["state_in"].astype(bf),
                noisy.astype(bf) @ p["action_in"].astype(bf),
            ],
            1,
        )
    # Images and words that are part of the question see one another, answers are causal, actions see all.
    real = jnp.concatenate(
        [jnp.repeat(g["seen"], N, 1), g["words"] > 0, jnp.ones((B, 1), bool), g["valid"]], 1
    )
    late = jnp.concatenate(
        [
            jnp.zeros((B, CAM * N), bool),
            g["spoken"],
            jnp.eye(1, CHUNK + 1, 0, dtype=bool).repeat(B, 0)
            | jnp.eye(1, CHUNK + 1, 1, dtype=bool),
        ],
        1,
    )
    rank = jnp.cumsum(late.astype(i32), 1)
    allowed = (rank[:, :, None] >= rank[:, None, :]) & real[:, None, :]
    t = (jnp.cumsum(real.astype(i32), 1) - 1).astype(f32)
    x, u = forward(p, x, u, cond, allowed, t)
    with jax.named_scope("speak"):
        h = lax.dynamic_slice_in_dim(x, CAM * N, WORDS - 1, 1)
        logits = jnp.einsum("bnd,vd->bnv", h, p["embed"].astype(bf), preferred_element_type=f32)
        logits = con(logits, "data", None, "model")
        target = jnp.take_along_axis(logits, g["words"][:, 1:, None], -1)[..., 0]
        miss = jax.nn.logsumexp(logits, -1) - target
        spoken = g["spoken"][:, 1:]
        talk = jnp.sum(jnp.where(spoken, miss, 0)) / jnp.maximum(spoken.sum(), 1)
    with jax.named_scope("act"):
        flow = (u[:, 1:] @ p["action_out"].astype(bf)).astype(f32)
        miss = jnp.abs(flow - (g["actions"] - noise)) ** 2
        weight = g["valid"].astype(f32)[..., None]
        move = jnp.sum(miss * weight) / (jnp.sum(weight) * ACT + 1e-6)
        joints = jnp.sum(miss * weight, (0, 1)) / (jnp.sum(weight) + 1e-6)
    return 0.1 * talk + move, (talk, move, joints)


def vla_train_step(p, ema, m, v, z, step, key, g):
    key = jax.random.wrap_key_data(key, impl="rbg")
    now = jax.random.fold_in(key, step)
    (value, aux), grads = jax.value_and_grad(loss, has_aux=True)(p, z, g, now)
    norm = jnp.sqrt(sum(jnp.sum(x * x) for x in jax.tree.leaves(grads)))
    ok = jnp.isfinite(norm)
    clip = jnp.minimum(1.0, 1.0 / (norm + 1e-9))
    t = (step + 1).astype(f32)
    rate = 5e-5 * jnp.where(
        t < 1000, t / 1000, 0.5 * (1 + jnp.cos(np.pi * jnp.minimum(t / 30000, 1.0)))
    )

    def one(w, e, g, m, v):
        g = jnp.where(ok, g * clip, 0)
        m1 = 0.9 * m.astype(f32) + 0.1 * g
        v1 = 0.95 * v + 0.05 * g * g
        d = m1 / (1 - 0.9**t) / (jnp.sqrt(v1 / (1 - 0.95**t)) + 1e-8)
        w1 = jnp.where(ok, w - rate * (d + 1e-4 * w * (w.ndim > 1)), w)
        return w1, (0.999 * e.astype(f32) + 0.001 * w1).astype(e.dtype), m1.astype(bf), v1

    out = jax.tree.map(one, p, ema, grads, m, v)
    p, ema, m, v = (
        jax.tree.map(lambda o: o[i], out, is_leaf=lambda o: isinstance(o, tuple)) for i in range(4)
    )
    return p, ema, m, v, step + 1, dict(loss=value, aux=aux, norm=norm)


half = jax.tree.map(lambda s: S(s.shape, bf, *s.sharding.spec), params)
c = (
    jax.jit(vla_train_step, donate_argnums=(0, 1, 2, 3))
    .lower(params, half, half, params, frozen, step, key, batch)
    .compile()
)
print(c.memory_analysis())
