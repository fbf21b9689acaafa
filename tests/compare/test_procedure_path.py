"""Procedures followed: answers, reasons, one variable at a time, conclusions."""

from __future__ import annotations

import pytest
from compared_runs import run
from procedures_of import followed, judged

from analyzer.compare.procedure import decision, follow
from analyzer.compare.procedure_model import Procedure
from analyzer.tables.run import RunTables

FLAT = {
    "task_reward": "0.21x200~0.03",
    "task_reward_min": "0x200",
    "task_reward_max": "1x200",
    "t_rollout": "20x200",
    "t_train": "16x200",
}
ASYNC = {
    "rollout.max_head_offpolicyness": 4,
    "actor.recompute_logprob": True,
    "actor.use_decoupled_loss": True,
    "cluster.n_nodes": 1,
    "cluster.n_gpus_per_node": 8,
    "trial_name": "one",
}
SYNC = {
    **ASYNC,
    "rollout.max_head_offpolicyness": 0,
    "actor.recompute_logprob": False,
    "actor.use_decoupled_loss": False,
    "trial_name": "two",
}


def stagnating(config: dict[str, object] = ASYNC, **series: str) -> RunTables:
    return run({**FLAT, **series}, config)


def states(procedure: Procedure) -> dict[str, str]:
    return {question.id: question.state for question in procedure.questions}


def test_nothing_applies_to_a_run_without_such_a_finding() -> None:
    healthy = run({**FLAT, "task_reward": "0.3+0.003x200~0.03"}, ASYNC)
    assert followed(healthy) == {}


def test_alone_the_run_leaves_its_questions_open_with_the_reason() -> None:
    found = followed(stagnating())
    assert list(found) == ["is-it-asynchrony", "reward-stagnation"]
    sync = found["is-it-asynchrony"]
    assert states(sync) == {"already": "no", "sync": "open"}
    assert sync.path == ("already", "sync") and sync.conclusion is None
    assert sync.questions[0].reason == "rollout.max_head_offpolicyness = 4 (config.yaml)"
    assert sync.questions[1].reason == "no run was given in the role of sync"
    assert sync.because == ("reward-stagnation",)
    steps = states(found["reward-stagnation"])
    assert (steps["learned"], steps["baseline"], steps["testset"]) == ("no", "open", "open")
    assert {steps[name] for name in ("batch", "step-size", "model", "difficulty")} == {
        "not-reached"
    }
    assert [q.id for q in found["reward-stagnation"].open] == ["baseline", "testset"]


def test_a_synchronous_run_excludes_asynchrony_by_its_settings() -> None:
    found = followed(stagnating(SYNC))["is-it-asynchrony"]
    assert states(found) == {"already": "yes", "sync": "not-reached"}
    assert found.conclusion is not None and found.conclusion.variable == ""
    assert found.experiments == ()


@pytest.mark.parametrize(
    ("other", "state", "concluded"),
    [
        ("0.3+0.002x200~0.02", "yes", "asynchrony"),
        ("0.21x200~0.031", "no", "not-asynchrony"),
        ("0.12x200~0.03", "no", "not-asynchrony"),
        # 0.03 above, where 0.05 would matter, is clear and yet no reason.
        ("0.24x200~0.004", "no", "not-asynchrony"),
        ("0.25x200~0.2", "open", None),
    ],
)
def test_the_synchronous_twin_decides(other: str, state: str, concluded: str | None) -> None:
    found = followed(stagnating(), {"sync": [run({**FLAT, "task_reward": other}, SYNC)]})
    sync = found["is-it-asynchrony"]
    assert states(sync)["sync"] == state
    assert sync.concluded == concluded
    question = sync.questions[1]
    assert "where 0.050 would matter" in question.reason
    assert "a spread of seeds is assumed" in question.reason
    assert len(sync.experiments) == (state == "open")


def test_two_variables_at_once_decide_nothing() -> None:
    more = {**SYNC, "actor.optimizer.lr": 3e-6}
    mine = {**ASYNC, "actor.optimizer.lr": 1e-6}
    other = run({**FLAT, "task_reward": "0.3+0.002x200~0.02"}, more)
    sync = followed(stagnating(mine), {"sync": [other]})["is-it-asynchrony"]
    assert states(sync)["sync"] == "open"
    assert "differs in actor.optimizer.lr as well" in sync.questions[1].reason


@pytest.mark.parametrize(
    ("reward", "expected"),
    [
        ("0.21+0.003x200~0.02", {"testset": "yes", "batch": "not-reached", "difficulty": "open"}),
        ("0.21x200~0.02", {"testset": "no", "batch": "open", "model": "open"}),
        ("0.21x200~0.2", {"testset": "open", "batch": "not-reached", "difficulty": "not-reached"}),
    ],
)
def test_training_on_the_test_set_tells_data_from_the_rest(
    reward: str, expected: dict[str, str]
) -> None:
    data = {"train_dataset.path": "a", "valid_dataset.path": "b"}
    mine, other = {**ASYNC, **data}, {**ASYNC, **data, "train_dataset.path": "b"}
    beside = {"testset": [run({**FLAT, "task_reward": reward}, other)]}
    found = followed(stagnating(mine), beside)["reward-stagnation"]
    assert states(found).items() >= expected.items()
    assert found.concluded == ("training-data" if expected["testset"] == "yes" else None)
    taken = {b.answer: b.taken for b in found.questions[2].branches}
    assert taken == {"yes": expected["testset"] == "yes", "no": expected["testset"] == "no"}


def test_a_run_that_changes_nothing_of_what_is_asked_decides_nothing() -> None:
    other = run({**FLAT, "task_reward": "0.3+0.002x200~0.02"}, {**ASYNC, "trial_name": "two"})
    sync = followed(stagnating(), {"sync": [other]})["is-it-asynchrony"]
    assert states(sync)["sync"] == "open"
    assert "does not differ in rollout.max_head_offpolicyness" in sync.questions[1].reason


def test_seeds_of_a_role_must_agree() -> None:
    on_test = {**ASYNC, "train_dataset.split": "test"}
    rising, flat = (
        run({**FLAT, "task_reward": text}, on_test)
        for text in ("0.21+0.003x200~0.02", "0.21x200~0.02")
    )
    both = followed(stagnating(), {"testset": [rising, flat]})["reward-stagnation"]
    assert states(both)["testset"] == "open"
    agree = followed(stagnating(), {"testset": [rising, rising]})["reward-stagnation"]
    assert states(agree)["testset"] == "yes"


def test_a_single_evaluation_before_training_is_a_baseline() -> None:
    evaluated = {**FLAT, "eval_reward": "0.5x40~0.01"}
    low, same = (
        run({"eval_reward": f"{level}x1", "t_rollout": "1x1"}, ASYNC) for level in (0.2, 0.49)
    )
    better = followed(run(evaluated, ASYNC), {"baseline": [low]})["reward-stagnation"]
    assert states(better)["baseline"] == "yes"
    assert better.concluded == "training-data"
    assert "eval_reward at the end 0.50 against 0.20" in better.questions[1].reason
    equal = followed(run(evaluated, ASYNC), {"baseline": [same]})["reward-stagnation"]
    assert states(equal)["baseline"] == "no"


def test_the_first_evaluations_are_a_baseline_where_they_are_at_the_first_step() -> None:
    made: dict[str, object] = {**FLAT, "eval_reward": {"every": 10, "values": "0.3x20~0.002"}}
    found = followed(run(made, ASYNC))["reward-stagnation"]  # type: ignore[arg-type]
    assert states(found)["baseline"] == "no"
    late = {**FLAT, "eval_reward": {"every": 10, "values": "_x1 0.3x19~0.002"}}
    later = followed(run(late, ASYNC))["reward-stagnation"]  # type: ignore[arg-type]
    assert states(later)["baseline"] == "open"


def test_a_finding_answers_where_it_was_checked() -> None:
    weights = {"importance_weight": "1x60~0.0002 1+0.002x140~0.0002"}
    found = followed(run(weights, {"actor.ppo_n_minibatches": 4}))["importance-weight"]
    assert states(found)["several"] == "yes"
    assert found.questions[0].state in ("no", "open")
    one = run({"importance_weight": "1x200~0.0002"}, {"actor.ppo_n_minibatches": 1})
    mine = run(weights, {"actor.ppo_n_minibatches": 4})
    came_back = followed(mine, {"one-minibatch": [one]})["importance-weight"]
    assert came_back.concluded == "updates-per-batch"
    stayed = run(weights, {"actor.ppo_n_minibatches": 1})
    mine = run(weights, {"actor.ppo_n_minibatches": 4})
    elsewhere = followed(mine, {"one-minibatch": [stayed]})["importance-weight"]
    assert states(elsewhere)["deterministic"] == "open"


def test_a_plateau_is_no_failure_to_learn() -> None:
    found = followed(stagnating(task_reward="0.33+0.006x50~0.03 0.62x150~0.03"))
    plateau = found["reward-stagnation"]
    assert plateau.concluded == "plateau" and plateau.path == ("learned",)
    assert plateau.conclusion is not None and plateau.conclusion.variable == ""


def test_the_decision_names_causes_before_experiments() -> None:
    other = run({**FLAT, "task_reward": "0.3+0.002x200~0.02"}, SYNC)
    found = followed(stagnating(), {"sync": [other]})
    decided = decision(list(found.values()), "reward-stagnation")
    assert decided is not None
    assert [cause.variable for cause in decided.causes] == ["asynchrony"]
    alone = decision(list(followed(stagnating()).values()), "reward-stagnation")
    assert alone is not None and alone.causes == ()
    assert [e.role for e in alone.experiments] == ["baseline", "testset", "sync"]
    assert decision(list(found.values()), "truncation") is None


def test_in_chinese() -> None:
    found = followed(stagnating(), language="zh")["is-it-asynchrony"]
    assert found.title == "是异步造成的吗？"
    assert found.experiments[0].do == "从同一起点同步运行"
    assert found.conclusions[0].variable == "异步"


def test_without_procedures_there_is_nothing_to_follow() -> None:
    flat = stagnating()
    assert follow((), flat, judged(flat), ()) == ()
