#include "walker/export/gzip_sink.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <array>

#include "tests/support/full_sink.h"

namespace mixwalk {
namespace {

std::string inflated(std::string_view file) {
  z_stream z = {};
  EXPECT_EQ(inflateInit2(&z, 15 + 16), Z_OK);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(file.data()));
  z.avail_in = static_cast<uInt>(file.size());
  std::string text;
  int result = Z_OK;
  while (result == Z_OK) {
    std::array<char, 4096> some;
    z.next_out = reinterpret_cast<Bytef*>(some.data());
    z.avail_out = some.size();
    result = inflate(&z, Z_NO_FLUSH);
    text.append(some.data(), some.size() - z.avail_out);
  }
  EXPECT_EQ(result, Z_STREAM_END);
  inflateEnd(&z);
  return text;
}

TEST(GzipSink, WhatWentInComesOut) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i * 7919 % 104'729);
  StringSink file;
  GzipSink gzip(file);
  EXPECT_TRUE(gzip.write(text));
  EXPECT_TRUE(gzip.write("!"));
  EXPECT_TRUE(gzip.finish());
  EXPECT_EQ(inflated(file.text), text + "!");
}

TEST(GzipSink, NothingIsAFileToo) {
  StringSink file;
  EXPECT_TRUE(GzipSink(file).finish());
  EXPECT_EQ(inflated(file.text), "");
}

TEST(GzipSink, SaysWhenTheSinkIsFull) {
  FullSink full;
  GzipSink gzip(full);
  gzip.write("x");
  EXPECT_FALSE(gzip.finish());
}

}  // namespace
}  // namespace mixwalk
