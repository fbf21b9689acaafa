"""YAML 1.2 with duplicate keys refused and the place of every value remembered."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from analyzer.errors import Location, RuleError

YamlPath = tuple[str | int, ...]
M = TypeVar("M", bound=BaseModel)


@dataclass
class Document:
    """A loaded file: plain data, and where each key and value stands."""

    path: str
    text: str
    data: Any = None
    places: dict[YamlPath, tuple[int, int]] = field(default_factory=dict)
    errors: list[RuleError] = field(default_factory=list)

    def at(self, where: YamlPath) -> Location:
        """The place of a value, or of the nearest thing around it that has one."""
        for length in range(len(where), -1, -1):
            if (place := self.places.get(where[:length])) is not None:
                return Location(self.path, *place)
        return Location(self.path, 1, 1)

    def error(self, where: YamlPath, message: str, hint: str = "") -> RuleError:
        """An error at that value's place."""
        return RuleError(message, at=self.at(where), hint=hint)


def load_document(path: Path, shown_as: str | None = None) -> Document:
    """Read a YAML file; faults are collected in `errors`, not raised."""
    shown = shown_as or str(path)
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as cause:
        document = Document(shown, "")
        document.errors.append(
            RuleError(f"cannot be read: {cause}", at=Location(shown), hint="save it as UTF-8 text")
        )
        return document
    return parse_document(text, shown)


def parse_document(text: str, shown_as: str) -> Document:
    """Parse YAML text; faults are collected in `errors`."""
    document = Document(shown_as, text)
    try:
        # The pure parser would take 0.1 ms a line; the C parser a tenth of it.
        node = YAML(typ="safe", pure=False).compose(text)
    except MarkedYAMLError as cause:
        mark = cause.problem_mark or cause.context_mark
        place = Location(shown_as, mark.line + 1, mark.column + 1) if mark else Location(shown_as)
        document.errors.append(RuleError(f"not valid YAML: {cause.problem}", at=place))
        return document
    except YAMLError as cause:
        document.errors.append(RuleError(f"not valid YAML: {cause}", at=Location(shown_as)))
        return document
    if node is not None:
        document.data = _construct(document, node, ())
    return document


def _construct(document: Document, node: Node, where: YamlPath) -> Any:
    document.places.setdefault(where, (node.start_mark.line + 1, node.start_mark.column + 1))
    if isinstance(node, MappingNode):
        return _mapping(document, node, where)
    if isinstance(node, SequenceNode):
        return [_construct(document, item, (*where, i)) for i, item in enumerate(node.value)]
    assert isinstance(node, ScalarNode), "YAML has mappings, sequences and scalars"
    return _scalar(node)


def _mapping(document: Document, node: MappingNode, where: YamlPath) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key_node, value_node in node.value:
        key = str(_scalar(key_node)) if isinstance(key_node, ScalarNode) else "?"
        mark = key_node.start_mark
        if key in result:
            document.errors.append(
                RuleError(
                    f"key {key!r} stands twice",
                    at=Location(document.path, mark.line + 1, mark.column + 1),
                    hint="keep one of the two",
                )
            )
            continue
        document.places[(*where, key)] = (mark.line + 1, mark.column + 1)
        result[key] = _construct(document, value_node, (*where, key))
    return result


_WORDS: dict[str, Any] = {
    **dict.fromkeys(("null", "Null", "NULL", "~", ""), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
}


def _scalar(node: ScalarNode) -> Any:
    """A scalar by YAML 1.2's core schema: `no`, `on` and `12:30` stay text."""
    text: str = node.value
    if node.style:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789":
        return text
    for kind in (int, float):
        try:
            return kind(text) if "_" not in text else text
        except ValueError:
            continue
    return text


def validate(model: type[M], document: Document, where: YamlPath = ()) -> M | None:
    """Build a model of the data at `where`; None when it does not fit (see document.errors)."""
    data = document.data
    for part in where:
        data = data[part]
    try:
        return model.model_validate(data)
    except ValidationError as cause:
        document.errors.extend(validation_errors(cause, document, where, model))
        return None


def validation_errors(
    cause: ValidationError, document: Document, where: YamlPath, model: type[BaseModel]
) -> list[RuleError]:
    """pydantic's faults as errors with file, line and column."""
    errors = []
    for fault in cause.errors(include_url=False):
        inside = tuple(part for part in fault["loc"] if part != "[key]")
        hint = ""
        if fault["type"] == "extra_forbidden":
            message = f"unknown key {str(fault['loc'][-1])!r}"
            hint = did_you_mean(str(fault["loc"][-1]), _known_keys(model))
        elif fault["type"] == "missing":
            message = f"key {str(fault['loc'][-1])!r} is missing"
        else:
            message = f"{'.'.join(map(str, inside))}: {_lower(fault['msg'])}"
            message += f", not {fault['input']!r}" if not isinstance(fault["input"], dict) else ""
        errors.append(document.error((*where, *inside), message, hint))
    return errors


def _known_keys(model: type[BaseModel]) -> list[str]:
    """The keys of the model and of the models inside it; only asked for when one is unknown."""
    schema = model.model_json_schema(by_alias=True)
    shapes = [schema, *schema.get("$defs", {}).values()]
    return sorted({key for shape in shapes for key in shape.get("properties", {})})


def _lower(text: str) -> str:
    text = text.removeprefix("Value error, ")
    return text[:1].lower() + text[1:]


def did_you_mean(name: str, known: list[str] | tuple[str, ...]) -> str:
    """A hint with the nearest known name, or nothing."""
    near = get_close_matches(name, known, n=1, cutoff=0.6)
    return f"did you mean {near[0]!r}?" if near else ""
