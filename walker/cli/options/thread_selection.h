#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mixwalk {

// What names the main thread for --thread. Threads whose names begin with this word are meant as well.
inline constexpr std::string_view kMainThread = "main";

// The threads that --thread names, by id or by the beginning of their names. Pure.
struct ThreadSelection {
  std::vector<std::uint32_t> ids;  // the system's thread ids
  std::vector<std::string> names;  // beginnings of threads' names

  // Whether no option was given, so that every thread is wanted.
  bool empty() const noexcept { return ids.empty() && names.empty(); }
  bool contains(std::uint32_t os_id, std::string_view name) const;
  // Whether the main thread is meant, whatever its name is.
  bool has_main() const noexcept;
};

// The id of a thread or of a process as people copy it: "1364", or "0x554" as mixwalk prints it. Returns nothing if the
// text is not such an id.
std::optional<std::uint32_t> parse_id(std::string_view text);
// Whether the text is written as a number, so that it cannot mean a thread's name: "1364", "0x554".
bool is_written_as_id(std::string_view text);

// The selection's options that matched no thread.
class UnmatchedThreads {
 public:
  explicit UnmatchedThreads(ThreadSelection selection) : left_(std::move(selection)) {}
  // To be called for each thread of the process.
  void met(std::uint32_t os_id, std::string_view name);
  void met_main();  // the main thread is among them
  bool empty() const noexcept { return left_.empty(); }
  // The options in words, to be appended to "no": `thread 0x554, thread whose name begins with "Ada"`.
  std::string text() const;
  // What to do about it, to be appended to a sentence: `; did you mean "reserving"?`.
  std::string advice() const;

 private:
  ThreadSelection left_;
  std::vector<std::string> met_names_;
};

}  // namespace mixwalk
