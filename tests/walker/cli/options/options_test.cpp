#include "walker/cli/options/options.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "walker/cli/options/duration.h"

namespace mixwalk {
namespace {

DumpCommand dump(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "dump");
  const ParseResult result = parse_command_line(arguments);
  EXPECT_TRUE(result.command) << result.to_stderr;
  return result.command ? std::get<DumpCommand>(*result.command) : DumpCommand{};
}

void expect_usage(const std::vector<std::string>& arguments, const std::string& says) {
  const ParseResult result = parse_command_line(arguments);
  EXPECT_FALSE(result.command);
  EXPECT_EQ(result.exit_code, ExitCode::usage);
  EXPECT_EQ(std::count(result.to_stderr.begin(), result.to_stderr.end(), '\n'), 1)
      << result.to_stderr;
  EXPECT_TRUE(result.to_stderr.starts_with("mixwalk: ")) << result.to_stderr;
  EXPECT_NE(result.to_stderr.find(says), std::string::npos) << result.to_stderr;
  EXPECT_LT(result.to_stderr.size(), 600u);
}

TEST(Options, AnEmptyValueBehindAnEqualsSignIsNotTheNextWord) {
  expect_usage({"dump", "-p", "1", "--output=", "--all"}, "--output needs a value");
  expect_usage({"compare", "a.mixwalk", "--symbol-path=", "b.mixwalk"}, "--symbol-path needs a value");
  EXPECT_EQ(dump({"-p", "1", "--symbol-path", "", "--all"}).visit.symbols.path, "");
}

TEST(Options, DumpByIdHasItsDefaults) {
  const DumpCommand command = dump({"-p", "4711"});
  EXPECT_EQ(std::get<ById>(command.visit.target).id, 4711u);
  EXPECT_EQ(command.format->name, "text");
  EXPECT_EQ(command.visit.sampling.engine, Engine::automatic);
  EXPECT_EQ(command.visit.timeout_ms, 30'000u);
  EXPECT_FALSE(command.output);
  EXPECT_FALSE(command.filter.depth);
}

TEST(Options, ASeriesOfDumps) {
  const DumpCommand series = dump({"-p", "1", "--repeat", "3", "--every", "90s", "-o", "a.mixwalk"});
  EXPECT_EQ(series.repeat, 3u);
  EXPECT_EQ(series.every_ms, 90'000u);
  EXPECT_TRUE(series.visit.sampling.at_once);
  EXPECT_EQ(series.visit.sampling.engine, Engine::copy);
  EXPECT_EQ(series.capture, CaptureChoice::automatic);
  EXPECT_EQ(dump({"-p", "1", "--repeat", "2", "-f", "mixwalk"}).every_ms, 10'000u);
  EXPECT_EQ(dump({"-p", "1", "--repeat", "1000", "-o", "a.mixwalk", "--outside"}).capture, CaptureChoice::outside);
  EXPECT_EQ(dump({"-p", "1"}).repeat, 1u);
  const std::vector<std::vector<std::string>> told_otherwise = {
      {"--one-by-one"}, {"--engine", "snapshot"}, {"--canary", "Ada"}};
  for (const std::vector<std::string>& told : told_otherwise) {
    std::vector<std::string> line = {"-p", "1", "--repeat", "2", "-o", "a.mixwalk"};
    line.insert(line.end(), told.begin(), told.end());
    EXPECT_FALSE(dump(line).visit.sampling.at_once) << told[0];
  }
  const auto wrong = [](std::vector<std::string> more, const std::string& says) {
    more.insert(more.begin(), {"dump", "-p", "1", "-o", "a.mixwalk"});
    expect_usage(more, says);
  };
  wrong({"--every", "10s"}, "--every needs --repeat");
  wrong({"--one-by-one"}, "--one-by-one needs --repeat");
  wrong({"--repeat", "2", "--at-once", "--one-by-one"}, "--one-by-one");
  wrong({"--repeat", "0"}, "is no number");
  wrong({"--repeat", "1"}, "--repeat must be a number from 2 to 1000");
  wrong({"--repeat", "1001"}, "--repeat must be a number from 2 to 1000");
  wrong({"--repeat", "2", "--every", "0s"}, "--every must be more than 0");
  wrong({"--repeat", "2", "--every", "soon"}, "no duration");
  expect_usage({"dump", "-p", "1", "--repeat", "2"}, "the format text cannot contain a series");
  expect_usage({"dump", "-p", "1", "--repeat", "2", "-o", "a.json"}, "the format json cannot contain a series");
  expect_usage({"dump", "-p", "1", "--repeat", "2", "-o", "a.dmp"}, "--repeat cannot be used with a dump file");
  expect_usage({"dump", "a.dmp", "--repeat", "2"}, "--repeat cannot be used with a dump file");
}

TEST(Options, ReportOfAProcessDumpsItTwice) {
  const auto report = [](std::vector<std::string> more) {
    more.insert(more.begin(), "report");
    const ParseResult parsed = parse_command_line(more);
    EXPECT_TRUE(parsed.command) << parsed.to_stderr;
    return std::get<ReportProcessCommand>(parsed.command.value_or(ReportProcessCommand{}));
  };
  const ReportProcessCommand usual = report({"-p", "4711"});
  EXPECT_EQ(std::get<ById>(usual.dump.visit.target).id, 4711u);
  EXPECT_EQ(usual.dump.repeat, 2u);
  EXPECT_EQ(usual.dump.every_ms, 10'000u);
  EXPECT_TRUE(usual.dump.visit.sampling.at_once);
  EXPECT_TRUE(usual.dump.locks);
  EXPECT_EQ(usual.report.format, Format::text);
  EXPECT_TRUE(usual.report.single);
  const ReportProcessCommand more =
      report({"-n", "orders", "--repeat", "1", "--outside", "-o", "a.html", "--all", "-v",
              "--symbol-path", "/symbols", "--runtime-data", "contracts"});
  EXPECT_EQ(std::get<ByName>(more.dump.visit.target).name, "orders");
  EXPECT_EQ(more.dump.repeat, 1u);
  EXPECT_FALSE(more.dump.visit.sampling.at_once);
  EXPECT_EQ(more.dump.capture, CaptureChoice::outside);
  EXPECT_EQ(more.dump.visit.symbols.path, "/symbols");
  EXPECT_EQ(more.dump.runtime_data, RuntimeSource::contracts);
  EXPECT_TRUE(more.dump.verbose && more.verbose && more.report.all);
  EXPECT_EQ(more.report.format, Format::html);
  EXPECT_EQ(more.report.output, "a.html");
  EXPECT_FALSE(report({"-p", "1", "--one-by-one"}).dump.visit.sampling.at_once);
  expect_usage({"report"}, "report needs a dump, or a process (--process-id, --name)");
  expect_usage({"report", "a.mixwalk", "-p", "1"}, "report takes a dump or a process, not both");
  expect_usage({"report", "-p", "1", "-n", "orders"}, "exactly one of --process-id, --name");
  expect_usage({"report", "a.mixwalk", "--every", "1s"}, "--every cannot be used without --process-id or --name");
  expect_usage({"report", "-p", "1", "--repeat", "0"}, "is no number");
  expect_usage({"report", "-p", "1", "--quiet", "-o", "a.html"}, "--quiet cannot be used with --output");
  expect_usage({"report", "-p", "1", "--outside", "--engine", "copy"}, "--engine cannot be used with --outside");
  expect_usage({"compare", "-p", "1"}, "-p");
}

TEST(Options, AsyncIsOfProcessesAndOfDumpFiles) {
  EXPECT_TRUE(dump({"-p", "1", "--async"}).async);
  EXPECT_FALSE(dump({"-p", "1"}).async);
  const ParseResult file = parse_command_line({"dump", "a.dmp", "--async"});
  ASSERT_TRUE(file.command) << file.to_stderr;
  EXPECT_TRUE(std::get<DumpFileCommand>(*file.command).async);
  expect_usage({"dump", "-p", "1", "--async", "--no-locks"}, "--async cannot be used with --no-locks");
  expect_usage({"dump", "-p", "1", "--async", "-o", "a.dmp"}, "--async cannot be used with a dump file");
}

TEST(Options, FromWhereADumpIsMade) {
  EXPECT_EQ(dump({"-p", "1"}).capture, CaptureChoice::automatic);
  EXPECT_EQ(dump({"-p", "1", "--thread", "7", "-o", "a.json"}).capture, CaptureChoice::automatic);
  EXPECT_EQ(dump({"-n", "orders", "--outside", "--dac", "a.dll"}).capture, CaptureChoice::outside);
  EXPECT_EQ(dump({"-p", "1", "--outside", "--dac", "a.dll"}).dac, "a.dll");
  EXPECT_EQ(dump({"-p", "1", "--inside"}).capture, CaptureChoice::inside);
  EXPECT_EQ(dump({"--", "orders.exe"}).capture, CaptureChoice::inside);
  EXPECT_TRUE(dump({"-p", "1"}).locks);
  EXPECT_FALSE(dump({"-p", "1", "--no-locks"}).locks);
  EXPECT_EQ(dump({"-p", "1", "--no-locks"}).capture, CaptureChoice::automatic);
  EXPECT_FALSE(dump({"-p", "1"}).visit.no_host);
  EXPECT_TRUE(dump({"-p", "1", "--no-host"}).visit.no_host);
  expect_usage({"dump", "a.dmp", "--no-host"}, "--no-host cannot be used with a dump file");
  expect_usage({"dump", "a.dmp", "--no-locks"}, "--no-locks cannot be used with a dump file");
  // Only mixwalk.dll can follow these options, except for the first one, --at-once, which both ways can follow.
  EXPECT_EQ(dump({"-p", "1", "--at-once"}).capture, CaptureChoice::automatic);
  EXPECT_EQ(dump({"-p", "1", "--at-once", "--outside"}).capture, CaptureChoice::outside);
  EXPECT_EQ(dump({"-p", "1", "--at-once", "--outside", "--deadline", "2s"}).visit.sampling.deadline_ms, 2'000u);
  EXPECT_EQ(dump({"-p", "1", "--engine", "copy"}).capture, CaptureChoice::inside);
  EXPECT_EQ(dump({"-p", "1", "--wait", "5s"}).capture, CaptureChoice::inside);
  expect_usage({"dump", "-p", "1", "--outside", "--inside"}, "--inside");
  expect_usage({"dump", "-p", "1", "--outside", "--at-once", "--engine", "copy"},
               "--engine cannot be used with --outside");
  expect_usage({"dump", "-p", "1", "--outside", "--engine", "copy"}, "--engine cannot be used with --outside");
  expect_usage({"dump", "--outside", "--", "orders.exe"}, "--outside needs --process-id or --name");
  expect_usage({"dump", "a.dmp", "--outside"}, "--outside cannot be used with a dump file");
}

TEST(Options, AnUnknownExtensionIsRefused) {
  for (const std::string file : {"a.svg", "a.b/c.xml", "stacks.2026"}) {
    expect_usage({"dump", "-p", "1", "-o", file},
                 "the extension of \"" + file + "\" is none of .trace.json, .collapsed, ");
    expect_usage({"dump", "a.dmp", "-o", file}, "or .dmp: give one of these, or a --format");
    expect_usage({"record", "-p", "1", "-o", file}, ".mixwalk, .otlp, .pb.gz or .speedscope.json: give one of these");
    expect_usage({"compare", "a", "b", "-o", file},
                 "is none of .html, .json or .txt: give one of these, or a --format");
    expect_usage({"report", "a", "-o", file}, "is none of .html, .json or .txt");
    EXPECT_TRUE(parse_command_line({"dump", "-p", "1", "-o", file, "-f", "text"}).command) << file;
    EXPECT_TRUE(parse_command_line({"report", "a", "-o", file, "-f", "json"}).command) << file;
  }
  expect_usage({"report", "a", "-o", "a.speedscope.json"}, "is none of .html, .json or .txt");
  expect_usage({"report", "a", "-o", "a.dmp"}, "mixwalk dump -p PID -o NAME.dmp");
  expect_usage({"record", "-p", "1", "-o", "a.dmp"}, "mixwalk dump -p PID -o NAME.dmp");
  for (const char* file : {"NUL", "/dev/stdout", "a.b/c", ".profile", "-"}) {
    EXPECT_EQ(dump({"-p", "1", "-o", file}).format->name, "text") << file;
  }
}

TEST(Options, AllIsRefusedWhereItChangesNothing) {
  EXPECT_TRUE(dump({"-p", "1", "--all"}).filter.all);
  expect_usage({"dump", "-p", "1", "--all", "-o", "a.json"}, "--all needs the format text or html");
  EXPECT_TRUE(dump({"-p", "1", "--all", "-f", "html"}).filter.all);
  expect_usage({"dump", "-p", "1", "--all", "--managed-only"}, "--all cannot be used with --managed-only");
  expect_usage({"dump", "-p", "1", "--asm", "--managed-only"}, "--asm cannot be used with --managed-only");
  expect_usage({"report", "a", "--all", "-f", "json"}, "--all cannot be used with JSON, which has everything");
  expect_usage({"compare", "a", "b", "--all", "--quiet"}, "--quiet cannot be used with --all");
}

TEST(Options, StandardInputIsReadOnce) {
  EXPECT_TRUE(parse_command_line({"compare", "-", "a.mixwalk"}).command);
  EXPECT_TRUE(parse_command_line({"report", "-"}).command);
  EXPECT_TRUE(parse_command_line({"convert", "-", "-f", "html"}).command);
  expect_usage({"compare", "-", "-"}, "standard input (-) can be read only once");
}

TEST(Options, AListHasTheSameOptionsForJson) {
  for (const std::string command : {"ps", "doctor"}) {
    const auto format_of = [&](std::vector<std::string> line) {
      line.insert(line.begin(), command);
      const ParseResult parsed = parse_command_line(line);
      EXPECT_TRUE(parsed.command) << parsed.to_stderr;
      if (!parsed.command) return Format::html;
      const auto* ps = std::get_if<PsCommand>(&*parsed.command);
      return ps != nullptr ? ps->format : std::get<DoctorCommand>(*parsed.command).format;
    };
    EXPECT_EQ(format_of({}), Format::text);
    EXPECT_EQ(format_of({"--json"}), Format::json);
    EXPECT_EQ(format_of({"-f", "json"}), Format::json);
    EXPECT_EQ(format_of({"--format", "text"}), Format::text);
    expect_usage({command, "--json", "-f", "text"}, "--format cannot be used with --json");
  }
}

TEST(Options, HelpIsGivenForEverySpelling) {
  const std::string help = parse_command_line({"dump", "--help"}).to_stdout;
  ASSERT_NE(help, "");
  for (const std::vector<std::string>& line : std::vector<std::vector<std::string>>{
           {"help", "dump"}, {"dump", "-h"}, {"dump", "/?"}, {"dump", "-?"}, {"dump", "-p", "1", "--help"}}) {
    EXPECT_EQ(parse_command_line(line).to_stdout, help) << line.back();
  }
  EXPECT_EQ(parse_command_line({"help"}).to_stdout, parse_command_line({"--help"}).to_stdout);
  EXPECT_EQ(parse_command_line({"/?"}).to_stdout, parse_command_line({"--help"}).to_stdout);
}

TEST(Options, CallsAreShownInTextOnly) {
  EXPECT_FALSE(dump({"-p", "1"}).calls);
  EXPECT_TRUE(dump({"-p", "1", "--asm"}).calls);
  EXPECT_TRUE(dump({"-p", "1", "--asm", "-o", "a.txt", "-f", "text"}).calls);
  expect_usage({"dump", "-p", "1", "--asm", "-o", "a.json"}, "--asm needs the format text");
}

TEST(Options, EveryOptionOfDump) {
  const DumpCommand command =
      dump({"--name", "orders", "-o", "a.json", "--depth", "7", "--managed-only", "--engine",
            "snapshot", "--color", "never", "--timeout", "500ms", "-v", "--deadline", "20ms", "--probe",
            "always", "--canary", "Idle", "--thread", "010", "--thread", "77"});
  EXPECT_EQ(std::get<ByName>(command.visit.target).name, "orders");
  EXPECT_EQ(command.output, "a.json");
  EXPECT_EQ(command.format->name, "json") << "by the extension";
  EXPECT_EQ(command.filter.depth, 7u);
  EXPECT_TRUE(command.filter.managed_only);
  EXPECT_EQ(command.visit.sampling.engine, Engine::snapshot);
  EXPECT_EQ(command.colour, Colour::never);
  EXPECT_EQ(command.visit.timeout_ms, 500u);
  EXPECT_TRUE(command.verbose);
  EXPECT_EQ(command.visit.sampling.deadline_ms, 20u);
  EXPECT_EQ(command.visit.sampling.probe, ProbePolicy::always);
  EXPECT_EQ(command.visit.sampling.canary, "Idle");
  EXPECT_EQ(command.visit.sampling.canary_id, 0u);
  EXPECT_EQ(command.visit.sampling.threads.ids, (std::vector<std::uint32_t>{10, 77}));
  EXPECT_EQ(dump({"-n", "x", "-o", "a.json", "-f", "text"}).format->name, "text");
}

TEST(Options, ADumpMayBeARecording) {
  EXPECT_EQ(dump({"-p", "1", "-o", "A.Mixwalk"}).format->name, "mixwalk");
  EXPECT_EQ(dump({"-p", "1", "-o", "a.speedscope.json"}).format->name, "speedscope");
  EXPECT_EQ(dump({"-p", "1", "-f", "collapsed-plain"}).format->name, "collapsed-plain");
  EXPECT_EQ(dump({"-p", "1", "-o", "a.log"}).format->name, "text");
  EXPECT_EQ(dump({"-p", "1", "-o", "a"}).format->name, "text");
  EXPECT_EQ(dump({"-p", "1", "-f", "mixwalk"}).format->name, "mixwalk");
  EXPECT_EQ(dump({"-p", "1", "-o", "a.mixwalk", "-f", "text"}).format->name, "text");
  expect_usage({"dump", "-p", "1", "-o", "a.mixwalk", "--depth", "3"}, "has all frames");
  expect_usage({"dump", "-p", "1", "-f", "mixwalk", "--managed-only"}, "has all frames");
  expect_usage({"ps", "-f", "mixwalk"}, "is none of json, text");
}

TEST(Options, ConvertTakesItsFormatFromTheExtensionOrTheOption) {
  const auto convert = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "convert");
    const ParseResult result = parse_command_line(arguments);
    EXPECT_TRUE(result.command) << result.to_stderr;
    return result.command ? std::get<ConvertCommand>(*result.command) : ConvertCommand{};
  };
  const ConvertCommand command = convert({"in.mixwalk", "-o", "Out.JSON"});
  EXPECT_EQ(command.input, "in.mixwalk");
  EXPECT_EQ(command.output, "Out.JSON");
  ASSERT_NE(command.format, nullptr);
  EXPECT_EQ(command.format->name, "json");
  EXPECT_EQ(convert({"-o", "out.json", "-f", "text", "in"}).format->name, "text");
  EXPECT_EQ(convert({"in", "-f", "text"}).output, "-");
  EXPECT_EQ(convert({"in", "-f", "pprof"}).from_ms, std::nullopt);
  EXPECT_EQ(convert({"in", "-f", "pprof", "--from", "1.5s", "--to", "00:01:00"}).from_ms, 1500u);
  EXPECT_EQ(convert({"in", "-f", "pprof", "--to", "00:01:00"}).to_ms, 60'000u);
  EXPECT_EQ(convert({"in", "--output", "-", "--format", "mixwalk"}).output, "-");
}

TEST(Options, SymboliseWritesBesideItsInputUnlessItIsTold) {
  const auto symbolise = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "symbolise");
    const ParseResult result = parse_command_line(arguments);
    EXPECT_TRUE(result.command) << result.to_stderr;
    return result.command ? std::get<SymboliseCommand>(*result.command) : SymboliseCommand{};
  };
  const SymboliseCommand plain = symbolise({"a/orders.2.MixWalk"});
  EXPECT_EQ(plain.input, "a/orders.2.MixWalk");
  EXPECT_EQ(plain.output, "a/orders.2.symbolised.mixwalk");
  EXPECT_FALSE(plain.symbols.path) << "that of _NT_SYMBOL_PATH";
  EXPECT_EQ(symbolise({"orders"}).output, "orders.symbolised.mixwalk");
  const SymboliseCommand told = symbolise({"in.mixwalk", "-o", "in.mixwalk", "--symbol-path", "/sym;srv*/store"});
  EXPECT_EQ(told.output, "in.mixwalk");
  EXPECT_EQ(told.symbols.path, "/sym;srv*/store");
  EXPECT_EQ(told.symbols.asking, SymbolAsking::by_path);
  const SymboliseCommand online =
      symbolise({"in.mixwalk", "--symbols", "online", "--symbol-limits", "500ms,1s,1m30s"});
  EXPECT_EQ(online.symbols.asking, SymbolAsking::online);
  using std::chrono::milliseconds;
  EXPECT_EQ(online.symbols.limits, (SymbolLimits{milliseconds(500), milliseconds(1000), milliseconds(90'000)}));
  EXPECT_EQ(symbolise({"in.mixwalk", "--symbols", "offline"}).symbols.asking, SymbolAsking::offline);
  expect_usage({"symbolise", "in.mixwalk", "--symbols", "maybe"}, "--symbols: \"maybe\" is none of offline, online");
  for (const std::string limits : {"", "5s", "5s,15s", "5s,15s,120", "5s,0s,120s", "5s,15s,120s,1s", "5s,,120s"}) {
    expect_usage({"symbolise", "in.mixwalk", "--symbol-limits", limits},
                 "--symbol-limits: \"" + limits + "\" is no three durations: write 5s,15s,120s");
  }
  expect_usage({"symbolise"}, "symbolise needs the recording");
  expect_usage({"symbolise", "in.mixwalk", "-o", "-"}, "--output needs a file's name");
  expect_usage({"symbolise", "in.mixwalk", "-o", "out.json"}, "symbolise writes a .mixwalk file");
  expect_usage({"symbolise", "-"}, "symbolise needs --output if it reads standard input");
  EXPECT_EQ(symbolise({"-", "-o", "out"}).output, "out");
  expect_usage({"symbolise", "in.mixwalk", "--", "program.exe"}, "symbolise takes no program");
}

TEST(Options, ConvertNeedsAFileAndAFormat) {
  expect_usage({"convert", "in", "-f", "pprof", "--from", "2s", "--to", "2s"},
               "--to must be later than --from");
  expect_usage({"convert", "in", "-f", "pprof", "--to", "0s"}, "--to must be later than --from");
  expect_usage({"convert", "in", "-f", "pprof", "--from", "soon"}, "--from");
  expect_usage({"convert"}, "the file to convert");
  expect_usage({"convert", ""}, "the file to convert");
  expect_usage({"convert", "in"}, "needs --format");
  expect_usage({"convert", "in", "-o", "-"}, "needs --format");
  expect_usage({"convert", "in", "-o", "out.xyz"}, "the extension of \"out.xyz\" is none of .trace.json, ");
  expect_usage({"convert", "in", "-o", "out.dmp"}, "mixwalk dump -p PID -o NAME.dmp");
  expect_usage({"convert", "in", "-o", "", "-f", "text"}, "--output");
  expect_usage({"convert", "in", "-f", "TEXT"}, "\"TEXT\" is none of ");
  expect_usage({"convert", "in", "other", "-f", "text"}, "other");
  expect_usage({"convert", "-f", "text", "--", "in"}, "takes no program");
}

RecordCommand record(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "record");
  const ParseResult result = parse_command_line(arguments);
  EXPECT_EQ(result.to_stderr, "");
  return std::get<RecordCommand>(result.command.value());
}

TEST(Options, RecordHasItsDefaults) {
  const RecordCommand command = record({"-p", "7"});
  EXPECT_EQ(std::get<ById>(command.visit.target).id, 7u);
  EXPECT_EQ(command.period_ns, 10'000'000u);
  EXPECT_EQ(command.duration_ms, 0u);
  EXPECT_EQ(command.event, SampleEvent::wall);
  EXPECT_FALSE(command.output) << "default_output() makes the name";
  EXPECT_EQ(command.format->name, "mixwalk");
  EXPECT_EQ(command.visit.sampling.probe, ProbePolicy::risk);
}

TEST(Options, EveryOptionOfRecord) {
  const RecordCommand command =
      record({"-n", "orders", "-d", "00:00:30", "-r", "250", "--mode", "cpu", "--threads",
              "Orders", "--threads", "4711", "--engine", "copy", "-o", "x.mixwalk",
              "-v", "--deadline", "9ms", "--canary", "Idle"});
  EXPECT_EQ(command.duration_ms, 30'000u);
  EXPECT_EQ(command.period_ns, 4'000'000u);
  EXPECT_EQ(command.event, SampleEvent::cpu);
  EXPECT_EQ(command.visit.sampling.threads.names, std::vector<std::string>{"Orders"});
  EXPECT_EQ(command.visit.sampling.threads.ids, std::vector<std::uint32_t>{4711});
  EXPECT_EQ(command.visit.sampling.engine, Engine::copy);
  EXPECT_EQ(command.visit.sampling.deadline_ms, 9u);
  EXPECT_TRUE(command.verbose);
  EXPECT_EQ(record({"-p", "1", "-i", "20ms"}).period_ns, 20'000'000u);
  EXPECT_EQ(command.budget, 5'00u);
  EXPECT_EQ(record({"-p", "1", "--budget", "3%"}).budget, 3'00u);
  EXPECT_EQ(record({"-p", "1", "--budget", "0.5%"}).budget, 50u);
  EXPECT_EQ(record({"-p", "1", "--budget", "0.25"}).budget, 25u);
  EXPECT_EQ(record({"-p", "1", "--budget", "0"}).budget, 0u);
  EXPECT_EQ(record({"-p", "1", "--budget", "100%"}).budget, 100'00u);
  EXPECT_EQ(std::get<ByStart>(record({"--", "a.exe", "b"}).visit.target).after_ms, 0u);
}

TEST(Options, RecordOnWhatHappens) {
  RecordCommand command = record({"-p", "7", "--on", "exception"});
  EXPECT_EQ(command.event, SampleEvent::exception);
  EXPECT_EQ(command.type, "");
  EXPECT_EQ(command.every, 1u);
  command = record({"-p", "7", "--on", "exception=System.IO.IOException"});
  EXPECT_EQ(command.type, "System.IO.IOException");
  command = record({"--on", "allocation", "--", "orders.exe"});
  EXPECT_EQ(command.event, SampleEvent::allocation);
  EXPECT_EQ(command.every, 1000u);
  EXPECT_TRUE(std::get<ByStart>(command.visit.target).allocations);
  command = record({"--on", "allocation=Orders.Order", "--every", "5", "--", "orders.exe"});
  EXPECT_EQ(command.type, "Orders.Order");
  EXPECT_EQ(command.every, 5u);
  EXPECT_FALSE(std::get<ByStart>(record({"--on", "exception", "--", "a.exe"}).visit.target).allocations);

  command = record({"-p", "7", "--on", "class-load"});
  EXPECT_EQ(command.event, SampleEvent::class_load);
  EXPECT_EQ(command.type, "");
  EXPECT_EQ(command.every, 1u);
  EXPECT_EQ(record({"-p", "7", "--on", "class-load=Orders.Order"}).type, "Orders.Order");
  command = record({"--on", "module-load=orders.dll", "--", "orders.exe"});
  EXPECT_EQ(command.event, SampleEvent::module_load);
  EXPECT_EQ(command.type, "orders.dll");
  EXPECT_FALSE(std::get<ByStart>(command.visit.target).allocations);

  expect_usage({"record", "-p", "1", "--on", "fire"},
               "is none of allocation, class-load, exception, module-load");
  expect_usage({"record", "-p", "1", "--on", "class-load="}, "needs a type's name");
  expect_usage({"record", "-p", "1", "--on", "module-load="}, "needs a module's name");
  expect_usage({"record", "-p", "1", "--on", "module-load=C:\\x\\orders.dll"}, "without its folder");
  expect_usage({"record", "-p", "1", "--on", "class-load", "--every", "2"}, "--every needs");
  expect_usage({"record", "-p", "1", "--on", "module-load", "--all"}, "--all needs");
  expect_usage({"record", "-p", "1", "--on", "module-load", "-r", "100"}, "--on cannot be used with");
  expect_usage({"record", "-p", "1", "--on", "exception="}, "needs a type's name");
  expect_usage({"record", "-p", "1", "--on", ""}, "is none of");
  expect_usage({"record", "-p", "1", "--on", "allocation"}, "needs -- PROGRAM");
  expect_usage({"record", "-p", "1", "--on", "exception", "--every", "2"}, "--every needs");
  expect_usage({"record", "-p", "1", "--every", "2"}, "--every needs");
  expect_usage({"record", "-p", "1", "--on", "exception", "-r", "100"}, "--on cannot be used with");
  expect_usage({"record", "-p", "1", "--on", "exception", "--mode", "cpu"}, "--on cannot be used with");
  expect_usage({"record", "--on", "allocation", "--every", "0", "--", "a.exe"}, "every");
}

TEST(Options, RecordRefusesWhatMakesNoSense) {
  expect_usage({"record"}, "exactly one");
  expect_usage({"record", "-p", "1", "-r", "0"}, "rate");
  expect_usage({"record", "-p", "1", "-r", "10001"}, "--rate");
  expect_usage({"record", "-p", "1", "-r", "100", "-i", "10ms"}, "not both");
  expect_usage({"record", "-p", "1", "-i", "0ms"}, "--interval");
  for (const char* budget : {"101%", "-1", "", "%", "3.", ".5", "3%%", "1.234", "1000", "x", "3 %"}) {
    expect_usage({"record", "-p", "1", "--budget", budget}, "--budget");
  }
  expect_usage({"record", "-p", "1", "--on", "exception", "--budget", "3%"}, "--on cannot be used with --budget");
  expect_usage({"record", "-p", "1", "-d", "0s"}, "--duration");
  expect_usage({"record", "-p", "1", "-o", "x.what"}, "--format");
  expect_usage({"record", "-p", "1", "-f", "what"}, "is none of");
  expect_usage({"record", "-p", "1", "-f", "text"}, "one moment");
  expect_usage({"record", "-p", "1", "--depth", "3"}, "all frames");
  expect_usage({"record", "-p", "1", "--mode", "fast"}, "is none of cpu, wall");
  expect_usage({"record", "-p", "1", "--threads", ""}, "--thread needs a name or an id");
  expect_usage({"record", "-p", "1", "-o", "-", "-f", "collapsed"}, "record writes to a file only");
  expect_usage({"record", "--after", "1s", "--", "x.exe"}, "mixwalk record --help");
}

TEST(Options, AllFramesOfExceptions) {
  EXPECT_FALSE(record({"-p", "1", "--on", "exception"}).filter.all);
  EXPECT_TRUE(record({"-p", "1", "--on", "exception", "--all", "-o", "a.pb.gz"}).filter.all);
  EXPECT_TRUE(record({"-p", "1", "--on", "exception", "--all", "--otlp", "http://a"}).filter.all);
  const auto convert = [](const std::vector<std::string>& arguments) {
    return std::get<ConvertCommand>(parse_command_line(arguments).command.value()).filter.all;
  };
  EXPECT_FALSE(convert({"convert", "in", "-f", "pprof"}));
  EXPECT_TRUE(convert({"convert", "in", "-f", "pprof", "--all"}));
  expect_usage({"record", "-p", "1", "--all"}, "--all needs --on exception, or a page (-o NAME.html)");
  expect_usage({"record", "-p", "1", "--all", "-o", "a.mixwalk"}, "--all needs --on exception");
  expect_usage({"record", "-p", "1", "--all", "--otlp", "http://a"}, "--all needs --on exception");
  EXPECT_TRUE(record({"-p", "1", "--all", "-o", "a.html"}).filter.all);
  expect_usage({"record", "-p", "1", "--on", "exception", "--all"}, "a .mixwalk file, which always has all frames");
  expect_usage({"convert", "in", "-o", "a.mixwalk", "--all"}, "a .mixwalk file, which always has all frames");
  expect_usage({"record", "--on", "allocation", "--all", "--", "x.exe"},
               "--all needs --on exception");
}

TEST(Options, ACollectorBesideAFileOrInsteadOfIt) {
  const RecordCommand alone = record({"-p", "1", "--otlp", "http://[::1]/", "--depth", "3"});
  EXPECT_TRUE(alone.otlp->content.attributes.empty());
  EXPECT_FALSE(alone.otlp->content.command_line) << "it may hold secrets";
  EXPECT_TRUE(alone.otlp->headers.empty());
  EXPECT_EQ(alone.otlp->url.host, "::1");
  EXPECT_EQ(alone.otlp->url.port, 4318);
  EXPECT_EQ(alone.otlp->url.path, "/v1development/profiles");
  EXPECT_FALSE(alone.otlp->spool);
  EXPECT_EQ(alone.format, nullptr) << "no file";
  const RecordCommand both =
      record({"-p", "1", "--otlp", "http://a:1/b", "--spool", "kept", "-o", "a.pb.gz"});
  EXPECT_EQ(text(both.otlp->url), "http://a:1/b");
  EXPECT_EQ(both.otlp->spool, "kept");
  EXPECT_EQ(both.format->name, "pprof");
  EXPECT_FALSE(record({"-p", "1"}).otlp);

  const auto convert = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"convert", "in", "--otlp", "http://localhost"});
    return std::get<ConvertCommand>(parse_command_line(arguments).command.value());
  };
  EXPECT_EQ(convert({}).format, nullptr);
  EXPECT_EQ(convert({}).otlp->url.host, "localhost");
  EXPECT_EQ(convert({"-f", "pprof"}).output, "-");
  EXPECT_EQ(convert({"-o", "a.folded"}).format->name, "collapsed");
}

// If options and variables set the same thing, otel_settings_test.cpp says which one counts.
TEST(Options, ACollectorByOptionsAndByVariables) {
  using Pairs = std::vector<NameValue>;
  const OtelVariables variables{.service_name = "orders",
                                .resource_attributes = "team=a%20b",
                                .endpoint = "http://collector",
                                .headers = "key=1"};
  for (const std::string command : {"record", "convert"}) {
    const auto target = [&](std::vector<std::string> more) {
      more.insert(more.begin(), {command, command == "record" ? "-p1" : "in"});
      const auto parsed = parse_command_line(more, variables);
      EXPECT_EQ(parsed.to_stderr, "");
      const auto* record = std::get_if<RecordCommand>(&parsed.command.value());
      return record != nullptr ? record->otlp
                               : std::get<ConvertCommand>(parsed.command.value()).otlp;
    };
    const auto by_variables = target({"--otlp"}).value();
    EXPECT_EQ(by_variables.url.host, "collector");
    EXPECT_EQ(by_variables.content.attributes, (Pairs{{"team", "a b"}, {"service.name", "orders"}}));
    EXPECT_EQ(by_variables.headers, (Pairs{{"key", "1"}}));
    EXPECT_FALSE(by_variables.content.command_line);
    const auto by_options =
        target({"--otlp", "http://other", "--otlp-service", "x", "--otlp-attribute", "team=c,d",
                "--otlp-attribute", "e=f", "--otlp-header", "key=2", "--otlp-header", "g=h",
                "--otlp-command-line"})
            .value();
    EXPECT_EQ(by_options.url.host, "other");
    EXPECT_EQ(by_options.content.attributes,
              (Pairs{{"team", "c,d"}, {"service.name", "x"}, {"e", "f"}}));
    EXPECT_EQ(by_options.headers, (Pairs{{"key", "2"}, {"g", "h"}}));
    EXPECT_TRUE(by_options.content.command_line);
    // A variable alone does not make mixwalk send anything, and changes nothing else.
    EXPECT_FALSE(target({"-o", "a.mixwalk"}));
  }
  const auto hostile = parse_command_line({"record", "-p1", "--otlp", "http://a"},
                                          {.resource_attributes = "a=\x1b[31m\n,%"});
  EXPECT_EQ(hostile.exit_code, ExitCode::usage);
  EXPECT_EQ(std::count(hostile.to_stderr.begin(), hostile.to_stderr.end(), '\n'), 1);
  EXPECT_EQ(hostile.to_stderr.find('\x1b'), std::string::npos);
}

TEST(Options, ACollectorThatMakesNoSense) {
  for (const std::string command : {"record", "convert"}) {
    const auto with = [&](std::vector<std::string> more) {
      more.insert(more.begin(), {command, command == "record" ? "-p1" : "in"});
      return more;
    };
    expect_usage(with({"--otlp", "https://a"}), "https is not supported");
    expect_usage(with({"--otlp", ""}), "--otlp needs a URL");
    expect_usage(with({"--otlp", "-o", "a.mixwalk"}), "--otlp needs a URL");
    expect_usage(with({"--otlp", "a.mixwalk"}), "must begin with http://");
    expect_usage(with({"--otlp", "http://a:0"}), "--otlp: the port of the URL");
    expect_usage(with({"--otlp", "http://a\r\nX: y\x1b[31m"}), "the host of the URL");
    expect_usage(with({"--otlp", "http://" + std::string(100'000, 'a')}), "too long");
    expect_usage(with({"--otlp", "http://a", "--spool", ""}), "--spool needs");
    expect_usage(with({"--otlp", "http://a", "-o", ""}), "--output needs");
    expect_usage(with({"--spool", "a", "-o", "a.mixwalk"}), "--spool needs --otlp");
    const std::pair<const char*, const char*> alone[] = {{"--otlp-service", "a"},
                                                         {"--otlp-attribute", "a=b"},
                                                         {"--otlp-header", "a=b"}};
    for (const auto& [option, value] : alone) {
      expect_usage(with({option, value}), std::string(option) + " needs --otlp");
    }
    expect_usage(with({"--otlp-command-line"}), "--otlp-command-line needs --otlp");
    expect_usage(with({"--otlp", "http://a", "--otlp-attribute", "a"}), "is not NAME=VALUE");
    expect_usage(with({"--otlp", "http://a", "--otlp-header", "Host=a"}), "is set by mixwalk");
    expect_usage(with({"--otlp", "http://a", "--otlp-service", ""}), "--otlp-service needs a name");
  }
  expect_usage({"dump", "-p", "1", "--otlp", "http://a"}, "--otlp");
}

TEST(Options, WhatFollowsTwoDashesBelongsToTheProgram) {
  const DumpCommand command =
      dump({"--after", "5s", "--", "orders.exe", "dump", "--help", "-p", "--", ""});
  const auto& start = std::get<ByStart>(command.visit.target);
  EXPECT_EQ(start.arguments,
            (std::vector<std::string>{"orders.exe", "dump", "--help", "-p", "--", ""}));
  EXPECT_EQ(start.after_ms, 5000u);
}

TEST(Options, ExactlyOneTarget) {
  expect_usage({"dump"}, "exactly one");
  expect_usage({"dump", "-p", "1", "-n", "x"}, "exactly one");
  expect_usage({"dump", "-p", "1", "--", "x.exe"}, "exactly one");
  expect_usage({"dump", "--"}, "no program after --");
  expect_usage({"dump", "x.exe"}, "a program goes after --, a process's name after -n");
  expect_usage({"dump", "412"}, "unexpected \"412\": did you mean -p 412? (see");
  expect_usage({"record", "0x19c"}, "did you mean -p 0x19c?");
  expect_usage({"record", "orders"}, "a process's name after -n");
  expect_usage({"doctor", "412"}, "did you mean -p 412?");
  expect_usage({"doctor", "orders"}, "a process's name goes after -n");
  expect_usage({"dump", "--after", "1s", "-p", "1"}, "--after");
}

TEST(Options, BadValues) {
  expect_usage({"dump", "-p", "0"}, "process-id");
  expect_usage({"dump", "-p", "-1"}, "mixwalk dump --help");
  expect_usage({"dump", "-p", "99999999999999999999"}, "process-id");
  expect_usage({"dump", "-p", "12x"},
               "\"12x\" is no id of a process (412 or 0x19c); a process's name goes after --name");
  expect_usage({"dump", "-p", "1", "--depth", "0"}, "depth");
  expect_usage({"dump", "-p", "1", "-f", "xml"}, "format");
  expect_usage({"dump", "-p", "1", "--timeout", "soon"}, "no duration");
  expect_usage({"dump", "-n", ""}, "");
  EXPECT_EQ(std::get<ById>(dump({"-p", "0x1a4"}).visit.target).id, 420u) << "as Windows' tools print it";
  expect_usage({"dump", "-p", "0x"}, "process-id");
  expect_usage({"dump", "-p", "1", "-f", "1"}, "\"1\" is none of chrome-trace, ");
  expect_usage({"dump", "-p", "1", "--engine", "fast"}, "is none of auto, copy, snapshot");
  expect_usage({"dump", "-p", "1", "-o", ""}, "--output");
  expect_usage({"dump", "-p", "1", "--timeout", "0s"}, "--timeout");
  expect_usage({"dump", "-p", "1", "--deadline", "0ms"}, "--deadline");
  expect_usage({"dump", "-p", "1", "--deadline", "61s"}, "--deadline");
  expect_usage({"dump", "-p", "1", "--probe", "maybe"}, "is none of always, never, risk");
  expect_usage({"dump", "-p", "1", "--probe", "risk"}, "--probe needs --engine snapshot");
  expect_usage({"record", "-p", "1", "--engine", "copy", "--probe", "never"}, "--engine snapshot");
  EXPECT_EQ(std::get<ById>(dump({"-p", "010"}).visit.target).id, 10u) << "decimal, not octal";
  EXPECT_EQ(dump({"-p", "1", "-o", "A.JSON"}).format->name, "json");
  expect_usage({"dump", "--", ""}, "no name");
  expect_usage({"dump", "--nonsense"}, "mixwalk dump --help");
  expect_usage({"nonsense"}, "there is no command \"nonsense\": ps, dump, record, ");
  expect_usage({"dmup", "-p", "1"}, "there is no command \"dmup\": did you mean dump? (see mixwalk --help)");
  expect_usage({"symbolize"}, "did you mean symbolise?");
  expect_usage({"version"}, "did you mean --version?");
  expect_usage({""}, "there is no command \"\"");
  expect_usage({"", "--version"}, "there is no command \"\"");
  expect_usage({"dump", "/p", "1"}, "unexpected \"/p\": did you mean -p?");
  expect_usage({"convert", "a", "/format:text"}, "unexpected \"/format:text\": did you mean --format?");
  expect_usage({"convert", "a", "-f=text"}, "unexpected \"-f=text\": did you mean -f text?");
  expect_usage({"dump", "-P", "1"}, "there is no option \"-P\": did you mean -p?");
  expect_usage({"dump", "--pid", "1"}, "there is no option \"--pid\": did you mean --process-id?");
  expect_usage({"dump", "-p", "1", "--json"}, "there is no option \"--json\": did you mean --format json?");
  expect_usage({"record", "-p", "1", "--Hz", "1"}, "did you mean --rate?");
  expect_usage({"dump", "-p", "1", "-f", "dmp"}, "a dump file is written with -o NAME.dmp, without --format");
  expect_usage({"-f", "text", "convert", "a"}, "\"-f\" goes after the command: mixwalk convert -f …");
  expect_usage({"-V"}, "there is no option \"-V\": did you mean --version?");
  expect_usage({"-version"}, "there is no option \"-version\": did you mean --version?");
  expect_usage({"4711"}, "there is no command \"4711\": did you mean dump -p 4711?");
  expect_usage({"a.DMP"}, "did you mean dump a.DMP?");
  expect_usage({"a.mixwalk"}, "did you mean report a.mixwalk, or convert a.mixwalk?");
  expect_usage({"a.exe", "--port", "1"}, "did you mean dump -- a.exe?");
  expect_usage({"Diff", "a", "b"}, "did you mean compare?");
  expect_usage({"export", "a"}, "did you mean convert?");
  expect_usage({"completions", "bash", "zsh"}, "unexpected \"zsh\": completions takes one SHELL");
  expect_usage({"ps", "orders"}, "unexpected \"orders\": ps takes options only");
  expect_usage({"convert", "--", "a.mixwalk"}, "convert takes no program: leave out --");
  EXPECT_EQ(parse_command_line({"HELP", "dump"}).to_stdout, parse_command_line({"dump", "--help"}).to_stdout);
  expect_usage({"dump", "-name", "orders"}, "there is no option \"-name\": did you mean --name?");
  expect_usage({"dump", "-p", "1", "-output=x.json"}, "did you mean --output?");
  expect_usage({"nonsense", "--"}, "there is no command \"nonsense\"");
  expect_usage(
      {"--nonsense"},
      "no command: ps, dump, record, convert, symbolise, compare, report, doctor or completions (see mixwalk --help)");
}

TEST(Options, AThreadIsNamedByItsIdInEitherFormOrByItsName) {
  for (const std::string command : {"dump", "record"}) {
    for (const std::string option : {"--thread", "--threads"}) {
      const ParseResult result = parse_command_line({command, "-p", "1", option, "0x554", option,
                                                     "1364", option, "Orders worker"});
      ASSERT_TRUE(result.command) << result.to_stderr;
      const ThreadSelection threads = command == "dump"
          ? std::get<DumpCommand>(*result.command).visit.sampling.threads
          : std::get<RecordCommand>(*result.command).visit.sampling.threads;
      EXPECT_EQ(threads.ids, (std::vector<std::uint32_t>{0x554, 0x554}));
      EXPECT_EQ(threads.names, std::vector<std::string>{"Orders worker"});
    }
    for (const char* canary : {"0x554", "1364"}) {
      const ParseResult result = parse_command_line({command, "-p", "1", "--canary", canary});
      ASSERT_TRUE(result.command) << result.to_stderr;
      const Sampling sampling = command == "dump" ? std::get<DumpCommand>(*result.command).visit.sampling
                                                  : std::get<RecordCommand>(*result.command).visit.sampling;
      EXPECT_EQ(sampling.canary_id, 0x554u);
      EXPECT_EQ(sampling.canary, "");
    }
    expect_usage({command, "-p", "1", "--canary", "0"}, "--canary: \"0\" is not the id of a thread");
    expect_usage({command, "-p", "1", "--canary", ""}, "--canary needs a name or an id");
    expect_usage({command, "-p", "1", "--thread", "0"}, "is not the id of a thread");
    expect_usage({command, "-p", "1", "--thread", "0x100000000"}, "is not the id of a thread");
  }
}

TEST(Options, AtOnce) {
  const Sampling once = dump({"-p", "1", "--at-once"}).visit.sampling;
  EXPECT_TRUE(once.at_once);
  EXPECT_EQ(once.engine, Engine::copy);
  EXPECT_EQ(once.deadline_ms, 500u);
  EXPECT_EQ(dump({"-p", "1", "--at-once", "--deadline", "2s"}).visit.sampling.deadline_ms, 2'000u);
  EXPECT_TRUE(dump({"-p", "1", "--at-once", "--engine", "copy"}).visit.sampling.at_once);
  const Sampling turn = dump({"-p", "1"}).visit.sampling;
  EXPECT_FALSE(turn.at_once);
  EXPECT_EQ(turn.deadline_ms, 50u);
  expect_usage({"dump", "-p", "1", "--at-once", "--engine", "snapshot"}, "--engine snapshot");
  expect_usage({"dump", "-p", "1", "--at-once", "--probe", "risk"}, "--probe");
  expect_usage({"dump", "-p", "1", "--at-once", "--canary", "x"}, "--canary");
  expect_usage({"record", "-p", "1", "--at-once"}, "--at-once");
}

// People mean seconds by some of these numbers, and milliseconds by others.
TEST(Options, EveryTimeNeedsItsUnit) {
  expect_usage({"dump", "-p", "1", "--deadline", "50"}, "--deadline: \"50\" has no unit: write 50s, or 50ms (see");
  expect_usage({"dump", "-p", "1", "--timeout", "5"}, "--timeout: \"5\" has no unit: write 5s, or 5ms");
  expect_usage({"dump", "-p", "1", "--wait", "5"}, "write 5s");
  expect_usage({"dump", "-p", "1", "--repeat", "2", "--every", "5"}, "write 5s");
  expect_usage({"dump", "--after", "5", "--", "a.exe"}, "write 5s");
  expect_usage({"record", "-p", "1", "-i", "20"}, "--interval: \"20\" has no unit: write 20s, or 20ms");
  expect_usage({"record", "-p", "1", "-d", "30"}, "--duration: \"30\" has no unit: write 30s, or 30ms");
  expect_usage({"record", "-p", "1", "-d", "2h 5m"}, "is no duration (500ms, 2s, 1m30s or 00:01:30)");
  expect_usage({"record", "-p", "1", "-d", "25h"}, "\"25h\" is more than a day");
  EXPECT_EQ(record({"-p", "1", "-d", "1m30s"}).duration_ms, 90'000u);
  EXPECT_EQ(record({"-p", "1", "-d", "00:00:00:30"}).duration_ms, 30'000u) << "dotnet-trace's form";
}

TEST(Options, ADumpToStandardOutputMayBeSaid) {
  EXPECT_FALSE(dump({"-p", "1", "-o", "-"}).output);
  EXPECT_EQ(dump({"-p", "1", "-o", "-"}).format->name, "text");
  EXPECT_EQ(dump({"-p", "1", "-o", "-", "-f", "json"}).format->name, "json");
}

TEST(Options, HowLongAnotherVisitorIsWaitedFor) {
  EXPECT_EQ(dump({"-p", "1"}).visit.wait_ms, 0u);
  EXPECT_EQ(dump({"-p", "1", "--wait", "5s"}).visit.wait_ms, 5000u);
  EXPECT_EQ(record({"-n", "x", "--wait", "500ms"}).visit.wait_ms, 500u);
  expect_usage({"dump", "--wait", "5s", "--", "a.exe"}, "--wait needs");
}

TEST(Options, WhatIsWrongIsSaidInWordsForAUser) {
  expect_usage({"record", "-p"}, "--process-id needs a value (see");
  expect_usage({"record", "-p", "1", "-d"}, "--duration needs a value (see");
  expect_usage({"dump", "--process-id="}, "--process-id needs a value (see");
  expect_usage({"record", "-p", "1", "--thread"}, "--thread needs a value (see");
  expect_usage({"dump", "-p", "1", "-p", "2"}, "--process-id may be given only once (see");
  expect_usage({"dump", "-p", "1", "--nonsense", "--more"}, "there is no option \"--nonsense\" (see");
  expect_usage({"dump", "-p", "1", "--thraed", "7"}, "there is no option \"--thraed\": did you mean --thread? (see");
  expect_usage({"record", "-p", "1", "--durtion=3s"}, "did you mean --duration?");
  expect_usage({"record", "-p", "1", "--at-once"}, "there is no option \"--at-once\": it is an option of mixwalk dump");
  expect_usage({"ps", "other"}, "unexpected \"other\": ps takes options only (see");
  expect_usage({"convert", "in", "out.json"}, "convert takes one file, and the file to write goes after -o");
  expect_usage({"dump", "-p", "1", "--inside", "--outside"}, "--outside cannot be used with --inside");
}

// Tests of dump files.

DumpFileCommand dump_file(const std::vector<std::string>& arguments) {
  const ParseResult parsed = parse_command_line(arguments);
  const auto* command = parsed.command ? std::get_if<DumpFileCommand>(&*parsed.command) : nullptr;
  EXPECT_NE(command, nullptr) << parsed.to_stderr;
  return command != nullptr ? *command : DumpFileCommand();
}

TEST(Options, AnArgumentWithAnExtensionIsADumpFile) {
  EXPECT_EQ(dump_file({"dump", "hang.dmp"}).file, "hang.dmp");
  EXPECT_EQ(dump_file({"dump", "C:\\dumps.d\\orders.mdmp"}).file, "C:\\dumps.d\\orders.mdmp");
  EXPECT_EQ(dump_file({"dump", "/var/crash/4711.core"}).file, "/var/crash/4711.core");
  EXPECT_EQ(dump_file({"dump", "hang.dmp"}).format->name, "text");
  // What it is, its bytes say.
  EXPECT_EQ(dump_file({"dump", "orders"}).file, "orders");
  EXPECT_EQ(dump_file({"dump", "-"}).file, "-");
}

TEST(Options, ADumpFileTakesTheOptionsOfOutputThreadsAndSymbols) {
  const DumpFileCommand command =
      dump_file({"dump", "-o", "a.json", "hang.dmp", "--thread", "0x554", "--thread", "Ada",
                 "--symbol-path", "/symbols", "--depth", "3", "-v"});
  EXPECT_EQ(command.format->name, "json");
  EXPECT_EQ(command.threads.ids, std::vector<std::uint32_t>{0x554});
  EXPECT_EQ(command.threads.names, std::vector<std::string>{"Ada"});
  EXPECT_EQ(command.symbols.path, "/symbols");
  EXPECT_EQ(command.filter.depth, 3u);
  EXPECT_TRUE(command.verbose);
  EXPECT_TRUE(dump_file({"dump", "hang.dmp", "--asm"}).filter.all);
}

TEST(Options, WhatIsDoneToAProcessDoesNotGoWithADumpFile) {
  expect_usage({"dump", "a.dmp", "-p", "1"}, "--process-id cannot be used with a dump file");
  expect_usage({"dump", "a.dmp", "-n", "x"}, "--name cannot be used with a dump file");
  expect_usage({"dump", "a.dmp", "--at-once"}, "--at-once cannot be used");
  expect_usage({"dump", "a.dmp", "--engine", "copy"}, "--engine cannot be used");
  expect_usage({"dump", "a.dmp", "--timeout", "3s"}, "--timeout cannot be used");
  expect_usage({"dump", "a.dmp", "--deadline", "3ms"}, "--deadline cannot be used");
  expect_usage({"dump", "a.dmp", "b.dmp"},
               "unexpected \"b.dmp\": dump takes one dump file; mixwalk compare takes several");
  expect_usage({"dump", "a.dmp", "--", "b.exe"}, "goes after --");
  expect_usage({"dump", "orders", "--at-once"}, "(\"orders\"); a program goes after --, a process's name after -n");
  expect_usage({"record", "a.dmp"}, "goes after --");
  expect_usage({"dump", "a.dmp", "--thread", ""}, "--thread needs a name or an id");
  expect_usage({"dump", "a.dmp", "-f", "json", "--asm"}, "--asm needs the format text");
}

TEST(Options, AnOutputNamedDmpIsADumpFileOfTheProcess) {
  const ParseResult parsed = parse_command_line({"dump", "-n", "orders", "-o", "a.DMP", "-v"});
  const auto* command = parsed.command ? std::get_if<MinidumpCommand>(&*parsed.command) : nullptr;
  ASSERT_NE(command, nullptr) << parsed.to_stderr;
  EXPECT_EQ(command->output, "a.DMP");
  EXPECT_EQ(std::get<ByName>(command->target).name, "orders");
  EXPECT_TRUE(command->verbose);
  // A given format is used, whatever the name of the file is.
  const ParseResult stacks = parse_command_line({"dump", "-p", "1", "-o", "a.dmp", "-f", "json"});
  ASSERT_TRUE(stacks.command && std::holds_alternative<DumpCommand>(*stacks.command));
}

TEST(Options, WhatIsSaidOfStacksDoesNotGoWithADumpFileThatIsWritten) {
  const std::vector<std::vector<std::string>> others = {
      {"--at-once"}, {"--engine", "copy"}, {"--probe", "never"}, {"--canary", "x"}, {"--wait", "1s"},
      {"--timeout", "1s"}, {"--deadline", "1ms"}, {"--outside"}, {"--inside"}, {"--dac", "x"}, {"--thread", "x"},
      {"--symbol-path", "x"}, {"--depth", "1"}, {"--managed-only"}, {"--asm"}, {"--all"}, {"--color", "never"},
      {"--no-locks"}};
  for (const auto& other : others) {
    std::vector<std::string> arguments = {"dump", "-p", "1", "-o", "a.dmp"};
    arguments.insert(arguments.end(), other.begin(), other.end());
    expect_usage(arguments, other.front() + " cannot be used with a dump file (-o NAME.dmp)");
  }
  expect_usage({"dump", "-o", "a.dmp", "--", "b.exe"}, "needs --process-id or --name");
  expect_usage({"dump", "-p", "1", "-o", "a.dmp", "--after", "1s"}, "needs --process-id or --name");
  expect_usage({"dump", "-o", "a.dmp"}, "exactly one of --process-id, --name, FILE.dmp and -- PROGRAM");
  expect_usage({"record"}, "exactly one of --process-id, --name and -- PROGRAM");
  expect_usage({"dump", "a.dmp", "-o", "b.dmp"}, "a dump file cannot be made from a dump file");
}

TEST(Options, DoctorOfThisMachineOrOfAProcess) {
  const auto doctor = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "doctor");
    const ParseResult result = parse_command_line(arguments);
    EXPECT_TRUE(result.command) << result.to_stderr;
    return result.command ? std::get<DoctorCommand>(*result.command) : DoctorCommand{};
  };
  EXPECT_FALSE(doctor({}).target);
  EXPECT_TRUE(doctor({}).trial);
  EXPECT_EQ(doctor({}).format, Format::text);
  EXPECT_EQ(doctor({"-f", "json"}).format, Format::json);
  const DoctorCommand whole = doctor({"-p", "4711", "--json", "--no-trial", "--symbol-path", "a"});
  EXPECT_EQ(std::get<ById>(*whole.target).id, 4711u);
  EXPECT_EQ(whole.format, Format::json);
  EXPECT_FALSE(whole.trial);
  EXPECT_EQ(whole.symbols.path, "a");
  EXPECT_EQ(std::get<ByName>(*doctor({"-n", "orders"}).target).name, "orders");
  expect_usage({"doctor", "-n", ""}, "--name must not be empty");
  expect_usage({"doctor", "-p", "1", "-n", "a"}, "");
  expect_usage({"doctor", "--no-trial"}, "--no-trial needs");
  expect_usage({"doctor", "--", "a.exe"}, "doctor takes no program");
}

TEST(Options, MixwalkAloneIsItsHelp) {
  const ParseResult alone = parse_command_line({});
  EXPECT_FALSE(alone.command);
  EXPECT_EQ(alone.exit_code, ExitCode::ok);
  EXPECT_EQ(alone.to_stderr, "");
  EXPECT_EQ(alone.to_stdout, parse_command_line({"--help"}).to_stdout);
  EXPECT_NE(alone.to_stdout.find("convert"), std::string::npos);
}

TEST(Options, RecordOffersOnlyWhatItTakes) {
  const std::string help = parse_command_line({"record", "--help"}).to_stdout;
  const std::string formats = help.substr(help.find("--format FORMAT"), 200);
  EXPECT_NE(formats.find("speedscope"), std::string::npos);
  EXPECT_EQ(formats.find("json"), std::string::npos) << formats;
  EXPECT_EQ(formats.find("text"), std::string::npos) << formats;
  EXPECT_NE(parse_command_line({"dump", "--help"}).to_stdout.find("json"), std::string::npos);
}

TEST(Options, HostileArgumentsStayOnOneShortLine) {
  expect_usage({"dump", "-p", std::string(100'000, '9')}, "…");
  expect_usage({"dump", "-f", "a\nb\x1b[31m"}, "");
  EXPECT_EQ(parse_command_line({"dump", "-f", "\x1b[31m"}).to_stderr.find('\x1b'),
            std::string::npos);
  EXPECT_EQ(parse_command_line({"dump", "-f", "\xc2\x9b" "31m"}).to_stderr.find('\x9b'),
            std::string::npos);
}

TEST(Options, HelpOfEachCommandHasAnExample) {
  for (const std::string command : {"ps", "dump", "record", "convert", "doctor"}) {
    const ParseResult result = parse_command_line({command, "--help"});
    EXPECT_FALSE(result.command);
    EXPECT_EQ(result.exit_code, ExitCode::ok);
    EXPECT_NE(result.to_stdout.find("Example"), std::string::npos);
    EXPECT_NE(result.to_stdout.find("  mixwalk " + command), std::string::npos);
    EXPECT_EQ(result.to_stderr, "");
  }
  EXPECT_NE(parse_command_line({"--version"}).to_stdout.find("mixwalk 0."), std::string::npos);
}

TEST(Duration, WhatPeopleWrite) {
  EXPECT_EQ(parse_duration("500ms"), 500u);
  EXPECT_EQ(parse_duration("2s"), 2000u);
  EXPECT_EQ(parse_duration("1.5s"), 1500u);
  EXPECT_EQ(parse_duration("1m30s"), 90'000u);
  EXPECT_EQ(parse_duration("1h0.5m"), 3'630'000u);
  EXPECT_EQ(parse_duration("1h2m3s4ms"), 3'723'004u);
  EXPECT_EQ(parse_duration("3m"), 180'000u);
  EXPECT_EQ(parse_duration("1h"), 3'600'000u);
  EXPECT_EQ(parse_duration("00:01:30"), 90'000u);
  EXPECT_EQ(parse_duration("0s"), 0u);
  EXPECT_EQ(parse_duration("00:00:00:30"), 30'000u);
  EXPECT_EQ(parse_duration("00:01:00:00"), 3'600'000u);
  EXPECT_EQ(parse_duration("01:00:00:00"), 86'400'000u);
}

TEST(Duration, WhatIsNone) {
  for (const char* text : {"", "2", "0", "1.5", "1m30", "30s1m", "1m1m", "1ms1s", "1m 30s", "1m-1s", "1msx", "infs",
                           "s", "-1s", "1x", "1 s", "25h", "00:60:00", "0:0:1", "02:00:00:00", "00:00:60:00",
                           "00:00:00:60", "0:00:00:01", "1e9s", "nan", "inf", "::", "00:00:0a",
                           "99999999999999999999s"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

}  // namespace
}  // namespace mixwalk
