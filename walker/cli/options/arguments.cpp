#include "walker/cli/options/arguments.h"

#include <algorithm>
#include <charconv>
#include <sstream>

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

// The name of the validator that stores an option's words.
const std::string kWords = "words";

}  // namespace

void set_words(CLI::Option& option, const std::vector<std::string>& words) {
  option.check(CLI::Validator(CLI::detail::join(words, " ")).name(kWords));
}

std::vector<std::string> words_of(CLI::Option& option) {
  try {
    return CLI::detail::split(option.get_validator(kWords)->get_description(), ' ');
  } catch (const CLI::OptionNotFound&) {
    return {};
  }
}

std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
  if (app->get_option_no_throw("program") == nullptr) {
    return CLI::Formatter::make_usage(app, name);
  }
  const std::string argument = app->get_option("program")->get_option_text();  // empty if it is hidden
  const std::string file = argument.empty() ? "" : " | " + argument;
  return "Usage: " + name + " [OPTIONS] (--process-id PID | --name NAME" + file + " | -- PROGRAM ARGS...)\n";
}

// The argument in the same form as in the list of options. (CLI11 writes its own name for it, in brackets.)
std::string HelpFormatter::make_option_usage(const CLI::Option* argument) const { return argument->get_option_text(); }

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  std::string what = command->get_description();
  what.resize(std::min(what.size(), what.find("\n\n")));
  std::replace(what.begin(), what.end(), '\n', ' ');
  std::ostringstream out;
  what.resize(std::min(what.size(), what.find(". ")));
  if (what.ends_with('.')) what.pop_back();
  CLI::detail::format_help(out, command->get_name(), what, column_width_);
  return out.str();
}

void refuse(const std::string& message) { throw CLI::ValidationError(message); }

void refuse_text(const std::string& flags, const std::string& text, const std::string& why) {
  refuse(flags.substr(flags.find("--")) + ": \"" + text + "\" " + why);
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

CLI::Validator duration_validator(bool needs_unit) {
  return CLI::Validator(
      [needs_unit](std::string& text) {
        if (!parse_duration(text)) {
          return "\"" + text + "\" is no duration (2s, 500ms" + (needs_unit ? ")" : ", 00:00:30)");
        }
        if (!needs_unit || has_unit(text)) return std::string();
        return "\"" + text + "\" has no unit: write " + text + "ms, or " + text + "s";
      },
      "DURATION");
}

CLI::Option* add_process(CLI::App& app, ProcessArguments& arguments, const std::string& what) {
  CLI::Option* const id = add_number(app, "-p,--process-id", arguments.id, what)->option_text("PID");
  app.add_option("-n,--name", arguments.name, what + ", by its image's name")->option_text("NAME");
  return id;
}

std::optional<TargetChoice> process_in(const ProcessArguments& arguments) {
  if (arguments.id) return ById{*arguments.id};
  if (!arguments.name) return std::nullopt;
  if (arguments.name->empty()) refuse("--name must not be empty");
  return ByName{*arguments.name};
}

void add_symbol_path(CLI::App& app, std::optional<std::string>& path, const std::string& where) {
  app.add_option("--symbol-path", path, where + "(default: _NT_SYMBOL_PATH). mixwalk does not look on the network")
      ->option_text("PATH");
}

void add_verbose(CLI::App& app, bool& verbose) {
  app.add_flag("-v,--verbose", verbose, "Print on standard error what mixwalk is doing");
}

std::string sentence(const CLI::ParseError& error, const CLI::App& command) {
  const std::string text = error.what();
  const std::string option = text.substr(0, text.find(':'));
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    // CLI11 lists all words that it could not assign.
    const std::vector<std::string> left = command.remaining(true);
    const std::string first = left.empty() ? "" : left.front();
    return first.starts_with('-') ? "there is no option \"" + first + "\""
                                  : "unexpected \"" + first + "\"";
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    return text.find("received") == std::string::npos ? option + " needs a value"
                                                       : option + " may be given only once";
  }
  return text;
}

}  // namespace mixwalk
