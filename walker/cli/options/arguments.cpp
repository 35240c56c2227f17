#include "walker/cli/options/arguments.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>

#include "unmanaged/ascii_lower.h"
#include "walker/base/near_match.h"

namespace mixwalk {
namespace {

// CLI11 reads 010 as octal. So it could choose another process than the one that the user means.
std::uint32_t number_of(const std::string& flags, const std::string& text) {
  std::uint32_t number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc{} || end != last || number == 0) refuse_text(flags, text, "is no number from 1 to 4294967295");
  return number;
}

SymbolLimits symbol_limits_of(const std::string& flags, const std::string& text) {
  const std::vector<std::string> parts = CLI::detail::split(text, ',');
  std::vector<std::chrono::milliseconds> limits;
  for (const std::string& part : parts) {
    const auto limit = parse_duration(part);
    if (!limit || *limit == 0) break;
    limits.emplace_back(*limit);
  }
  if (parts.size() != 3 || limits.size() != 3) refuse_text(flags, text, "is no three durations: write 5s,15s,120s");
  return {.connect = limits[0], .silence = limits[1], .all = limits[2]};
}

const std::map<std::string, SymbolAsking> kAsking = {{"online", SymbolAsking::online},
                                                     {"offline", SymbolAsking::offline}};

// The name of the validator that stores an option's words.
const std::string kWords = "words";

}  // namespace

void set_words(CLI::Option& option, const std::vector<std::string>& words) {
  option.check(CLI::Validator(CLI::detail::join(words, " ")).name(kWords));
}

std::vector<std::string> words_of(const CLI::Option& option) {
  try {
    auto& own = const_cast<CLI::Option&>(option);  // CLI11 has no such function for a const option
    return CLI::detail::split(own.get_validator(kWords)->get_description(), ' ');
  } catch (const CLI::OptionNotFound&) {
    return {};
  }
}

void refuse(const std::string& message) {
  throw CLI::ValidationError(message);
}

std::string long_name(const std::string& flags) {
  const std::string name = flags.substr(flags.find("--"));
  return name.substr(0, name.find(','));
}

void refuse_text(const std::string& flags, const std::string& text, const std::string& why) {
  refuse(long_name(flags) + ": \"" + text + "\" " + why);
}

CLI::Option* add_number(CLI::App& app, const std::string& flags,
                        std::optional<std::uint32_t>& target, const std::string& help) {
  return app.add_option_function<std::string>(
      flags, [&target, flags](const std::string& text) { target = number_of(flags, text); }, help);
}

CLI::Option* add_list(CLI::App& app, const std::string& flags, std::vector<std::string>& target,
                      const std::string& help) {
  // Without this, CLI11 would take every following word for another value.
  return app.add_option(flags, target, help)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

CLI::Option* add_process(CLI::App& app, ProcessArguments& arguments, const std::string& what) {
  const auto store = [&arguments](const std::string& text) {
    arguments.id = parse_id(text);
    if (arguments.id) return;
    const std::string name =
        is_written_as_id(text) || text.starts_with('-') ? "" : "; a process's name goes after --name";
    refuse_text("--process-id", text, "is no id of a process (412 or 0x19c)" + name);
  };
  CLI::Option* const id = app.add_option_function<std::string>("-p,--process-id", store, what)->option_text("PID");
  app.add_option("-n,--name", arguments.name, what + ", by its image's name")->option_text("NAME");
  return id;
}

std::optional<TargetChoice> process_in(const ProcessArguments& arguments) {
  if (arguments.id) return ById{*arguments.id};
  if (!arguments.name) return std::nullopt;
  if (arguments.name->empty()) refuse("--name must not be empty");
  return ByName{*arguments.name};
}

void add_symbol_path(CLI::App& app, SymbolChoice& symbols, const std::string& where) {
  app.add_option("--symbol-path", symbols.path, where + "(default: _NT_SYMBOL_PATH)")->option_text("PATH");
}

void add_symbols(CLI::App& app, SymbolChoice& symbols, const std::string& where) {
  add_symbol_path(app, symbols, where);
  add_choice(app, "--symbols", kAsking, symbols.asking,
             "online: ask the symbol servers of the symbol path, or Microsoft's if it names none; offline: ask no "
             "server (default: ask those that the symbol path names)")
      ->option_text("MODE");
  app.add_option_function<std::string>(
         "--symbol-limits",
         [&symbols](const std::string& text) { symbols.limits = symbol_limits_of("--symbol-limits", text); },
         "How long servers may take: to connect, without sending a byte, and for all files together (default "
         "5s,15s,120s)")
      ->option_text("A,B,ALL");
}

void add_verbose(CLI::App& app, bool& verbose) {
  app.add_flag("-v,--verbose", verbose, "Print on standard error what mixwalk is doing");
}

namespace {

// All long names of the command's options: "--name".
std::vector<std::string> long_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// Options of other tools for the same.
struct OtherOption {
  std::string_view option, ours;
};
constexpr OtherOption kOtherOptions[] = {
    {"--pid", "--process-id"}, {"--process", "--process-id"}, {"--tid", "--thread"},     {"--seconds", "--duration"},
    {"--time", "--duration"},  {"--frequency", "--rate"},     {"--hz", "--rate"},        {"--out", "--output"},
    {"--file", "--output"},    {"--json", "--format json"},   {"--html", "--format html"}, {"--text", "--format text"},
    {"--count", "--repeat"},   {"--type", "--format"},        {"--symbols", "--symbol-path"},
};

// The option that a user presumably meant. Empty if none is known.
std::string meant_option(const std::string& name, const CLI::App& command) {
  const auto has = [&](const std::string& option) {
    return command.get_option_no_throw(option.substr(0, option.find(' '))) != nullptr;
  };
  if (name.size() == 2) {
    const std::string lower = ascii_lower(name);
    if (has(lower)) return lower;
  }
  const auto* const other = std::ranges::find(kOtherOptions, ascii_lower(name), &OtherOption::option);
  if (other != std::end(kOtherOptions) && has(std::string(other->ours))) return std::string(other->ours);
  return near_match(name, long_names(command));
}

std::string no_option(const std::string& word, const CLI::App& command) {
  const std::string name = word.substr(0, word.find('='));
  const std::string what = "there is no option \"" + word + "\"";
  if (const std::string meant = meant_option(name, command); !meant.empty()) {
    return what + ": did you mean " + meant + "?";
  }
  if (command.get_parent() == nullptr) return what;
  for (const CLI::App* other : command.get_parent()->get_subcommands([](const CLI::App*) { return true; })) {
    if (name.starts_with("--") && other->get_option_no_throw(name) != nullptr) {
      return what + ": it is an option of mixwalk " + other->get_name();
    }
  }
  return what;
}

std::string unexpected(const std::string& word, const CLI::App& command) {
  if (const std::string option = meant_by_slash(word, command); !option.empty()) {
    return "unexpected \"" + word + "\": did you mean " + option + "?";
  }
  if (command.get_option_no_throw("--process-id") != nullptr) return misplaced(word, false);
  const std::string what = "unexpected \"" + word + "\": ";
  if (command.get_option_no_throw("--output") == nullptr) return what + command.get_name() + " takes options only";
  return what + command.get_name() + " takes one file, and the file to write goes after -o";
}

}  // namespace

std::string meant_by_slash(const std::string& word, const CLI::App& command) {
  if (word.size() < 2 || word.front() != '/') return {};
  const std::string name = word.substr(1, word.find_first_of(":=") - 1);
  const std::string option = (name.size() == 1 ? "-" : "--") + ascii_lower(name);
  return !name.empty() && command.get_option_no_throw(option) != nullptr ? option : "";
}

std::string misplaced(const std::string& word, bool takes_program) {
  const std::string what = "unexpected \"" + word + "\": ";
  if (parse_id(word)) return what + "did you mean -p " + word + "?";
  return what +
         (takes_program ? "a program goes after --, a process's name after -n" : "a process's name goes after -n");
}

std::string sentence(const CLI::ParseError& error, const CLI::App& command) {
  const std::string text = error.what();
  const std::string option = text.substr(0, text.find(':'));
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    // CLI11 lists all words that it could not assign.
    const std::vector<std::string> left = command.remaining(true);
    const std::string first = left.empty() ? "" : left.front();
    return first.starts_with('-') ? no_option(first, command) : unexpected(first, command);
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    return text.find("received") == std::string::npos ? option + " needs a value"
                                                       : option + " may be given only once";
  }
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    // Only a flag with a value: all other values are converted here. "Could not convert: --all = 5"
    const std::size_t name = text.find("--");
    return text.substr(name == std::string::npos ? 0 : name, text.find(" =") - name) + " takes no value";
  }
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr) {
    constexpr std::string_view kExcludes = " excludes ";
    const std::size_t at = text.find(kExcludes);
    return text.substr(0, at) + " cannot be used with " + text.substr(at + kExcludes.size());
  }
  return text;
}

}  // namespace mixwalk
