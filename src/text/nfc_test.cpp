#include "text/nfc.hpp"

#include <gtest/gtest.h>
#include <utf8proc.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>

namespace ztvm::text {
namespace {

std::string plain_nfc(const std::string& text) {
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(
      utf8proc_NFC(reinterpret_cast<const utf8proc_uint8_t*>(text.c_str())), &std::free);
  return reinterpret_cast<const char*>(owner.get());
}

TEST(Nfc, LongRunsOfMarksGiveWhatShortOnesWould) {
  const std::string starters[] = {"a", "\u00e9", "\u1ea5", "\uac00", "\u1100", "\u0f40", "x", "\u4e00", ""};
  // Classes 230, 220, 202, 240, 129 to 132, 1; two that decompose into two marks each, one of class 0 itself.
  const std::string marks[] = {"\u0301", "\u0308", "\u0323", "\u0327", "\u0345", "\u0f71", "\u0f72",
                               "\u0f73", "\u0344", "\u0338", "\u0302", "\u031b", "\u1161"};
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (int run = 0; run < 3; ++run) {
      text += starters[random() % std::size(starters)];
      for (std::size_t n = random() % 80; n > 0; --n) text += marks[random() % std::size(marks)];
    }
    ASSERT_EQ(to_nfc(text), plain_nfc(text)) << i;
  }
}

TEST(Nfc, ALongRunOfMarksTakesLinearTime) {
  for (const std::string pair : {"\u0301\u0323", "\u0f73", "\u0344\u0327"}) {
    std::string text = "a";
    for (int i = 0; i < 60'000; ++i) text += pair;
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_GT(to_nfc(text).size(), 60'000u);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  }
}

}  // namespace
}  // namespace ztvm::text
