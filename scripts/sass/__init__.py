"""Machine code of GPUs: what kernels are made of, how often a launch runs each instruction, and what that costs.

nvdisasm's output is read, never printed text of a driver.
"""
