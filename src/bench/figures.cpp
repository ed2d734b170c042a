#include "bench/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace ztvm::bench {

std::uint32_t needed_context(const BenchOptions& options) {
  std::uint32_t most = options.prompt_tokens + 1;
  for (const std::uint32_t depth : options.depths)
    most = std::max(most, std::max(depth, 1u) + options.gen_tokens + 1);
  return most;
}

void append(BenchFigures& all, const BenchFigures& more) {
  all.stream_gb_per_s = std::max(all.stream_gb_per_s, more.stream_gb_per_s);
  append(all.prefill.tokens_per_s, more.prefill.tokens_per_s);
  append(all.prefill.ttft_ms, more.prefill.ttft_ms);
  for (std::size_t i = 0; i < all.decode.size(); ++i) {
    append(all.decode[i].tokens_per_s, more.decode[i].tokens_per_s);
    append(all.decode[i].ttft_ms, more.decode[i].ttft_ms);
    append(all.decode[i].total_tokens_per_s, more.decode[i].total_tokens_per_s);
  }
}

Result<void> check_roofline(const BenchFigures& figures) {
  for (const DecodeFigure& decode : figures.decode) {
    const double gb_per_s = decode.gb_per_s();
    // Models that fit a cache may exceed the memory's rate; the stream is of a buffer that does not.
    constexpr std::uint64_t k_cache_bytes = 256u << 20;
    if (gb_per_s <= figures.stream_gb_per_s || decode.bytes_per_token < k_cache_bytes) continue;
    return fail(
        ErrorCode::device,
        fmt::format(
            "Decode at depth {} would read {:.0f} GB/s, above the {:.0f} GB/s of a streaming read, so the "
            "measurement is wrong.",
            decode.depth, gb_per_s, figures.stream_gb_per_s));
  }
  return {};
}

Json figures_json(const BenchFigures& figures) {
  Json json{{"adapter", figures.adapter},
            {"driver", figures.driver},
            {"kernels", figures.kernels},
            {"forms", figures.forms},
            {"stream_gb_per_s", figures.stream_gb_per_s},
            {"prefill",
             {{"n_tokens", figures.prefill.n_tokens},
              {"tokens_per_s", samples_json(figures.prefill.tokens_per_s)},
              {"ttft_ms", samples_json(figures.prefill.ttft_ms)}}},
            {"decode", Json::array()}};
  for (const DecodeFigure& decode : figures.decode) {
    json["decode"].push_back({{"depth", decode.depth},
                              {"tokens_per_s", samples_json(decode.tokens_per_s)},
                              {"total_tokens_per_s", samples_json(decode.total_tokens_per_s)},
                              {"ttft_ms", samples_json(decode.ttft_ms)},
                              {"bytes_per_token", decode.bytes_per_token},
                              {"gb_per_s", decode.gb_per_s()},
                              {"share_of_stream", decode.gb_per_s() / figures.stream_gb_per_s},
                              {"dispatches_per_token", decode.host_per_token.n_dispatches},
                              {"submits_per_token", decode.host_per_token.n_submits},
                              {"host_ms_per_token", decode.host_per_token.ms},
                              {"n_created", decode.n_created}});
  }
  return json;
}

Json profile_json(std::span<const engine::KernelTime> times) {
  Json json = Json::array();
  for (const engine::KernelTime& time : times)
    json.push_back({{"name", time.name}, {"n_ops", time.n_ops}, {"ms", time.ms}, {"n_bytes", time.n_bytes}});
  return json;
}

}  // namespace ztvm::bench
