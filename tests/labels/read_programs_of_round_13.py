"""Programs that were compiled to be read by hand in round 13, as `read_programs.py`.

usage: NOTAG=1 PYTHONPATH=tests/data/programs python THIS BACKEND PROGRAM
"""

from functools import partial

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec as P
from tagged_unseen import arr, compiled, mesh, rms, smap


def gated():
    """A gated state-space layer by an associative scan, rows and channels sharded, Lion."""
    over = mesh(data=2, model=4)
    width, state = 64, 16
    params = {
        "in": arr(over, (3, width, 2 * width), None, None, "model"),
        "rate": arr(over, (3, width, state), None, "model"),
        "b": arr(over, (3, width, state), None, "model"),
        "c": arr(over, (3, width, state), None, "model"),
        "out": arr(over, (3, width, width), None, "model"),
    }

    def mixed(p, x):
        u, gate = jnp.split(x @ p["in"], 2, -1)
        step = jax.nn.softplus(u)
        decay = jnp.exp(-step[..., None] * jnp.exp(p["rate"]))
        put = (step * u)[..., None] * p["b"]

        def join(one, two):
            return one[0] * two[0], one[1] * two[0] + two[1]

        _, states = lax.associative_scan(join, (decay, put), axis=1)
        y = jnp.sum(states * p["c"], -1) * jax.nn.silu(gate)
        return x + rms(y, 1.0) @ p["out"]

    def train(p, moments, x, y):
        def loss(p):
            layer = jax.checkpoint(lambda x, q: (mixed(q, x), None))
            return jnp.mean((lax.scan(layer, x, p)[0] - y) ** 2)

        value, grads = jax.value_and_grad(loss)(p)
        signs = jax.tree.map(lambda m, g: jnp.sign(0.9 * m + 0.1 * g), moments, grads)
        moments = jax.tree.map(lambda m, g: 0.99 * m + 0.01 * g, moments, grads)
        return jax.tree.map(lambda p, s: p - 1e-3 * (s + 0.1 * p), p, signs), moments, value

    rows = arr(over, (4, 32, width), "data")
    return train, params, params, rows, rows


def routed_by_hand():
    """Experts by top-2 with capacity, sent by all_to_all in a shard_map, gradients by psum."""
    over = mesh(data=2, expert=4)
    width, experts, room = 32, 8, 16
    params = {
        "gate": arr(over, (width, experts)),
        "up": arr(over, (experts, width, 2 * width), "expert"),
        "down": arr(over, (experts, 2 * width, width), "expert"),
    }

    rows = P(("data", "expert"))

    @smap(over, (rows, P(), P("expert"), P("expert")), rows)
    def layer(x, gate, up, down):
        shares = jax.nn.softmax(x @ gate)
        top, which = lax.top_k(shares, 2)
        chosen = jax.nn.one_hot(which, experts)
        place = jnp.cumsum(chosen.reshape(-1, experts), 0).reshape(chosen.shape) * chosen - 1
        slots = jax.nn.one_hot(place.astype(int), room) * chosen[..., None]
        sent = jnp.einsum("tkec,td->ecd", slots, x)
        sent = lax.all_to_all(sent, "expert", 0, 1, tiled=True)
        done = jnp.einsum("ecf,efd->ecd", jax.nn.gelu(jnp.einsum("ecd,edf->ecf", sent, up)), down)
        back = lax.all_to_all(done, "expert", 1, 0, tiled=True)
        return x + jnp.einsum("tkec,ecd,tk->td", slots, back, top)

    def train(p, x, y):
        def loss(p):
            h = layer(x, p["gate"], p["up"], p["down"])
            return jnp.mean((layer(h, p["gate"], p["up"], p["down"]) - y) ** 2)

        value, grads = jax.value_and_grad(loss)(p)
        return jax.tree.map(lambda p, g: p - 0.01 * g, p, grads), value

    given = arr(over, (128, width), ("data", "expert"))
    return train, params, given, given


def denoised():
    """A small U-Net in bf16 with skip connections, time embeddings, EMA of the weights."""
    over = mesh(data=4, model=2)
    width = 16
    kernels = [(3, 3, 4, width), (3, 3, width, 2 * width), (3, 3, 2 * width, width)]
    params = {
        f"k{n}": arr(over, shape, None, None, None, "model", dtype="bfloat16")
        for n, shape in enumerate(kernels)
    }
    params["last"] = arr(over, (1, 1, 2 * width, 4), dtype="bfloat16")
    params["time"] = arr(over, (32, 2 * width), None, "model", dtype="bfloat16")

    def conv(x, k, stride=1):
        return lax.conv_general_dilated(
            x, k, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )

    def net(p, x, time):
        waves = jnp.exp(-jnp.arange(16) / 2.0)
        at = time[:, None] * waves
        at = jnp.concatenate([jnp.sin(at), jnp.cos(at)], -1).astype(x.dtype) @ p["time"]
        one = jax.nn.silu(conv(x, p["k0"]))
        two = jax.nn.silu(conv(one, p["k1"], 2) + at[:, None, None])
        up = jnp.repeat(jnp.repeat(two, 2, 1), 2, 2)
        three = jax.nn.silu(conv(up, p["k2"]))
        return conv(jnp.concatenate([one, three], -1), p["last"])

    def train(p, mean, key, x):
        ones, twos = jax.random.split(jax.random.wrap_key_data(key))
        noise = jax.random.normal(ones, x.shape, x.dtype)
        time = jax.random.uniform(twos, x.shape[:1])

        def loss(p):
            share = jnp.sqrt(time)[:, None, None, None].astype(x.dtype)
            out = net(p, x * (1 - share) + noise * share, time)
            return jnp.mean((out - noise).astype(jnp.float32) ** 2)

        value, grads = jax.value_and_grad(loss)(p)
        p = jax.tree.map(lambda p, g: p - (0.01 * g).astype(p.dtype), p, grads)
        return p, jax.tree.map(lambda m, p: 0.99 * m + 0.01 * p, mean, p), value

    images = arr(over, (8, 16, 16, 4), "data", dtype="bfloat16")
    return train, params, params, arr(over, (2,), dtype="uint32"), images


def searched():
    """Values of a tree search: visits counted by scatter in a while loop, rows sharded."""
    over = mesh(env=8)
    acts, steps, nodes = 4, 24, 32
    params = {"w": arr(over, (16, 32)), "pi": arr(over, (32, acts)), "v": arr(over, (32, 1))}

    def judged(p, x):
        h = jnp.tanh(x @ p["w"])
        return jax.nn.softmax(h @ p["pi"]), jnp.tanh(h @ p["v"])[..., 0]

    def searched_one(p, key, x):
        def step(state):
            n, key, visits, sums, states = state
            scores = sums / (visits + 1) + jnp.sqrt(n + 1.0) / (visits + 1)
            flat = jnp.argmax(jnp.where(visits >= 0, scores, -jnp.inf))
            node, act = flat // acts, flat % acts
            key, own = jax.random.split(key)
            to = jnp.minimum(n + 1, nodes - 1).astype(jnp.int32)
            new = states[node] * 0.9 + jax.nn.one_hot(act, 16) + jax.random.normal(own, (16,)) * 0.1
            chances, value = judged(p, new)
            states = states.at[to].set(new)
            visits = visits.at[node, act].add(1.0)
            sums = sums.at[node, act].add(value).at[to].add(chances)
            return n + 1, key, visits, sums, states

        zeros = jnp.zeros((nodes, acts))
        states = jnp.zeros((nodes, 16)).at[0].set(x)
        begun = jnp.int32(0), key, zeros, zeros, states
        ended = lax.while_loop(lambda state: state[0] < steps, step, begun)
        return ended[2][0] / steps, jnp.max(ended[3][0])

    def train(p, key, x):
        keys = jax.random.split(jax.random.wrap_key_data(key), x.shape[0])
        targets, best = jax.vmap(partial(searched_one, p))(keys, x)

        def loss(p):
            chances, value = judged(p, x)
            cross = -jnp.mean(jnp.sum(targets * jnp.log(chances + 1e-6), -1))
            return cross + jnp.mean((value - best) ** 2)

        value, grads = jax.value_and_grad(loss)(p)
        return jax.tree.map(lambda p, g: p - 0.05 * g, p, grads), value, targets

    return train, params, arr(over, (2,), dtype="uint32"), arr(over, (64, 16), "env")


def staged():
    """Four stages in a pipeline by ppermute, microbatches in a scan, columns on a second axis."""
    over = mesh(stage=4, model=2)
    width, batch, parts = 64, 4, 6
    params = {
        "up": arr(over, (4, width, 2 * width), "stage", None, "model"),
        "down": arr(over, (4, 2 * width, width), "stage", "model"),
    }

    @smap(over, (P("stage", None, "model"), P("stage", "model"), P()), P())
    def pipeline(up, down, x):
        stage = lax.axis_index("stage")

        @jax.checkpoint
        def tick(held, n):
            given = jnp.where(stage == 0, x[jnp.minimum(n, parts - 1)], held)
            h = jax.nn.relu(given @ up[0]) @ down[0]
            done = given + lax.psum(h, "model")
            return lax.ppermute(done, "stage", [(i, (i + 1) % 4) for i in range(4)]), done

        _, every = lax.scan(tick, jnp.zeros((batch, width)), jnp.arange(parts + 3))
        return lax.psum(jnp.where(stage == 3, every[3:], 0.0), "stage")

    def train(p, x, y):
        def loss(p):
            return jnp.mean((pipeline(p["up"], p["down"], x) - y) ** 2)

        value, grads = jax.value_and_grad(loss)(p)
        size = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(grads)))
        return jax.tree.map(lambda p, g: p - 0.01 * g / (1 + size), p, grads), value

    rows = arr(over, (parts, batch, width))
    return train, params, rows, rows


if __name__ == "__main__":
    compiled(globals())
