"""Tables with a step column: JSON lines, CSV, Parquet, trainer_state.json."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from reading import Got, read, read_in_pieces

from analyzer.errors import RunError
from analyzer.sources.csv_table import CsvTable
from analyzer.sources.json_lines import JsonLines
from analyzer.sources.parquet_table import ParquetTable
from analyzer.sources.readers import reader_of
from analyzer.sources.trainer_state import TrainerState


def lines(*rows: object) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def known(path: Path, data: bytes) -> str | None:
    path.write_bytes(data)
    reader = reader_of(path)
    return reader.format if reader else None


def of_json(tmp_path: Path, *rows: object) -> Got:
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(lines(*rows))
    return read(JsonLines(), path)


def test_rows_of_json_lines(tmp_path: Path) -> None:
    got = of_json(
        tmp_path,
        {"step": 1, "reward": 0.25, "note": "text", "flag": True, "_timestamp": 1_700_000_000.5},
        {"step": "2", "reward": "0.5", "loss": None, "deep": {"kl": 1e-3, "n": 4}},
        {"reward": 0.75},
    )
    assert got.rows == [
        (0, 1, None, "reward", 0.25),
        (0, 1, None, "flag", 1.0),
        (0, 2, None, "reward", 0.5),
        (0, 2, None, "deep/kl", 1e-3),
        (0, 2, None, "deep/n", 4.0),
    ]
    assert got.metrics[0][5] == datetime(2023, 11, 14, 22, 13, 20, 500_000, tzinfo=UTC)
    assert got.kinds() == ["row-without-step"]


def test_the_wrapper_of_verls_logger_is_no_name(tmp_path: Path) -> None:
    got = of_json(tmp_path, {"step": 3, "data": {"actor/entropy": 0.5}})
    assert got.rows == [(0, 3, None, "actor/entropy", 0.5)]


def test_values_that_are_no_finite_numbers_stay(tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").write_text('{"step": 1, "a": NaN, "b": Infinity}\n')
    got = read(JsonLines(), tmp_path / "m.jsonl")
    assert [(row[3], str(row[4])) for row in got.rows] == [("a", "nan"), ("b", "inf")]


def test_a_step_that_most_names_repeat_begins_an_attempt(tmp_path: Path) -> None:
    rows = [{"step": n, "reward": 0.1, "loss": 0.2} for n in (0, 1, 2, 2, 3)]
    got = of_json(tmp_path, *rows)
    assert sorted({row[:2] for row in got.rows}) == [(0, 0), (0, 1), (0, 2), (1, 2), (1, 3)]


def test_training_and_evaluation_of_a_step_are_one_attempt(tmp_path: Path) -> None:
    rows = [{"step": 1, "a": 1, "b": 2, "epoch": 0}, {"step": 1, "eval/x": 3, "epoch": 0}]
    assert {row[0] for row in of_json(tmp_path, *rows).rows} == {0}


def test_grown_json_lines_are_read_on(tmp_path: Path) -> None:
    data = lines(
        *({"step": n, "x": n / 8, "y": 1} for n in (0, 1, 2, 1, 2)), {"x": 1}, {"step": 3, "x": 2}
    )
    path = tmp_path / "m.jsonl"
    path.write_bytes(data)
    whole = read(JsonLines(), path)
    for cut in range(8, len(data), 5):
        got = read_in_pieces(JsonLines(), path, data, [cut])
        assert got.metrics == whole.metrics
        assert got.kinds() == whole.kinds()


def test_a_last_line_that_breaks_off_is_told(tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").write_bytes(lines({"step": 0, "x": 1}) + b'{"step": 1, "x')
    got = read(JsonLines(), tmp_path / "m.jsonl")
    assert got.rows == [(0, 0, None, "x", 1.0)]
    assert [(note.kind, note.line) for note in got.notes] == [("bad-record", 2)]


@pytest.mark.parametrize(
    "data",
    [
        lines({"prompt": "a", "response": "b", "step": 1, "score": 0.5}),  # samples
        lines({"loss": 0.5, "epoch": 1}),  # no step
        lines({"step": 1, "text": "a"}),  # no number
        lines({"step": "first", "loss": 0.5}),
        b"loss,reward\n0.1,0.2\n",
        b"step\n1\n",
        b"step,loss\n",
        b"step,loss\nfirst,0.1\n",
        b"step 3, loss 4\n",
        b"x\r 1%| step,| 1/3\r{'a'}\n",
    ],
)
def test_what_is_no_table_with_a_step(tmp_path: Path, data: bytes) -> None:
    assert known(tmp_path / "x", data) is None


def test_rows_of_a_csv(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    data = (
        b'\xef\xbb\xbfglobal_step,reward,"note, long",kl\r\n1,0.25,"a\nb",\r\n'
        b"2.0,0.5,c,nan\r\n,9,d,9\r\n3,0.75,,1e-3\r\n4,1\r\n"
    )
    assert known(path, data) == "csv"
    got = read(CsvTable(), path)
    rows = [(*row[:4], str(row[4])) for row in got.rows]
    assert rows == [
        (0, 1, None, "reward", "0.25"),
        (0, 2, None, "reward", "0.5"),
        (0, 2, None, "kl", "nan"),
        (0, 3, None, "reward", "0.75"),
        (0, 3, None, "kl", "0.001"),
    ]
    assert got.kinds() == ["row-without-step", "bad-record", "not-a-number"]


def test_a_run_column_parts_attempts(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    path.write_bytes(b"step,segment,reward\n0,a,1\n1,a,2\n2,b,3\n3,c,4\n")
    rows = [(0, 0, None, "reward", 1), (0, 1, None, "reward", 2)]
    rows += [(1, 2, None, "reward", 3), (2, 3, None, "reward", 4)]
    assert read(CsvTable(), path).rows == rows


def test_a_chart_that_was_exported_has_the_metrics_name(tmp_path: Path) -> None:
    path = tmp_path / "chart.csv"
    path.write_bytes(
        b'"Step","a-run - reward","a-run - reward__MIN","a-run - reward__MAX"\n"1","2","1","3"\n'
    )
    assert read(CsvTable(), path).rows == [(0, 1, None, "reward", 2.0)]


def test_a_grown_csv_is_read_on(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    data = b'step,a,b\n0,1,"x\ny"\n1,2,3\n2,3,4\n1,2,3\n,7,7\n2,5,6\n'
    path.write_bytes(data)
    whole = read(CsvTable(), path)
    for cut in range(data.index(b"1,2,3"), len(data)):
        got = read_in_pieces(CsvTable(), path, data, [cut])
        assert got.metrics == whole.metrics
        assert got.kinds() == whole.kinds()


def test_rows_of_parquet(tmp_path: Path) -> None:
    path = tmp_path / "metrics.parquet"
    table = {
        "_step": [0, 1],
        "reward": [0.5, None],
        "n": [3, 4],
        "name": ["a", None],
        "l": [[1], []],
    }
    pq.write_table(pa.table(table), path)
    reader = reader_of(path)
    assert isinstance(reader, ParquetTable)
    got = read(reader, path)
    assert got.rows == [
        (0, 0, None, "reward", 0.5),
        (0, 0, None, "n", 3.0),
        (0, 1, None, "n", 4.0),
    ]
    assert got.kinds() == ["not-a-number"]


def test_parquet_of_samples_is_no_table_of_metrics(tmp_path: Path) -> None:
    path = tmp_path / "rollouts.parquet"
    pq.write_table(pa.table({"step": [1], "prompt": ["a"], "score": [0.5]}), path)
    assert reader_of(path) is None
    (tmp_path / "broken.parquet").write_bytes(path.read_bytes()[:100])
    with pytest.raises(RunError, match="no valid Parquet"):
        read(ParquetTable(), tmp_path / "broken.parquet")


def test_the_state_of_a_trainer(tmp_path: Path) -> None:
    path = tmp_path / "trainer_state.json"
    history = [
        {"epoch": 0.5, "loss": 0.25, "step": 5},
        {"epoch": 0.5, "eval_loss": 0.125, "step": 5},
        {"epoch": 1.0, "loss": "0.5", "step": 10},
        {"train_runtime": 12.5},
    ]
    state = {"global_step": 10, "max_steps": 20, "epoch": 1.0, "log_history": history}
    path.write_text(json.dumps(state))
    reader = reader_of(path)
    assert isinstance(reader, TrainerState)
    got = read(reader, path)
    assert [row for row in got.rows if row[3] != "epoch"] == [
        (0, 5, None, "loss", 0.25),
        (0, 5, None, "eval_loss", 0.125),
        (0, 10, None, "loss", 0.5),
    ]
    assert got.kinds() == ["row-without-step"]
    assert (got.facts.total_steps, got.facts.steps_per_epoch, got.facts.finished) == (20, 10, None)
    path.write_text(json.dumps(state)[:-20])
    with pytest.raises(RunError, match="no valid JSON"):
        read(reader, path)
