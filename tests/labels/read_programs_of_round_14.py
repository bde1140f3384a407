"""Programs that were compiled to be read by hand in round 14, as `read_programs.py`.

usage: NOTAG=1 PYTHONPATH=tests/data/programs python THIS BACKEND PROGRAM
"""

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec as P
from tagged_unseen import arr, compiled, mesh, rms, smap


def aligned():
    """A bidirectional LSTM with the loss of connectionist temporal classification, Adagrad."""
    over = mesh(data=4, model=2)
    width, hidden, steps, rows, marks, room = 24, 32, 18, 8, 20, 6

    def cell():
        return {
            "x": arr(over, (width, 4 * hidden), None, "model"),
            "h": arr(over, (hidden, 4 * hidden), None, "model"),
        }

    params = {"fore": cell(), "back": cell(), "out": arr(over, (2 * hidden, marks), "model")}

    def run(p, x, *, reverse):
        def step(state, x):
            h, c = state
            i, f, g, o = jnp.split(x @ p["x"] + h @ p["h"], 4, -1)
            c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zero = jnp.zeros((rows, hidden))
        return lax.scan(step, (zero, zero), x, reverse=reverse)[1]

    def aligning(logp, label):
        """The negative log likelihood of a label of no repeats, blanks between."""
        full = jnp.zeros((rows, 2 * room + 1), jnp.int32).at[:, 1::2].set(label)
        alpha = jnp.full((rows, 2 * room + 1), -1e9)
        alpha = alpha.at[:, 0].set(0.0)

        def step(alpha, now):
            once = jnp.pad(alpha, ((0, 0), (1, 0)), constant_values=-1e9)[:, :-1]
            twice = jnp.pad(alpha, ((0, 0), (2, 0)), constant_values=-1e9)[:, :-2]
            twice = jnp.where(full == 0, -1e9, twice)
            alpha = jnp.logaddexp(jnp.logaddexp(alpha, once), twice)
            return alpha + jnp.take_along_axis(now, full, 1), None

        alpha, _ = lax.scan(step, alpha, logp)
        return -jnp.logaddexp(alpha[:, -1], alpha[:, -2])

    def train(p, sums, x, label):
        def loss(p):
            both = run(p["fore"], x, reverse=False), run(p["back"], x, reverse=True)
            logp = jax.nn.log_softmax(jnp.concatenate(both, -1) @ p["out"])
            return jnp.mean(aligning(logp, label))

        value, grads = jax.value_and_grad(loss)(p)
        sums = jax.tree.map(lambda s, g: s + g * g, sums, grads)
        p = jax.tree.map(lambda p, g, s: p - 0.1 * g * lax.rsqrt(s + 1e-6), p, grads, sums)
        return p, sums, value

    x = arr(over, (steps, rows, width), None, "data")
    return train, params, params, x, arr(over, (rows, room), "data", dtype="int32")


def linked():
    """Graph attention over edges in any order: softmax by segments, edges sharded, dropout."""
    over = mesh(edges=4, heads=2)
    nodes, edges, width, heads = 96, 384, 32, 4
    layer = {
        "w": arr(over, (width, heads, width // heads), None, "heads"),
        "from": arr(over, (heads, width // heads), "heads"),
        "to": arr(over, (heads, width // heads), "heads"),
    }
    params = {"one": layer, "two": layer, "out": arr(over, (width, 7))}

    def attend(p, x, source, target, key):
        h = jnp.einsum("nd,dhk->nhk", x, p["w"])
        scores = jnp.sum(h * p["from"], -1)[source] + jnp.sum(h * p["to"], -1)[target]
        scores = jax.nn.leaky_relu(scores, 0.2)
        top = jax.ops.segment_max(scores, target, nodes)
        share = jnp.exp(scores - top[target])
        whole = jax.ops.segment_sum(share, target, nodes)
        share = share / (whole[target] + 1e-9)
        share = jnp.where(jax.random.bernoulli(key, 0.8, share.shape), share / 0.8, 0.0)
        sent = jax.ops.segment_sum(share[..., None] * h[source], target, nodes)
        return jax.nn.elu(sent.reshape(nodes, width))

    def train(p, seed, x, edge, label):
        source, target = edge
        keys = jax.random.split(jax.random.wrap_key_data(seed))

        def loss(p):
            h = x
            for n, key in zip(("one", "two"), keys, strict=True):
                h = h + attend(p[n], h, source, target, key)
            cross = jax.nn.log_softmax(h @ p["out"]) * jax.nn.one_hot(label, 7)
            return -jnp.sum(cross) / nodes

        value, grads = jax.value_and_grad(loss)(p)
        return jax.tree.map(lambda p, g: p - 0.1 * g, p, grads), value

    edge = arr(over, (2, edges), None, "edges", dtype="int32")
    x, label = arr(over, (nodes, width)), arr(over, (nodes,), dtype="int32")
    return train, params, arr(over, (2,), dtype="uint32"), x, edge, label


def latent():
    """Latents that attend to a long input in bf16: a scan with remat, weights over both axes."""
    over = mesh(data=2, model=4)
    layers, width, heads, slots, long = 3, 64, 4, 16, 128
    spec = {
        "q": (width, width),
        "kv": (width, 2 * width),
        "o": (width, width),
        "up": (width, 4 * width),
        "down": (2 * width, width),
    }
    params = {n: arr(over, (layers, *s), None, "data", "model") for n, s in spec.items()}
    params["slots"] = arr(over, (slots, width), None, "model")
    params["norm"] = arr(over, (layers, 2, width))

    def heads_of(x):
        return x.reshape(*x.shape[:2], heads, -1)

    def net(p, x):
        x = x.astype(jnp.bfloat16)
        z = jnp.broadcast_to(p["slots"].astype(x.dtype), (x.shape[0], slots, width))

        @jax.checkpoint
        def layer(z, w):
            w = jax.tree.map(lambda a: a.astype(jnp.bfloat16), w)
            q = heads_of(rms(z, w["norm"][0]) @ w["q"])
            k, v = map(heads_of, jnp.split(x @ w["kv"], 2, -1))
            scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * 0.25
            mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)
            z = z + mixed.reshape(z.shape) @ w["o"]
            gate, up = jnp.split(rms(z, w["norm"][1]) @ w["up"], 2, -1)
            return z + (jax.nn.silu(gate) * up) @ w["down"], None

        stacked = {n: p[n] for n in (*spec, "norm")}
        return lax.scan(layer, z, stacked)[0].mean(1).astype(jnp.float32)

    def train(p, m, x, y):
        def loss(p):
            return jnp.mean(optaxless_huber(net(p, x) - y))

        value, grads = jax.value_and_grad(loss)(p)
        m = jax.tree.map(lambda m, g: 0.9 * m + g, m, grads)
        return jax.tree.map(lambda p, m: p - 0.01 * jnp.clip(m, -1, 1), p, m), m, value

    def optaxless_huber(d):
        return jnp.where(jnp.abs(d) < 1, 0.5 * d * d, jnp.abs(d) - 0.5)

    x, y = arr(over, (8, long, width), "data"), arr(over, (8, width), "data")
    return train, params, params, x, y


def switched():
    """One of four experts for each token, tokens sorted by it, and a branch by a running mean."""
    over = mesh(data=2, expert=4)
    width, experts, tokens = 32, 4, 64
    params = {
        "gate": arr(over, (width, experts)),
        "up": arr(over, (experts, width, 2 * width), "expert"),
        "down": arr(over, (experts, 2 * width, width), "expert"),
    }

    def layer(p, x):
        share = jax.nn.softmax(x @ p["gate"])
        which = jnp.argmax(share, -1)
        order = jnp.argsort(which)
        back = jnp.argsort(order)
        sizes = jnp.bincount(which, length=experts)
        h = lax.ragged_dot(x[order], p["up"], sizes.astype(jnp.int32))
        h = lax.ragged_dot(jax.nn.relu(h) ** 2, p["down"], sizes.astype(jnp.int32))
        return x + h[back] * jnp.max(share, -1, keepdims=True), share

    def train(p, mean, x, y):
        def loss(p):
            h, share = layer(p, x)
            h, other = layer(p, h)
            even = jnp.var(share.mean(0)) + jnp.var(other.mean(0))
            return jnp.mean((h - y) ** 2) + 0.1 * even

        value, grads = jax.value_and_grad(loss)(p)
        mean = 0.9 * mean + 0.1 * value

        def small(g):
            return jax.tree.map(lambda g: 0.01 * g, g)

        def large(g):
            size = jnp.sqrt(sum(jnp.sum(a * a) for a in jax.tree.leaves(g)))
            return jax.tree.map(lambda g: 0.1 * g / (size + 1e-6), g)

        moves = lax.cond(value > 2 * mean, small, large, grads)
        return jax.tree.map(lambda p, m: p - m, p, moves), mean, value

    given = arr(over, (tokens, width), "data")
    return train, params, arr(over, ()), given, given


def flowing():
    """A neural differential equation: adaptive steps in a while loop, adjoint by a second one."""
    over = mesh(rows=4, cols=2)
    width, hidden, rows = 16, 64, 32
    params = {
        "one": arr(over, (width + 1, hidden), None, "cols"),
        "two": arr(over, (hidden, width), "cols"),
    }

    def field(p, t, y):
        given = jnp.concatenate([y, jnp.full((y.shape[0], 1), t)], -1)
        return jnp.tanh(given @ p["one"]) @ p["two"]

    def steps(f, y, t, end):
        def body(state):
            t, y, h, n = state
            h = jnp.minimum(h, end - t)
            one = f(t, y)
            two = f(t + h / 2, y + h / 2 * one)
            three = f(t + 3 * h / 4, y + 3 * h / 4 * two)
            new = y + h * (2 * one + 3 * two + 4 * three) / 9
            worst = jnp.max(jnp.abs(h * (one - 2 * two + three) / 9))
            good = worst < 1e-3
            t, y = jnp.where(good, t + h, t), jnp.where(good, new, y)
            return t, y, h * jnp.clip(0.9 * (1e-3 / (worst + 1e-9)) ** 0.33, 0.2, 2.0), n + 1

        def going(state):
            return (state[0] < end) & (state[3] < 50)

        return lax.while_loop(going, body, (t, y, jnp.float32(0.1), jnp.int32(0)))[1]

    @smap(over, (P(None, None), P(None, None), P("rows")), P("rows"))
    def solved(one, two, y):
        p = {"one": one, "two": two}
        return steps(lambda t, y: field(p, t, y), y, jnp.float32(0), jnp.float32(1))

    def train(p, x, y):
        end = solved(p["one"], p["two"], x)
        pull = 2 * (end - y) / rows

        def back(t, state):
            z, a = state[:, :width], state[:, width:]
            f, pulled = jax.vjp(lambda z: field(p, 1 - t, z), z)
            return jnp.concatenate([-f, pulled(a)[0]], -1)

        begun = jnp.concatenate([end, pull], -1)
        state = steps(back, begun, jnp.float32(0), jnp.float32(1))
        _, grad = jax.vjp(lambda p: field(p, 0.5, (state[:, :width] + end) / 2), p)
        (grads,) = grad(state[:, width:])
        return jax.tree.map(lambda p, g: p - 0.1 * g, p, grads), jnp.mean((end - y) ** 2)

    given = arr(over, (rows, width), "rows")
    return train, params, given, given


if __name__ == "__main__":
    compiled(globals())
