#include "walker/hang/thread_roles.h"

#include <algorithm>

#include "walker/hang/frame_names.h"
#include "walker/hang/message_loops.h"

namespace mixwalk {
namespace {

// How many managed frames from the root on are read. WinUI and Windows Forms have few between Main and the loop.
constexpr std::size_t kMostRead = 64;

// `frame_at`: returns one of `count` frames; the last one is the root.
template <class FrameAt>
ThreadRoles roles_of(std::size_t count, FrameAt frame_at) {
  ThreadRoles roles;
  std::size_t read = 0;
  for (std::size_t i = count; i-- != 0;) {
    const Frame& frame = frame_at(i);
    if (frame.kind == FrameKind::gap && read == 0) break;  // the first methods may be missing
    if (frame.kind != FrameKind::managed) continue;
    const std::string method = method_of(frame.name);
    if (read == 0 && is_main_method(method)) roles.main = true;
    if (runs_message_loop(method)) roles.ui = true;
    if (++read == kMostRead) break;
  }
  return roles;
}

}  // namespace

std::string_view role_words(ThreadRoles roles) noexcept {
  if (roles.main && roles.ui) return "main and UI thread";
  return roles.main ? "main thread" : roles.ui ? "UI thread" : "";
}

std::string head_words(ThreadRoles roles, const ThreadTraits& traits) {
  std::string words(role_words(roles));
  const auto add = [&](std::string_view word) { words.append(words.empty() ? "" : ", ").append(word); };
  if (traits.pool) add("pool thread");
  if (traits.sta) add("STA");
  if (traits.mta) add("MTA");
  return words;
}

std::vector<std::string_view> role_names(ThreadRoles roles) {
  std::vector<std::string_view> names;
  if (roles.main) names.push_back("main");
  if (roles.ui) names.push_back("ui");
  return names;
}

bool is_main_method(std::string_view method) noexcept {
  constexpr std::array<std::string_view, 3> kNames = {".Main", ".<Main>", ".<Main>$"};
  return std::ranges::any_of(kNames, [&](std::string_view name) { return method.ends_with(name); });
}

std::vector<ThreadRoles> thread_roles(const Snapshot& snapshot) {
  std::vector<ThreadRoles> roles;
  for (const Thread& thread : snapshot.threads) {
    const std::vector<StackFrame>& frames = thread.stack.frames;
    ThreadRoles& of = roles.emplace_back(
        roles_of(frames.size(), [&](std::size_t i) -> const Frame& { return frames[i]; }));
    of.ui = of.ui || thread.traits.pumps;
  }
  // The thread that is in Main counts, even if the system began another one first.
  if (std::ranges::none_of(roles, &ThreadRoles::main)) {
    for (std::size_t i = 0; i < roles.size(); ++i) roles[i].main = snapshot.threads[i].traits.main;
  }
  // The system begins a program on one thread, which begins all others. A dump of some threads may not have it.
  const bool known = std::ranges::any_of(roles, &ThreadRoles::main) || snapshot.omissions.threads ||
                     std::ranges::any_of(snapshot.threads, [](const Thread& thread) { return thread.created == 0; });
  if (!known && !snapshot.threads.empty()) {
    const auto first = std::ranges::min_element(snapshot.threads, {}, &Thread::created);
    if (std::ranges::count(snapshot.threads, first->created, &Thread::created) == 1) {
      roles[static_cast<std::size_t>(first - snapshot.threads.begin())].main = true;
    }
  }
  return roles;
}

std::vector<ThreadRoles> thread_roles(const Recording& recording) {
  std::vector<ThreadRoles> roles(recording.threads.size());
  std::vector<std::uint32_t> last(recording.threads.size(), Recording::kNone);
  const auto look = [&](std::uint32_t thread, std::uint32_t stack) {
    const std::vector<std::uint32_t> frames = stack_frames(recording, stack);
    const ThreadRoles found =
        roles_of(frames.size(), [&](std::size_t i) -> const Frame& { return recording.frames[frames[i]]; });
    roles[thread] = {roles[thread].main || found.main, roles[thread].ui || found.ui};
  };
  for (const Recording::Sample& sample : recording.samples) {
    if (sample.stack == Recording::kNone) continue;
    if (last[sample.thread] == Recording::kNone) look(sample.thread, sample.stack);
    last[sample.thread] = sample.stack;
  }
  for (std::uint32_t thread = 0; thread < last.size(); ++thread) {
    if (last[thread] != Recording::kNone) look(thread, last[thread]);
  }
  return roles;
}

}  // namespace mixwalk
