#!/usr/bin/env python3
"""llama.cpp on the CPU: LLAMA_BENCH_CPU names its llama-bench, or PATH has one."""
import sys

import llama_bench

# Without devices, so that no matrix of the prompt is sent to one.
HIDDEN_DEVICES = {"CUDA_VISIBLE_DEVICES": "-1", "GGML_VK_VISIBLE_DEVICES": ""}

sys.exit(llama_bench.main("llama.cpp CPU", "LLAMA_BENCH_CPU", "", HIDDEN_DEVICES))
