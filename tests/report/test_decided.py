"""What procedures come to, on page one: the cause, or the experiments that tell it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from page_reader import Page
from procedure_parts import ENDS, EXPERIMENT, decided, procedure
from report_runs import sick_run

from analyzer.compare.procedure import decision
from analyzer.compare.procedure_model import Decision, Procedure
from analyzer.report.decided import cost_text, decision_remedies, decision_text
from analyzer.report.followed import procedure_document
from analyzer.report.html import render_html
from analyzer.report.page import PostmortemView
from analyzer.report.ticket import render_ticket
from analyzer.report.view import build_view
from analyzer.report.words import load_words

WORDS = load_words("en")
NARROW = "\u202f"
COST = f"300 steps, about 5.0{NARROW}h, 40 GPU-h"
FINDING = "length-driven-truncation"  # the first of the sick run


def of(*procedures: Procedure) -> Decision:
    found = decision(procedures, procedures[0].because[0])
    assert found is not None
    return found


def view_of(found: Procedure) -> PostmortemView:
    judged, whole, made = sick_run()
    about = replace(found, because=(FINDING,))
    return build_view(judged, whole, made, tool_version="1", language="en", procedures=(about,))


def test_a_cause_is_named_with_its_evidence() -> None:
    found = of(decided())
    assert [cause.reason for cause in found.causes] == ["no run was given"]
    assert decision_text(found, WORDS) == "The cause is the training data: no run was given."
    (remedy,) = decision_remedies(found, WORDS)
    assert (remedy.do, remedy.config) == ("Look at the training data.", "")


def test_two_causes_are_both_named() -> None:
    end = replace(ENDS[0], variable="asynchrony")
    other = replace(decided(), id="other", conclusions=(end, ENDS[1]))
    text = decision_text(of(other, decided()), WORDS)
    assert text.startswith("The cause is asynchrony and the training data: ")


def test_an_open_cause_names_the_experiment_that_tells_most() -> None:
    assert decision_text(of(procedure()), WORDS) == (
        "The cause is open. The experiment that tells most for its cost: "
        f"Train on the test set ({COST})."
    )


def test_a_cheap_one_stands_beside_the_one_that_decides_most() -> None:
    cheap = replace(EXPERIMENT, do="Evaluate", bits=0.3, bits_per_gpu_hour=4.0, cost=None)
    found = of(replace(procedure(), experiments=(EXPERIMENT, cheap)))
    assert decision_text(found, WORDS) == (
        "The cause is open. The experiment that tells most for its cost: Evaluate (what it costs "
        "is not known, as no step times are logged); the one that decides most: "
        f"Train on the test set ({COST})."
    )
    first, second = decision_remedies(found, WORDS)
    assert (first.do, first.config) == ("Evaluate", EXPERIMENT.yaml)
    assert first.why == "If so: It is the data. If not: It is not."
    assert (second.note, second.config) == (f"{COST}.", "")


def test_what_is_excluded_is_said_where_the_cause_is_open() -> None:
    excluded = replace(decided(), concluded=ENDS[1].id)
    assert decision_text(of(excluded), WORDS) == ENDS[1].text
    both = decision_text(of(excluded, replace(procedure(), id="more")), WORDS)
    assert both.startswith(f"{ENDS[1].text} The cause is open.")


def test_cost_of_several_seeds_in_chinese() -> None:
    assert EXPERIMENT.cost is not None
    cost = replace(EXPERIMENT.cost, runs=5)
    assert cost_text(cost, WORDS) == f"5 runs of 300 steps, about 5.0{NARROW}h, 40 GPU-h"
    assert cost_text(cost, load_words("zh")).startswith("5 次运行，每次 300 步，约")


def test_a_reason_in_chinese() -> None:
    reason = (
        "task_reward at the end 0.21 against 0.52: \u22120.31 (\u22120.33 to \u22120.29), where "
        "0.050 would matter; one run a side, a spread of seeds is assumed"
    )
    said = load_words("zh").phrase(reason)
    assert said == (
        "task_reward 末尾为 0.21，对照为 0.52：相差 \u22120.31（\u22120.33 至 \u22120.29），"
        "相差 0.050 才算数；每侧一次运行，种子间的差异为假定"
    )


def test_page_one_says_it_and_keeps_the_remedies_of_the_rule() -> None:
    view = view_of(procedure())
    assert view.first.decision.startswith("The cause is open.")
    assert view.first.remedies[0].do == "Raise the generation limit"
    assert "The cause is open." in Page(render_html(view, "en")).text
    assert "The cause is open." in render_ticket(view, "en")
    unrelated = replace(procedure(), because=("another-rule",))
    judged, whole, made = sick_run()
    silent = build_view(
        judged, whole, made, tool_version="1", language="en", procedures=(unrelated,)
    )
    assert silent.first.decision == "" and len(silent.procedures) == 1


def test_what_mends_a_known_cause_comes_first() -> None:
    view = view_of(decided())
    assert view.first.decision == "The cause is the training data: no run was given."
    assert [remedy.do for remedy in view.first.remedies] == [
        "Look at the training data.",
        "Raise the generation limit",
        "Reject overlong trajectories while collecting (should_accept_fn)",
    ]
    # Two of the rule's are told on page one; the finding goes on with its third.
    assert view.findings[0].remedies_from == 3


def test_steps_that_are_the_remedies_stand_in_their_place() -> None:
    view = view_of(replace(procedure(), instead_of_remedies=(FINDING,)))
    assert [remedy.do for remedy in view.first.remedies] == ["Train on the test set"]
    assert view.first.remedies[0].config == EXPERIMENT.yaml
    # The rule's own are not told a second time under the finding.
    assert view.findings[0].rule == FINDING and view.findings[0].remedies == ()


def test_the_document_is_json_with_all_answers() -> None:
    found: dict[str, Any] = procedure_document(procedure())
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert (found["path"], found["concluded"]) == (["first", "second"], None)
    assert [q["state"] for q in found["questions"]] == ["no", "open", "not-reached"]
    assert found["questions"][0]["evidence"][0]["text"] == "it fell"
    (experiment,) = found["experiments"]
    assert experiment["config"] == {"train_dataset.split": "test"}
    assert experiment["cost"]["gpu_hours"] == 40.0 and experiment["power"]["steps"] == 300
