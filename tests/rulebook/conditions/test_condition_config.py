from __future__ import annotations

import pytest
from fake_run import FakeRun
from pydantic import ValidationError

from analyzer.rulebook.conditions.config import Config

RUN = FakeRun(
    has_config=True,
    configured={
        "rollout.max_head_offpolicyness": 2,
        "actor.lr": 1e-5,
        "actor.level": "token",
        "actor.on": True,
        "actor.none": None,
    },
)


@pytest.mark.parametrize(
    ("question", "state"),
    [
        ({"key": "rollout.max_head_offpolicyness", "equals": 2}, "holds"),
        ({"key": "rollout.max_head_offpolicyness", "equals": 2.0}, "holds"),
        ({"key": "rollout.max_head_offpolicyness", "not_equals": 2}, "not"),
        ({"key": "rollout.max_head_offpolicyness", "above": 1}, "holds"),
        ({"key": "rollout.max_head_offpolicyness", "above": 2}, "not"),
        ({"key": "actor.lr", "below": 1e-4}, "holds"),
        ({"key": "actor.level", "in": ["token", "sequence"]}, "holds"),
        ({"key": "actor.level", "in": ["sequence"]}, "not"),
        ({"key": "actor.on", "equals": True}, "holds"),
        ({"key": "actor.on", "equals": 1}, "not"),
        ({"key": "actor.on", "present": True}, "holds"),
        ({"key": "actor.none", "present": True}, "not"),
        ({"key": "actor.none", "absent": True}, "holds"),
        ({"key": "actor.other", "absent": True}, "holds"),
        ({"key": "actor.other", "equals": 3, "default": 3}, "holds"),
        ({"key": "actor.none", "above": 3, "default": 5}, "holds"),
    ],
)
def test_questions(question: dict[str, object], state: str) -> None:
    assert Config.model_validate(question).judge(RUN).state == state


def test_evidence_says_where_from() -> None:
    (evidence,) = Config(key="rollout.max_head_offpolicyness", above=1).judge(RUN).evidence
    assert evidence.text == "rollout.max_head_offpolicyness = 2 (config.yaml)"
    assert evidence.needed == "> 1"
    (evidence,) = Config(key="actor.other", equals=3, default=3).judge(RUN).evidence
    assert evidence.text == "actor.other = 3 (default)"


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ({"key": "actor.other", "above": 1}, "actor.other is not in the configuration"),
        ({"key": "actor.level", "above": 1}, "actor.level = token (config.yaml): not a number"),
        ({"key": "actor.on", "below": 1}, "actor.on = true (config.yaml): not a number"),
    ],
)
def test_what_cannot_be_told(question: dict[str, object], reason: str) -> None:
    outcome = Config.model_validate(question).judge(RUN)
    assert (outcome.state, outcome.reason) == ("unknown", reason)


def test_without_a_configuration() -> None:
    bare = FakeRun()
    outcome = Config(key="actor.lr", above=0).judge(bare)
    assert (outcome.state, outcome.reason) == ("unknown", "no configuration file in this run")
    assert Config(key="actor.lr", above=0, unconfigured="holds").judge(bare).state == "holds"
    assert Config(key="actor.lr", above=0, unconfigured="not").judge(bare).state == "not"


@pytest.mark.parametrize("asked", [{}, {"above": 1, "present": True}])
def test_exactly_one_question(asked: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="exactly one of equals"):
        Config.model_validate({"key": "actor.lr", **asked})
