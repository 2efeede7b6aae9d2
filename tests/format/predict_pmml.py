#!/usr/bin/env python3
"""Predicts by a model in PMML 4.4, as the standard has it.

  predict_pmml.py MODEL TABLE            raw scores, then responses of every row, as hexadecimal floats, a line a row
  predict_pmml.py MODEL TABLE pypmml     the same by pypmml (pmml4s)
  predict_pmml.py MODEL TABLE jpmml      the same by jpmml_evaluator

TABLE is as read_json.py takes it. The first form needs the standard library only: mining models (chains, sums, means),
trees with missingValueStrategy "defaultChild", regression models, outputs and their functions.
"""
import math
import sys
import xml.etree.ElementTree as xml

NS = "{http://www.dmg.org/PMML-4_4}"
PREDICATES = {NS + t for t in ("True", "False", "SimplePredicate", "SimpleSetPredicate", "CompoundPredicate")}


def read_table(path):
    lines = open(path, encoding="utf-8", newline="\n").read().split("\n")
    names = lines[0].split("\t")
    rows = []
    for line in lines[1:-1]:
        row = {}
        for name, cell in zip(names, line.split("\t")):
            if cell.startswith("t:"):
                row[name] = cell[2:]
            elif cell and not math.isnan(float.fromhex(cell[2:])):
                row[name] = float.fromhex(cell[2:])
        rows.append(row)
    return rows


def number(text):
    return {"INF": math.inf, "-INF": -math.inf}.get(text) if text in ("INF", "-INF") else float(text)


def array(element):
    """The texts of an Array: blanks between them, quotes around them, \\" within."""
    text, out, at = element.text or "", [], 0
    while True:
        while at < len(text) and text[at].isspace():
            at += 1
        if at == len(text):
            break
        assert text[at] == '"'
        at, value = at + 1, ""
        while text[at] != '"':
            at += text[at:at + 2] == '\\"'
            value += text[at]
            at += 1
        out.append(value)
        at += 1
    assert len(out) == int(element.get("n"))
    return frozenset(out)


class Model:
    def __init__(self, path):
        root = xml.parse(path).getroot()
        assert root.get("version") == "4.4"
        self.fields = {}
        for field in root.find(NS + "DataDictionary"):
            values = field.findall(NS + "Value")
            parse = number if field.get("dataType") == "double" else str
            self.fields[field.get("name")] = (
                [parse(v.get("value")) for v in values if v.get("property", "valid") == "valid"],
                [parse(v.get("value")) for v in values if v.get("property") == "missing"])
        self.main = root.find(NS + "MiningModel")
        self.arrays = {a: array(a) for a in root.iter(NS + "Array")}

    def predict(self, row):
        outputs = {}
        self.evaluate(self.main, dict(row), outputs)
        return outputs

    def treated(self, model, values):
        """The values of a model's fields; None is missing."""
        out = {}
        for field in model.find(NS + "MiningSchema"):
            name = field.get("name")
            if field.get("usageType") == "target":
                continue
            value = values.get(name)
            valid, missing = self.fields.get(name, ([], []))
            if value in missing:
                value = None
            elif value is not None and valid and value not in valid:
                how = field.get("invalidValueTreatment", "returnInvalid")
                assert how in ("asMissing", "asIs")
                value = None if how == "asMissing" else value
            out[name] = value
        return out

    def evaluate(self, model, values, outputs):
        values = self.treated(model, values)
        kind = model.tag[len(NS):]
        if kind == "TreeModel":
            result = self.tree(model, values)
        elif kind == "RegressionModel":
            result = self.regression(model, values)
        else:
            result = self.mining(model, values, outputs)
        targets = model.find(NS + "Targets")
        if targets is not None:
            result = result * number(targets[0].get("rescaleFactor", "1"))
            result = result + number(targets[0].get("rescaleConstant", "0"))
        out = model.find(NS + "Output")
        for field in out if out is not None else ():
            feature = field.get("feature")
            if feature == "transformedValue":
                value = self.expression(field[0], values)
            elif feature == "probability":
                value = result[field.get("value")]
            else:
                value = max(result, key=result.get) if isinstance(result, dict) else result
            outputs[field.get("name")] = value
        return result

    def mining(self, model, values, outputs):
        segmentation = model.find(NS + "Segmentation")
        method, results = segmentation.get("multipleModelMethod"), []
        for segment in segmentation:
            assert segment[0].tag == NS + "True"
            results.append(self.evaluate(segment[1], {**values, **outputs}, outputs))
        if method == "modelChain":
            return results[-1]
        total = 0.0
        for result in results:
            total += result
        assert method in ("sum", "average")
        return total if method == "sum" else total / len(results)

    def tree(self, model, values):
        assert model.get("missingValueStrategy") == "defaultChild"
        node = model.find(NS + "Node")
        assert node[0].tag == NS + "True"
        while True:
            children = node.findall(NS + "Node")
            if not children:
                return number(node.get("score"))
            for child in children:
                value = self.predicate(child[0], values)
                if value is None:
                    node = next(c for c in children if c.get("id") == node.get("defaultChild"))
                    break
                if value:
                    node = child
                    break
            else:
                raise ValueError("no child")

    def predicate(self, p, values):
        assert p.tag in PREDICATES
        kind = p.tag[len(NS):]
        if kind in ("True", "False"):
            return kind == "True"
        if kind == "CompoundPredicate":
            parts = [self.predicate(q, values) for q in p]
            decides = p.get("booleanOperator") == "or"
            return decides if decides in parts else None if None in parts else not decides
        value = values[p.get("field")]
        operator = p.get("operator") or p.get("booleanOperator")
        if operator in ("isMissing", "isNotMissing"):
            return (value is None) == (operator == "isMissing")
        if value is None:
            return None
        if kind == "SimpleSetPredicate":
            return (value in self.arrays[p[0]]) == (operator == "isIn")
        if isinstance(value, str):
            return (value == p.get("value")) == (operator == "equal")
        t = number(p.get("value"))
        return {"lessThan": value < t, "lessOrEqual": value <= t, "greaterThan": value > t,
                "greaterOrEqual": value >= t}[operator]

    def regression(self, model, values):
        tables = {}
        for table in model.findall(NS + "RegressionTable"):
            total = number(table.get("intercept"))
            for term in table:
                total += values[term.get("name")] * number(term.get("coefficient"))
            tables[table.get("targetCategory")] = total
        how = model.get("normalizationMethod")
        if model.get("functionName") == "regression":
            x = tables[None]
            return {"none": lambda: x, "exp": lambda: exp(x), "logit": lambda: 1 / (1 + exp(-x))}[how]()
        if how == "softmax":
            parts = {k: exp(x - max(tables.values())) for k, x in tables.items()}
            return {k: x / sum(parts.values()) for k, x in parts.items()}
        assert how == "logit"
        first, last = tables
        p = 1 / (1 + exp(-tables[first]))
        return {first: p, last: 1 - p}

    def expression(self, e, values):
        kind = e.tag[len(NS):]
        if kind == "FieldRef":
            return values[e.get("field")]
        if kind == "Constant":
            return number(e.text)
        x = [self.expression(part, values) for part in e]
        return {"+": lambda: x[0] + x[1], "-": lambda: x[0] - x[1], "*": lambda: x[0] * x[1],
                "/": lambda: x[0] / x[1], "exp": lambda: exp(x[0])}[e.get("function")]()


def exp(x):
    return math.exp(x) if x < 709 else math.inf


def in_order(outputs, what):
    """The numbers of NAME_what, or NAME_what_1, NAME_what_2, ..."""
    found = {}
    for name, value in outputs.items():
        stem, _, last = name.rpartition("_")
        if last == what:
            found[1] = value
        elif stem.rpartition("_")[2] == what and last.isdigit():
            found[int(last)] = value
    return [float(found[k]) for k in sorted(found)]


def main():
    rows = read_table(sys.argv[2])
    if sys.argv[3:] == ["pypmml"]:
        from pypmml import Model as Other
        predict = Other.load(sys.argv[1]).predict
    elif sys.argv[3:] == ["jpmml"]:
        from jpmml_evaluator import make_evaluator
        predict = make_evaluator(sys.argv[1]).verify().evaluate
    else:
        predict = Model(sys.argv[1]).predict
    for row in rows:
        outputs = predict(row)
        print("\t".join(x.hex() for what in ("score", "response") for x in in_order(outputs, what)))


sys.setrecursionlimit(100000)
main()
