"""A procedure as a small tree: its questions one below the other, and where each answer leads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from analyzer.compare.procedure_model import Branch, Procedure, Question, State
from analyzer.report.charts import ChartView
from analyzer.report.measure import wrapped
from analyzer.report.words import Words

WIDTH = 666.0  # as wide as a chart, in px
TRUNK, LANE = 10.0, 10.0  # from the left edge to the first circle, and between two lines around it
RADIUS = 7.0
TEXT, ENDS = 330.0, 246.0  # width of the questions, and of what answers lead to
SIZE, SMALL = 10.5, 9.5  # type, px
LINE, SMALL_LINE = 14.0, 12.5
GAP = 16.0  # between two questions
BETWEEN = 4.0  # between two ends of one question
INK, GREY, FAINT, AMBER = "#1b1b1f", "#5f6068", "#b9bac0", "#8a5700"
FONT = "IBM Plex Sans, Noto Sans CJK SC, WenQuanYi Micro Hei, sans-serif"
STATES: dict[State, str] = {"yes": INK, "no": INK, "open": AMBER, "not-reached": FAINT}


@dataclass(frozen=True)
class Row:
    """A question with the room it takes."""

    question: Question
    top: float
    number: int  # from 1
    ask: tuple[str, ...]
    reason: tuple[str, ...]
    ends: tuple[tuple[Branch, tuple[str, ...]], ...]  # where answers lead, but to the next question
    height: float

    @property
    def middle(self) -> float:
        """The height of the circle and of the first line's middle."""
        return self.top + LINE / 2


def procedure_tree(procedure: Procedure, words: Words) -> ChartView:
    """The tree with the path taken in ink; what was not reached is faint."""
    lanes = _lanes(procedure.questions)
    left = TRUNK + LANE * max(lanes.values(), default=0)
    rows = list(_rows(procedure, left, words))
    height = rows[-1].top + rows[-1].height if rows else 0.0
    parts = [*_edges(procedure, rows, lanes, left, words)]
    for row in rows:
        parts += _question(row, left)
    path = [_answered(q, words) for q in procedure.questions if q.on_path]
    return ChartView(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {height:.1f}" '
            f'font-family="{FONT}">{"".join(parts)}</svg>',
        ),
        words("procedure.alt", path=words("list.semicolon").join(path)),
    )


def _answered(question: Question, words: Words) -> str:
    return f"{question.ask} {words(f'procedure.state.{question.state}')}"


def _lanes(questions: Sequence[Question]) -> dict[tuple[int, int], int]:
    """How far left of the trunk each jump over other questions is drawn; jumps that share rows have
    lanes of their own, the longest the outermost.
    """
    jumps = sorted(_jumps(questions), key=lambda jump: jump[1] - jump[0])
    lanes: dict[tuple[int, int], int] = {}
    for first, last in jumps:
        taken = {lane for (a, b), lane in lanes.items() if a < last and first < b}
        lanes[first, last] = next(n for n in range(1, len(jumps) + 1) if n not in taken)
    return lanes


def _jumps(questions: Sequence[Question]) -> set[tuple[int, int]]:
    number = {question.id: i for i, question in enumerate(questions)}
    found = set()
    for i, question in enumerate(questions):
        for branch in question.branches:
            if branch.ask is not None and number[branch.ask] > i + 1:
                found.add((i, number[branch.ask]))
    return found


def _rows(procedure: Procedure, left: float, words: Words) -> Iterator[Row]:
    room = TEXT - left - 2 * RADIUS
    top = 4.0
    for number, question in enumerate(procedure.questions, start=1):
        ask = wrapped(question.ask, room / SIZE, bold=question.on_path)
        reason = wrapped(_reason(question, words), room / SMALL) if question.on_path else []
        ends = tuple(
            (branch, tuple(wrapped(text, ENDS / SMALL, bold=branch.taken)))
            for branch in question.branches
            if (text := _end_text(procedure, number, branch, words))
        )
        beside = sum(SMALL_LINE * len(lines) + BETWEEN for _, lines in ends)
        height = max(LINE * len(ask) + SMALL_LINE * len(reason), beside)
        yield Row(question, top, number, tuple(ask), tuple(reason), ends, height)
        top += height + GAP


def _reason(question: Question, words: Words) -> str:
    state = words(f"procedure.state.{question.state}")
    return words("procedure.reason", state=state, reason=words.phrase(question.reason))


def _end_text(procedure: Procedure, number: int, branch: Branch, words: Words) -> str:
    """What an answer says, and the number of the question that it leads to; "" where that is only
    the next one.
    """
    numbers = {question.id: n for n, question in enumerate(procedure.questions, start=1)}
    end = next((c for c in procedure.conclusions if c.id == branch.conclusion), None)
    what = "" if end is None else end.variable or _first_sentence(end.text)
    if branch.ask is not None and (what or numbers[branch.ask] > number + 1):
        what = f"{what} → {numbers[branch.ask]}".strip()
    answer = words(f"procedure.answer.{branch.answer}")
    return words("procedure.end", answer=answer, what=what) if what else ""


def _first_sentence(text: str) -> str:
    for stop in (". ", "; ", "。", "；"):
        text = text.split(stop, maxsplit=1)[0]
    return text.rstrip(".。")


def _question(row: Row, left: float) -> Iterator[str]:
    state = row.question.state
    colour = STATES[state]
    answered = state in ("yes", "no")
    yield (
        f'<circle cx="{left:g}" cy="{row.middle:.1f}" r="{RADIUS:g}" stroke="{colour}" '
        f'stroke-width="1.5" fill="{colour if answered else "white"}"/>'
    )
    inside = "white" if answered else AMBER if state == "open" else GREY
    yield _text(left, row.middle + 3.0, str(row.number), SMALL - 1, inside, 600, "middle")
    x, y = left + 2 * RADIUS, row.top + SIZE
    on_path = row.question.on_path
    for line in row.ask:
        yield _text(x, y, line, SIZE, INK if on_path else GREY, 600 if on_path else 400)
        y += LINE
    for line in row.reason:
        yield _text(x, y - 1.0, line, SMALL, AMBER if state == "open" else GREY)
        y += SMALL_LINE
    y = row.top + SIZE - 0.5
    for branch, lines in row.ends:
        colour, weight = (INK, 600) if branch.taken else (GREY, 400)
        for number, line in enumerate(lines):
            yield _text(WIDTH - ENDS + 8 * (number > 0), y, line, SMALL, colour, weight)
            y += SMALL_LINE
        y += BETWEEN


def _edges(
    procedure: Procedure,
    rows: Sequence[Row],
    lanes: dict[tuple[int, int], int],
    left: float,
    words: Words,
) -> Iterator[str]:
    """Lines to the next questions, those of the path last, so that they lie on top."""
    number = {question.id: i for i, question in enumerate(procedure.questions)}
    joined: dict[tuple[int, int], list[Branch]] = {}
    for i, question in enumerate(procedure.questions):
        for branch in question.branches:
            if branch.ask is not None:
                joined.setdefault((i, number[branch.ask]), []).append(branch)
    for (a, b), branches in sorted(joined.items(), key=lambda e: any(x.taken for x in e[1])):
        taken = any(branch.taken for branch in branches)
        colour, stroke = (INK, 1.7) if taken else (FAINT, 1.0)
        start, end = rows[a].middle + RADIUS, rows[b].middle - RADIUS
        shape = f"M{left:g} {start:.1f}V{end:.1f}"
        if (a, b) in lanes:
            x = left - LANE * lanes[a, b]
            start, end = rows[a].middle, rows[b].middle
            shape = f"M{left - RADIUS:g} {start:.1f}H{x:g}V{end:.1f}H{left - RADIUS:g}"
        yield f'<path d="{shape}" fill="none" stroke="{colour}" stroke-width="{stroke:g}"/>'
        if (a, b) not in lanes:
            label = words("procedure.or").join(
                words(f"procedure.answer.{branch.answer}")
                for branch in branches
                if branch.taken or not taken
            )
            y = rows[b].top - 4.0
            yield _text(left + RADIUS + 3, y, label, SMALL - 1, INK if taken else GREY)


def _text(
    x: float,
    y: float,
    text: str,
    size: float,
    colour: str,
    weight: int = 400,
    anchor: str = "start",
) -> str:
    more = f' font-weight="{weight}"' if weight != 400 else ""
    more += f' text-anchor="{anchor}"' if anchor != "start" else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" fill="{colour}"{more}>'
        f"{escape(text)}</text>"
    )
