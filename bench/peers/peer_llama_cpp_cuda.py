#!/usr/bin/env python3
"""llama.cpp's CUDA backend: LLAMA_BENCH_CUDA names its llama-bench, or PATH has one."""
import sys

import llama_bench

sys.exit(llama_bench.main("llama.cpp CUDA", "LLAMA_BENCH_CUDA", "CUDA", {}))
