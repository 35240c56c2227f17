#include "walker/profiler/thread_registry.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

std::string name_in(const ThreadRegistry::Glance& glance) {
  return {glance.name.data(), glance.name_bytes};
}

TEST(ThreadRegistry, AGlanceAtAThread) {
  ThreadRegistry registry;
  ThreadRegistry::Glance glance;
  registry.glance(7, glance);
  EXPECT_EQ(glance.clr_id, 0u);
  EXPECT_EQ(name_in(glance), "");
  registry.assigned(0xC1, 7);
  registry.renamed(0xC1, "orders");
  registry.glance(7, glance);
  EXPECT_EQ(glance.clr_id, 0xC1u);
  EXPECT_EQ(name_in(glance), "orders");
  registry.destroyed(0xC1);
  ThreadRegistry::Glance after;
  registry.glance(7, after);
  EXPECT_EQ(after.clr_id, 0u);
}

TEST(ThreadRegistry, ANameThatIsTooLongForAGlanceIsLeftOut) {
  ThreadRegistry registry;
  registry.assigned(0xC1, 7);
  ThreadRegistry::Glance glance;
  registry.renamed(0xC1, std::string(glance.name.size() + 1, 'x'));
  registry.glance(7, glance);
  EXPECT_EQ(glance.clr_id, 0xC1u);
  EXPECT_EQ(name_in(glance), "");
  registry.renamed(0xC1, std::string(glance.name.size(), 'x'));
  registry.glance(7, glance);
  EXPECT_EQ(name_in(glance).size(), glance.name.size());
}

}  // namespace
}  // namespace mixwalk
