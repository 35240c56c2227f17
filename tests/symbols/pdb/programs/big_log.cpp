#include <spdlog/async.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

int run_log(const char* file) {
  const auto console = spdlog::stdout_color_mt("console");
  console->info("{} {:x} {:>5.2f}", file, 5, 2.5);
  spdlog::set_pattern("%+ %v");
  const auto later = spdlog::basic_logger_mt<spdlog::async_factory>("later", file);
  later->warn("{}", std::string(file));
  return 0;
}
