"""Places, duplicate keys and YAML 1.2 scalars."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict

from analyzer.strict_yaml import load_document, parse_document, validate


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")
    limit: float


class Outer(BaseModel):
    model_config = ConfigDict(extra="forbid")
    inner: Inner
    names: tuple[str, ...] = ()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("12:30", "12:30"),
        ("1e-6", 1e-6),
        ("1.0e-05", 1e-5),
        ("0x10", "0x10"),
        ("007", 7),
        ("1_000", "1_000"),
        ("~", None),
        ("true", True),
        ("'5'", "5"),
        (".inf", float("inf")),
        ("-3", -3),
    ],
)
def test_scalars_of_yaml_1_2(text: str, value: object) -> None:
    assert parse_document(f"a: {text}", "x.yaml").data == {"a": value}


def test_a_duplicate_key_is_an_error_at_its_second_place() -> None:
    document = parse_document("a:\n  b: 1\n  c: 2\n  b: 3\n", "x.yaml")
    assert [str(e) for e in document.errors] == [
        "x.yaml:4:3: key 'b' stands twice (keep one of the two)"
    ]


def test_a_syntax_error_has_its_place() -> None:
    (error,) = parse_document("a: [1\nb: 2\n", "x.yaml").errors
    assert str(error).startswith("x.yaml:2:2: not valid YAML")


def test_three_faults_of_one_file_are_told_at_once() -> None:
    document = parse_document("inner:\n  limt: 1\nnames: 5\n", "x.yaml")
    assert validate(Outer, document) is None
    lines = [str(error) for error in document.errors]
    assert lines[0].startswith("x.yaml:1:1: key 'limit' is missing") or lines[0].startswith(
        "x.yaml:2:3"
    )
    assert any(
        line == "x.yaml:2:3: unknown key 'limt' (did you mean 'limit'?)" for line in lines
    ), lines
    assert any(line.startswith("x.yaml:3:1: names:") for line in lines), lines
    assert len(lines) == 3


def test_a_file_that_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    (error,) = load_document(path).errors
    assert "cannot be read" in str(error)
