"""Metrics as programs print them: Python dictionaries, dashes, bars, words; names to numbers."""

from __future__ import annotations

import re

_NUMBER = r"[+-]?(?:\d[\d_]*\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|inf(?:inity)?|nan)"
# numpy's and torch's own way to write a number: np.float64(0.1), tensor(0.1, device='cuda:0')
_WRITTEN = rf"(?:(?:np|numpy|torch)\.)?(?:\w+\(\s*)?(?P<value>{_NUMBER})\b"
_PAIR = re.compile(
    rf"(?P<q>['\"])(?P<name>[^'\"\n]{{1,200}})(?P=q)\s*:\s*(?P<v>['\"]?){_WRITTEN}(?P=v)"
    r"(?=\s*[,})]|$)",
    re.IGNORECASE,
)
_DASHED = re.compile(rf"(?P<name>\S.{{0,200}}?):\s*{_WRITTEN}(?:\.?[,)].*|[^:]*)", re.IGNORECASE)
_LABELLED = re.compile(
    rf"\s*(?P<name>[a-z][^|:]{{0,60}}?)(?::\s*|\s+)(?P<value>{_NUMBER})(?![\d.])", re.IGNORECASE
)
_WORD = re.compile(rf"(?P<name>[^\s:|=('\"]{{1,120}}):\s?{_WRITTEN}", re.IGNORECASE)


def in_dictionary(text: str) -> dict[str, float]:
    """`{'loss': 0.1, 'grad_norm': np.float64(0.3), 'reward': '0.4'}`; what is no number is left."""
    return {match["name"]: _number(match["value"]) for match in _PAIR.finditer(text)}


def in_dashes(text: str) -> dict[str, float]:
    """`actor/entropy:0.3 - critic/score/mean:np.float64(0.1)`"""
    found: dict[str, float] = {}
    for part in text.split(" - "):
        if match := _DASHED.fullmatch(part.strip()):
            found[match["name"]] = _number(match["value"])
    return found


def in_bars(text: str) -> dict[str, float]:
    """`Time: 12.31s | Loss: 0.0123 | Peak Mem. 71.2 GiB`, by what stands before the number."""
    found: dict[str, float] = {}
    for part in text.split("|"):
        if match := _LABELLED.match(part):
            found[match["name"].strip()] = _number(match["value"])
    return found


def in_words(text: str) -> dict[str, float]:
    """`loss:0.12 lr:1e-06 rewards:0.5`"""
    return {match["name"]: _number(match["value"]) for match in _WORD.finditer(text)}


def _number(text: str) -> float:
    return float(text.replace("_", ""))
