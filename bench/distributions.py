"""Normal distributions by CatBoost or NGBoost: see bench/distributions.R. Prints the seconds of training.

distributions.py catboost|ngboost TRAIN STOPS TEST OUT
"""

import os
import sys
import time

os.environ["OMP_NUM_THREADS"] = "2"
import numpy as np

which, train, stops, test, out = sys.argv[1:]


def read(file):
    all_of = np.genfromtxt(file, delimiter=",", skip_header=1)
    return all_of[:, 1:], all_of[:, 0]


x, y = read(train)
vx, vy = read(stops)
tx, _ = read(test)
begin = time.time()
if which == "catboost":
    import catboost

    m = catboost.CatBoostRegressor(loss_function="RMSEWithUncertainty", iterations=2000, thread_count=2, verbose=False,
                                   random_seed=1)
    m.fit(x, y, eval_set=(vx, vy), early_stopping_rounds=100)
    seconds = time.time() - begin
    p = m.predict(tx)
    p = np.column_stack([p[:, 0], np.sqrt(p[:, 1])])
else:
    import ngboost

    fill = np.nanmedian(x, axis=0)
    x, vx, tx = (np.where(np.isnan(a), fill, a) for a in (x, vx, tx))
    m = ngboost.NGBRegressor(n_estimators=2000, learning_rate=0.03, verbose=False, random_state=1)
    m.fit(x, y, X_val=vx, Y_val=vy, early_stopping_rounds=100)
    seconds = time.time() - begin
    d = m.pred_dist(tx)
    p = np.column_stack([d.loc, d.scale])
np.savetxt(out, p, delimiter=",", header="mean,sd", comments="")
print(seconds)
