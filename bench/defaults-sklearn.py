"""Writes the small real sets that ship inside of scikit-learn as CSV: python bench/defaults-sklearn.py FOLDER

Columns x1, x2, ... and target; numbers have all digits.
"""

import os
import sys

from sklearn import datasets

SETS = {"breast_cancer": datasets.load_breast_cancer, "diabetes": datasets.load_diabetes,
        "digits": datasets.load_digits, "iris": datasets.load_iris, "wine": datasets.load_wine}


def main(folder):
    for name, load in SETS.items():
        x, y = load(return_X_y=True)
        with open(os.path.join(folder, name + ".csv"), "w", encoding="ascii") as file:
            file.write(",".join([f"x{j + 1}" for j in range(x.shape[1])] + ["target"]) + "\n")
            for row, label in zip(x.tolist(), y.tolist()):
                file.write(",".join(repr(value) for value in [*row, label]) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
