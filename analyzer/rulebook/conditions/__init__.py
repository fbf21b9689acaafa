"""The closed set of conditions."""

from __future__ import annotations

from analyzer.rulebook.conditions.base import Condition
from analyzer.rulebook.conditions.config import Config
from analyzer.rulebook.conditions.constant import Constant
from analyzer.rulebook.conditions.differs import Differs
from analyzer.rulebook.conditions.fact import Fact
from analyzer.rulebook.conditions.level import Level
from analyzer.rulebook.conditions.log import Log
from analyzer.rulebook.conditions.missing import Missing
from analyzer.rulebook.conditions.nonfinite import Nonfinite
from analyzer.rulebook.conditions.order import Order
from analyzer.rulebook.conditions.shift import Shift
from analyzer.rulebook.conditions.spike import Spike
from analyzer.rulebook.conditions.spread import Spread
from analyzer.rulebook.conditions.target import Target
from analyzer.rulebook.conditions.together import Together
from analyzer.rulebook.conditions.trend import Trend

CONDITIONS: tuple[type[Condition], ...] = (
    Level,
    Target,
    Trend,
    Shift,
    Spread,
    Spike,
    Constant,
    Nonfinite,
    Missing,
    Together,
    Order,
    Differs,
    Config,
    Log,
    Fact,
)
BY_KIND = {condition.kind: condition for condition in CONDITIONS}
