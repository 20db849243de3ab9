"""Rows in files: parts of a table, and the one table of all parts."""

from __future__ import annotations

import csv
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from imtorque.io.atomic import replacing

TABLE_FORMATS = ("csv", "parquet")
TABLE_SUFFIXES = (".parquet", ".csv")
MIN_ROW_GROUP = 100_000  # bound: rows written at a time; readers of many small groups are slow
Row = dict[str, Any]


def check_table(path: str | os.PathLike[str]) -> Path:
    """Return the path of a table that can be written here; a ValueError says what is missing."""
    table = Path(path)
    if table.suffix not in TABLE_SUFFIXES:
        raise ValueError(f"{table}: a table must end in .parquet or .csv, got {table.suffix or 'neither'}")
    if table.suffix == ".parquet":
        _parquet()
    return table


def write_part(path: Path, first: str, rows: Sequence[Row]) -> None:
    """Write rows to a file, complete or not at all; a column that is not in all of them is empty in the others.

    Parameters
    ----------
    path
        Ends in .parquet or .csv, which says the form.
    first
        The column that is there also where there are no rows; it holds text.
    rows
        Numbers and text by column.
    """
    columns = list(dict.fromkeys([first, *(name for row in rows for name in row)]))
    with replacing(path) as partial:
        if path.suffix == ".csv":
            with open(partial, "w", newline="", encoding="utf-8", errors="backslashreplace") as file:
                writer = csv.DictWriter(file, columns, lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
            return
        arrow, parquet = _parquet()
        arrays = {name: arrow.array([_as_text(row.get(name)) for row in rows]) for name in columns}
        arrays[first] = arrays[first].cast(arrow.string())
        parquet.write_table(arrow.table(arrays), partial)


def _as_text(value: Any) -> Any:
    """Return a value as it can be stored: bytes of file names that are no UTF-8 as escapes."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


@contextmanager
def writing_table(path: Path) -> Iterator[Callable[[Any], None]]:
    """Give what adds pyarrow's tables of numbers, all of the same columns, to one file, complete or not at all.

    Parameters
    ----------
    path
        Ends in .parquet or .csv, which says the form.
    """
    with ExitStack() as stack:
        partial = stack.enter_context(replacing(path))
        writer: Any = None

        def write(rows: Any) -> None:
            nonlocal writer
            if writer is None:
                opened = _writing_csv if path.suffix == ".csv" else _writing_parquet
                writer = stack.enter_context(opened(partial, rows.schema))
            writer.write_table(rows)

        yield write


@contextmanager
def _writing_parquet(path: Path, schema: Any) -> Iterator[Any]:
    with _parquet()[1].ParquetWriter(path, schema) as writer:
        yield writer


@contextmanager
def _writing_csv(path: Path, schema: Any) -> Iterator[Any]:
    from pyarrow import csv as arrow_csv

    options = arrow_csv.WriteOptions(include_header=False, quoting_style="none")
    with open(path, "wb") as file:
        file.write((",".join(schema.names) + "\n").encode())  # pyarrow's own would have quotes
        with arrow_csv.CSVWriter(file, schema, write_options=options) as writer:
            yield writer


def merge_parts(parts: Sequence[Path], table: Path) -> None:
    """Write one table of all parts, in their order, complete or not at all; memory does not grow with their number."""
    if table.suffix == ".parquet":
        _merge_parquet(parts, table)
        return
    with replacing(table) as partial:
        _merge_csv(parts, partial)


def _merge_csv(parts: Sequence[Path], table: Path) -> None:
    heads = [_head(part) for part in parts]
    columns = list(dict.fromkeys(name for head in heads for name in head))
    with open(table, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        for part, head in zip(parts, heads, strict=True):
            with open(part, newline="", encoding="utf-8") as source:
                if head == columns:
                    source.readline()
                    shutil.copyfileobj(source, file)
                else:
                    writer.writerows(csv.DictReader(source))


def _head(part: Path) -> list[str]:
    with open(part, newline="", encoding="utf-8") as file:
        return next(csv.reader(file))


def _merge_parquet(parts: Sequence[Path], table: Path) -> None:
    arrow, parquet = _parquet()
    schemas = dict.fromkeys(parquet.read_schema(part).remove_metadata() for part in parts)
    schema = arrow.unify_schemas(list(schemas), promote_options="permissive")
    with writing_table(table) as write:
        for group in _groups(parts, schema):
            write(group)


def _groups(parts: Sequence[Path], schema: Any) -> Iterable[Any]:
    """Yield the rows of all parts in tables of many rows."""
    arrow, parquet = _parquet()
    held: list[Any] = []
    for part in parts:
        held.append(parquet.read_table(part, partitioning=None))
        if sum(len(rows) for rows in held) >= MIN_ROW_GROUP:
            yield _as(arrow, held, schema)
            held = []
    yield _as(arrow, held, schema)


def _as(arrow: Any, tables: list[Any], schema: Any) -> Any:
    joined = arrow.concat_tables([schema.empty_table(), *tables], promote_options="permissive")
    return joined.select(schema.names).cast(schema)


def _parquet() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ModuleNotFoundError:
        raise ValueError(
            "a .parquet table needs pyarrow, which is not installed: pip install 'imtorque[scale]'"
        ) from None
    return pyarrow, parquet
