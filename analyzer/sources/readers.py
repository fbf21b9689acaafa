"""The log formats that are read: the one place where a file's format is decided."""

from __future__ import annotations

from pathlib import Path

from analyzer.sources.areal_config import ArealConfig
from analyzer.sources.csv_table import CsvTable
from analyzer.sources.json_lines import JsonLines
from analyzer.sources.mlflow_store import MlflowDatabase, MlflowFolder
from analyzer.sources.opening import read_head
from analyzer.sources.parquet_table import ParquetTable
from analyzer.sources.records import FolderReader, Format, Reader, Shelf
from analyzer.sources.samples import DUMP_READERS
from analyzer.sources.swanlab_file import SwanLabFile, SwanLabFolder
from analyzer.sources.tensorboard import TensorBoard
from analyzer.sources.text_readers import TEXT_READERS
from analyzer.sources.trackio_database import TrackioDatabase
from analyzer.sources.trainer_state import TrainerState
from analyzer.sources.wandb_file import WandbFile

# Who is asked first stands first: formats known by their first bytes, then text.
SHELVES: tuple[Shelf, ...] = (TrackioDatabase(), MlflowDatabase())
READERS: tuple[Reader, ...] = (
    WandbFile(),
    SwanLabFile(),
    *SHELVES,
    TensorBoard(),
    ParquetTable(),
    ArealConfig(),
    *DUMP_READERS,
    TrainerState(),
    JsonLines(),
    CsvTable(),
    *TEXT_READERS,
)
FOLDER_READERS: tuple[FolderReader, ...] = (MlflowFolder(), SwanLabFolder(), *DUMP_READERS)
FORMATS: tuple[Format, ...] = tuple(dict.fromkeys((*READERS, *FOLDER_READERS)))


def reader_of(path: Path) -> Reader | None:
    """The reader that takes this file, by its content; None when none does.

    Raises RunError when the file cannot be read.
    """
    head = read_head(path)
    return next((reader for reader in READERS if head and reader.sniff(path, head)), None)


def folder_reader_of(folder: Path, names: frozenset[str]) -> FolderReader | None:
    """The reader that takes this folder as a whole, by the names in it."""
    return next((r for r in FOLDER_READERS if r.sniff_folder(folder, names)), None)


def reader_for(name: str, run: str = "") -> Format:
    """The reader of a format that a run's file list names; of one run, where a file holds many."""
    if run:
        return next(shelf for shelf in SHELVES if shelf.format == name).of(run)
    return next(reader for reader in FORMATS if reader.format == name)


def shelf_for(name: str) -> Shelf | None:
    """The reader of this format if its files hold several runs."""
    return next((shelf for shelf in SHELVES if shelf.format == name), None)


def known_formats() -> str:
    """The names of all formats, for messages."""
    names = ", ".join(reader.format for reader in FORMATS)
    return f"{names}; `analyzer doctor` says what they are"
