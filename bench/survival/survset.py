"""Sets of the Python package SurvSet (pip install SurvSet) as files NAME.csv for sets.R:

    python3 survset.py FOLDER [LEAST [BELOW]]

Sets of LEAST rows or more (500) and fewer than BELOW, with fewer columns than a tenth of their rows and without
covariates that change in time. Columns: time, event, num_* (numbers), fac_* (texts)."""
import sys

from SurvSet.data import SurvLoader

least, below = [int(a) for a in sys.argv[2:]] + [500, 2**31][len(sys.argv) - 2 :]
loader = SurvLoader()
for ds in loader.df_ds["ds"][~loader.df_ds["is_td"]]:
    table = loader.load_dataset(ds_name=ds)["df"].drop(columns="pid")
    if least <= len(table) < below and table.shape[1] < len(table) / 10:
        table.to_csv(f"{sys.argv[1]}/{ds}.csv", index=False)
