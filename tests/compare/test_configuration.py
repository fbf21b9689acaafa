"""What two configurations set differently."""

from __future__ import annotations

import pytest
from compared_runs import run

from analyzer.compare.configuration import config_difference, is_another_seed
from analyzer.compare.model import KeyDifference

E = {"entropy": "1x30"}


def difference(
    mine: dict[str, object], other: dict[str, object]
) -> tuple[KeyDifference, ...] | None:
    return config_difference(run(E, {"a.x": 1, **mine}), run(E, {"a.x": 1, **other}))


def test_only_what_differs_without_names_of_runs() -> None:
    found = difference(
        {"actor.eps_clip": 0.3, "trial_name": "one"},
        {"actor.eps_clip": 0.4, "trial_name": "two", "own.key": True},
    )
    assert found == (
        KeyDifference("actor.eps_clip", "0.3", "0.4"),
        KeyDifference("own.key", None, "true"),
    )


def test_a_path_of_data_or_model_is_no_name() -> None:
    found = difference(
        {"train_dataset.path": "a", "stats_logger.tensorboard.path": "/logs/a"},
        {"train_dataset.path": "b", "stats_logger.tensorboard.path": "/logs/b"},
    )
    assert found == (KeyDifference("train_dataset.path", '"a"', '"b"'),)


def test_a_key_left_out_has_the_framework_s_default() -> None:
    # AReaL's own eps_clip is 0.2.
    assert difference({"actor.eps_clip": 0.2}, {}) == ()
    assert difference({"actor.eps_clip": 0.3}, {}) == (
        KeyDifference("actor.eps_clip", "0.3", "0.2", other_default=True),
    )


def test_one_and_one_point_nought_are_one_value() -> None:
    assert difference({"actor.discount": 1}, {"actor.discount": 1.0}) == ()


def test_a_section_that_is_null_has_no_defaults() -> None:
    found = difference({"actor.adv_norm.eps": 1e-5}, {"actor.adv_norm": None})
    assert found is not None
    assert KeyDifference("actor.adv_norm.eps", "1e-05", None) in found


def test_a_key_that_must_be_given_has_no_default() -> None:
    assert difference({"actor.backend": "fsdp:d1"}, {}) == (
        KeyDifference("actor.backend", '"fsdp:d1"', None),
    )


def test_a_key_of_a_later_version_has_none_in_a_run_of_unknown_version() -> None:
    assert difference({"actor.use_cispo_loss": True}, {}) == (
        KeyDifference("actor.use_cispo_loss", "true", None),
    )


def test_without_a_configuration_nothing_is_said() -> None:
    assert config_difference(run(E), run(E, {"a": 1})) is None


@pytest.mark.parametrize(
    ("other", "same"), [({"seed": 2}, True), ({"seed": 2, "actor.eps_clip": 0.4}, False)]
)
def test_another_seed(other: dict[str, object], same: bool) -> None:
    assert is_another_seed(difference({"seed": 1}, other)) is same
    assert not is_another_seed(None)
