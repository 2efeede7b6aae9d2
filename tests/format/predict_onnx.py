#!/usr/bin/env python3
"""Predicts by a model in ONNX with onnxruntime.

  predict_onnx.py MODEL TABLE   raw scores, then responses of every row, as hexadecimal floats, a line a row

TABLE is as read_json.py takes it. One thread and all rows at once: trees are added in their order.
"""
import sys

import numpy
import onnxruntime


def main():
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
    lines = open(sys.argv[2], encoding="utf-8", newline="\n").read().split("\n")
    names = lines[0].split("\t")
    rows = [line.split("\t") for line in lines[1:-1]]
    inputs = {}
    for node in session.get_inputs():
        cells = [row[names.index(node.name)] for row in rows]
        if node.type == "tensor(string)":
            column = numpy.array([cell[2:] for cell in cells], dtype=object)
        else:
            column = numpy.array([float.fromhex(cell[2:]) if cell else float("nan") for cell in cells])
            if node.type == "tensor(float)":
                column = column.astype(numpy.float32)
        inputs[node.name] = column.reshape(-1, 1)
    score, response = session.run(None, inputs)
    for values in numpy.concatenate([score, response], axis=1):
        print("\t".join(float(x).hex() for x in values))


main()
