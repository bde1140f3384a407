"""Decoder-only LM train step the MaxText way: logical axis rules, mesh (fsdp 4 x tensor 2), scan over layers with remat policy (offload by names: saved q/k/v projections),
GQA, rotary embedding, packed segments, SwiGLU, tied embedding with soft cap, chunked cross entropy (scan + checkpoint, z-loss), AdamW with global norm clip, warmup cosine, donation.
usage: prog.py gpu|tpu"""

import os, sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
os.environ.setdefault("TPU_WORKER_HOSTNAMES", "localhost")
import dataclasses
from functools import partial
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.ad_checkpoint import checkpoint_name
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

kind = sys.argv[1]
if kind == "gpu":
    H100 = open(os.environ["TARGET"]).read()
    topo = topologies.get_topology_desc(platform="cuda", target_config=H100, topology="1x1x8")
else:
    topo = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x4")
mesh = Mesh(np.array(topo.devices).reshape(4, 2), ("fsdp", "tensor"))


@dataclasses.dataclass(frozen=True)
class Cfg:
    vocab: int = 4096
    emb: int = 512
    layers: int = 4
    q_heads: int = 8
    kv_heads: int = 2
    head: int = 64
    mlp: int = 1024
    batch: int = 16
    seq: int = 256
    chunks: int = 4
    dtype: object = jnp.bfloat16
    theta: float = 1e4
    cap: float = 30.0
    zloss: float = 1e-4
    lr: float = 3e-4
    warm: int = 100
    total: int = 10000
    b1: float = 0.9
    b2: float = 0.95
    eps: float = 1e-8
    wd: float = 0.1
    clip: float = 1.0


cfg = Cfg()
RULES = dict(
    batch="fsdp",
    embed="fsdp",
    vocab="tensor",
    heads="tensor",
    kv="tensor",
    mlp="tensor",
    act_embed=None,
    act_heads="tensor",
    act_mlp="tensor",
    act_seq=None,
    layers=None,
    norm=None,
    head=None,
)


def spec(names):
    return P(*(RULES.get(n) if n else None for n in names))


def logical(x, *names):
    return lax.with_sharding_constraint(x, NamedSharding(mesh, spec(names)))


def struct(shape, names, dt=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, spec(names)))


L, E, Q, G, H, M = cfg.layers, cfg.emb, cfg.q_heads, cfg.kv_heads, cfg.head, cfg.mlp
params = {
    "token_embedder": {"embedding": struct((cfg.vocab, E), ("vocab", "embed"))},
    "decoder": {
        "decoder_norm": {"scale": struct((E,), ("norm",))},
        "layers": {
            "pre_self_attention_norm": {"scale": struct((L, E), ("layers", "norm"))},
            "self_attention": {
                "query": struct((L, E, Q, H), ("layers", "embed", "heads", "head")),
                "key": struct((L, E, G, H), ("layers", "embed", "kv", "head")),
                "value": struct((L, E, G, H), ("layers", "embed", "kv", "head")),
                "out": struct((L, Q, H, E), ("layers", "heads", "head", "embed")),
                "q_norm": struct((L, H), ("layers", "head")),
                "k_norm": struct((L, H), ("layers", "head")),
            },
            "pre_mlp_norm": {"scale": struct((L, E), ("layers", "norm"))},
            "mlp": {
                "wi_0": struct((L, E, M), ("layers", "embed", "mlp")),
                "wi_1": struct((L, E, M), ("layers", "embed", "mlp")),
                "wo": struct((L, M, E), ("layers", "mlp", "embed")),
            },
        },
    },
}
B, T = cfg.batch, cfg.seq
ids = lambda: struct((B, T), ("batch", "act_seq"), jnp.int32)
data = dict(inputs=ids(), targets=ids(), segments=ids(), positions=ids())


def rms_norm(x, scale):
    x32 = x.astype(jnp.float32)
    return (
        x32 * lax.rsqrt(jnp.mean(jnp.square(x32), -1, keepdims=True) + 1e-6) * (1 + scale)
    ).astype(cfg.dtype)


def rope(x, pos):
    half = x.shape[-1] // 2
    ang = pos[..., None, None].astype(jnp.float32) / cfg.theta ** (
        jnp.arange(half, dtype=jnp.float32) / half
    )
    sin, cos = jnp.sin(ang), jnp.cos(ang)
    a, b = jnp.split(x.astype(jnp.float32), 2, -1)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1).astype(x.dtype)


def attention(p, x, pos, seg, mask):
    w = jax.tree.map(lambda a: a.astype(cfg.dtype), p)
    q = checkpoint_name(
        logical(jnp.einsum("bte,eqh->btqh", x, w["query"]), "batch", "act_seq", "act_heads", None),
        "query_proj",
    )
    k = checkpoint_name(
        logical(jnp.einsum("bte,egh->btgh", x, w["key"]), "batch", "act_seq", "act_heads", None),
        "key_proj",
    )
    v = checkpoint_name(
        logical(jnp.einsum("bte,egh->btgh", x, w["value"]), "batch", "act_seq", "act_heads", None),
        "value_proj",
    )
    q, k = rope(rms_norm(q, p["q_norm"]), pos), rope(rms_norm(k, p["k_norm"]), pos)
    q = q.reshape(B, T, G, Q // G, H)
    s = jnp.einsum("btgrh,bsgh->bgrts", q, k, preferred_element_type=jnp.float32) * H**-0.5
    s = jnp.where(mask[:, None, None], s, jnp.finfo(jnp.float32).min)
    o = jnp.einsum("bgrts,bsgh->btgrh", jax.nn.softmax(s, -1).astype(cfg.dtype), v).reshape(
        B, T, Q, H
    )
    o = logical(o, "batch", "act_seq", "act_heads", None)
    return checkpoint_name(
        logical(jnp.einsum("btqh,qhe->bte", o, w["out"]), "batch", "act_seq", "act_embed"),
        "out_proj",
    )


def mlp(p, x):
    w = jax.tree.map(lambda a: a.astype(cfg.dtype), p)
    h = jax.nn.silu(x @ w["wi_0"]) * (x @ w["wi_1"])
    return logical(
        logical(h, "batch", "act_seq", "act_mlp") @ w["wo"], "batch", "act_seq", "act_embed"
    )


@partial(
    jax.checkpoint,
    policy=jax.checkpoint_policies.save_only_these_names("query_proj", "key_proj", "value_proj"),
    prevent_cse=False,
)
def decoder_layer(x, p, pos, seg, mask):
    with jax.named_scope("self_attention"):
        x = x + attention(
            p["self_attention"], rms_norm(x, p["pre_self_attention_norm"]["scale"]), pos, seg, mask
        )
    with jax.named_scope("mlp"):
        x = x + mlp(p["mlp"], rms_norm(x, p["pre_mlp_norm"]["scale"]))
    return logical(x, "batch", "act_seq", "act_embed"), jnp.mean(jnp.square(x.astype(jnp.float32)))


def decode(p, d):
    x = logical(
        p["token_embedder"]["embedding"].astype(cfg.dtype)[d["inputs"]]
        * jnp.asarray(E**0.5, cfg.dtype),
        "batch",
        "act_seq",
        "act_embed",
    )
    seg = d["segments"]
    mask = (
        (seg[:, :, None] == seg[:, None])
        & (d["positions"][:, :, None] >= d["positions"][:, None])
        & (seg != 0)[:, None]
    )
    x, act = lax.scan(
        lambda c, lp: decoder_layer(c, lp, d["positions"], seg, mask), x, p["decoder"]["layers"]
    )
    return rms_norm(x, p["decoder"]["decoder_norm"]["scale"]), act


def chunked_xent(emb, x, tgt, wt):
    C = cfg.chunks
    ch = lambda a: jnp.moveaxis(a.reshape(B, C, T // C, *a.shape[2:]), 1, 0)

    @jax.checkpoint
    def body(c, xs):
        h, t, w = xs
        lg = logical(
            jnp.einsum("bte,ve->btv", h, emb.astype(cfg.dtype), preferred_element_type=jnp.float32),
            "batch",
            "act_seq",
            "vocab",
        )
        lg = cfg.cap * jnp.tanh(lg / cfg.cap)
        z = jax.nn.logsumexp(lg, -1)
        nll = z - jnp.take_along_axis(lg, t[..., None], -1)[..., 0]
        ok = (jnp.argmax(lg, -1) == t) * w
        return (c[0] + (nll * w).sum(), c[1] + cfg.zloss * (z * z * w).sum(), c[2] + ok.sum()), None

    (nll, zl, ok), _ = lax.scan(body, (jnp.zeros(()),) * 3, (ch(x), ch(tgt), ch(wt)))
    return nll, zl, ok


def loss_fn(p, d):
    x, act = decode(p, d)
    wt = (d["segments"] != 0).astype(jnp.float32)
    n = wt.sum() + 1e-6
    nll, zl, ok = chunked_xent(p["token_embedder"]["embedding"], x, d["targets"], wt)
    return (nll + zl) / n, dict(nll=nll / n, acc=ok / n, act=act)


def schedule(t):
    w = t / cfg.warm
    f = jnp.clip((t - cfg.warm) / (cfg.total - cfg.warm), 0, 1)
    return cfg.lr * jnp.where(t < cfg.warm, w, 0.1 + 0.45 * (1 + jnp.cos(jnp.pi * f)))


def lm_train_step(state, d):
    p, mu, nu, step = (state[k] for k in ("params", "mu", "nu", "step"))
    (l, aux), g = jax.value_and_grad(loss_fn, has_aux=True)(p, d)
    gn = jnp.sqrt(sum(jnp.vdot(x, x) for x in jax.tree.leaves(g)))
    g = jax.tree.map(lambda x: x * jnp.minimum(1, cfg.clip / (gn + 1e-6)), g)
    t = step + 1
    tf = t.astype(jnp.float32)
    lr = schedule(tf)
    mu = jax.tree.map(lambda m, x: cfg.b1 * m + (1 - cfg.b1) * x, mu, g)
    nu = jax.tree.map(lambda v, x: cfg.b2 * v + (1 - cfg.b2) * x * x, nu, g)
    ok = jnp.isfinite(gn)

    def upd(w, m, v):
        u = m / (1 - cfg.b1**tf) / (jnp.sqrt(v / (1 - cfg.b2**tf)) + cfg.eps) + (
            cfg.wd * w if w.ndim > 1 else 0
        )
        return jnp.where(ok, w - lr * u, w)

    return dict(params=jax.tree.map(upd, p, mu, nu), mu=mu, nu=nu, step=t), dict(
        loss=l, grad_norm=gn, lr=lr, **aux
    )


state = dict(params=params, mu=params, nu=params, step=struct((), (), jnp.int32))
sh = jax.tree.map(lambda s: s.sharding, state)
c = jax.jit(lm_train_step, donate_argnums=0, out_shardings=(sh, None)).lower(state, data).compile()
print("compiled", c.memory_analysis())
