from __future__ import annotations

import pytest
from fake_run import FakeRun
from pydantic import ValidationError

from analyzer.rulebook.conditions.fact import Fact


@pytest.mark.parametrize(
    ("limit", "state"),
    [
        ({"above": 0.7}, "holds"),
        ({"above": 0.8}, "not"),
        ({"below": 0.9}, "holds"),
        ({"below": 0.8}, "not"),
        ({"equals": 0.8}, "holds"),
        ({"equals": 0.5}, "not"),
    ],
)
def test_limits(limit: dict[str, float], state: str) -> None:
    run = FakeRun(facts={"progress": 0.8})
    outcome = Fact.model_validate({"name": "progress", **limit}).judge(run)
    assert outcome.state == state
    assert outcome.evidence[0].text == "progress = 0.8 (given)"


def test_unknown_and_wrong() -> None:
    assert Fact(name="progress", above=0).judge(FakeRun()).state == "unknown"
    with pytest.raises(ValidationError, match="exactly one"):
        Fact(name="progress")
