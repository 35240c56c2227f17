#include "walker/cli/options/formats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/builders/recordings.h"
#include "tests/builders/snapshot_builder.h"
#include "walker/model/series.h"

namespace mixwalk {
namespace {

TEST(Formats, ByName) {
  ASSERT_NE(format_by_name("mixwalk"), nullptr);
  EXPECT_EQ(format_by_name("mixwalk")->name, "mixwalk");
  EXPECT_EQ(format_by_name("xml"), nullptr);
  EXPECT_EQ(format_by_name(""), nullptr);
}

TEST(Formats, ByTheExtensionInAnyCase) {
  EXPECT_EQ(format_by_path("C:\\a.b\\orders.JSON"), format_by_name("json"));
  EXPECT_EQ(format_by_path("orders.txt"), format_by_name("text"));
  EXPECT_EQ(format_by_path("orders.mixwalk.partial"), nullptr);
  EXPECT_EQ(format_by_path("orders.speedscope.json"), format_by_name("speedscope"));
  EXPECT_EQ(format_by_path("json"), nullptr);
  EXPECT_EQ(format_by_path(""), nullptr);
}

// The formats that --format lists, and the meaning of an extension, must not depend on the order of lines.
TEST(Formats, AreByNameAndEachExtensionIsOneFormats) {
  const auto formats = recording_formats();
  EXPECT_TRUE(std::ranges::is_sorted(formats, {}, &RecordingFormat::name));
  std::set<std::string_view> names, extensions;
  for (const RecordingFormat& format : formats) {
    EXPECT_EQ(&format_of(format.id), &format) << format.name;
    EXPECT_TRUE(names.insert(format.name).second) << format.name;
    // A variant uses the extension of the format that it is a variant of.
    EXPECT_EQ(format.extensions.empty(), format.name == "collapsed-plain") << format.name;
    for (const std::string_view extension : format.extensions) {
      EXPECT_TRUE(extensions.insert(extension).second) << extension;
      EXPECT_EQ(extension.front(), '.');
      EXPECT_EQ(format_by_path("x" + std::string(extension)), &format) << extension;
    }
  }
}

TEST(Formats, EachWritesADumpAndRefusesWhatItCannotShow) {
  const Snapshot snapshot = representative_snapshot();
  const Recording dump = to_recording(snapshot);
  for (const RecordingFormat& format : recording_formats()) {
    SCOPED_TRACE(format.name);
    StringSink sink;
    if (format.refusal != nullptr) {
      EXPECT_EQ(format.refusal(dump), "");
    }
    if (format.write_dumps != nullptr) {
      EXPECT_TRUE(format.write_dumps({&snapshot, 1}, {}, sink));
    } else {
      EXPECT_TRUE(format.write(dump, {}, sink));
    }
    EXPECT_FALSE(sink.text.empty());
  }
  EXPECT_NE(format_by_name("text")->refusal(representative_recording()), "");
  EXPECT_NE(format_by_name("json")->refusal(representative_recording()), "");
}

}  // namespace
}  // namespace mixwalk
