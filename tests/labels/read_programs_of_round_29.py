"""Programs that were compiled to be read by hand in round 29, as `read_programs.py`.

usage: NOTAG=1 PYTHONPATH=tests/data/programs python THIS BACKEND PROGRAM
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P
from tagged_unseen import arr, compiled, mesh

_BF = "bfloat16"


def balanced():
    """A layer at its fixed point, mixed of earlier guesses; slopes by a second fixed point."""
    over = mesh(data=4, model=2)
    rows, seen, wide, kinds, kept = 16, 24, 64, 10, 3
    params = {
        "in": arr(over, (seen, wide), None, "model", dtype=_BF),
        "own": arr(over, (wide, wide), None, "model", dtype=_BF),
        "gain": arr(over, (wide,), "model"),
        "out": arr(over, (wide, kinds), "model"),
    }

    def layer(p, x, z):
        low = z.astype(_BF)
        h = low @ (0.5 * p["own"]) + x.astype(_BF) @ p["in"]
        h = jax.nn.gelu(h.astype(jnp.float32))
        return p["gain"] * h * lax.rsqrt((h * h).mean(-1, keepdims=True) + 1e-5)

    def settled(f, z):
        past = jnp.zeros((kept, *z.shape)).at[0].set(z)
        images = jnp.zeros((kept, *z.shape)).at[0].set(f(z))

        def more(state):
            return (state[0] < 12) & (state[1] > 1e-3)

        def step(state):
            n, _, past, images = state
            apart = images - past
            sums = jnp.einsum("krd,jrd->rkj", apart, apart) + 1e-4 * jnp.eye(kept)
            root = jnp.linalg.cholesky(sums)
            ones = jnp.ones((z.shape[0], kept, 1))
            half = lax.linalg.triangular_solve(root, ones, left_side=True, lower=True)
            share = lax.linalg.triangular_solve(
                root, half, left_side=True, lower=True, transpose_a=True
            )
            share = share / share.sum(1, keepdims=True)
            new = jnp.einsum("rk,krd->rd", share[..., 0], images)
            image = f(new)
            slot = (n + 1) % kept
            past = lax.dynamic_update_index_in_dim(past, new, slot, 0)
            images = lax.dynamic_update_index_in_dim(images, image, slot, 0)
            return n + 1, jnp.abs(image - new).max() / (jnp.abs(new).max() + 1e-5), past, images

        n, _, past, _ = lax.while_loop(more, step, (0, jnp.float32(1), past, images))
        return past[n % kept], n

    @jax.custom_vjp
    def fixed(p, x):
        return settled(lambda z: layer(p, x, z), jnp.zeros((rows, wide)))

    def ahead(p, x):
        z, n = fixed(p, x)
        return (z, n), (p, x, z)

    def back(saved, slope):
        p, x, z = saved
        _, pull = jax.vjp(lambda z: layer(p, x, z), z)
        u, _ = settled(lambda u: slope[0] + pull(u)[0], slope[0])
        return jax.vjp(lambda p, x: layer(p, x, z), p, x)[1](u)

    fixed.defvjp(ahead, back)

    def train(p, x, wanted):
        def loss(p):
            z, n = fixed(p, x)
            log = jax.nn.log_softmax(z @ p["out"])
            return -(jax.nn.one_hot(wanted, kinds) * log).sum(-1).mean(), n

        (value, n), slope = jax.value_and_grad(loss, has_aux=True)(p)
        size = jnp.sqrt(sum(jnp.sum(jnp.square(g.astype(jnp.float32))) for g in slope.values()))
        cut = jnp.minimum(1.0, 1.0 / size)
        p = jax.tree.map(lambda w, g: (w - 0.1 * cut * g).astype(w.dtype), p, slope)
        return p, value, n

    x = arr(over, (rows, seen), "data")
    return train, params, x, arr(over, (rows,), "data", dtype="int32")


def priced():
    """Options that end early: paths drawn by a scan, values fitted backwards, slopes by market."""
    over = mesh(path=4, asset=2)
    paths, assets, times, bases, marks = 64, 4, 10, 6, 3

    def walk(market, key, strike):
        start, spread, mix = market
        root = jnp.tril(mix) + jnp.eye(assets)

        def move(log, key):
            z = jax.random.normal(key, (paths // 2, assets))
            z = jnp.concatenate([z, -z]) @ root.T
            log = log + 0.01 - 0.5 * spread**2 / times + spread * z / np.sqrt(times)
            return log, jnp.exp(log)

        log = jnp.broadcast_to(jnp.log(start), (paths, assets))
        _, prices = lax.scan(move, log, jax.random.split(key, times))
        prices = lax.with_sharding_constraint(prices, NamedSharding(over, P(None, "path", "asset")))

        def worth(s):
            return jnp.maximum(strike[None] - s.mean(-1)[:, None], 0.0)

        def backward(value, s):
            x = s.mean(-1) / strike.mean()
            base = jnp.stack([x**n * jnp.exp(-0.5 * x) for n in range(bases - 1)], -1)
            base = jnp.concatenate([base, s.max(-1, keepdims=True) / strike.mean()], -1)
            now = worth(s)
            inside = (now > 0).astype(jnp.float32)
            left = jnp.einsum("pb,pm,pc->mbc", base, inside, base) + 1e-3 * jnp.eye(bases)
            right = jnp.einsum("pb,pm->mb", base, inside * value * 0.99)
            fit = jnp.linalg.solve(left, right[..., None])[..., 0]
            stay = lax.stop_gradient(jnp.einsum("pb,mb->pm", base, fit))
            ended = (now > stay) & (inside > 0)
            return jnp.where(ended, now, 0.99 * value), ended.mean(0)

        value, ended = lax.scan(backward, worth(prices[-1]), prices[:-1], reverse=True)
        low = jnp.sort(value, axis=0)[: paths // 8].mean(0)
        return value.mean(0).sum(), (low, ended, jnp.cumsum(ended, 0))

    def train(market, seed, strike, quoted):
        def apart(market, key):
            value, more = walk(market, key, strike)
            return (value - quoted.sum()) ** 2, (value, more)

        def step(state, _):
            market, key = state
            key, own = jax.random.split(key)
            (off, more), slope = jax.value_and_grad(apart, has_aux=True)(market, own)
            slope = jax.tree.map(lambda g: jnp.clip(jnp.nan_to_num(g), -1, 1), slope)
            market = jax.tree.map(lambda w, g: w - 1e-3 * g, market, slope)
            return (market, key), (off, more)

        start = market, jax.random.wrap_key_data(seed)
        (market, key), told = lax.scan(step, start, None, 2)
        return market, jax.random.key_data(key), told

    market = (
        arr(over, (assets,), "asset"),
        arr(over, (assets,), "asset"),
        arr(over, (assets, assets), None, "asset"),
    )
    seed = arr(over, (2,), dtype="uint32")
    return train, market, seed, arr(over, (marks,)), arr(over, (marks,))


def grown():
    """Cells on a grid that grow into pictures by one rule; of a pool the worst are reset."""
    over = mesh(rows=2, high=4)
    pool, rows, size, states, wide, times = 16, 8, 16, 8, 24, 4
    rule = {
        "first": arr(over, (3 * states, wide)),
        "bias": arr(over, (wide,)),
        "last": arr(over, (wide, states)),
    }
    sobel = np.outer([1, 2, 1], [-1, 0, 1]).astype(np.float32) / 8
    seen = np.stack([np.pad([[1.0]], 1), sobel, sobel.T])
    taps = np.tile(seen[:, None].transpose(2, 3, 1, 0), (1, 1, 1, states)).astype(np.float32)

    def alive(x):
        most = lax.reduce_window(x[..., 3:4], -np.inf, lax.max, (1, 3, 3, 1), (1,) * 4, "SAME")
        return most > 0.1

    def turn(p, x, key):
        names = ("NHWC", "HWIO", "NHWC")
        y = lax.conv_general_dilated(
            x, taps, (1, 1), "SAME", dimension_numbers=names, feature_group_count=states
        )
        change = jax.nn.relu(y @ p["first"] + p["bias"]) @ p["last"]
        chosen = jax.random.bernoulli(key, 0.5, (*x.shape[:3], 1))
        new = x + change * chosen
        return new * (alive(x) & alive(new))

    def train(p, moment, cells, wanted, seed):
        key, chance, order = jax.random.split(jax.random.wrap_key_data(seed), 3)
        picked = jax.random.choice(order, pool, (rows,), replace=False)
        x = lax.with_sharding_constraint(cells[picked], NamedSharding(over, P("rows", "high")))
        off = jnp.square(x[..., :4] - wanted).mean((1, 2, 3))
        fresh = jnp.zeros((size, size, states)).at[size // 2, size // 2, 3:].set(1.0)
        x = x.at[jnp.argmax(off)].set(fresh)

        def loss(p):
            @jax.checkpoint
            def step(x, key):
                return turn(p, x, key), None

            end, _ = lax.scan(step, x, jax.random.split(chance, times))
            over_ = jnp.abs(end - jnp.clip(end, -2, 2)).mean()
            return jnp.square(end[..., :4] - wanted).mean() + over_, end

        (value, end), slope = jax.value_and_grad(loss, has_aux=True)(p)
        slope = jax.tree.map(lambda g: g / (jnp.linalg.norm(g) + 1e-8), slope)
        moment = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moment, slope)
        p = jax.tree.map(lambda w, m: w - 2e-3 * m, p, moment)
        shown = jnp.round(jnp.clip(end[..., :3], 0, 1) * 255).astype(jnp.uint8)
        return p, moment, cells.at[picked].set(end), value, shown, jax.random.key_data(key)

    cells = arr(over, (pool, size, size, states), None, "high")
    wanted = arr(over, (size, size, 4), "high")
    return train, rule, rule, cells, wanted, arr(over, (2,), dtype="uint32")


if __name__ == "__main__":
    compiled(globals())
