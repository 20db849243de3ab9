"""The table in the docs comes from the results alone."""

import json

import pytest

from imtorque_reproduce.counting.table import (
    BEGIN,
    CHANGES,
    END,
    METHODS,
    ORACLES,
    changes_table,
    filled,
    main,
    oracle_table,
    table,
    transfer_table,
)

ROWS = [{"method": f"{name}@marrow", "f1": 0.5, "mae": 2.0, "count": 8.0} for name in METHODS]


def test_a_table_has_a_row_for_each_method_and_a_column_for_each_set():
    lines = table([*ROWS, *({**row, "method": f"{row['method'][:-7]}@blood_cells", "f1_iou": 0.25} for row in ROWS)])
    rows = lines.splitlines()
    assert len(rows) == 2 + len(METHODS)
    assert rows[2].endswith("| 0.500 / 0.250, 25 % | 0.500, 25 % |")


def test_the_table_and_the_images_there_are_stand_between_the_markers(tmp_path):
    folder, page = tmp_path / "results", tmp_path / "page.md"
    folder.mkdir()
    (folder / "results.json").write_text(json.dumps({"rows": ROWS}))
    (folder / "learning.png").touch()
    page.write_text(f"before\n{BEGIN}\nstale\n{END}\nafter\n")
    main(folder / "results.json", page)
    text = page.read_text()
    assert "stale" not in text
    assert text.startswith(f"before\n{BEGIN}\n| F1 by centre")
    assert "](results/learning.png)" in text
    assert "robustness.png" not in text
    assert text.endswith(f"{END}\nafter\n")


def test_a_page_without_markers_is_refused():
    with pytest.raises(ValueError, match="must have <!-- results: begin -->"):
        filled("nothing", "table")


def test_tables_of_changed_images_and_of_losses_have_a_column_for_each_set_that_has_them():
    assert changes_table(ROWS) == oracle_table(ROWS) == ""
    plain = [{"method": f"learned:{change}@marrow", "f1": 0.25} for change in CHANGES]
    assert changes_table(plain).splitlines()[-1].endswith("| " + ", ".join(["0.25"] * len(CHANGES)) + " |")
    lost = [{"method": f"oracle:{oracle}@marrow", "f1": 0.5, "f1_iou": 0.25} for oracle in ORACLES]
    lines = oracle_table([*lost, {"method": "oracle:recall@marrow", "recall": 0.75}]).splitlines()
    assert len(lines) == 3 + len(ORACLES)
    assert lines[2].endswith("| 0.500 / 0.250 |")
    assert lines[-1].endswith("| 0.750 |")


def test_the_table_of_transfers_has_what_was_learned_elsewhere_beside_what_was_learned_there():
    assert transfer_table(ROWS) == ""
    first, second = "nuclei-fluorescence", "nuclei-stained"
    row = {"f1": 0.5, "mae": 1.0, "count": 4.0}
    own = [{"method": f"learned:plain@{name}", **row, "f1": 0.75} for name in (first, second)]
    lines = transfer_table([*own, {"method": f"learned:from-{first}@{second}", **row, "warned": 0.9}]).splitlines()
    assert lines[0].endswith("count error | nuclei, stained |")
    assert lines[2:] == ["| nuclei, fluorescence | 0.500, 25 %, 90 % warned |"]
    lines = transfer_table(
        [*own, *({"method": f"learned:from-{a}@{b}", **row} for a, b in ((first, second), (second, first)))]
    )
    assert lines.splitlines()[2] == "| nuclei, fluorescence | 0.750, 25 % | 0.500, 25 % |"
