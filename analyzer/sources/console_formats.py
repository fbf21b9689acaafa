"""The consoles that are known, as data: by what they are recognised and how a step is printed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analyzer.sources.areal_lines import Line
from analyzer.sources.console import ConsoleScan, Grammar, MarksScan, Record
from analyzer.sources.console_shapes import Shape, ShapeGrammar
from analyzer.sources.nemo_console import NemoGrammar
from analyzer.sources.opening import HEAD, open_log, read_head
from analyzer.sources.printed import in_bars, in_dashes, in_dictionary, in_words
from analyzer.sources.printed_config import PrintedConfig
from analyzer.sources.records import Kin, Reading, Resume, Role
from analyzer.sources.text_stream import read_log, read_text
from analyzer.sources.trl_console import TrlGrammar

_DEEP_HEAD = 1 << 20  # engines print a great deal before the first step


@dataclass(eq=False)
class Console:
    """The reader of one trainer's console."""

    format: str
    describes: str
    mark: re.Pattern[bytes]
    grammar: Callable[[], Grammar]
    reads: str
    tested: str
    digits: int = 17
    leaves: str = "what is printed between, but for events"
    appends: bool = True
    role: Role = "log"

    def sniff(self, path: Path, head: bytes) -> bool:
        """Does the text hold a line of metrics, or one that only this trainer prints?"""
        if self.sniff_text(head):
            return True
        return len(head) >= HEAD and self.sniff_text(read_head(path, _DEEP_HEAD))

    def sniff_text(self, head: bytes) -> bool:
        """Does the text hold a line of metrics, or one that only this trainer prints?"""
        if b"\0" in head or head.lstrip()[:2] == b'{"':
            return False
        return self.mark.search(head) is not None

    def kin(self, path: Path) -> Kin:
        """What was printed of each step, without what stands before it in one copy or another."""
        scan = MarksScan(self.grammar())
        for _ in read_log(open_log(path), scan, None):
            pass
        return Kin(marks=frozenset(scan.marks))

    def read(self, path: Path, resume: Resume | None = None) -> Reading:
        """Metric rows by step, then the events. Raises RunError when the file cannot be read."""
        log = open_log(path, resume.offset if resume else 0)
        scan = ConsoleScan(self.grammar())
        if resume:
            scan.restore(resume.state)
        return read_log(log, scan, resume)

    def read_text(self, blocks: Iterator[bytes]) -> Reading:
        """The same of a text that is no file."""
        return read_text(blocks, ConsoleScan(self.grammar()))


# `step:12 - actor/entropy:0.31 - …`, at any place of a line that a Ray actor's name begins.
_VERL_STEP = Shape(re.compile(rb"(?<![\w.:/])step:(?P<step>\d+) - (?=\S)"), in_dashes)
_VERL_CONFIG = re.compile(rb"\{'actor_rollout_ref': ")
_VERL_TOTAL = re.compile(rb"Total training steps: (?P<total>\d+)")


class VerlGrammar(ShapeGrammar):
    """verl's lines, and the configuration that it prints when it starts."""

    def __init__(self) -> None:
        super().__init__("verl", (_VERL_STEP,), _VERL_TOTAL)
        self.needle += b"|" + _VERL_CONFIG.pattern
        self.printed = PrintedConfig(_VERL_CONFIG)

    @property
    def open(self) -> bool:
        """Is the configuration being printed?"""
        return self.printed.open

    @property
    def config(self) -> dict[str, str]:
        """Dotted key → JSON."""
        return dict(self.printed.config)

    def take(self, raw: bytes, line: Line) -> Iterator[Record]:
        """The record of a line; lines of the configuration are none."""
        if not self.printed.take(line):
            yield from super().take(raw, line)

    def to_json(self) -> dict[str, Any]:
        """All that a later reading must know."""
        return {**super().to_json(), "printed": self.printed.to_json()}

    def restore(self, data: dict[str, Any]) -> None:
        """Remember what to_json() wrote."""
        super().restore(data)
        self.printed.restore(data["printed"])


# `rollout 3: {…}`, `perf 3: {…}`, `eval 3: {…}` count rollouts, `step 12: {…}` updates.
_SLIME = (
    Shape(re.compile(rb"(?<![\w/-])rollout (?P<step>\d+): (?=\{')"), in_dictionary, rollout=True),
    Shape(
        re.compile(rb"(?<![\w/-])(?:perf|eval|passrate|multi_turn) (?P<step>\d+): (?=\{')"),
        in_dictionary,
    ),
    Shape(
        re.compile(rb"(?<![\w/-])(?:critic-)?step (?P<step>\d+): (?=\{')"),
        in_dictionary,
        updates=True,
    ),
)

_OPENRLHF = (
    Shape(re.compile(rb"Global step (?P<step>\d+): (?=\{')"), in_dictionary, prefix="train/"),
    Shape(
        re.compile(rb"global_step (?P<step>\d+), eval_metrics: (?=\{')"),
        in_dictionary,
        prefix="eval/",
    ),
)

# Trainer and orchestrator print lines of the same form into logs of their own.
_PRIME = (
    Shape(
        re.compile(rb"(?<!Micro )Step (?P<step>\d+) \| +(?=Time: |\d[\w. ]* \| )"),
        in_bars,
        names={
            "Time": "time/step",
            "Loss": "loss/mean",
            "Entropy": "entropy/all/mean",
            "Mismatch KL": "mismatch_kl/all/mean",
            "Grad. Norm": "optim/grad_norm",
            "LR": "optim/lr",
            "Throughput": "perf/throughput",
            "MFU": "perf/mfu",
            "Peak Mem.": "perf/peak_memory",
            "Max Vio": "max_vio/mean",
            "Reward": "reward/mean",
            "Val. Reward": "val_reward/mean",
            "Seq. Length": "seq_len/mean",
            "Async Level": "async_level",
            "Max. Off-Policy Level": "off_policy/max",
        },
    ),
)

_TORCHTUNE = (Shape(re.compile(rb"^Step (?P<step>\d+) \| (?=[\w/.-]+:\S)"), in_words),)

_ROLL = (
    Shape(
        re.compile(rb"metrics_tag: \{\"step\": (?P<step>\d+), \"metrics\": (?=\{)"),
        in_dictionary,
    ),
)

# loguru's line ends after the colon, the dictionary follows with its numbers as text.
_SKYRL = (Shape(re.compile(rb"(?:^|- )Step (?P<step>\d+): ?$"), in_dictionary, spans=True),)


def _shapes(framework: str, *shapes: Shape) -> Callable[[], Grammar]:
    return lambda: ShapeGrammar(framework, shapes)


CONSOLES = (
    Console(
        "verl-text",
        "console of verl (`step:1 - actor/entropy:…`)",
        re.compile(rb"(?<![\w.:/])step:\d+ - [\w@/.-]+:|actor_rollout_ref|\bverl\.trainer\."),
        VerlGrammar,
        reads="metrics of a step, the printed configuration, events",
        tested="verl: public consoles of 2025 and 2026",
    ),
    Console(
        "slime-text",
        "console of slime (`rollout 0: {…}`)",
        re.compile(rb"(?<![\w/-])(?:rollout|step|perf) \d+: \{'(?:rollout|train|perf)/"),
        _shapes("slime", *_SLIME),
        reads="metrics of rollouts, updates and evaluations on one axis, events",
        tested="layouts of slime 0.2",
    ),
    Console(
        "openrlhf-text",
        "console of OpenRLHF (`Global step 1: {…}`)",
        re.compile(rb"Global step \d+: \{'|\bopenrlhf\.cli\."),
        _shapes("openrlhf", *_OPENRLHF),
        reads="metrics of a step and of evaluations, events",
        tested="layouts of OpenRLHF 0.9",
    ),
    Console(
        "roll-text",
        "console of ROLL (`metrics_tag: {…}`)",
        re.compile(rb"metrics_tag: \{\"step\": \d+"),
        _shapes("roll", *_ROLL),
        reads="metrics of a step, events",
        tested="layouts of ROLL 2026",
    ),
    Console(
        "nemo-rl-text",
        "console of NeMo-RL (`• Avg Reward: …`)",
        re.compile(rb"=+ Step \d+/\d+ =+[\s\S]{0,60000}?Training Results:"),
        NemoGrammar,
        digits=4,
        reads="results, validation and times of a step, events",
        tested="layouts of NeMo-RL 0.5",
    ),
    Console(
        "prime-rl-text",
        "console of prime-rl (`Step 0 | Time: …`)",
        re.compile(rb"(?<!Micro )Step \d+ \| +(?:Time: \d|\d[\w. ]* \| (?:Loss|Reward) )"),
        _shapes("prime-rl", *_PRIME),
        digits=4,
        reads="the line of a step, of trainer and orchestrator, events",
        tested="layouts of prime-rl 2025 and 2026",
    ),
    Console(
        "torchtune-text",
        "log of torchtune (`Step 1 | loss:…`)",
        re.compile(rb"^Step \d+ \| [\w/.-]+:\S", re.MULTILINE),
        _shapes("torchtune", *_TORCHTUNE),
        reads="metrics of a step, events",
        tested="layouts of torchtune 0.6",
    ),
    Console(
        "skyrl-text",
        "console of SkyRL (`Step 1: {…}`)",
        re.compile(rb"Step \d+: ?\r?\n(?:\([^\n]{0,80}\) )?\{'"),
        _shapes("skyrl", *_SKYRL),
        digits=5,
        reads="metrics of a step, events",
        tested="layouts of SkyRL 2026",
    ),
    Console(
        "trl-text",
        "console of TRL and other Hugging Face trainers (`{'loss': …, 'epoch': …}`)",
        re.compile(rb"\{'[\w/.@-]+': [^\r\n{}]*'epoch': [^\r\n{}]*\}|\btrl/trainer/"),
        TrlGrammar,
        reads="what is logged and evaluated, the progress bar that tells the step, events",
        tested="a public TRL console; layouts of transformers 5",
    ),
)
