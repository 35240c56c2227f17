#include "tests/end_to_end/hang_looks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <windows.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>
#include <vector>

#include "tests/end_to_end/hanging_program.h"
#include "tests/end_to_end/recorded_file.h"
#include "tests/support/golden.h"
#include "tests/support/win/child_process.h"
#include "walker/base/byte_sink.h"
#include "walker/export/findings_text.h"
#include "walker/model/series.h"

namespace mixwalk {
namespace {

using Json = nlohmann::json;

constexpr DWORD kLookMs = 120'000;

// A file that is removed when this object is destroyed.
struct TemporaryFile {
  explicit TemporaryFile(const std::string& name) : path(temporary_file(name)) { remove_file(path); }
  ~TemporaryFile() { remove_file(path); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string path;
};

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

// Parses "1.2 s", "850 ms", "2 min 5 s". Returns the length of the text, or 0 if the text does not begin with a time.
std::size_t time_length(std::string_view text) {
  const std::size_t digits = text.find_first_not_of("0123456789.");
  if (digits == 0 || digits == std::string_view::npos) return 0;
  const std::string_view rest = text.substr(digits);
  constexpr std::string_view kMinutes = " min ";
  if (rest.starts_with(kMinutes)) {
    const std::size_t seconds = time_length(rest.substr(kMinutes.size()));
    return seconds == 0 ? 0 : digits + kMinutes.size() + seconds;
  }
  for (const std::string_view unit : {" ms", " s"}) {
    const bool ends = rest.size() <= unit.size() || std::isalpha(static_cast<unsigned char>(rest[unit.size()])) == 0;
    if (rest.starts_with(unit) && ends) return digits + unit.size();
  }
  return 0;
}

// Calls `replace` at the beginning of each word, with the text from there on. `replace` returns how many characters
// must be left out, and appends their replacement to `out`.
template <class Replace>
std::string replaced(std::string_view text, Replace replace) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const bool begins = at == 0 || std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0;
    const std::size_t length = begins ? replace(text.substr(at), out) : 0;
    if (length == 0) out += text[at];
    at += std::max<std::size_t>(length, 1);
  }
  return out;
}

// Returns the value of "0x1f4…" and the number of characters that were read. This number is 0 if the text does not
// begin with such a value.
std::pair<std::uint64_t, std::size_t> hex_number(std::string_view text) {
  if (!text.starts_with("0x")) return {};
  std::uint64_t value = 0;
  const auto end = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16).ptr;
  return {value, static_cast<std::size_t>(end - text.data())};
}

// Writes the name of a thread as "<reserving>" instead of its id, and "<time>" for times.
std::string with_names(std::string_view text, const std::map<std::uint64_t, std::string>& threads) {
  return replaced(text, [&](std::string_view rest, std::string& out) {
    const auto [value, length] = hex_number(rest);
    if (const auto thread = threads.find(value); length != 0 && thread != threads.end()) {
      out += "<" + thread->second + ">";
      return length;
    }
    const std::size_t time = time_length(rest);
    if (time != 0) out += "<time>";
    return time;
  });
}

// Writes "<address 1>" for the first address of the text, and so on.
std::string without_addresses(std::string_view text) {
  std::map<std::uint64_t, std::size_t> known;
  return replaced(text, [&](std::string_view rest, std::string& out) {
    const auto [value, length] = hex_number(rest);
    if (length != 0) {
      out += "<address " + std::to_string(known.try_emplace(value, known.size() + 1).first->second) + ">";
    }
    return length;
  });
}

// The order of threads in a finding follows their ids, which differ from run to run, so the threads are sorted by name.
// The first thread of a finding stays first, unless all threads have the same role, as in a circle and in one call.
std::string in_order_of_names(const std::string& text) {
  std::istringstream in(text);
  std::string out;
  std::vector<std::string> threads;  // each thread with its frames
  bool all_alike = false;
  const auto flush = [&] {
    if (!threads.empty()) std::sort(threads.begin() + (all_alike ? 0 : 1), threads.end());
    for (const std::string& thread : threads) out += thread;
    threads.clear();
  };
  for (std::string line; std::getline(in, line);) {
    line += "\n";
    if (line.starts_with("   <")) {
      threads.push_back(line);
    } else if (line.starts_with("     ") && !threads.empty()) {
      threads.back() += line;
    } else {
      flush();
      out += line;
      if (std::isdigit(static_cast<unsigned char>(line[0])) == 0) continue;
      all_alike = line.find(". Deadlock of ") != std::string::npos ||
                  line.find("have not come back") != std::string::npos;
    }
  }
  flush();
  return out;
}

// Writes "<address 1>" for the first address of the text, and so on, also where such texts stand already.
std::string numbered_anew(std::string_view text) {
  constexpr std::string_view kAddress = "<address ";
  std::map<std::string, std::size_t> known;
  std::string out;
  while (!text.empty()) {
    const std::size_t at = std::min(text.find(kAddress), text.size());
    out += text.substr(0, at);
    text.remove_prefix(at);
    if (text.empty()) break;
    const std::size_t end = text.find('>');
    const std::string address(text.substr(0, end));
    out += std::string(kAddress) + std::to_string(known.try_emplace(address, known.size() + 1).first->second);
    text.remove_prefix(end);
  }
  return out;
}

// The findings of a text without addresses, sorted and without their numbers.
std::vector<std::string> separate_findings(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> findings;
  for (std::string line; std::getline(in, line);) {
    const std::size_t digits = line.find_first_not_of("0123456789");
    const bool begins = digits != 0 && digits != std::string::npos && line.substr(digits).starts_with(". ");
    if (begins) findings.push_back(line.substr(digits + 2));
    if (!findings.empty() && !begins && !line.empty()) findings.back() += "\n" + line;
  }
  for (std::string& finding : findings) finding = numbered_anew(finding);
  std::ranges::sort(findings);
  return findings;
}

// The findings of all these ways, which "+" joins, as if each were alone in the program.
std::vector<std::string> golden_findings(const std::string& ways) {
  std::vector<std::string> findings;
  std::istringstream in(ways);
  for (std::string way; std::getline(in, way, '+');) {
    const std::string golden = file_text(golden_file("hangs-" + way + ".txt"));
    EXPECT_FALSE(golden.empty()) << way;
    std::ranges::copy(separate_findings(golden), std::back_inserter(findings));
  }
  std::ranges::sort(findings);
  return findings;
}

// Returns the headline and the findings, without lines of source and numbers of lambdas. The files and the groups
// behind the findings are left out, because .NET's own threads are part of the groups, and a thread that has just ended
// is a note.
std::string findings_of(const std::string& text, Look look) {
  std::istringstream in(text);
  std::string out;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("process ") || line.starts_with("  dump ")) continue;
    if (look == Look::dump_file && line.find("it is not known whether") != std::string::npos) continue;
    // A thread has just begun.
    if (line.starts_with("note: ") && line.ends_with(" of the last dump had no stack")) continue;
    if (line.starts_with("note: ") && line.ends_with(": not all threads could be read")) continue;
    const std::size_t place = line.rfind("  (");
    if (line.starts_with("     at ") && place != std::string::npos) line.resize(place);
    // Wine 10's COM has another function there than Wine 8's.
    replace_all(line, "combase.dll!ClientIdentity_Release", "rpcrt4.dll!IUnknown_Release_Proxy");
    // The compiler numbers lambdas throughout a class, so the number changes with the source.
    constexpr std::string_view kLambda = "AnonymousMethod";
    if (const std::size_t lambda = line.find(kLambda); lambda != std::string::npos) {
      const std::size_t numbers = lambda + kLambda.size();
      line.erase(numbers, line.find('(', numbers) - numbers);
    }
    const std::size_t digits = line.find_first_not_of("0123456789");
    if (digits != 0 && digits != std::string::npos && line.substr(digits).starts_with(" threads: ")) break;
    out += line + "\n";
  }
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

// Returns what a person reads in the page's findings, piece by piece.
std::vector<std::string> said_by_page(const std::string& page) {
  constexpr std::string_view kBegin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = page.find(kBegin);
  if (begin == std::string::npos) return {"a page without data"};
  const std::size_t end = page.find("</script>", begin);
  const Json data = Json::parse(page.substr(begin + kBegin.size(), end - begin - kBegin.size()));
  const auto label = [&](std::int64_t node, std::int64_t frame) {
    for (; frame != 0; --frame) node -= data.at("nodes").at("up").at(node).get<std::int64_t>();
    const std::size_t number = data.at("nodes").at("frame").at(node);
    return data.at("strings").at(data.at("frames").at("label").at(number).get<std::size_t>()).get<std::string>();
  };
  const Json& findings = data.at("findings");
  std::vector<std::string> said = {findings.at("headline")};
  std::size_t number = 0;
  for (const Json& finding : findings.at("findings")) {
    said.push_back("\n" + std::to_string(++number) + ". " + finding.at("title").get<std::string>() + "\n");
    for (const Json& detail : finding.at("details")) said.push_back("\n   " + detail.get<std::string>() + "\n");
    for (const Json& part : finding.at("threads")) {
      const Json& seen = findings.at("threads").at(part.at("thread").get<std::size_t>()).at("seen");
      for (const Json& sighting : seen) {
        if (sighting.at(0) != part.at("dump")) continue;
        const Json& dump = data.at("dumps").at(part.at("dump").get<std::size_t>());
        const Json& thread = dump.at("threads").at(sighting.at(1).get<std::size_t>());
        std::ostringstream id;
        id << "0x" << std::hex << thread.at("id").get<unsigned>();
        said.push_back(id.str() + " \"" + thread.at("name").get<std::string>() + "\"");
        said.push_back("  " + part.at("words").get<std::string>() + "\n");
        EXPECT_FALSE(part.at("frames").empty());
        for (const Json& frame : part.at("frames")) said.push_back("     at " + label(thread.at("leaf"), frame));
      }
    }
  }
  return said;
}

// Expects that everything that the page says is in the text, finding by finding, and that the text has no further
// finding. Threads that do the same share their lines in the text, so the order within a finding is not checked.
void expect_page_says(const std::string& page, const std::string& text) {
  std::size_t from = 0, findings = 0;
  for (const std::string& piece : said_by_page(page)) {
    const std::size_t at = text.find(piece, from);
    EXPECT_NE(at, std::string::npos) << "the page says: " << piece << "\nand the text:\n" << text;
    const bool title = piece.starts_with("\n") && std::isdigit(static_cast<unsigned char>(piece[1])) != 0;
    if (title && at != std::string::npos) from = at;
    findings += title;
  }
  EXPECT_EQ(text.find("\n" + std::to_string(findings + 1) + ". "), std::string::npos) << text;
}

void run(const std::vector<std::string>& arguments, DWORD milliseconds = kLookMs) {
  std::vector<std::string> line = {mixwalk_exe()};
  line.insert(line.end(), arguments.begin(), arguments.end());
  const ProgramResult result = run_program(line, milliseconds);
  EXPECT_EQ(result.exit_code, 0u) << arguments[1] << ": " << result.err;
}

// Runs the commands that need no file.
void expect_live_commands(const HangCase& hang, const HangingProgram& program) {
  const ProgramResult report =
      run_program({mixwalk_exe(), "report", "-p", program.id(), "--repeat", "2", "--every", "500ms"}, kLookMs);
  EXPECT_EQ(report.exit_code, static_cast<DWORD>(hang.code)) << report.err;
  std::string said = report.out;
  replace_all(said, "\r\n", "\n");
  said = without_addresses(in_order_of_names(with_names(findings_of(said, Look::outside), program.names)));
  EXPECT_THAT(separate_findings(said), testing::ElementsAreArray(golden_findings(hang.way))) << report.out;
  const ProgramResult dump = run_program({mixwalk_exe(), "dump", "-p", program.id(), "--async"}, kLookMs);
  EXPECT_EQ(dump.exit_code, 0u) << dump.err;
  std::string listed = dump.out;
  replace_all(listed, "\r\n", "\n");
  EXPECT_THAT(listed, testing::HasSubstr(hang.listed_tasks));
}

std::string golden_name(const std::string& name, Look look) {
  const std::string of_dump_file = "hangs-" + name + "-dump-file.txt";
  const bool other = look == Look::dump_file && !file_text(golden_file(of_dump_file)).empty();
  return other ? of_dump_file : "hangs-" + name + ".txt";
}

// On a machine with other work, a thread may not run for most of the time, and then no thread is found spinning.
bool was_kept_from_running(const std::vector<std::string>& compare) {
  std::vector<std::string> line = compare;
  line.insert(line.end(), {"-f", "json"});
  const Json findings = Json::parse(run_program(line, kLookMs).out);
  for (const Json& thread : findings.at("threads")) {
    if (thread.at("name") != "crunching" || thread.at("cpu_ns").is_null()) continue;
    return thread.at("cpu_ns").get<std::uint64_t>() * 2 <= thread.at("milliseconds").get<std::uint64_t>() * 1'000'000;
  }
  return false;
}

// Makes a series of dumps of the program in one way.
std::vector<Snapshot> series_of(const HangingProgram& program, const std::string& way, Look look, std::size_t dumps,
                                int every_ms) {
  const TemporaryFile file(way + "-series.mixwalk"), minidump(way + "-series.dmp");
  std::vector<Snapshot> series;
  const auto read = [&] {
    for (Snapshot& one : to_series(read_whole(file.path))) series.push_back(std::move(one));
  };
  if (look != Look::dump_file) {
    run({"dump", look == Look::inside ? "--inside" : "--outside", "-p", program.id(), "--repeat", std::to_string(dumps),
         "--every", std::to_string(every_ms) + "ms", "-o", file.path},
        kLookMs + static_cast<DWORD>(dumps) * static_cast<DWORD>(every_ms));
    read();
    return series;
  }
  while (series.size() < dumps && !testing::Test::HasFailure()) {
    if (!series.empty()) Sleep(static_cast<DWORD>(every_ms));
    run({"dump", "-p", program.id(), "-o", minidump.path});
    run({"dump", minidump.path, "-o", file.path});
    read();
    remove_file(minidump.path);
    remove_file(file.path);
  }
  return series;
}

// Expects the verdict of each two and each three neighbouring dumps, in all ways of looking.
void expect_each_pair(const HangCase& hang, Severity expected, std::size_t pairs, int every_ms) {
  HangingProgram program(hang.way, 7200, hang.program);
  const std::map<Look, std::string> looks = {
      {Look::outside, "outside"}, {Look::inside, "inside"}, {Look::dump_file, ".dmp"}};
  for (const auto& [look, name] : looks) {
    if (!hang.looks.contains(look)) continue;
    const std::vector<Snapshot> series = series_of(program, "hangs", look, pairs + 1, every_ms);
    std::size_t all = 0, right = 0;
    compare_neighbours(series, [&](std::span<const Snapshot> some, const Findings& findings) {
      ++all;
      right += severity(findings) == expected;
      if (severity(findings) == expected) return;
      StringSink text;
      write_findings_text(some, findings, {.all = true}, text);
      ADD_FAILURE() << some.size() << " dumps: " << text.text.substr(0, 20'000);
    });
    EXPECT_EQ(all, 2 * pairs - 1);
    std::printf("%s %s, every %d ms: %zu of %zu pairs and triples are right\n", hang.way.c_str(), name.c_str(),
                every_ms, right, all);
  }
  program.process.write_line("STOP");
  EXPECT_EQ(program.process.wait(kLookMs), 0u);
}

}  // namespace

void expect_hang(const std::string& way, ExitCode code, bool takes_profilers) {
  HangCase hang{.way = way, .code = code};
  if (!takes_profilers) hang.looks.erase(Look::inside);
  expect_hang(hang);
}

void expect_hang(const HangCase& hang) {
  if (const std::size_t pairs = wanted_pairs(1); pairs > 1) {
    const Severity severity = hang.code == ExitCode::deadlock ? Severity::deadlock
                              : hang.code == ExitCode::stuck  ? Severity::stuck
                                                              : Severity::note;
    expect_each_pair(hang, severity, pairs, wanted_every_ms(500));
    return;
  }
  HangingProgram program(hang.way, 300, hang.program);
  const std::string name = hang.way.substr(0, hang.way.find('+'));
  const TemporaryFile outside(name + "-outside.mixwalk"), inside(name + "-inside.mixwalk"),
      dump(name + ".dmp"), html(name + ".html");
  run({"dump", "--outside", "-p", program.id(), "--repeat", "2", "--every", "500ms", "-o", outside.path});
  if (hang.looks.contains(Look::inside)) run({"dump", "--inside", "-p", program.id(), "-o", inside.path});
  if (hang.looks.contains(Look::dump_file)) run({"dump", "-p", program.id(), "-o", dump.path});
  if (!hang.listed_tasks.empty()) expect_live_commands(hang, program);
  program.process.write_line("STOP");
  EXPECT_EQ(program.process.wait(kLookMs), 0u);

  const std::map<Look, std::vector<std::string>> files_of = {{Look::outside, {outside.path}},
                                                             {Look::inside, {outside.path, inside.path}},
                                                             {Look::dump_file, {outside.path, dump.path}}};
  for (const Look look : hang.looks) {
    std::vector<std::string> line = {mixwalk_exe(), "compare"};
    const std::vector<std::string>& files = files_of.at(look);
    line.insert(line.end(), files.begin(), files.end());
    const ProgramResult result = run_program(line, kLookMs);
    EXPECT_EQ(result.exit_code, static_cast<DWORD>(hang.code)) << result.err;
    std::string text = result.out;
    replace_all(text, "\r\n", "\n");
    SCOPED_TRACE(text);
    const bool spins = text.find("runs all the time") != std::string::npos;
    if (hang.way == "spin" && !spins && was_kept_from_running(line)) {
      std::printf("the machine is too busy for a thread to spin\n");
      continue;
    }
    const std::string findings =
        without_addresses(in_order_of_names(with_names(findings_of(text, look), program.names)));
    if (hang.way.find('+') != std::string::npos) {
      EXPECT_THAT(separate_findings(findings), testing::ElementsAreArray(golden_findings(hang.way)));
    } else {
      expect_golden(golden_name(hang.golden.empty() ? hang.way : hang.golden, look), findings);
    }
    if (look != Look::outside) continue;  // the page is made of the same findings
    line.insert(line.end(), {"-o", html.path});
    EXPECT_EQ(run_program(line, kLookMs).exit_code, static_cast<DWORD>(hang.code));
    expect_page_says(file_text(html.path), text);
  }
}

}  // namespace mixwalk
