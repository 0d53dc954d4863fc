"""One training run, from a recipe to a folder with a trained model.

| what | where |
|---|---|
| data, once for all runs; batches | `prepare.py`, `features.py` (of a frozen backbone), `table_encoder.py`; `feed.py` |
| settings, and those for the data at hand | `recipe.py`, `presets.py`, `imbalance.py` |
| epochs; optimiser and learning-rate schedule | `loop.py`; `optimizer.py` |
| what a killed run resumes from | `checkpoint.py` |
| speed: devices, recorded steps, several runs on a GPU | `devices.py`, `graphs.py`, `pack.py` |
| predictions and metrics; temperature and intervals | `evaluate.py`; `calibration.py` |
| the files of a run, of a model | `run.py`, `out_folder.py`, `predictions_file.py`; `model_files.py`, `card.py` |
"""
