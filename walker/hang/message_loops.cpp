#include "walker/hang/message_loops.h"

#include <algorithm>

namespace mixwalk {
namespace {

constexpr std::string_view kLoops[] = {"System.Windows.Forms.Application.Run",
                                       "System.Windows.Forms.Application+ThreadContext.RunMessageLoop",
                                       "System.Windows.Threading.Dispatcher.PushFrame",
                                       "System.Windows.Threading.Dispatcher.Run",
                                       "System.Windows.Application.Run",
                                       "Microsoft.UI.Xaml.Application.Start",
                                       "Windows.UI.Xaml.Application.Start",
                                       "Avalonia.Threading.Dispatcher.MainLoop"};

}  // namespace

bool runs_message_loop(std::string_view method) noexcept {
  return std::ranges::any_of(kLoops, [&](std::string_view loop) { return method.starts_with(loop); });
}

}  // namespace mixwalk
