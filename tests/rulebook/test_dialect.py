"""Texts that differ by framework."""

from __future__ import annotations

from analyzer.rulebook.dialect import frameworks_in, spoken


def test_words_for_one_framework() -> None:
    text = "Raise it<areal> by actor.x</areal><verl> by y</verl><else> somehow</else>."
    assert spoken(text, "areal") == "Raise it by actor.x."
    assert spoken(text, "verl") == "Raise it by y."
    assert spoken(text, "trl") == "Raise it somehow."
    assert spoken(text, None) == "Raise it somehow."
    assert frameworks_in(text) == {"areal", "verl"}
