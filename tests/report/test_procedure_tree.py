"""The drawn tree: circles, lines, ends."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

from procedure_parts import decided, procedure

from analyzer.compare.procedure_model import Procedure
from analyzer.report.procedure_tree import AMBER, FAINT, INK, procedure_tree
from analyzer.report.words import load_words

SVG = "{http://www.w3.org/2000/svg}"
WORDS = load_words("en")


def drawn(found: Procedure) -> ElementTree.Element:
    (svg,) = procedure_tree(found, WORDS).svgs
    return ElementTree.fromstring(svg)


def texts(tree: ElementTree.Element) -> dict[str, dict[str, str]]:
    return {element.text or "": element.attrib for element in tree.iter(f"{SVG}text")}


def test_circles_say_what_is_answered_open_and_not_asked() -> None:
    circles = list(drawn(procedure()).iter(f"{SVG}circle"))
    assert [c.attrib["stroke"] for c in circles] == [INK, AMBER, FAINT]
    assert [c.attrib["fill"] for c in circles] == [INK, "white", "white"]


def test_the_path_is_in_ink_and_the_rest_faint() -> None:
    paths = {p.attrib["d"]: p.attrib["stroke"] for p in drawn(procedure()).iter(f"{SVG}path")}
    straight = [stroke for shape, stroke in paths.items() if "H" not in shape]
    around = [stroke for shape, stroke in paths.items() if "H" in shape]
    assert straight == [FAINT, INK]  # second to third, then first to second on top of it
    assert around == [FAINT]  # yes to the first passes over the second


def test_ends_name_the_variable_and_the_next_question() -> None:
    found = texts(drawn(procedure()))
    assert "yes: → 3" in found  # the first
    assert "yes: the training data → 3" in found
    assert "no: It is something else" in found  # a text without a variable, its first sentence
    assert "no: → 2" not in found  # that is the next one
    assert "Are <all> groups equal?" in found
    assert texts(drawn(decided()))["yes: the training data → 3"]["font-weight"] == "600"


def test_reasons_stand_under_what_was_asked() -> None:
    found = texts(drawn(procedure()))
    assert found["open: no run was given"]["fill"] == AMBER
    assert "no: it fell" in found
    assert not any(text.startswith("not asked") for text in found)


def test_long_texts_are_broken_and_push_the_rest_down() -> None:
    long = procedure()
    first = replace(long.questions[0], reason="word " * 60)
    tall = drawn(replace(long, questions=(first, *long.questions[1:])))
    box = tall.attrib["viewBox"].split()
    assert float(box[3]) > float(drawn(long).attrib["viewBox"].split()[3]) + 30
    lowest = max(float(t.attrib["y"]) for t in tall.iter(f"{SVG}text"))
    assert lowest <= float(box[3])


def test_jumps_that_share_rows_have_lanes_of_their_own() -> None:
    whole = procedure()
    fourth = replace(whole.questions[2], id="fourth", branches=())
    first = replace(
        whole.questions[0],
        branches=(replace(whole.questions[0].branches[0], ask="fourth"),
                  replace(whole.questions[0].branches[1], ask="third")),
    )  # fmt: skip
    (svg,) = procedure_tree(
        replace(whole, questions=(first, *whole.questions[1:], fourth)), WORDS
    ).svgs
    lanes = set(re.findall(r"H([\d.]+)V", svg))
    assert len(lanes) == 2


def test_in_words() -> None:
    alt = procedure_tree(procedure(), WORDS).alt
    assert "Did it rise? no; Does it rise elsewhere? open" in alt and "Are" not in alt
