#include "walker/report/html_page.h"

#include <gtest/gtest.h>

#include "walker/report/page_parts.h"

namespace mixwalk {
namespace {

std::string page() {
  StringSink out;
  EXPECT_TRUE(write_html_page([](JsonWriter& json) { json.value("data"); }, out));
  return out.text;
}

std::size_t count(std::string_view text, std::string_view what) {
  std::size_t times = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) ++times;
  return times;
}

TEST(HtmlPage, HasOneOfEachPart) {
  const std::string text = page();
  EXPECT_TRUE(text.starts_with("<!doctype html>"));
  EXPECT_EQ(count(text, "<style>"), 1u);
  EXPECT_EQ(count(text, "</style"), 1u);
  EXPECT_EQ(count(text, "</script"), 3u);  // the data, the libraries, the page's own
  EXPECT_EQ(count(text, "id=\"data\">\"data\"\n</script>"), 1u);
  EXPECT_EQ(count(text, "<!--"), 0u);
}

// The policy must come before everything to which it applies, and must not contain a word that allows everything.
TEST(HtmlPage, ItsPolicyComesFirstAndNamesEachScript) {
  const std::string text = page();
  const std::size_t policy = text.find("Content-Security-Policy");
  ASSERT_NE(policy, std::string::npos);
  EXPECT_LT(policy, text.find("<style"));
  EXPECT_LT(policy, text.find("<script"));
  const std::string rules = text.substr(policy, text.find("\">", policy) - policy);
  EXPECT_NE(rules.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(rules.find("unsafe"), std::string::npos);
  EXPECT_EQ(rules.find('*'), std::string::npos);
  EXPECT_EQ(count(rules, "'sha256-"), 4u);
}

TEST(HtmlPage, KeepsTheLicencesOfItsLibraries) {
  const std::string_view libraries = page_parts::libraries();
  for (const std::string_view package : {"d3-array", "d3-selection", "d3-transition", "d3-flame-graph"}) {
    EXPECT_NE(libraries.find("/*! " + std::string(package) + " "), std::string_view::npos) << package;
  }
  EXPECT_GE(count(libraries, "Permission to use, copy, modify"), 10u);  // ISC
  EXPECT_NE(libraries.find("Apache License"), std::string_view::npos);
}

// The fixed part is added to every page, whatever its data is.
TEST(HtmlPage, TheFixedPartIsBelow400Kilobytes) { EXPECT_LT(page().size(), 400'000u); }

// A sink that accepts this many bytes.
class ShortSink final : public ByteSink {
 public:
  explicit ShortSink(std::size_t bytes) : left_(bytes) {}
  bool write(std::string_view bytes) override {
    if (bytes.size() > left_) return false;
    left_ -= bytes.size();
    return true;
  }

 private:
  std::size_t left_;
};

TEST(HtmlPage, SaysWhenTheSinkTakesNoMore) {
  const std::size_t all = page().size();
  for (const std::size_t bytes : {std::size_t{0}, all / 2, all - 1}) {
    ShortSink sink(bytes);
    EXPECT_FALSE(write_html_page([](JsonWriter& json) { json.value("data"); }, sink)) << bytes;
  }
}

}  // namespace
}  // namespace mixwalk
