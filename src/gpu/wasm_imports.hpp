#pragma once
// What web/gpu.ts gives the module. Pointers are addresses in the module's memory, read during the call.
// Offsets and lengths of buffers travel as f64, which is exact up to 2^53 and needs no BigInt in JavaScript.
#include <cstddef>
#include <cstdint>

extern "C" {

[[clang::import_module("ztvm"), clang::import_name("gpu_create_buffer")]] void ztvm_gpu_create_buffer(
    std::uint32_t id, double n_bytes, const char* label, std::size_t n_label);

[[clang::import_module("ztvm"), clang::import_name("gpu_write")]] void ztvm_gpu_write(std::uint32_t buffer,
                                                                                      double offset,
                                                                                      const std::byte* bytes,
                                                                                      std::size_t n_bytes);

// `access` has one byte for each binding: 0 read, 1 read_write.
[[clang::import_module("ztvm"), clang::import_name("gpu_create_pipeline")]] void ztvm_gpu_create_pipeline(
    std::uint32_t id, const char* wgsl, std::size_t n_wgsl, const char* label, std::size_t n_label,
    const std::uint8_t* access, std::size_t n_access);

[[clang::import_module("ztvm"), clang::import_name("gpu_create_bindings")]] void ztvm_gpu_create_bindings(
    std::uint32_t id, std::uint32_t pipeline, const std::uint32_t* buffers, std::size_t n_buffers);

[[clang::import_module("ztvm"), clang::import_name("gpu_destroy")]] void ztvm_gpu_destroy(std::uint32_t id);

// `commands` are six u32 words each, as gpu::Command lays them out.
[[clang::import_module("ztvm"), clang::import_name("gpu_submit")]] void ztvm_gpu_submit(
    const void* commands, std::size_t n_commands);

// Writes the bytes to `target` later, then calls the export ztvm_gpu_read_done(token, ok).
[[clang::import_module("ztvm"), clang::import_name("gpu_read")]] void ztvm_gpu_read(
    std::uint32_t buffer, double offset, std::byte* target, std::size_t n_bytes, std::uint32_t token);

// Runs the commands, writes an f64 for each to `target` later (microseconds from the end of the one before to its own),
// then calls the export ztvm_gpu_read_done(token, ok).
[[clang::import_module("ztvm"), clang::import_name("gpu_time")]] void ztvm_gpu_time(const void* commands,
                                                                                    std::size_t n_commands,
                                                                                    std::byte* target,
                                                                                    std::uint32_t token);

// Milliseconds of a monotonic clock.
[[clang::import_module("ztvm"), clang::import_name("now_ms")]] double ztvm_now_ms();
}
