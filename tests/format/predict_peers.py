#!/usr/bin/env python3
"""Raw scores of a file by the program whose format it has: needs numpy, and xgboost or lightgbm.

  predict_peers.py xgboost|lightgbm MODEL TABLE TYPES   raw scores, then responses of every row as hexadecimal floats, a
                                                        line a row

TABLE: tab-separated hexadecimal floats or nan, without a line of names. Of xgboost TYPES has a letter for each column:
q numbers, c categories.
"""
import sys

import numpy as np


def main():
    program, model, table, types = sys.argv[1:5]
    x = np.array([[float.fromhex(v) for v in line.split("\t")] for line in open(table).read().split("\n")[:-1]])
    if program == "xgboost":
        import xgboost
        booster = xgboost.Booster(model_file=model)
        data = xgboost.DMatrix(x, feature_types=list(types), feature_names=booster.feature_names,
                               enable_categorical=True)
        raw, response = booster.predict(data, output_margin=True), booster.predict(data)
    else:
        import lightgbm
        booster = lightgbm.Booster(model_file=model)
        raw = booster.predict(x, raw_score=True, num_threads=1)
        response = booster.predict(x, num_threads=1)
    both = np.hstack([np.asarray(v, dtype=float).reshape(len(x), -1) for v in (raw, response)])
    for row in both:
        print("\t".join(float(v).hex() for v in row))


main()
