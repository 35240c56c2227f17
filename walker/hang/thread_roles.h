#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "walker/model/recording.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// What makes a thread the one that people look for first.
struct ThreadRoles {
  bool main = false;  // the program's Main is its first method, or it began before all others
  bool ui = false;    // it runs the message loop of Windows Forms, WPF, WinUI or Avalonia

  bool any() const noexcept { return main || ui; }
  bool operator==(const ThreadRoles&) const = default;
};

// "main thread", "UI thread", "main and UI thread"; empty for a thread without a role.
std::string_view role_words(ThreadRoles roles) noexcept;

// The same in formats: "main", "ui".
std::vector<std::string_view> role_names(ThreadRoles roles);

// What a thread is, for its head line: "main and UI thread, STA", "pool thread, MTA". Empty if nothing is known.
std::string head_words(ThreadRoles roles, const ThreadTraits& traits);

// The roles of each thread of a dump, by its traits and by its frames. Pure.
std::vector<ThreadRoles> thread_roles(const Snapshot& snapshot);
// The roles of each thread of a recording, by the first and the last of its stacks.
std::vector<ThreadRoles> thread_roles(const Recording& recording);

// Whether this is the program's Main: "Orders.Program.Main". `method`: as method_of() has it. The compiler makes a
// method <Main> that calls an asynchronous Main, and calls the method of top-level statements <Main>$.
bool is_main_method(std::string_view method) noexcept;

}  // namespace mixwalk
