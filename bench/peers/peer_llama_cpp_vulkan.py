#!/usr/bin/env python3
"""llama.cpp's Vulkan backend: LLAMA_BENCH_VULKAN names its llama-bench, or PATH has one."""
import sys

import llama_bench

sys.exit(llama_bench.main("llama.cpp Vulkan", "LLAMA_BENCH_VULKAN", "Vulkan", {}))
