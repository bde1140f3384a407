"""Decisions about fusions from their dumps."""

from tests.readers.parsers import Parser, with_path

from xlareport.readers.fusion_decisions import read_fusion_decisions

DECISIONS = b"""fusion_steps {
  fusion {
    fusion_name: "f"
    producer_name: "a"
    consumer_name: "b"
    us_fused: 1e-3
  }
}
"""
PARSERS = (Parser(with_path(read_fusion_decisions), DECISIONS),)
"""For `tests/properties/test_parsers.py`."""


TEXT = b"""fusion_steps {
  producer_ineligible {
    producer_name: "gemm_fusion_dot.3"
    reason: "the producer is not fusible"
  }
}
fusion_steps {
  update_priority {
    producer_name: "reduce.1.0"
    consumer_names: "add.15.0"
    consumer_names: "bitcast.4.0"
    us_fused: 5.22025
    us_unfused: 5.26225
  }
}
fusion_steps {
  fusion {
    fusion_name: "loop_add_fusion"
    producer_name: "a"
    consumer_name: "b"
    us_fused: many
  }
}
"""


def test_fusion_decisions() -> None:
    parsed, problems = read_fusion_decisions(TEXT, "t")
    assert problems == []
    refused, weighed, done = parsed
    assert (refused.kind, refused.producer) == ("producer_ineligible", "gemm_fusion_dot.3")
    assert refused.reason == "the producer is not fusible"
    assert weighed.consumers == ("add.15.0", "bitcast.4.0")
    assert (weighed.microseconds_fused, weighed.microseconds_unfused) == (5.22025, 5.26225)
    assert (done.fusion, done.consumers, done.microseconds_fused) == (
        "loop_add_fusion",
        ("b",),
        None,
    )
