"""Files of questions about videos: our own shape, and the annotation files of the public sets that ANCHOR draws on.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", section 3.1 (the nine sets). Bytes to
`Item`s; no Django, no files, no network. `registry.read` recognises the shape from what is in the file.
"""
