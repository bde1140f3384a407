"""A PPO training step on four CPU devices, mesh (2, 2). TARGET: the dump folder."""

import os

os.environ["XLA_FLAGS"] = (
    f"--xla_dump_to={os.environ['TARGET']} --xla_dump_hlo_as_text "
    "--xla_dump_hlo_pass_re=.* --xla_force_host_platform_device_count=4"
)
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec

ENVS, STEPS, OBS, ACTIONS, HIDDEN = 32, 16, 8, 6, 64
MINIBATCHES, EPOCHS, GAMMA, LAMBDA, CLIP = 4, 2, 0.99, 0.95, 0.2


def init(key):
    sizes = [(OBS, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, ACTIONS), (HIDDEN, 1)]
    names = ["in", "mid", "policy", "value"]
    keys = jax.random.split(key, len(sizes))
    return {
        n: {"w": jax.random.normal(k, s) * s[0] ** -0.5, "b": jnp.zeros(s[1])}
        for n, k, s in zip(names, keys, sizes)
    }


def net(p, x):
    h = jnp.tanh(x @ p["in"]["w"] + p["in"]["b"])
    h = jnp.tanh(h @ p["mid"]["w"] + p["mid"]["b"])
    logits = h @ p["policy"]["w"] + p["policy"]["b"]
    return logits, (h @ p["value"]["w"] + p["value"]["b"])[..., 0]


def env_step(state, action, key):
    pos, vel = jnp.split(state, 2)
    push = jnp.where(action < ACTIONS // 2, -0.1, 0.1)
    turn = (action % (OBS // 2)).astype(jnp.int32)
    vel = (0.95 * vel).at[turn].add(push) + 0.01 * jax.random.normal(key, vel.shape)
    pos = jnp.clip(pos + 0.1 * vel, -1.0, 1.0)
    done = jnp.any(jnp.abs(pos) >= 1.0)
    reward = -jnp.sum(pos**2) - 0.1 * done
    fresh = jax.random.uniform(key, state.shape, minval=-0.5, maxval=0.5)
    return jnp.where(done, fresh, jnp.concatenate([pos, vel])), reward, done


def rollout(p, states, key):
    def step(carry, k):
        states = carry
        ka, ke = jax.random.split(k)
        logits, value = net(p, states)
        action = jax.random.categorical(ka, logits)
        logp = jnp.take_along_axis(jax.nn.log_softmax(logits), action[:, None], 1)[:, 0]
        new, reward, done = jax.vmap(env_step)(states, action, jax.random.split(ke, ENVS))
        return new, (states, action, logp, value, reward, done)

    return jax.lax.scan(step, states, jax.random.split(key, STEPS))


def gae(value, last, reward, done):
    def back(carry, x):
        adv, nxt = carry
        v, r, d = x
        keep = 1.0 - d.astype(jnp.float32)
        adv = r + GAMMA * nxt * keep - v + GAMMA * LAMBDA * keep * adv
        return (adv, v), adv

    _, adv = jax.lax.scan(back, (jnp.zeros_like(last), last), (value, reward, done), reverse=True)
    return adv, adv + value


def loss(p, batch):
    obs, action, old, adv, ret = batch
    logits, value = net(p, obs)
    logs = jax.nn.log_softmax(logits)
    logp = jnp.take_along_axis(logs, action[:, None], 1)[:, 0]
    ratio = jnp.exp(logp - old)
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    clipped = jnp.clip(ratio, 1 - CLIP, 1 + CLIP)
    policy = -jnp.minimum(ratio * adv, clipped * adv).mean()
    entropy = -(jnp.exp(logs) * logs).sum(-1).mean()
    return policy + 0.5 * ((value - ret) ** 2).mean() - 0.01 * entropy


def adam(p, g, m, v, t):
    norm = jnp.sqrt(sum(jnp.sum(x * x) for x in jax.tree.leaves(g)))
    g = jax.tree.map(lambda x: x * jnp.minimum(1.0, 0.5 / (norm + 1e-6)), g)
    m = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, m, g)
    v = jax.tree.map(lambda a, b: 0.999 * a + 0.001 * b * b, v, g)
    a = 3e-4 * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
    p = jax.tree.map(lambda x, y, z: x - a * y / (jnp.sqrt(z) + 1e-8), p, m, v)
    return p, m, v


def ppo_step(p, m, v, t, states, key):
    kr, ku = jax.random.split(key)
    states, (obs, action, logp, value, reward, done) = rollout(p, states, kr)
    adv, ret = gae(value, net(p, states)[1], reward, done)
    flat = jax.tree.map(
        lambda x: x.reshape((ENVS * STEPS,) + x.shape[2:]),
        (obs, action, logp, adv, ret),
    )

    def epoch(carry, k):
        order = jax.random.permutation(k, ENVS * STEPS)
        parts = jax.tree.map(lambda x: x[order].reshape((MINIBATCHES, -1) + x.shape[1:]), flat)

        def minibatch(carry, batch):
            p, m, v, t = carry
            value, g = jax.value_and_grad(loss)(p, batch)
            p, m, v = adam(p, g, m, v, t + 1)
            return (p, m, v, t + 1), value

        return jax.lax.scan(minibatch, carry, parts)

    (p, m, v, t), losses = jax.lax.scan(epoch, (p, m, v, t), jax.random.split(ku, EPOCHS))
    return p, m, v, t, states, losses.mean(), reward.mean()


def main():
    mesh = jax.make_mesh((2, 2), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)

    def at(*spec):
        return NamedSharding(mesh, PartitionSpec(*spec))

    spec = {
        "in": {"w": at(None, "model"), "b": at("model")},
        "mid": {"w": at("model", None), "b": at()},
        "policy": {"w": at("model", None), "b": at()},
        "value": {"w": at("model", None), "b": at()},
    }
    p = jax.device_put(init(jax.random.key(0)), spec)
    zeros = jax.tree.map(jnp.zeros_like, p)
    states = jax.device_put(jnp.zeros((ENVS, OBS)), at("data"))
    step = jax.jit(
        ppo_step,
        in_shardings=(spec, spec, spec, at(), at("data"), at()),
        out_shardings=(spec, spec, spec, at(), at("data"), at(), at()),
    )
    out = step(p, zeros, zeros, jnp.zeros(()), states, jax.random.key(1))
    print("loss", out[-2], "reward", out[-1])


main()
