"""Settings of experiments: AReaL's schema by version, other frameworks, YAML and arguments."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest
from compared_runs import run
from procedures_of import PROCEDURES
from ruamel.yaml import YAML

from analyzer.compare.overrides import as_arguments, as_yaml, overrides
from analyzer.compare.procedure_spec import ExperimentChange, ExperimentSpec
from analyzer.findings.model import ConfigChange
from analyzer.resources import rules_dir
from analyzer.rulebook.model import Multiply, SetTo
from analyzer.tables.run import RunTables

SCHEMA: dict[str, dict[str, Any]] = json.loads(
    (rules_dir() / "config" / "areal.json").read_text("utf-8")
)["keys"]
VERSIONS = sorted({version for entry in SCHEMA.values() for version in entry["in"]})
EXPERIMENTS = [
    pytest.param(question.experiment, id=f"{procedure.spec.id}-{question.id}")
    for procedure in PROCEDURES
    for question in procedure.spec.questions
    if question.experiment is not None
]
GIVEN: dict[str, object] = {
    "train_dataset.path": "train/data",
    "train_dataset.type": "rl",
    "valid_dataset.path": "openai/gsm8k",
    "valid_dataset.type": "rl",
    "trial_name": "trial_3",
    "experiment_name": "gsm8k",
}
# What AReaL's structured configuration takes for a type, written out once more.
TAKES: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "str": (str,),
    "None": (type(None),),
}


def configured(version: str) -> RunTables:
    """A run with every key of that version at its default, and what must be given."""
    config = {
        key: entry["default"]
        for key, entry in SCHEMA.items()
        if version in entry["in"] and entry["default"] not in ("REQUIRED", "section")
    }
    return run({"entropy": "1x30"}, {**config, **GIVEN})


def fits(entry: dict[str, Any], value: object) -> bool:
    kinds = [kind.strip() for kind in entry["type"].split("|")]
    right = any(type(value) in TAKES[kind] for kind in kinds)
    return right and value in entry.get("choices", [value])


def leaves(tree: dict[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_override_loads_in_the_schema_of_each_version(
    experiment: ExperimentSpec, version: str
) -> None:
    changes, left = overrides(experiment.config, configured(version), 60)
    assert left == ()
    # What is so already, as max_head_offpolicyness 0 by default, needs no line.
    assert {c.key for c in changes} <= set(experiment.config)
    pasted = dict(leaves(YAML(typ="safe", pure=True).load(as_yaml(changes)) or {}))
    assert pasted == {c.key: json.loads(c.to) for c in changes}
    for key, value in pasted.items():
        entry = SCHEMA[key]
        assert version in entry["in"], f"{key} is not in AReaL {version}"
        assert fits(entry, value), f"{key} = {value!r} is no {entry['type']}"
    arguments = shlex.split(as_arguments(changes, "++{key}={value}"))
    assert [a.partition("=")[0] for a in arguments] == [f"++{c.key}" for c in changes]
    # AReaL: no - or / in the name of a trial.
    assert re.fullmatch(r"trial_3_[a-z]+", pasted["trial_name"])


def test_the_two_versions_are_known() -> None:
    assert VERSIONS == ["4aef98d8 2026-05", "cbff54d6 2026-08"]
    assert len(EXPERIMENTS) >= 12


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_keys_of_older_versions_are_known_as_removed(experiment: ExperimentSpec) -> None:
    for key, change in experiment.where_set.items():
        assert SCHEMA[key]["removed"] and SCHEMA[key]["in"] == []
        assert isinstance(change, SetTo) and fits(SCHEMA[key], change.set)


def wanted(**changes: ExperimentChange) -> dict[str, ExperimentChange]:
    return {key.replace("__", "."): change for key, change in changes.items()}


def test_a_key_of_one_version_only_is_left_out_where_the_version_is_not_known() -> None:
    key = next(k for k, entry in SCHEMA.items() if entry["in"] == VERSIONS[1:] and "." in k)
    changes, left = overrides({key: SetTo(set=None)}, run({"entropy": "1x30"}, GIVEN), 60)
    assert changes == ()
    assert left == ((key, "not in every version of AReaL that this run may be of"),)


def test_a_removed_key_says_so() -> None:
    asked = wanted(actor__behave_imp_weight_cap=SetTo(set=5.0))
    _, left = overrides(asked, run({"entropy": "1x30"}, GIVEN), 60)
    assert left[0][1].startswith("raises since rejection_sampling replaced it")
    changes, _ = overrides(
        asked, run({"entropy": "1x30"}, {"actor.behave_imp_weight_cap": 9.0}), 60
    )
    assert changes == (ConfigChange("actor.behave_imp_weight_cap", "9.0", "5.0"),)


def test_a_value_that_is_not_there_cannot_be_multiplied() -> None:
    bare = run({"entropy": "1x30"}, {"actor.eps_clip": 0.2})
    changes, left = overrides(wanted(actor__optimizer__lr=Multiply(multiply=2)), bare, None)
    # AReaL's own default, 0.001, doubled.
    assert changes == (ConfigChange("actor.optimizer.lr", None, "0.002"),)
    none = run({"entropy": "1x30"})
    changes, left = overrides(wanted(actor__optimizer__lr=Multiply(multiply=2)), none, None)
    assert (changes, left) == (
        (),
        (("actor.optimizer.lr", "actor.optimizer.lr is not in the configuration"),),
    )


def test_yaml_is_nested_and_its_floats_have_a_point() -> None:
    rows = (
        ConfigChange("actor.optimizer.lr", None, "2e-06"),
        ConfigChange("seed", "1", "2"),
        ConfigChange("actor.eps_clip", None, "0.3"),
        ConfigChange("actor.optimizer.eps", None, "1.5e-08"),
    )
    assert as_yaml(rows) == (
        "actor:\n  eps_clip: 0.3\n  optimizer:\n    eps: 1.5e-08\n    lr: 2.0e-06\nseed: 2"
    )


def test_arguments_are_quoted_where_a_shell_or_hydra_would_read_them_otherwise() -> None:
    rows = (
        ConfigChange("a.b", None, '"openai/gsm8k"'),
        ConfigChange("c", None, '"two words"'),
        ConfigChange("d", None, '"true"'),
        ConfigChange("e_f", None, "0.5"),
    )
    assert as_arguments(rows, "++{key}={value}") == (
        "++a.b=openai/gsm8k '++c=\"two words\"' '++d=\"true\"' ++e_f=0.5"
    )
    assert as_arguments(rows[3:], "--{flag} {value}") == "--e-f 0.5"
    assert as_arguments(rows, "") == ""
