"""AReaL's configuration: dotted keys, JSON values, references, secrets, faults."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from reading import Got, read

from analyzer.errors import RunError
from analyzer.sources.areal_config import ArealConfig

READER = ArealConfig()


def got(tmp_path: Path, text: str) -> Got:
    path = tmp_path / "config.yaml"
    path.write_text(textwrap.dedent(text))
    return read(READER, path)


def test_leaves_with_dotted_keys_and_json_values(tmp_path: Path) -> None:
    result = got(
        tmp_path,
        """\
        experiment_name: gsm8k-grpo
        trial_name: t1
        total_train_steps: 100
        actor:
          lr: 1.70e-5
          eps: 1e-8
          path: Qwen/Qwen2.5
          off: off
          none: null
          yes: true
          cap: .inf
          kwargs: {}
          stops: []
          rows: [1, {a: "é"}]
        """,
    )
    assert result.config == {
        "experiment_name": '"gsm8k-grpo"',
        "trial_name": '"t1"',
        "total_train_steps": "100",
        "actor.lr": "1.7e-05",
        "actor.eps": "1e-08",
        "actor.path": '"Qwen/Qwen2.5"',
        "actor.off": '"off"',
        "actor.none": "null",
        "actor.yes": "true",
        "actor.cap": '"inf"',
        "actor.kwargs": "{}",
        "actor.stops": "[]",
        "actor.rows": '[1, {"a": "é"}]',
    }
    facts = result.facts
    assert (facts.framework, facts.experiment, facts.trial) == ("areal", "gsm8k-grpo", "t1")
    assert facts.total_steps == 100


def test_references_within_the_file_are_resolved(tmp_path: Path) -> None:
    result = got(
        tmp_path,
        """\
        n: 4
        name: ${actor.path}
        actor: {path: Qwen, group: "${n}", label: "run-${n}-${actor.path}", opt: "${optimizer}"}
        optimizer: {lr: 1.0, twice: "${n}${n}"}
        home: ${oc.env:HOME}/x
        lost: ${no.such.key}
        whole: ${optimizer}
        text: "at ${optimizer}"
        ring: ${ring2}
        ring2: ${ring}
        """,
    )
    assert result.config == {
        "n": "4",
        "name": '"Qwen"',
        "actor.path": '"Qwen"',
        "actor.group": "4",
        "actor.label": '"run-4-Qwen"',
        "actor.opt.lr": "1.0",
        "actor.opt.twice": '"44"',
        "optimizer.lr": "1.0",
        "optimizer.twice": '"44"',
        "home": '"${oc.env:HOME}/x"',
        "lost": '"${no.such.key}"',
        "whole.lr": "1.0",
        "whole.twice": '"44"',
        "text": '"at ${optimizer}"',
        "ring": result.config["ring"],
        "ring2": result.config["ring2"],
    }
    assert result.config["ring"].startswith('"${ring')


def test_secrets_are_masked(tmp_path: Path) -> None:
    result = got(
        tmp_path,
        """\
        wandb: {wandb_api_key: abc, api_key: "", token: t, mode: online}
        admin_api_key: 123
        env_vars: {HF_TOKEN: hf_x, WANDB_API_KEY: "${oc.env:WANDB_API_KEY}"}
        specs: [{password: p, cpu: 1}]
        tokenizer_path: Qwen
        max_new_tokens: 4096
        cmd: run --key sk-abcdefgh1234
        """,
    )
    assert result.config == {
        "wandb.wandb_api_key": '"***"',
        "wandb.api_key": '""',
        "wandb.token": '"***"',
        "wandb.mode": '"online"',
        "admin_api_key": '"***"',
        "env_vars.HF_TOKEN": '"***"',
        "env_vars.WANDB_API_KEY": '"${oc.env:WANDB_API_KEY}"',
        "specs": '[{"password": "***", "cpu": 1}]',
        "tokenizer_path": '"Qwen"',
        "max_new_tokens": "4096",
        "cmd": '"run --key ***"',
    }


def test_python_objects_become_plain_data(tmp_path: Path) -> None:
    text = "a: !!python/tuple [1, 2]\nb: !!python/object/apply:areal.Mode\n- decoupled\n"
    assert got(tmp_path, text).config == {"a": "[1, 2]", "b": '["decoupled"]'}


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("a: 1\nb: [1, 2\nc: 3\n", "3:2", "no valid YAML: did not find expected ',' or ']'"),
        ("a: 1\n  b: 2\n", "2:4", "no valid YAML: mapping values are not allowed"),
        (
            "k: 1\napi_key: x\napi_key: hidden\n",
            "3:1",
            'no valid YAML: found duplicate key "api_key"',
        ),
        ("- 1\n", "1", "no configuration: its top level is no mapping"),
    ],
)
def test_a_fault_is_told_with_its_place(
    tmp_path: Path, text: str, place: str, message: str
) -> None:
    with pytest.raises(RunError) as error:
        got(tmp_path, text)
    assert str(error.value).startswith(f"{tmp_path}/config.yaml:{place}: {message}")
    assert "hidden" not in str(error.value)


@pytest.mark.parametrize(
    ("head", "taken"),
    [
        (b"experiment_name: a\ntrial_name: b\nactor:\n  x: 1\n", True),
        (b"gconfig:\n  n: 1\nallocation_mode: ''\nrollout: {}\n", True),
        (b"actor:\n  rollout: 1\n  gconfig: 2\n", False),
        (b"experiment_name: a\nactor: {}\n", False),
        (b"_wandb:\n  value: {}\nactor:\n  desc: x\n", False),
        (b"", False),
    ],
)
def test_three_of_areals_own_keys_tell_its_configuration(
    tmp_path: Path, head: bytes, taken: bool
) -> None:
    assert READER.sniff(tmp_path / "x.yaml", head) is taken
