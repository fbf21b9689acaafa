"""F1 of every scenario, strong and mild, of the rules and of the plain thresholds, as a picture."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import vl_convert

from detection import scores

RULES, PLAIN = "the rules", "thresholds on the last value"
VEGA_LITE = "6.4"


def svg(results: Mapping[str, Any]) -> str:
    """The drawing."""
    return vl_convert.vegalite_to_svg(json.dumps(spec(results)), vl_version=VEGA_LITE)


def spec(results: Mapping[str, Any]) -> dict[str, Any]:
    """Vega-Lite: a row a scenario, a column a strength, a point each for rules and thresholds."""
    rows = [
        {"scenario": name, "strength": strength, "by": by, "f1": round(count.f1, 3)}
        for by, says in ((RULES, scores.said), (PLAIN, scores.plainly))
        for strength, counts in scores.by_scenario(results["runs"], says).items()
        for name, count in counts.items()
    ]
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "background": "white",
        "data": {"values": rows},
        "facet": {
            "column": {
                "field": "strength",
                "type": "nominal",
                "title": None,
                "sort": ["strong", "mild"],
            }
        },
        "spec": {
            "width": 260,
            "height": {"step": 15},
            "mark": {"type": "point", "filled": True, "size": 60, "opacity": 0.9},
            "encoding": {
                "y": {
                    "field": "scenario",
                    "type": "nominal",
                    "title": None,
                    "axis": {"grid": True},
                },
                "x": {
                    "field": "f1",
                    "type": "quantitative",
                    "title": "F1",
                    "scale": {"domain": [0, 1]},
                },
                "color": {
                    "field": "by",
                    "type": "nominal",
                    "title": None,
                    "scale": {"domain": [RULES, PLAIN], "range": ["#1d5ba6", "#b3201a"]},
                    "legend": {"orient": "bottom"},
                },
                "shape": {
                    "field": "by",
                    "type": "nominal",
                    "title": None,
                    "scale": {"domain": [RULES, PLAIN], "range": ["circle", "diamond"]},
                },
            },
        },
    }
