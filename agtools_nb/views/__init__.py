"""The widgets' Python side: one file a view, named as its folder in ``widgets/``.

A view is handed data and callables; it knows nothing of the Toolkit that made it.
"""
