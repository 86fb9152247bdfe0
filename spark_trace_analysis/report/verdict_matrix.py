"""Verdicts at a glance: for each environment a table of properties by profiles, each cell a link to its row in full."""

from collections.abc import Sequence
from dataclasses import dataclass

from spark_trace_analysis.report.data import VerdictRow, environment_name


@dataclass(frozen=True)
class Cell:
    """One verdict and the number of its row in the full table."""

    number: int
    row: VerdictRow


@dataclass(frozen=True)
class MatrixRow:
    """One property, or clause of it, in every profile; None where it was not searched for."""

    property_id: str
    clause: str
    sentence: str
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True)
class Matrix:
    """All verdicts of one environment and instance."""

    environment: str
    instance: str
    profiles: tuple[str, ...]
    rows: tuple[MatrixRow, ...]


def matrices(verdicts: Sequence[VerdictRow]) -> list[Matrix]:
    """Arrange verdicts; environments, properties and profiles keep the order in which they first appear."""
    cells = {
        (environment_name(row.environment), row.instance, row.property_id, row.clause, row.profile): Cell(number, row)
        for number, row in enumerate(verdicts)
    }
    made = []
    for environment, instance in dict.fromkeys(key[:2] for key in cells):
        here = [key for key in cells if key[:2] == (environment, instance)]
        profiles = tuple(dict.fromkeys(key[4] for key in here))
        rows = []
        for property_id, clause in dict.fromkeys(key[2:4] for key in here):
            found = tuple(cells.get((environment, instance, property_id, clause, profile)) for profile in profiles)
            sentence = next(cell.row.sentence for cell in found if cell)
            rows.append(MatrixRow(property_id, clause, sentence, found))
        made.append(Matrix(environment, instance, profiles, tuple(rows)))
    return made
