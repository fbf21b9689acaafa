"""Secrets out of texts, and numbers out of messages that are to be compared."""

from __future__ import annotations

import re

MASK = "***"

_NAMED = re.compile(
    r"(?i)\b([\w-]{0,40}(?:api[ _-]?key|secret(?:[ _-]?key)?|passwd|password))"
    r"(\s*[=:]\s*[\"']?)[^\s\"',;]{4,}"
)
_TOKEN = re.compile(
    r"(?i)\b([\w-]{0,40}token)(\s*[=:]\s*[\"']?)"
    r"(?=[\w.-]{0,200}\d)(?=[\w.-]{0,200}[a-z])[\w.-]{8,200}"
)
_KNOWN = re.compile(
    r"\b(?:sk-[A-Za-z0-9_-]{8,}|hf_[A-Za-z0-9]{8,}|gh[opsu]_[A-Za-z0-9]{8,}"
    r"|github_pat_\w{8,}|AKIA[A-Z0-9]{12,}|xox[abp]-[\w-]{8,})"
)
_BEARER = re.compile(r"(?i)\b(bearer\s+)[\w.~+/=-]{8,}")
_LOGIN_URL = re.compile(r"(\w://[^\s:/@]{1,100}:)[^\s/@]{1,200}@")

_CHANGING = re.compile(
    r"0x[0-9a-fA-F]+|\b(?=[0-9a-f]{0,64}\d)[0-9a-f]{8,64}\b|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
)


def mask_secrets(text: str) -> str:
    """The text with API keys, tokens and passwords as `***`."""
    text = _NAMED.sub(rf"\1\2{MASK}", text)
    text = _TOKEN.sub(rf"\1\2{MASK}", text)
    text = _KNOWN.sub(MASK, text)
    text = _BEARER.sub(rf"\1{MASK}", text)
    return _LOGIN_URL.sub(rf"\1{MASK}@", text)


def without_numbers(text: str) -> str:
    """The text with numbers, addresses and hexadecimal words as `#`: equal for equal messages."""
    return _CHANGING.sub("#", text)
