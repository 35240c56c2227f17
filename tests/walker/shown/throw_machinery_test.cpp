#include "walker/shown/throw_machinery.h"

#include <gtest/gtest.h>

#include "walker/model/recording_builder.h"
#include "walker/shown/recording_filter.h"

namespace mixwalk {
namespace {

using Names = std::vector<std::string>;

// Builds the stack of an exception from the leaf on. "image!name" is native, "[name]" is a stub. A name that begins
// with M is a managed method without an image, one that begins with R a method of System.Private.CoreLib.dll.
class Thrown {
 public:
  Thrown& stack(const Names& leaf_first) {
    std::uint32_t node = Recording::kNone;
    for (auto name = leaf_first.rbegin(); name != leaf_first.rend(); ++name) {
      node = builder_.add_node(node, builder_.add_frame(frame(*name)));
    }
    builder_.recording().samples.push_back({.stack = node});
    return *this;
  }

  // Returns the frames that are kept from the last stack, leaf first.
  Names left(const FrameFilter& filter = {}) {
    Recording recording = builder_.recording();
    recording.event = SampleEvent::exception;
    recording.process.path = "C:\\orders.exe";
    const Recording kept = filtered(std::move(recording), filter);
    Names names;
    for (const std::uint32_t frame : stack_frames(kept, kept.samples.back().stack)) {
      names.push_back(kept.frames[frame].name);
    }
    return names;
  }

 private:
  Frame frame(const std::string& text) {
    Frame its{.address = ++address_, .name = text};
    if (text.starts_with("M:") || text.starts_with("R:")) {
      its.kind = FrameKind::managed;
      its.name = text.substr(2);
      if (text.starts_with("R:")) its.module = image("System.Private.CoreLib.dll");
    } else if (text.starts_with("[")) {
      its.kind = FrameKind::stub;
    } else if (const std::size_t mark = text.find('!'); mark != text.npos) {
      its.module = image(text.substr(0, mark));
      its.name = text.substr(mark + 1);
    }
    return its;
  }
  std::int32_t image(const std::string& name) {
    auto& modules = builder_.recording().modules;
    for (std::size_t i = 0; i < modules.size(); ++i) {
      if (modules[i].path == "C:\\" + name) return static_cast<std::int32_t>(i);
    }
    modules.push_back({.base = 0x10000 * (modules.size() + 1), .path = "C:\\" + name});
    return static_cast<std::int32_t>(modules.size()) - 1;
  }

  RecordingBuilder builder_;
  std::uint64_t address_ = 0;
};

const std::string kDispatch = "R:System.Runtime.EH.DispatchEx(ref System.Runtime.StackFrameIterator)";

// The stacks are those of .NET 10 in fixtures/events --throws, with some frames of each kind left out.
TEST(ThrowMachinery, AManagedThrow) {
  Thrown thrown;
  thrown.stack({"coreclr.dll!", "coreclr.dll!", kDispatch, "coreclr.dll!", "coreclr.dll!",
                "M:Orders.Refuse()", "M:Orders.Main()", "coreclr.dll!", "orders.exe!main"});
  EXPECT_EQ(thrown.left(), (Names{"Orders.Refuse()", "Orders.Main()", "", "main"}));
  EXPECT_EQ(thrown.left({.depth = 1}), Names{"Orders.Refuse()"});
  EXPECT_EQ(thrown.left({.all = true}).size(), 9u);
}

// The runtime calls the catch above the frame that threw first, so the frames of the catch stay.
TEST(ThrowMachinery, RethrownInsideACatch) {
  EXPECT_EQ(Thrown()
                .stack({"coreclr.dll!", kDispatch, "coreclr.dll!", "M:Orders.Again()",
                        "coreclr.dll!catch", "coreclr.dll!", "M:Orders.First()",
                        "M:Orders.Again()"})
                .left(),
            (Names{"Orders.Again()", "catch", "", "Orders.First()", "Orders.Again()"}));
}

TEST(ThrowMachinery, AFaultOfTheProcessor) {
  Thrown thrown;
  thrown.stack({"coreclr.dll!", kDispatch, "coreclr.dll!", "ntdll.dll!", "ntdll.dll!",
                "ntdll.dll!KiUserExceptionDispatcher", "M:Orders.Null()", "M:Orders.Main()"});
  EXPECT_EQ(thrown.left(), (Names{"Orders.Null()", "Orders.Main()"}));
  thrown.stack({"coreclr.dll!", "ntdll.dll!", "ntdll.dll!KiUserExceptionDispatcher",
                "ntdll.dll!RtlFillMemory", "[IL_STUB_PInvoke]", "M:Orders.Main()"});
  EXPECT_EQ(thrown.left().front(), "RtlFillMemory") << "it faulted";
}

// In .NET Framework, and in .NET before 9, the runtime throws through the system.
TEST(ThrowMachinery, TheRuntimeRaisesIt) {
  EXPECT_EQ(Thrown()
                .stack({"clr.dll!", "ntdll.dll!", "ntdll.dll!RtlRaiseException",
                        "KERNELBASE.dll!RaiseException", "clr.dll!", "clr.dll!IL_Throw",
                        "M:Orders.Refuse()"})
                .left(),
            Names{"Orders.Refuse()"});
}

TEST(ThrowMachinery, ThrownBelowNativeCode) {
  EXPECT_EQ(Thrown()
                .stack({"coreclr.dll!", kDispatch, "coreclr.dll!", "M:Orders.Callback()",
                        "[IL_STUB_ReversePInvoke]", "orders_native.dll!each", "[IL_STUB_PInvoke]",
                        "M:Orders.Main()"})
                .left(),
            (Names{"Orders.Callback()", "[IL_STUB_ReversePInvoke]", "each", "[IL_STUB_PInvoke]",
                   "Orders.Main()"}));
}

// A C++ exception passes through managed code. The code that raised it is the program's.
TEST(ThrowMachinery, NativeCodeThatRaises) {
  EXPECT_EQ(Thrown()
                .stack({"coreclr.dll!", "ntdll.dll!", "kernelbase.dll!RaiseException",
                        "vcruntime140.dll!_CxxThrowException", "orders_native.dll!throws",
                        "[IL_STUB_PInvoke]", "M:Orders.Main()"})
                .left()
                .front(),
            "_CxxThrowException");
}

// Frames that look like those of a throw, but are the program's.
TEST(ThrowMachinery, NoFrameOfTheProgramIsCut) {
  Thrown thrown;
  thrown.stack({"ntdll.dll!", "ntdll.dll!KiUserExceptionDispatcher", "M:Orders.Main()"});
  EXPECT_EQ(thrown.left().size(), 3u) << "nothing of the runtime is on top";
  thrown.stack({"coreclr.dll!", "ntdll.dll!", "ntdll.dll!RtlRunOnce", "M:Orders.Main()"});
  EXPECT_EQ(thrown.left().size(), 3u) << "the system, but no dispatch";
  thrown.stack({"coreclr.dll!", "R:System.Runtime.EHelper.Throw()", "M:Orders.Main()"});
  EXPECT_EQ(thrown.left().front(), "System.Runtime.EHelper.Throw()");
  thrown.stack({"coreclr.dll!", "orders_native.dll!RaiseException", "M:Orders.Main()"});
  EXPECT_EQ(thrown.left().front(), "RaiseException");
  thrown.stack({"coreclr.dll!", "frame without an image", "M:Orders.Main()"});
  EXPECT_EQ(thrown.left().front(), "frame without an image");
  thrown.stack({"coreclr.dll!", "coreclr.dll!coreclr_execute_assembly", "orders.exe!main"});
  EXPECT_EQ(thrown.left().size(), 3u) << "no managed frame would be left";
  thrown.stack({"coreclr.dll!", kDispatch, "coreclr.dll!"});
  EXPECT_EQ(thrown.left().size(), 3u);
}

// The runtime is in the program's own image, so native frames of that image count as the runtime's.
TEST(ThrowMachinery, OfAProgramInOneFile) {
  EXPECT_EQ(Thrown()
                .stack({"orders.exe!", kDispatch, "orders.exe!", "M:Orders.Refuse()",
                        "orders.exe!main"})
                .left(),
            (Names{"Orders.Refuse()", "main"}));
}

}  // namespace
}  // namespace mixwalk
