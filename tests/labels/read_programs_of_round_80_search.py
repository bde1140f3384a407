"""A reanalyze step of a planner: a tree search in a learned model, then the training of that model on what it found.

Ahead of time for 2x4 H100: mesh games 4 x model 2. Trees are arrays that a while loop descends and another one backs up,
halving of candidates by Gumbel scores, a convolutional model with squeeze and excitation, values in bins of a scaled
space, unrolled in a scan with remat, priorities of a replay ring that is sampled by a sum over blocks, Adam with EMA.
"""

import os

os.environ.update(JAX_PLATFORMS="cpu")
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

H100 = """
gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152 shared_memory_per_core: 233472
  threads_per_core_limit: 2048 core_count: 132 fpus_per_core: 128
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  memory_bandwidth: 3352320000000 l2_cache_size: 52428800 clock_rate_ghz: 1.98 device_memory_size: 84942979072
  shared_memory_per_block_optin: 232448 cuda_compute_capability { major: 9 } registers_per_core_limit: 65536 registers_per_block_limit: 65536
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 8 }
runtime_version { major: 12 minor: 8 patch: 0 }
device_description_str: "NVIDIA H100 80GB HBM3"
"""
topo = topologies.get_topology_desc(platform="cuda", target_config=H100, topology="1x2x4")
mesh = Mesh(np.array(topo.devices).reshape(4, 2), ("games", "model"))
bf, f32, i32 = jnp.bfloat16, jnp.float32, jnp.int32


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


# games of a batch, board, planes, channels, blocks, actions, simulations, unrolled moves, bins, ring
B, Y, PL, C, K, A, SIM, U, BINS, RING = 64, 9, 17, 128, 4, 82, 48, 5, 101, 8192
ROWS = B * (U + 1)


def tower(n):
    return dict(
        one=S((n, 3, 3, C, C), f32, None, None, None, None, "model"),
        two=S((n, 3, 3, C, C), f32, None, None, None, "model"),
        scale=S((n, 2, C), f32),
        shift=S((n, 2, C), f32),
        squeeze=S((n, C, 32), f32),
        excite=S((n, 32, 2 * C), f32),
    )


params = dict(
    stem=S((3, 3, PL, C), f32, None, None, None, "model"),
    see=tower(K),
    move=S((3, 3, C + 2, C), f32, None, None, None, "model"),
    go=tower(2),
    policy=dict(thin=S((C, 8), f32), out=S((8 * Y * Y, A), f32, "model"), bias=S((A,), f32)),
    value=dict(
        thin=S((C, 8), f32),
        up=S((8 * Y * Y, 256), f32, None, "model"),
        out=S((256, BINS), f32, "model"),
    ),
    reward=dict(
        thin=S((C, 8), f32),
        up=S((8 * Y * Y, 256), f32, None, "model"),
        out=S((256, BINS), f32, "model"),
    ),
)
ring = dict(
    seen=S((RING, Y, Y, PL), jnp.uint8, "games"),
    action=S((RING, U), i32, "games"),
    reward=S((RING, U + 1), f32, "games"),
    legal=S((RING, A), jnp.bool_, "games"),
    priority=S((RING,), f32, "games"),
    live=S((RING, U + 1), jnp.bool_, "games"),
)
key, step = S((2,), jnp.uint32), S((), i32)
con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))


def conv(x, w):
    return lax.conv_general_dilated(
        x, w.astype(bf), (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def norm(x, scale, shift):
    x32 = x.astype(f32)
    mean = jnp.mean(x32, (1, 2, 3), keepdims=True)
    return (
        (x32 - mean) * lax.rsqrt(jnp.var(x32, (1, 2, 3), keepdims=True) + 1e-5) * scale + shift
    ).astype(bf)


def block(x, w):
    h = jax.nn.relu(norm(conv(x, w["one"]), w["scale"][0], w["shift"][0]))
    h = norm(conv(con(h, "games", None, None, "model"), w["two"]), w["scale"][1], w["shift"][1])
    s = jax.nn.relu(jnp.mean(h, (1, 2)) @ w["squeeze"].astype(bf)) @ w["excite"].astype(bf)
    gate, more = jnp.split(s[:, None, None], 2, -1)
    return con(jax.nn.relu(x + h * jax.nn.sigmoid(gate) + more), "games"), None


def scaled(x):
    low, high = x.min((1, 2, 3), keepdims=True), x.max((1, 2, 3), keepdims=True)
    return (x - low) / (high - low + 1e-5)


def see(p, board):
    with jax.named_scope("see"):
        x = jax.nn.relu(conv(con(board.astype(bf), "games"), p["stem"]))
        return scaled(lax.scan(block, con(x, "games"), p["see"])[0])


def bins(p, x):
    h = jax.nn.relu((x @ p["thin"].astype(bf)).reshape(x.shape[0], -1) @ p["up"].astype(bf))
    return (h @ p["out"].astype(bf)).astype(f32)


def number(logits):
    """The value of bins, out of the scaled space."""
    x = jax.nn.softmax(logits, -1) @ jnp.linspace(-10.0, 10.0, BINS)
    root = (jnp.sqrt(1 + 4 * 1e-3 * (jnp.abs(x) + 1 + 1e-3)) - 1) / (2 * 1e-3)
    return jnp.sign(x) * (root * root - 1)


def spread(x):
    """Bins of a value in the scaled space, two of them filled."""
    x = jnp.sign(x) * (jnp.sqrt(jnp.abs(x) + 1) - 1) + 1e-3 * x
    at = jnp.clip((x + 10) / 20 * (BINS - 1), 0, BINS - 1)
    low = jnp.floor(at)
    part = (at - low)[..., None]
    hot = lambda i: jax.nn.one_hot(i.astype(i32), BINS)
    return hot(low) * (1 - part) + hot(jnp.minimum(low + 1, BINS - 1)) * part


def think(p, x):
    with jax.named_scope("heads"):
        h = (x @ p["policy"]["thin"].astype(bf)).reshape(x.shape[0], -1)
        policy = (h @ p["policy"]["out"].astype(bf)).astype(f32) + p["policy"]["bias"]
        return con(policy, "games"), bins(p["value"], x)


def go(p, x, action):
    """The next state and the reward of a move."""
    with jax.named_scope("go"):
        place = jax.nn.one_hot(action, Y * Y, dtype=bf).reshape(-1, Y, Y, 1)
        rest = jnp.broadcast_to((action == Y * Y).astype(bf)[:, None, None, None], place.shape)
        x = jax.nn.relu(conv(jnp.concatenate([x, place, rest], -1), p["move"]))
        x = scaled(lax.scan(block, con(x, "games"), p["go"])[0])
        return x, bins(p["reward"], x)


def completed(tree, node, row):
    """Scores of the moves of a node: priors and values, of moves not tried those of the mixed value."""
    visits, prior = tree["visits"][row, node], tree["prior"][row, node]
    q = tree["reward"][row, node] + 0.997 * tree["child_value"][row, node]
    chance = jax.nn.softmax(prior)
    tried = visits > 0
    weight = jnp.sum(jnp.where(tried, chance, 0.0), -1, keepdims=True)
    known = jnp.sum(jnp.where(tried, chance * q, 0.0), -1, keepdims=True) / jnp.maximum(
        weight, 1e-6
    )
    total = jnp.sum(visits, -1, keepdims=True)
    mixed = (tree["value"][row, node][:, None] + total * known) / (1 + total)
    q = jnp.where(tried, q, mixed)
    low, high = q.min(-1, keepdims=True), q.max(-1, keepdims=True)
    q = (q - low) / jnp.maximum(high - low, 1e-4)
    return prior + (50.0 + visits.max(-1, keepdims=True)) * 0.1 * q, visits


def plan(p, board, legal, key):
    """A search over each board: the improved policy and the value of the root."""
    row = jnp.arange(ROWS)
    x = see(p, board)
    prior, value = think(p, x)
    prior = jnp.where(legal, prior, -1e9)
    noise = jax.random.gumbel(key, (ROWS, A), f32)
    n = SIM + 1
    put = lambda shape, dt, first: con(
        jnp.zeros((ROWS, n, *shape), dt).at[:, 0].set(first), "games"
    )
    zero = jnp.zeros((ROWS, n, A), f32)
    tree = dict(
        state=put(x.shape[1:], bf, x),
        prior=put((A,), f32, prior),
        value=put((), f32, number(value)),
        visits=zero,
        reward=zero,
        child_value=zero,
        child=jnp.full((ROWS, n, A), -1, i32),
        parent=jnp.full((ROWS, n), -1, i32),
        by=jnp.full((ROWS, n), -1, i32),
    )

    def descend(tree, count):
        # sequential halving: moves that were visited as often as the phase allows are left out
        limit = 16 >> jnp.minimum(count // 12, 3)
        score, visits = completed(tree, jnp.zeros((ROWS,), i32), row)
        score = jnp.where(legal, score + noise, -jnp.inf)
        _, best = lax.top_k(score, 16)
        times = jnp.take_along_axis(visits, best, 1)
        least = jnp.where(jnp.arange(16) < limit, times, jnp.inf)
        first = jnp.take_along_axis(best, jnp.argmin(least, -1)[:, None], 1)[:, 0]

        def further(s):
            return jnp.any(s[3])

        def down(s):
            node, action, depth, moves = s
            there = tree["child"][row, node, action]
            node = jnp.where(moves, there, node)
            score, visits = completed(tree, node, row)
            part = visits / (1 + visits.sum(-1, keepdims=True))
            chosen = jnp.argmax(jax.nn.softmax(score) - part, -1).astype(i32)
            action = jnp.where(moves, chosen, action)
            moves = moves & (tree["child"][row, node, action] >= 0) & (depth < 24)
            return node, action, depth + 1, moves

        start = jnp.zeros((ROWS,), i32)
        moves = tree["child"][row, start, first] >= 0
        return lax.while_loop(further, down, (start, first, i32(0), moves))[:2]

    def simulate(count, tree):
        with jax.named_scope("descend"):
            node, action = descend(tree, count)
        x, reward = go(p, tree["state"][row, node], action)
        prior, value = think(p, x)
        reward, value, new = number(reward), number(value), count + 1
        with jax.named_scope("grow"):
            tree = tree | dict(
                state=tree["state"].at[:, new].set(x),
                prior=tree["prior"].at[:, new].set(prior),
                value=tree["value"].at[:, new].set(value),
                parent=tree["parent"].at[:, new].set(node),
                by=tree["by"].at[:, new].set(action),
                child=tree["child"].at[row, node, action].set(new),
                reward=tree["reward"].at[row, node, action].set(reward),
            )

        def up(s):
            node, action, back, visits, values = s
            on = node >= 0
            at = jnp.where(on, node, n)
            old = visits.at[row, at, action].get(mode="fill", fill_value=0)
            mean = values.at[row, at, action].get(mode="fill", fill_value=0)
            values = values.at[row, at, action].set((mean * old + back) / (old + 1), mode="drop")
            visits = visits.at[row, at, action].add(1.0, mode="drop")
            back = tree["reward"].at[row, at, action].get(mode="fill", fill_value=0) + 0.997 * back
            return tree["parent"][row, node], tree["by"][row, node], back, visits, values

        with jax.named_scope("back"):
            s = (node, action, value, tree["visits"], tree["child_value"])
            *_, visits, values = lax.while_loop(lambda s: jnp.any(s[0] >= 0), up, s)
        return tree | dict(visits=visits, child_value=values)

    tree = lax.fori_loop(0, SIM, simulate, tree)
    score, visits = completed(tree, jnp.zeros((ROWS,), i32), row)
    policy = jax.nn.softmax(jnp.where(legal, score, -1e9), -1)
    return (
        policy,
        jnp.sum(policy * (tree["reward"][:, 0] + 0.997 * tree["child_value"][:, 0]), -1),
        visits[:, 0],
    )


def sample(ring, key):
    """Places of the ring by priority: a block first, then a place in it."""
    blocks = ring["priority"].reshape(64, -1)
    total = jnp.cumsum(blocks.sum(-1))
    at = (jnp.arange(B) + jax.random.uniform(key, (B,))) / B * total[-1]
    which = jnp.searchsorted(total, at).clip(0, 63)
    rest = at - jnp.where(which > 0, total[which - 1], 0.0)
    inner = jnp.cumsum(blocks[which], -1)
    place = which * (RING // 64) + jnp.sum(inner < rest[:, None], -1).clip(0, RING // 64 - 1)
    chance = ring["priority"][place] / total[-1]
    weight = (RING * chance) ** -0.6
    return place, weight / weight.max()


def reanalyze_step(p, slow, m, v, ring, step, key):
    key, draw, tree = jax.random.split(key, 3)
    with jax.named_scope("sample"):
        place, weight = sample(ring, draw)
        moves = (place[:, None] + jnp.arange(U + 1)) % RING
        take = lambda x: con(x[moves.reshape(-1)], "games")
        boards, legal = take(ring["seen"]), take(ring["legal"])
    with jax.named_scope("plan"):
        policy, value, visits = jax.tree.map(lax.stop_gradient, plan(slow, boards, legal, tree))
        policy, value = policy.reshape(B, U + 1, A), value.reshape(B, U + 1)
    reward, live = ring["reward"][place], ring["live"][place].astype(f32)

    def loss(p):
        x = see(p, boards.reshape(B, U + 1, Y, Y, PL)[:, 0])
        cross = lambda told, y: -jnp.sum(y * jax.nn.log_softmax(told, -1), -1)

        @jax.checkpoint
        def unroll(x, t):
            action, policy, value, reward, live = t
            own, worth = think(p, x)
            lost = cross(own, policy) + 0.25 * cross(worth, spread(value))
            x, told = go(p, x, action)
            x = x * bf(0.5) + lax.stop_gradient(x) * bf(0.5)
            return x, (live * lost, live * cross(told, spread(reward)), number(worth))

        turn = lambda a: jnp.moveaxis(a[:, :U], 1, 0)
        x, (a, b, worth) = lax.scan(
            unroll,
            x,
            (ring["action"][place].T, turn(policy), turn(value), turn(reward), turn(live)),
        )
        size = 0.5e-4 * sum(jnp.sum(w * w) for w in jax.tree.leaves(p))
        return jnp.mean(weight * jnp.mean(a + b, 0)) + size, (jnp.mean(a), jnp.mean(b), worth)

    with jax.named_scope("train"):
        (total, (a, b, worth)), grads = jax.value_and_grad(loss, has_aux=True)(p)
        bound = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(grads)))
        grads = jax.tree.map(lambda g: g / jnp.maximum(1.0, bound / 5), grads)
    with jax.named_scope("adam"):
        now = (step + 1).astype(f32)
        m = jax.tree.map(lambda a, g: 0.9 * a + 0.1 * g, m, grads)
        v = jax.tree.map(lambda a, g: 0.999 * a + 0.001 * g * g, v, grads)
        rate = 1e-3 * 0.1 ** (now / 1e5)
        p = jax.tree.map(
            lambda w, a, b: (
                w - rate * (a / (1 - 0.9**now)) / (jnp.sqrt(b / (1 - 0.999**now)) + 1e-8)
            ),
            p,
            m,
            v,
        )
        slow = jax.tree.map(lambda a, b: jnp.where(step % 100 == 0, b, a), slow, p)
    with jax.named_scope("priority"):
        new = jnp.abs(worth[0] - value[:, 0]) + 1e-3
        ring = ring | dict(priority=ring["priority"].at[place].max(new))
    told = dict(loss=total, policy=a, reward=b, bound=bound, depth=jnp.mean(visits.max(-1)))
    return p, slow, m, v, ring, step + 1, told


kept = jax.tree.map(lambda x: x.sharding, (params, params, params, params, ring, step))
c = (
    jax.jit(reanalyze_step, donate_argnums=(0, 1, 2, 3, 4), out_shardings=(*kept, None))
    .lower(params, params, params, params, ring, step, key)
    .compile()
)
print(c.memory_analysis())
