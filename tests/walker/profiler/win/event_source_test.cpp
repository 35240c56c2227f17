#include "walker/profiler/event_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <thread>

#include "unmanaged/win/live_modules.h"

namespace mixwalk {
namespace {

// A fake runtime that has an event mask and the path of every module, and refuses all other questions. It consists of
// the slots of ICorProfilerInfo3's vtable.
class FakeRuntime {
 public:
  FakeRuntime() {
    slots_.fill(reinterpret_cast<void*>(&refuse));
    slots_[kGetEventMask] = reinterpret_cast<void*>(&get_mask);
    slots_[kSetEventMask] = reinterpret_cast<void*>(&set_mask);
    slots_[kGetModuleInfo] = reinterpret_cast<void*>(&module_info);
  }
  clr::ICorProfilerInfo3* interface_of() {
    return reinterpret_cast<clr::ICorProfilerInfo3*>(this);
  }

 private:
  static constexpr std::size_t kGetEventMask = 6, kSetEventMask = 16, kGetModuleInfo = 20;

  static HRESULT STDMETHODCALLTYPE refuse() { return E_NOTIMPL; }
  static HRESULT STDMETHODCALLTYPE get_mask(FakeRuntime* self, DWORD* mask) {
    *mask = self->mask;
    return S_OK;
  }
  static HRESULT STDMETHODCALLTYPE set_mask(FakeRuntime* self, DWORD mask) {
    if (self->refuses) return E_FAIL;
    self->mask = mask;
    return S_OK;
  }
  static HRESULT STDMETHODCALLTYPE module_info(FakeRuntime* self, clr::ModuleID, const BYTE**,
                                               ULONG capacity, ULONG* units, WCHAR name[],
                                               clr::AssemblyID*) {
    *units = static_cast<ULONG>(self->path.size() + 1);
    const std::size_t there = std::min<std::size_t>(self->path.size(), capacity - 1);
    name[self->path.copy(name, there)] = 0;
    return S_OK;
  }

  void* const vtable_ = slots_.data();  // must come first, because an interface points to it
  std::array<void*, 100> slots_{};

 public:
  DWORD mask = 0;
  bool refuses = false;
  std::wstring path;
};

class EventSourceTest : public testing::Test {
 protected:
  EventSourceTest() {
    *clr_.info.put() = runtime_.interface_of();
    events_.set_images(std::make_shared<const ModuleTable>(read_live_modules()));
  }
  bool begin(SampleEvent event, const std::string& wanted = {}) {
    return events_.begin({.sampling = {.engine = Engine::copy}, .event = event, .type = wanted},
                         wanted_events_, unjudged_events_);
  }
  // Returns the name under which a module with that path is recorded.
  std::string name_of(const std::wstring& path) {
    runtime_.path = path;
    events_.loaded_module(1, S_OK);
    const auto sample = events_.next();
    return sample ? *sample->subject : "(none)";
  }

  static constexpr DWORD kMask = clr::kMonitorModuleLoads | clr::kMonitorThreads;

  FakeRuntime runtime_;
  ClrInterfaces clr_;
  ThreadRegistry registry_;
  std::unique_ptr<UnloadGate> gate_ = std::make_unique<UnloadGate>();
  // The end of the process waits this long, on a busy machine too.
  static constexpr DWORD kMaxDelayMs = 60'000;
  std::unique_ptr<EventSource> source_ = std::make_unique<EventSource>(clr_, registry_, *gate_, kMaxDelayMs);
  EventSource& events_ = *source_;
  std::atomic<std::uint64_t> wanted_events_{0}, unjudged_events_{0};
};

TEST_F(EventSourceTest, TheEventMaskIsPutBack) {
  for (const SampleEvent event :
       {SampleEvent::exception, SampleEvent::class_load, SampleEvent::module_load}) {
    // Bits that the mask has before the events must still be set afterwards.
    for (const DWORD before : {kMask, kMask | clr::kMonitorClassLoads}) {
      runtime_.mask = before;
      ASSERT_TRUE(begin(event));
      EXPECT_EQ(runtime_.mask & before, before);
      if (event == SampleEvent::class_load) {
        EXPECT_TRUE(runtime_.mask & clr::kMonitorClassLoads);
      }
      events_.end();
      EXPECT_EQ(runtime_.mask, before);
    }
  }
}

TEST_F(EventSourceTest, ARuntimeThatDoesNotTellOfThem) {
  runtime_.refuses = true;
  EXPECT_FALSE(begin(SampleEvent::class_load));
  events_.loaded_type(1, S_OK);
  EXPECT_EQ(wanted_events_, 0u);
  runtime_.refuses = false;
  EXPECT_FALSE(begin(SampleEvent::allocation)) << "it was not asked as it started";
}

TEST_F(EventSourceTest, AModuleIsCalledByItsFileName) {
  ASSERT_TRUE(begin(SampleEvent::module_load));
  EXPECT_EQ(name_of(L"C:\\orders\\Orders.dll"), "Orders.dll");
  EXPECT_EQ(name_of(L"C:/orders/Orders.dll"), "Orders.dll");
  EXPECT_EQ(name_of(L"RefEmit_InMemoryManifestModule"), "RefEmit_InMemoryManifestModule");
  EXPECT_EQ(name_of(L"C:\\" + std::wstring(2'000, L'x') + L"\\\u00DC.dll"), "\u00DC.dll");
  EXPECT_EQ(name_of(L""), "?");
  events_.end();
}

TEST_F(EventSourceTest, OnlyWhatIsWantedIsCounted) {
  ASSERT_TRUE(begin(SampleEvent::module_load, "orders"));
  EXPECT_EQ(name_of(L"C:\\other.dll"), "(none)");
  EXPECT_EQ(name_of(L"C:\\orders\\other.dll"), "(none)");
  EXPECT_EQ(name_of(L"C:\\ORDERS.DLL"), "ORDERS.DLL");
  events_.loaded_type(1, S_OK);
  events_.allocated(1);
  EXPECT_EQ(wanted_events_, 1u) << "other events are not wanted";
  events_.end();
  EXPECT_EQ(name_of(L"C:\\orders.dll"), "(none)");
  EXPECT_EQ(wanted_events_, 1u);
}

TEST_F(EventSourceTest, WhatCouldNotBeLoadedIsNoLoad) {
  ASSERT_TRUE(begin(SampleEvent::class_load));
  events_.loaded_type(1, E_FAIL);
  EXPECT_EQ(wanted_events_, 0u);
  EXPECT_EQ(events_.next(), nullptr);
  events_.loaded_type(1, S_OK);
  EXPECT_EQ(wanted_events_, 1u);
  EXPECT_NE(events_.next(), nullptr);
  events_.end();
  ASSERT_TRUE(begin(SampleEvent::module_load));
  events_.loaded_module(1, E_FAIL);
  EXPECT_EQ(wanted_events_, 0u);
  events_.end();
}

// The program's other threads continue while mixwalk.dll sends its last events, up to the end of the process.
TEST_F(EventSourceTest, WhatHappensAtTheEndOfTheProcessIsWalkedOrCounted) {
  runtime_.mask = kMask;
  ASSERT_TRUE(begin(SampleEvent::module_load));
  std::thread ending([this] { events_.close(); });
  while (!events_.closing()) Sleep(1);
  events_.loaded_module(1, S_OK);
  events_.end();
  EXPECT_NE(events_.next(), nullptr) << "it happened before end()";
  events_.loaded_module(1, S_OK);
  events_.loaded_type(1, S_OK);
  events_.loaded_module(1, E_FAIL);
  EXPECT_EQ(wanted_events_, 2u) << "loads of types were not asked for, and nothing was loaded";
  EXPECT_EQ(events_.next(), nullptr) << "nobody would send it any more";
  events_.finished();
  ending.join();
  events_.loaded_module(1, S_OK);
  EXPECT_EQ(wanted_events_, 3u);
  EXPECT_FALSE(begin(SampleEvent::class_load)) << "the process is ending";
}

// mixwalk.dll's thread gets no processor, so the program must end without that thread.
TEST_F(EventSourceTest, TheEndOfTheProcessDoesNotWaitForLong) {
  EventSource late(clr_, registry_, *gate_, 10);
  late.set_images(std::make_shared<const ModuleTable>(read_live_modules()));
  ASSERT_TRUE(late.begin({.sampling = {.engine = Engine::copy}, .event = SampleEvent::module_load}, wanted_events_,
                         unjudged_events_));
  late.close();
  late.loaded_module(1, S_OK);
  EXPECT_EQ(wanted_events_, 1u);
  EXPECT_EQ(late.next(), nullptr) << "the runtime may be asked for nothing any more";
  late.end();
}

TEST_F(EventSourceTest, WhereATypeOrANameWasAskedForTheLastEventsAreCountedApart) {
  for (const RecordRequest& request :
       {RecordRequest{.event = SampleEvent::module_load, .type = "orders.dll"},
        RecordRequest{.event = SampleEvent::module_load, .thread_names = {"orders"}}}) {
    EventSource events(clr_, registry_, *gate_, 10);
    ASSERT_TRUE(events.begin(request, wanted_events_, unjudged_events_));
    events.close();
    events.loaded_module(1, S_OK);
    EXPECT_EQ(wanted_events_, 0u);
    EXPECT_EQ(unjudged_events_, 1u);
    events.end();
  }
}

TEST_F(EventSourceTest, OfThreadsThatWereAskedForByTheirIdsOnlyTheirEventsCount) {
  for (const std::uint32_t id : {GetCurrentThreadId(), GetCurrentThreadId() + 4}) {
    const std::uint64_t expected = id == GetCurrentThreadId() ? 1 : 0;
    EventSource events(clr_, registry_, *gate_, 10);
    events.set_images(std::make_shared<const ModuleTable>(read_live_modules()));
    ASSERT_TRUE(
        events.begin({.sampling = {.engine = Engine::copy, .thread_ids = {id}}, .event = SampleEvent::module_load},
                     wanted_events_, unjudged_events_));
    events.loaded_module(1, S_OK);
    EXPECT_EQ(wanted_events_, expected);
    EXPECT_EQ(events.next() != nullptr, expected == 1);
    events.close();
    events.loaded_module(1, S_OK);
    EXPECT_EQ(wanted_events_, 2 * expected);
    EXPECT_EQ(unjudged_events_, 0u);
    events.end();
  }
}

TEST_F(EventSourceTest, NoRecordingBeginsWhileTheProcessEnds) {
  events_.close();
  EXPECT_FALSE(begin(SampleEvent::module_load));
  events_.loaded_module(1, S_OK);
  EXPECT_EQ(wanted_events_, 0u);
}

// No thread fetches the events, and the program's thread must continue.
TEST_F(EventSourceTest, WhatHasNoRoomIsCountedAsDropped) {
  ASSERT_TRUE(begin(SampleEvent::module_load));
  constexpr std::uint64_t kLoads = 5'000;
  for (std::uint64_t i = 0; i < kLoads; ++i) events_.loaded_module(1, S_OK);
  std::uint64_t waiting = 0;
  while (events_.next()) ++waiting;
  EXPECT_EQ(waiting, 4'096u);
  EXPECT_EQ(waiting + events_.dropped(), kLoads);
  EXPECT_EQ(wanted_events_, kLoads);
  events_.end();
}

}  // namespace
}  // namespace mixwalk
