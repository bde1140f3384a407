from xlareport.analysis.findings.finding import Finding
from xlareport.analysis.findings.shared_places import refer_to_causes


def finding(rule: str, seconds: float | None, *places: str) -> Finding:
    return Finding(
        title=rule.capitalize(),
        places=tuple(("e", place) for place in places),
        evidence="It takes time.",
        suggestion="",
        grade="matched",
        weight=seconds or 0.0,
        rule=rule,
        seconds=seconds,
    )


def test_a_general_finding_names_those_that_have_the_cause() -> None:
    cause = finding("gathered-once", 1e-3, "g", "user")
    other = finding("same-tiles", None, "h")
    effect = finding("exposed-collectives", 2e-3, "h", "g")
    kept, also, referring = refer_to_causes((cause, other, effect))
    assert (kept, also) == (cause, other)
    assert referring.evidence == (
        "It takes time. `g`: see also `Gathered-once`. What they save is the same time."
    )


def test_what_no_other_finding_is_about_stays() -> None:
    effect = finding("exposed-collectives", 2e-3, "user")
    assert refer_to_causes((finding("gathered-once", 1e-3, "g", "user"), effect))[1] == effect
