#include "tests/end_to_end/dumped_threads.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/win/child_process.h"

namespace mixwalk {

using Json = nlohmann::json;

Json dump_as_json(DWORD process_id, const std::vector<std::string>& options) {
  std::vector<std::string> line = {mixwalk_exe(), "dump", "-f", "json", "-p", std::to_string(process_id)};
  line.insert(line.end(), options.begin(), options.end());
  const ProgramResult result = run_program(line);
  EXPECT_EQ(result.exit_code, 0u) << result.err;
  return result.exit_code == 0 ? Json::parse(result.out) : Json{{"threads", Json::array()}, {"way", ""}};
}

const Json* dumped_thread(const Json& dump, std::uint32_t os_id) {
  for (const Json& thread : dump.at("threads")) {
    if (thread.at("os_id") == os_id) return &thread;
  }
  return nullptr;
}

const Json* dumped_thread(const Json& dump, const std::string& name) {
  for (const Json& thread : dump.at("threads")) {
    if (thread.at("name") == name) return &thread;
  }
  return nullptr;
}

std::vector<std::string> dumped_frames(const Json& dump, const Json& thread, Rvas rvas) {
  std::vector<std::string> lines;
  for (const Json& frame : thread.at("frames")) {
    std::string line = frame.at("kind");
    if (!frame.contains("module")) {  // a gap
      lines.push_back(line);
      continue;
    }
    if (frame.at("module").is_number()) {
      line += ' ' + dump.at("modules").at(frame.at("module").get<std::size_t>()).at("name").get<std::string>();
      if (rvas == Rvas::shown) line += '!' + frame.at("rva").get<std::string>();
    }
    if (frame.at("name").is_string()) line += ' ' + frame.at("name").get<std::string>();
    lines.push_back(line);
  }
  return lines;
}

const std::vector<std::string>& stuck_threads() {
  static const std::vector<std::string> names = {"deadlock 1", "deadlock 2", "task result", "native wait",
                                                 "sleep",      "accept",     "deep"};
  return names;
}

void expect_whole_threads(const Json& dump, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const Json* thread = dumped_thread(dump, name);
    if (thread == nullptr) {
      ADD_FAILURE() << "no thread " << name;
      continue;
    }
    EXPECT_TRUE(thread->at("whole").get<bool>()) << thread->dump(1);
    EXPECT_TRUE(thread->at("managed").get<bool>()) << name;
    EXPECT_TRUE(std::ranges::any_of(thread->at("frames"), [](const Json& frame) {
      return frame.at("kind") == "managed" && frame.at("name").is_string();
    })) << thread->dump(1);
  }
}

}  // namespace mixwalk
