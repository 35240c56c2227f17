#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mixwalk {

// The threads that --thread names, by id or by the beginning of their names. Pure.
struct ThreadSelection {
  std::vector<std::uint32_t> ids;  // of the system
  std::vector<std::string> names;  // a thread's name begins so

  // No option was given: every thread is wanted.
  bool empty() const noexcept { return ids.empty() && names.empty(); }
  bool contains(std::uint32_t os_id, std::string_view name) const;
};

// A thread's id as people copy it: "1364", or "0x554" as mixwalk prints it. Returns nothing if no such id.
std::optional<std::uint32_t> parse_thread_id(std::string_view text);
// Whether the text is written as a number, so that no thread's name can be meant: "1364", "0x554".
bool is_written_as_id(std::string_view text);

// Which of the selection's options met no thread.
class UnmatchedThreads {
 public:
  explicit UnmatchedThreads(ThreadSelection selection) : left_(std::move(selection)) {}
  // The process has this thread.
  void met(std::uint32_t os_id, std::string_view name);
  bool empty() const noexcept { return left_.empty(); }
  // In words, behind "no": `thread 0x554, thread whose name begins with "Ada"`.
  std::string text() const;

 private:
  ThreadSelection left_;
};

}  // namespace mixwalk
