"""For programs and notebooks: policies on data frames, results as tables, progress by a callback.

``import ppdm_flow as pf`` has all of it: ``pf.run("policy.yaml", data=frame)``.
"""
