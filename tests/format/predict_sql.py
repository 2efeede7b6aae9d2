#!/usr/bin/env python3
"""Runs the query that is a model's SQL.

  predict_sql.py QUERY TABLE NAME duckdb            raw scores, then responses of every row, as hexadecimal floats
  predict_sql.py QUERY TABLE NAME CONNECTION        the same by PostgreSQL: "host=/tmp dbname=postgres"

TABLE is as read_json.py takes it; it becomes the table NAME_rows, which is temporary. A missing number is NaN in odd
rows and NULL in even ones.
"""
import math
import sys


def read_table(path):
    lines = open(path, encoding="utf-8", newline="\n").read().split("\n")
    names = lines[0].split("\t")
    rows = [line.split("\t") for line in lines[1:-1]]
    types = ["TEXT" if any(row[j].startswith("t:") for row in rows) else "DOUBLE PRECISION" for j in range(len(names))]

    def value(i, j, cell):
        if cell:
            return cell[2:] if types[j] == "TEXT" else float.fromhex(cell[2:])
        return math.nan if i % 2 and types[j] != "TEXT" else None

    return names, types, [[value(i, j, cell) for j, cell in enumerate(row)] + [i] for i, row in enumerate(rows)]


def connect(where):
    if where == "duckdb":
        import duckdb
        return duckdb.connect(), "?"
    import psycopg2
    return psycopg2.connect(where), "%s"


def main():
    query, table, name, where = sys.argv[1:5]
    names, types, rows = read_table(table)
    connection, place = connect(where)
    cursor = connection.cursor()
    quoted = ['"' + n.replace('"', '""') + '"' for n in names + ["row_number"]]
    columns = ", ".join(f"{n} {t}" for n, t in zip(quoted, types + ["INTEGER"]))
    cursor.execute(f"CREATE TEMPORARY TABLE {name}_rows ({columns})")
    one = "(" + ", ".join([place] * len(quoted)) + ")"
    cursor.execute(f"INSERT INTO {name}_rows VALUES " + ", ".join([one] * len(rows)), [x for row in rows for x in row])
    cursor.execute(open(query, encoding="utf-8", newline="\n").read())
    found = [d[0].lower() for d in cursor.description]
    outputs = [i for what in ("_score", "_response") for i, n in enumerate(found) if n.startswith(name.lower() + what)]
    for row in sorted(cursor.fetchall(), key=lambda row: row[found.index("row_number")]):
        print("\t".join(float(row[i]).hex() for i in outputs))


main()
