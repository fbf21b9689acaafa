"""Bounds of a rate: against the closed form and against SciPy's Beta distribution."""

from __future__ import annotations

import pytest
from scipy.stats import beta

from analyzer.statistics.proportion import trials_needed, upper_bound


@pytest.mark.parametrize("trials", [1, 20, 299, 2000])
def test_without_an_event_it_is_the_closed_form(trials: int) -> None:
    assert upper_bound(0, trials) == pytest.approx(1 - 0.05 ** (1 / trials), rel=1e-9)


def test_about_three_over_n() -> None:
    assert upper_bound(0, 1000) == pytest.approx(3 / 1000, rel=0.004)
    assert upper_bound(0, 20) == pytest.approx(0.1391, abs=5e-5)


@pytest.mark.parametrize(("events", "trials"), [(1, 20), (3, 20), (10, 1000), (19, 20)])
def test_with_events_it_is_a_quantile_of_beta(events: int, trials: int) -> None:
    expected = beta.ppf(0.95, events + 1, trials - events)
    assert upper_bound(events, trials) == pytest.approx(float(expected), rel=1e-9)
    wider = beta.ppf(0.99, events + 1, trials - events)
    assert upper_bound(events, trials, 0.99) == pytest.approx(float(wider), rel=1e-9)


def test_nothing_is_known_without_a_trial_or_where_all_are_events() -> None:
    assert (upper_bound(0, 0), upper_bound(5, 5)) == (1, 1)


def test_how_many_trials_show_a_rate() -> None:
    # 0.99^298 = 0.05003 and 0.99^299 = 0.0495.
    assert trials_needed(0.01) == 299
    assert trials_needed(0.05) == 59
    assert upper_bound(0, 299) <= 0.01 < upper_bound(0, 298)
