"""The cause of a deviation that the batch confirms: the tests, and their order."""

from __future__ import annotations

from collections.abc import Callable

from analyzer.replay.judging.fits import band
from analyzer.replay.judging.marks import marked
from analyzer.replay.judging.material import Material, Question, Told
from analyzer.replay.judging.passes import passes, passes_alone, prox_is_current
from analyzer.replay.judging.policies import told_by_candidates
from analyzer.replay.judging.precision import precision
from analyzer.replay.judging.unlikely import unlikely

Test = Callable[[Material], Told | None]

# What looks at single tokens comes first: a few of them can carry all of the deviation, and would
# spoil the comparison with any policy. Exact matches come before noise of the right size.
_BEHAVIOUR: tuple[Test, ...] = (marked, told_by_candidates, precision, unlikely)
_TESTS: dict[Question, tuple[Test, ...]] = {
    "behaviour": (*_BEHAVIOUR, passes_alone),
    "update": (passes, *_BEHAVIOUR),
    "tokens": (marked, unlikely),
}

BEHAVIOUR = (
    "behave_imp_weight",
    "behave_approx_kl",
    "behave_kl_",
    "behave_tail",
    "logp_",
    "train_infer_",
    "rejected_fraction",
)
UPDATE = (
    "importance_",
    "approx_kl",
    "clip_ratio",
    "dual_clip_ratio",
)
TOKENS = (
    "entropy",
    "new_logp",
    "old_logp",
    "actor_loss",
    "grad_",
    "kl_",
    "reference_kl",
)


def question_of(metric: str) -> Question | None:
    """What a series is about; None where log-probs have no part in it."""
    kinds: tuple[tuple[Question, tuple[str, ...]], ...] = (
        ("behaviour", BEHAVIOUR),
        ("update", UPDATE),
        ("tokens", TOKENS),
    )
    return next((kind for kind, names in kinds if metric.startswith(names)), None)


def find_cause(material: Material) -> Told | None:
    """What the first test that finds something says; None where the stages do not separate it."""
    for test in _TESTS[material.question]:
        if (told := test(material)) is not None:
            return told
    return None


def what_would_tell(material: Material) -> str:
    """Why no cause was found, and which recording would settle it.

    Empty for a series that no two policies are compared by: there may be no such cause.
    """
    if material.question == "tokens":
        return ""
    batch = material.batch
    current = batch.bundle.config.current_version
    deviation = material.deviation()
    if deviation is None:
        return (
            "The batch has neither prox_logp nor new_logprobs beside the engine's log-probs: "
            "record them, or the checkpoint of the current version, to tell the cause."
        )
    if material.current is None:
        name = "current_version and its checkpoint" if current is None else f"version {current}"
        return (
            f"The recorded numbers alone do not separate the causes{_ages(material)}: record the "
            f"checkpoint of {name}{_older(material, current)} to tell old weights from precision, "
            "temperature and truncated sampling."
        )
    bound = band(material.trainer_dtype or "float32")
    proximal = prox_is_current(material)
    if batch.trainer_prox and proximal is not None and not proximal.within(bound):
        return (
            f"The trainer's own proximal log-probs are {proximal.distance:.2g} nats from a "
            f"recomputation with version {current} ({proximal.largest:.2g} at most): either the "
            "checkpoint is not the one that was trained on, or the trainer computes otherwise."
        )
    return (
        f"The recorded log-probs are {deviation.distance:.2g} nats from version {current}, and "
        f"neither other recorded weights, nor temperatures, nor truncated sampling, nor bfloat16 "
        f"leave less than a tenth of it{_older(material, current, 'record the checkpoint of')}."
    )


def _versions(material: Material) -> list[int]:
    versions = material.batch.versions
    if versions is None:
        return []
    return sorted(v for v in set(versions[material.batch.mask].tolist()) if v >= 0)


def _ages(material: Material) -> str:
    current, versions = material.batch.bundle.config.current_version, _versions(material)
    if current is None or not versions:
        return ""
    oldest = current - versions[0]
    if oldest <= 0:
        return ", though no token is older than the weights it was trained on"
    return f", though the oldest token is {oldest} versions behind"


def _older(material: Material, current: int | None, verb: str = "") -> str:
    """The versions of tokens for which no checkpoint was recorded."""
    known = material.scores.versions if material.scores is not None else ()
    lacking = [v for v in _versions(material) if v not in known and v != current]
    if not lacking:
        return ""
    shown = ", ".join(map(str, lacking[:5])) + (" …" if len(lacking) > 5 else "")
    return f"; {verb} version {shown}" if verb else f" and of {shown}"
