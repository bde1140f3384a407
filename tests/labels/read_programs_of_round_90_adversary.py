"""The two training steps of an adversarial pair of images: the judge's with a penalty now and then, and the generator's.

Ahead of time for v5p 2x2x2: mesh data 4 x channel 2. Styles from a small network, weights scaled by styles and normalized
again, noise at each resolution, blurs by fixed filters at each step up, pictures added over resolutions, four
pixels as channels; the judge has skips and a product with the class. Pictures are turned,
moved and recolored with a probability that follows the signs of the judge; every sixteenth step slopes of the judge by real
pictures are punished (second slopes under a conditional). The generator's step crosses two styles at a level, drops a quarter of
a batch (those the judge likes least), and keeps a slow copy; Adam without a first moment for both.
"""

import os

os.environ.update(JAX_PLATFORMS="cpu")
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

topo = topologies.get_topology_desc(platform="tpu", topology_name="v5p:2x2x2")
mesh = Mesh(np.array(topo.devices).reshape(4, 2), ("data", "channel"))
bf, f32, i32 = jnp.bfloat16, jnp.float32, jnp.int32
# batch, size of a draw, of a style, classes, channels by resolution, resolutions
B, Z, D, Y, C, LEVELS = 64, 256, 256, 16, (256, 128), (8, 16)


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))
layer = lambda k, a, b: dict(
    w=S((k, k, a, b), f32, None, None, None, "channel"),
    style=S((D, a), f32),
    bend=S((a,), f32),
    b=S((b,), f32, "channel"),
    noise=S((), f32),
)
gen = dict(
    kinds=S((Y, Z), f32),
    map=[S((2 * Z if i == 0 else D, D), f32, None, "channel") for i in range(2)],
    start=S((8, 8, C[0]), f32, None, None, "channel"),
    conv=[layer(3, C[max(i - 1, 0)], C[i]) for i in range(2)],
    paint=[
        layer(1, C[i], 12) | dict(w=S((1, 1, C[i], 12), f32), b=S((12,), f32)) for i in range(2)
    ],
)
judge = dict(
    read=S((1, 1, 12, C[1]), f32),
    main=[S((3, 3, C[i], C[max(i - 1, 0)]), f32, None, None, None, "channel") for i in range(2)],
    skip=[S((1, 1, C[i], C[max(i - 1, 0)]), f32, None, None, None, "channel") for i in range(2)],
    last=S((3, 3, C[0], C[0]), f32, None, None, None, "channel"),
    full=S((16 * C[0], D), f32, "channel"),
    out=S((D,), f32),
    kinds=S((Y, D), f32),
)
judge_state = dict(d=judge, v=judge, chance=S((), f32), step=S((), i32), key=S((4,), jnp.uint32))
draw_state = dict(
    g=gen, slow=gen, v=gen, mean_style=S((D,), f32), step=S((), i32), key=S((4,), jnp.uint32)
)
batch = dict(image=S((B, 32, 32, 3), jnp.uint8, "data"), kind=S((B,), i32, "data"))
FIR = np.outer([1, 3, 3, 1], [1, 3, 3, 1]).astype(np.float32) / 64


def conv(x, w, stride=1, pad="SAME"):
    return lax.conv_general_dilated(
        x, w.astype(x.dtype), (stride, stride), pad, dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def blur(x, up=2):
    """A fixed filter of four taps per axis, each channel by itself, with zeros between."""
    c = x.shape[-1]
    w = jnp.broadcast_to(jnp.asarray(FIR * up**2, x.dtype)[:, :, None, None], (4, 4, 1, c))
    pad = ((2, 2), (2, 2))
    return lax.conv_general_dilated(
        x,
        w,
        (1, 1),
        pad,
        lhs_dilation=(up, up),
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
        feature_group_count=c,
    )


act = lambda x: jax.nn.leaky_relu(x, 0.2) * 1.4142135
unit = lambda x: x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-8)


def styles(g, z, kind):
    w = jnp.concatenate([unit(z), unit(g["kinds"][kind])], -1)
    for m in g["map"]:
        w = act(w @ m * m.shape[0] ** -0.5)
    return con(w, "data", None)


def modulated(x, w, p, again=True):
    s = w @ p["style"] * D**-0.5 + p["bend"] + 1.0
    k = p["w"] * np.prod(p["w"].shape[:3]) ** -0.5
    y = conv(x * s[:, None, None].astype(x.dtype), k)
    if again:
        d = lax.rsqrt(jnp.einsum("ni,io->no", s * s, jnp.sum(k * k, (0, 1))) + 1e-8)
        y = y * d[:, None, None].astype(x.dtype)
    return y


def generate(g, ws, noise):
    """Pictures from a style for each level, [level, picture, style]."""
    n = ws.shape[1]
    x = jnp.broadcast_to(g["start"].astype(bf), (n,) + g["start"].shape)
    image = None
    for i in range(len(LEVELS)):
        if i:
            x, image = blur(x), blur(image)
        p = g["conv"][i]
        x = modulated(x, ws[i], p)
        x = con(
            act(x + noise[i].astype(bf) * p["noise"].astype(bf) + p["b"].astype(bf)),
            "data",
            None,
            None,
            "channel",
        )
        q = g["paint"][i]
        new = modulated(x, ws[i], q, again=False).astype(f32) + q["b"]
        image = new if image is None else image + new
    return con(image, "data", None, None, None)


def judged(d, x, kind):
    x = act(conv(x.astype(bf), d["read"]))
    for i in (1, 0):
        y = act(conv(x, d["main"][i] * (9 * C[i]) ** -0.5, 2))
        n, h = x.shape[0], x.shape[1] // 2
        x = (
            y + conv(x.reshape(n, h, 2, h, 2, C[i]).mean((2, 4)), d["skip"][i] * C[i] ** -0.5)
        ) * 0.7071
        x = con(x, "data", None, None, "channel")
    x = act(conv(x, d["last"] * (9 * C[0]) ** -0.5))
    h = act(x.reshape(x.shape[0], -1).astype(f32) @ d["full"] * (16 * C[0]) ** -0.5)
    return h @ d["out"] * D**-0.5 + (h * unit(d["kinds"])[kind]).sum(-1) * D**-0.5


pixels = lambda x: x.reshape(-1, 16, 16, 2, 2, 3).transpose(0, 1, 3, 2, 4, 5).reshape(-1, 32, 32, 3)
planes = lambda x: (
    x.reshape(-1, 16, 2, 16, 2, 3).transpose(0, 1, 3, 2, 4, 5).reshape(-1, 16, 16, 12)
)


def augmented(x, chance, u):
    """Mirrors, quarter turns, moves by whole pixels, brightness and contrast, each with a chance."""
    n = x.shape[0]
    on = u[:4] < chance
    x = jnp.where(on[0] & (u[4] < 0.5), x[:, :, ::-1], x)
    turns = jnp.where(on[1], (u[5] * 4).astype(i32), 0)
    x = jnp.select([turns == i for i in range(4)], [jnp.rot90(x, i, (1, 2)) for i in range(4)])
    move = jnp.where(on[2], (u[6:8] * 9).astype(i32), 4).reshape(2, n)
    wide = jnp.pad(x, ((0, 0), (4, 4), (4, 4), (0, 0)), mode="reflect")
    x = jax.vmap(lambda t, a, b: lax.dynamic_slice(t, (a, b, 0), (32, 32, 3)))(
        wide, move[0], move[1]
    )
    x = jnp.where(on[3], (x + 0.4 * u[4] - 0.2) * jnp.exp(0.6 * u[8] - 0.3), x)
    return con(x, "data", None, None, None)


def mixed(g, kind, z):
    w = jax.vmap(lambda z: styles(g, z, kind))(z)
    cross = jnp.arange(B) % 10 < 7
    return jnp.stack([w[0], jnp.where(cross[:, None], w[1], w[0])])


def adam(p, v, g, n, rate=2e-3):
    v = jax.tree.map(lambda a, b: 0.99 * a + 0.01 * b * b, v, g)
    c = 1 / (1 - 0.99**n)
    return jax.tree.map(lambda w, a, b: w - rate * a * lax.rsqrt(b * c + 1e-12), p, g, v), v


def draws(key):
    """Normal numbers for two styles of each picture and for noise, uniform ones for changes, and the next key."""
    bits = jax.random.wrap_key_data(key, impl="rbg")
    z = jax.random.normal(bits, (B, 2 * Z + 8 * 8 + 16 * 16))
    u = jax.random.uniform(
        jax.random.wrap_key_data(key ^ 0x5BD1E995, impl="rbg"), (9, 2 * B, 1, 1, 1)
    )
    noise = [z[:, 2 * Z : 2 * Z + 64].reshape(B, 8, 8, 1), z[:, 2 * Z + 64 :].reshape(B, 16, 16, 1)]
    return (
        con(z[:, : 2 * Z].reshape(B, 2, Z).swapaxes(0, 1), None, "data"),
        noise,
        u,
        key + jnp.uint32(1),
    )


def adversary_judge(state, g, batch):
    z, noise, u, key = draws(state["key"])
    d, kind, step, chance = state["d"], batch["kind"], state["step"], state["chance"]
    real = batch["image"].astype(f32) / 127.5 - 1
    fake = pixels(generate(g, mixed(g, kind, z), noise))
    both = planes(augmented(jnp.concatenate([real, fake]), chance, u))

    def loss(d):
        s = judged(d, both, jnp.concatenate([kind, kind]))
        return jnp.mean(jax.nn.softplus(-s[:B])) + jnp.mean(jax.nn.softplus(s[B:])), s

    (value, s), gd = jax.value_and_grad(loss, has_aux=True)(d)

    def steep(d):
        slope = jax.grad(lambda x: judged(d, x, kind).sum())(both[:B])
        return 16.0 * jnp.mean(jnp.sum(slope**2, (1, 2, 3)))

    none = lambda d: (0.0, jax.tree.map(jnp.zeros_like, d))
    r1, more = lax.cond(step % 16 == 0, jax.value_and_grad(steep), none, d)
    d, v = adam(d, state["v"], jax.tree.map(jnp.add, gd, more), (step + 1).astype(f32))
    sign = jnp.mean(jnp.sign(s[:B]))
    chance = jnp.clip(chance + jnp.sign(sign - 0.6) * B / 5e5, 0.0, 0.8)
    seen = jax.ops.segment_sum(jnp.stack([s[:B], s[B:], jnp.ones(B)], 1), kind, Y)
    return dict(d=d, v=v, chance=chance, step=step + 1, key=key), (
        value,
        r1,
        sign,
        seen[:, :2] / (seen[:, 2:] + 1e-6),
    )


def adversary_draw(state, d, chance, kind):
    z, noise, u, key = draws(state["key"])
    g, n = state["g"], (state["step"] + 1).astype(f32)

    def loss(g):
        ws = mixed(g, kind, z)
        s = judged(d, planes(augmented(pixels(generate(g, ws, noise)), chance, u[:, :B])), kind)
        order = jnp.argsort(-lax.stop_gradient(s))
        keep = jnp.zeros((B,), f32).at[order].set((jnp.arange(B) < B * 3 // 4).astype(f32))
        return jnp.sum(jax.nn.softplus(-s) * keep) / keep.sum(), (ws[0].mean(0), s)

    (value, (style, s)), gg = jax.value_and_grad(loss, has_aux=True)(g)
    size = jnp.sqrt(sum(jnp.vdot(a, a) for a in jax.tree.leaves(gg)))
    g, v = adam(g, state["v"], gg, n)
    keep = jnp.minimum(0.999, n / (n + 10))
    slow = jax.tree.map(lambda a, b: a * keep + b * (1 - keep), state["slow"], g)
    mean = state["mean_style"] * 0.995 + 0.005 * style
    return dict(g=g, slow=slow, v=v, mean_style=mean, step=state["step"] + 1, key=key), (
        value,
        size,
        s.mean(),
    )


if __name__ == "__main__":
    kinds, chance = S((B,), i32, "data"), S((), f32)
    with jax.set_mesh(mesh):
        low = jax.jit(adversary_judge, donate_argnums=0).lower(judge_state, gen, batch)
        print(len(low.compile().as_text()))
        low = jax.jit(adversary_draw, donate_argnums=0).lower(draw_state, judge, chance, kinds)
        print(len(low.compile().as_text()))
