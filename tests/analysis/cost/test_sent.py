"""Bytes that devices send, where only some of them send in each collective."""

from xlareport.analysis.cost.sent import SentBytes, count_sent
from xlareport.analysis.cost.wire import CollectiveTraffic

FORTH = ((0, 1), (2, 3))
BACK = ((1, 0), (3, 2))


def permute(
    pairs: tuple[tuple[int, int], ...], *, replicas: int = 1, between: bool = False
) -> CollectiveTraffic:
    senders = len({source for source, target in pairs if source != target})
    return CollectiveTraffic(
        "collective-permute",
        100,
        100,
        2,
        pairs,
        4,
        senders * (4 // replicas if between else replicas),
        pairs=pairs,
        between_replicas=between,
        replicas=replicas,
    )


ALL = CollectiveTraffic("all-gather", 400, 300, 4, (), 4, 4)


def test_devices_that_send_in_turns_send_the_mean() -> None:
    sent = count_sent([(permute(FORTH), 3), (permute(BACK), 3), (ALL, 2)])
    assert sent == SentBytes(most=900, least=900, by_all=3600, is_exact=True)


def test_the_device_that_sends_most_counts() -> None:
    sent = count_sent([(permute(((0, 1), (1, 2), (2, 3))), 1), (permute(((1, 0), (2, 1))), 1)])
    assert sent == SentBytes(most=200, least=0, by_all=500, is_exact=True)


def test_the_device_that_sends_least_counts_too() -> None:
    """An exchange of edges: the first and the last of four have one neighbor each."""
    forth, back = ((0, 1), (1, 2), (2, 3)), ((1, 0), (2, 1), (3, 2))
    sent = count_sent([(permute(forth), 1), (permute(back), 1), (ALL, 1)])
    assert sent == SentBytes(most=500, least=400, by_all=1800, is_exact=True)


def test_a_device_that_sends_to_itself_sends_nothing() -> None:
    sent = count_sent([(permute(((0, 0), (1, 2))), 1)])
    assert sent == SentBytes(most=100, least=0, by_all=100, is_exact=True)


def test_pairs_of_replicas_add_to_those_of_partitions() -> None:
    sent = count_sent(
        [
            (permute(((0, 1),), replicas=2), 1),
            (permute(((1, 0),), replicas=2, between=True), 1),
        ]
    )
    assert sent == SentBytes(most=200, least=0, by_all=400, is_exact=True)


def test_the_end_of_a_broadcast_is_not_known() -> None:
    broadcast = CollectiveTraffic("collective-broadcast", 100, 100, 4, (), 4, 3)
    assert count_sent([(broadcast, 1)]) == SentBytes(most=100, least=0, by_all=300, is_exact=False)
    assert count_sent([]) == SentBytes(most=0, least=0, by_all=0, is_exact=True)
