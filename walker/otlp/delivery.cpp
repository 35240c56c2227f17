#include "walker/otlp/delivery.h"

#include <algorithm>
#include <chrono>

#include "walker/base/partial_file.h"
#include "walker/otlp/reply.h"

namespace mixwalk {
namespace {

constexpr std::string_view kGzipMagic = "\x1f\x8b";

}  // namespace

void DeliveryReport::say(std::string line) {
  constexpr std::size_t kMaxLines = 10;
  if (std::ranges::find(lines, line) != lines.end()) return;
  if (lines.size() < kMaxLines) {
    lines.push_back(std::move(line));
  } else {
    ++left_out;
  }
}

void DeliveryReport::add(const DeliveryReport& other) {
  delivered += other.delivered;
  refused += other.refused;
  lost += other.lost;
  if (why_waiting.empty()) why_waiting = other.why_waiting;
  left_out += other.left_out;
  for (const std::string& line : other.lines) say(line);
}

bool Delivery::run() {
  auto turn = spool_.take_turn();
  while (turn == nullptr) {
    if (!pause("another mixwalk is sending", std::nullopt)) return false;
    turn = spool_.take_turn();
  }
  back_off_.reset();
  while (true) {
    auto files = spool_.waiting();
    std::erase_if(files, [this](const auto& file) { return stuck_.contains(file); });
    if (files.empty()) return true;
    for (const auto& file : files) {
      if (!send(file)) return false;
    }
  }
}

bool Delivery::send(const std::filesystem::path& file) {
  std::string request;
  if (const std::string problem = spool_.read(file, request); !problem.empty()) {
    report_.say("cannot read \"" + utf8_of(file) + "\": " + problem);
    report_.why_waiting = "it cannot be read";
    stuck_.insert(file);
    return true;
  }
  if (!request.starts_with(kGzipMagic)) {
    set_aside(file, "it is damaged");
    return true;
  }
  while (true) {
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    const Reply reply = reply_of(post_.post(request), now);
    if (reply.meaning == Reply::Meaning::later) {
      if (!pause(reply.words, reply.wait)) return false;
      continue;
    }
    back_off_.reset();
    pauses_.succeeded();
    if (reply.meaning == Reply::Meaning::refused) {
      set_aside(file, "the collector refused it for good: " + reply.words);
      return true;
    }
    ++report_.delivered;
    report_.refused += reply.rejected != 0;
    if (!reply.words.empty()) report_.say(reply.words);
    remove(file);
    return true;
  }
}

bool Delivery::pause(const std::string& why, std::optional<std::chrono::seconds> asked) {
  if (pauses_.wait(back_off_.next(asked))) return true;
  report_.why_waiting = why;
  return false;
}

void Delivery::remove(const std::filesystem::path& file) {
  const std::string problem = spool_.remove(file);
  if (problem.empty()) return;
  stuck_.insert(file);
  report_.why_waiting = "it cannot be removed";
  report_.say("the collector has \"" + utf8_of(file) + "\", but it cannot be removed: " + problem);
}

void Delivery::set_aside(const std::filesystem::path& file, const std::string& why) {
  ++report_.refused;
  const std::string problem = spool_.set_aside(file);
  if (!problem.empty()) stuck_.insert(file);
  report_.say("\"" + utf8_of(file) + "\" is not sent" +
              (problem.empty() ? ", but kept as .refused: " : ": ") + why);
}

}  // namespace mixwalk
