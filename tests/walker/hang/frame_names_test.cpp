#include "walker/hang/frame_names.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/builders/hang_builder.h"
#include "walker/hang/wait.h"

namespace mixwalk {
namespace {

using Places = std::vector<std::uint32_t>;

TEST(FrameNamesTest, TellingFramesAreStubsAndTheProgramsOwn) {
  test::HangBuilder builder;
  builder.thread(0x10, test::managed_thread({"ntdll!NtWaitForSingleObject", "orders_native!print", "P orders!print",
                                             "M System.Lazy.Get()", "M Orders.Print()", "coreclr!", "M Orders.Run()"}));
  const FrameNames names(builder.snapshot());
  const std::vector<StackFrame>& frames = builder.last().stack.frames;
  EXPECT_EQ(significant_frames(names, frames, 1, 3), (Places{1, 2, 4}));
  EXPECT_EQ(significant_frames(names, frames, 1, 100), (Places{1, 2, 4, 6}));
  // The first frame is shown in every case.
  EXPECT_EQ(significant_frames(names, frames, 0, 2), (Places{0, 1}));
  EXPECT_EQ(significant_frames(names, frames, kNoFrame, 3), Places());
}

struct Code {
  const char* path;  // of the assembly; null if unknown
  const char* name;
  bool library;
};

TEST(FrameNamesTest, WhoseCodeItIsTheImageSays) {
  for (const Code& code : {
           Code{"C:\\orders\\Orders.dll", "Microsoft.Orders.Stock.Load()", false},
           {"C:\\orders\\Orders.Core.dll", "System.Orders.Stock.Load()", false},
           {"C:\\orders\\Microsoft.Orders.dll", "Microsoft.Orders.Stock.Load()", false},
           {"C:/orders/Windows.Orders.dll", "Windows.Orders.Stock.Load()", false},
           {"C:\\orders\\orders.exe", "System.Orders.Stock.Load()", false},
           {"C:\\orders\\System.Private.CoreLib.dll", "System.Threading.Thread.Sleep(System.Int32)", true},
           {"C:\\orders\\Microsoft.Extensions.Hosting.dll", "Microsoft.Extensions.Hosting.Host.Run()", true},
           {"C:\\orders\\WindowsBase.dll", "MS.Win32.UnsafeNativeMethods.GetMessageW()", true},
           {"C:\\Program Files\\dotnet\\shared\\Microsoft.NETCore.App\\11.0.0\\Other.dll", "Other.Run()", true},
           {"C:\\Windows\\assembly\\NativeImages_v4\\System\\0\\System.ni.dll", "System.Uri..ctor()", true},
           {"C:\\Windows\\assembly\\NativeImages_v4\\Orders\\0\\Orders.ni.exe", "System.Orders.Run()", false},
           {nullptr, "Microsoft.Orders.Stock.Load()", true},
           {nullptr, "Orders.Stock.Load()", false},
           {nullptr, "CallSite.Target", true},
           {nullptr, "Orders.CallSite.Target", false},
           {"C:\\orders\\Orders.dll", "CallSite.Target", false},
           {"", "System.Orders.Stock.Load()", true},
           {"dynamic, Version=0.0.0.0", "System.Orders.Stock.Load()", true},
       }) {
    test::HangBuilder builder;
    builder.thread(0x10, {std::string("M ") + code.name});
    Frame& frame = builder.last().stack.frames[0];
    const auto expect = [&](const char* found_by) {
      const FrameNames names(builder.snapshot());
      EXPECT_EQ(names.library(frame), code.library) << code.path << " " << code.name << " by " << found_by;
      EXPECT_EQ(names.of_program(frame), !code.library);
    };
    if (code.path != nullptr) builder.snapshot().assemblies = {{.path = code.path}};
    if (code.path != nullptr) frame.il.assembly = 0;
    expect("its assembly");
    if (code.path == nullptr) continue;
    frame.il.assembly = -1;
    frame.module = static_cast<std::int32_t>(builder.snapshot().modules.size());
    builder.snapshot().modules.push_back({0x7'0000'0000, 0x1000, 0, code.path});
    expect("the image that its code is in");
  }
}

// In a program that was published as a single file, the program and .NET are one image; the runtime itself may lie in a
// separate folder.
TEST(FrameNamesTest, WhereTheRuntimeIsSaysWhoseCodeItIs) {
  test::HangBuilder builder;
  builder.thread(0x10, {"M System.Orders.Run()"});
  Snapshot& dump = builder.snapshot();
  dump.assemblies = {{.path = dump.process.path}};
  Frame& frame = builder.last().stack.frames[0];
  frame.il.assembly = 0;
  EXPECT_FALSE(FrameNames(dump).library(frame));
  for (Module& module : dump.modules) {
    if (module.path.ends_with("coreclr.dll")) module.path = dump.process.path;
  }
  EXPECT_TRUE(FrameNames(dump).library(frame)) << "by its namespace";
  dump.modules.push_back({0x8'0000'0000, 0x1000, 0, "D:\\runtime\\coreclr.dll"});
  dump.assemblies = {{.path = "D:\\runtime\\Other.dll"}};
  EXPECT_TRUE(FrameNames(dump).library(frame));
  dump.assemblies = {{.path = "D:\\runtime\\orders.dll"}};
  EXPECT_FALSE(FrameNames(dump).library(frame));
}

// A program of NativeAOT has no image of a runtime.
TEST(FrameNamesTest, OfAProgramWithoutARuntimeTheNamespaceSaysWhoseCodeItIs) {
  test::HangBuilder builder;
  builder.thread(0x10, {"M System.Threading.Lock.TryEnterSlow()", "M Orders.Run()"});
  Snapshot& dump = builder.snapshot();
  std::erase_if(dump.modules, [](const Module& module) { return module.path.ends_with("coreclr.dll"); });
  for (Frame& frame : builder.last().stack.frames) frame.module = static_cast<std::int32_t>(dump.modules.size());
  dump.modules.push_back({0x8'0000'0000, 0x1000, 0, dump.process.path});
  const FrameNames names(dump);
  EXPECT_TRUE(names.library(builder.last().stack.frames[0]));
  EXPECT_FALSE(names.library(builder.last().stack.frames[1]));
}

}  // namespace
}  // namespace mixwalk
