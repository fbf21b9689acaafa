"""The run's config.yaml: AReaL's whole configuration, with what the settings say."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from sample_logs.lab.settings import Settings

BASE = Path(__file__).parent.parent / "base_config.yaml"
EXPERIMENT = "letters-grpo"
MODEL = "/models/letters-{size}"


def configuration(settings: Settings) -> dict[str, Any]:
    """What AReaL saves beside its log. Changes during the run are not in it, as in real life."""
    trial = trial_name(settings)
    text = BASE.read_text("utf-8").replace("{trial}", trial).replace("{tensorboard}", "null")
    config: dict[str, Any] = YAML(typ="safe").load(text)
    data, sampling, training = settings.data, settings.sampling, settings.training
    model = MODEL.format(size=settings.warm_start)
    for part in (config, *(config[k] for k in ("saver", "evaluator", "stats_logger", "recover"))):
        part["experiment_name"] = EXPERIMENT
    for part in ("rollout", "actor"):
        config[part]["experiment_name"] = EXPERIMENT
    config["cluster"]["n_gpus_per_node"] = 2
    config |= {
        "seed": settings.seed,
        "total_train_epochs": max(1, settings.steps // settings.steps_per_epoch),
        "tokenizer_path": model,
        "dynamic_bs": settings.filter is not None,
        "ref": {"path": model} if training.reference else None,
    }
    config["train_dataset"] |= {"path": "datasets/letters", "batch_size": data.prompts}
    config["valid_dataset"] |= {
        "path": "datasets/letters",
        "batch_size": settings.test_data.prompts,
    }
    config["evaluator"] |= {"freq_epochs": None, "freq_steps": settings.eval_every}
    config["recover"] |= {
        "mode": "auto",
        "freq_epochs": None,
        "freq_secs": None,
        "freq_steps": settings.events.recover_every,
    }
    if settings.events.loses_optimiser:
        config["recover"]["no_load_optim"] = True
    config["sglang"] |= {"model_path": model, "dtype": sampling.dtype, "random_seed": settings.seed}
    for part in ("gconfig", "eval_gconfig"):
        config[part] |= {
            "max_new_tokens": sampling.max_new_tokens,
            "max_tokens": sampling.max_new_tokens + 64,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
        }
    config["gconfig"]["n_samples"] = data.group_size
    config["rollout"] |= {
        "max_concurrent_rollouts": 4 * data.prompts,
        "consumer_batch_size": data.prompts,
        "max_head_offpolicyness": settings.asynchrony.bound,
        "tokenizer_path": model,
        "backend": "sglang:d1p1t1",
        "dump_to_file": settings.written.dumps_every > 0,
    }
    config["actor"] |= settings.actor.model_dump(mode="json", exclude={"mb_spec"})
    config["actor"] |= {
        "path": model,
        "backend": "fsdp:d1p1t1",
        "dtype": "float32" if training.half is None else "float16",
        "disable_dropout": training.dropout == 0,
        "attn_impl": "sdpa",
    }
    config["actor"]["optimizer"] |= {
        "lr": training.lr,
        "weight_decay": training.weight_decay,
        "gradient_clipping": training.gradient_clipping,
        "warmup_steps_proportion": training.warmup_steps / settings.steps,
    }
    if settings.written.tensorboard:
        config["stats_logger"]["tensorboard"]["path"] = "/experiments/tensorboard"
    return config


def trial_name(settings: Settings) -> str:
    """The run's name in AReaL's directory layout."""
    return f"{settings.name}-{settings.seed}"


def trial_folder(settings: Settings, out: Path) -> Path:
    """Where AReaL writes main.log and config.yaml."""
    return out / "logs" / "root" / EXPERIMENT / trial_name(settings)


def write(settings: Settings, folder: Path) -> None:
    """Write config.yaml."""
    folder.mkdir(parents=True, exist_ok=True)
    yaml: Any = YAML(typ="safe")
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False
    stream = StringIO()
    yaml.dump(configuration(settings), stream)
    (folder / "config.yaml").write_bytes(stream.getvalue().encode())
