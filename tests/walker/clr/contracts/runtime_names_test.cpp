#include "walker/clr/contracts/runtime_names.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/builders/assembly_builder.h"
#include "tests/builders/image_builder.h"
#include "tests/builders/metadata_builder.h"
#include "tests/builders/runtime_builder.h"
#include "walker/clr/contracts/code_versions.h"
#include "walker/clr/contracts/runtime_check.h"
#include "walker/clr/contracts/runtime_fields.h"
#include "walker/clr/question_messages.h"

namespace mixwalk {
namespace {

using test::RuntimeBuilder;

// The types and methods of test::sample_metadata(), as a runtime that has loaded them.
class RuntimeNamesTest : public testing::Test {
 protected:
  std::string name(std::uint64_t method) { return names().method(method).name; }
  std::string type_name(std::uint64_t type) { return names().type_name(type); }
  // What the test has built since the last call is seen.
  RuntimeNames& names() {
    if (!names_) {
      reader_.emplace(built_.memory, ContractDescriptor::parse(built_.descriptor(), {}).value());
      modules_.emplace(*reader_);
      names_.emplace(*reader_, *modules_);
    }
    reader_->drop();
    return *names_;
  }
  const RuntimeReader& reader() {
    names();
    return *reader_;
  }
  RuntimeModules& modules() {
    names();
    return *modules_;
  }

  static constexpr std::uint32_t kModuleType = 1, kOrders = 2, kLine = 3, kNative = 4, kCart = 5;  // TypeDef
  RuntimeBuilder built_;
  std::uint64_t shop_ = built_.module(test::sample_metadata().build(), "C:\\Shop\\Shop.dll");
  std::uint64_t native_ = built_.type(shop_, kNative), cart_ = built_.type(shop_, kCart);

 private:
  std::optional<RuntimeReader> reader_;
  std::optional<RuntimeModules> modules_;
  std::optional<RuntimeNames> names_;
};

TEST_F(RuntimeNamesTest, MethodsOfPlainTypes) {
  EXPECT_EQ(name(built_.method(native_, 4)), "Shop.Native.Wait()");
  const ClrMethod wait = names().method(built_.method(native_, 4));
  EXPECT_EQ(wait.import, "kernel32.dll!WaitForSingleObject");
  EXPECT_FALSE(wait.com);
  EXPECT_TRUE(names().method(built_.method(cart_, 5)).com);
}

// The metadata in memory is that of the file, so an added method has no row in it.
TEST_F(RuntimeNamesTest, MethodsThatHotReloadHasChangedOrAdded) {
  constexpr std::uint32_t kToken = 0x0600'0000;
  const std::uint64_t added = built_.method(native_, 0x155);
  EXPECT_EQ(name(added), "");
  built_.reload(shop_, {0, kToken | 4, 0, kToken | 0x155});
  EXPECT_EQ(name(added), "Shop.Native.[method 06000155, added by hot reload](?)");
  EXPECT_EQ(name(built_.method(native_, 4)), "Shop.Native.Wait()");
  EXPECT_TRUE(is_reloaded(reader(), shop_, kToken | 4));
  EXPECT_FALSE(is_reloaded(reader(), shop_, kToken | 3));
  built_.put32(shop_ + 96, 0);  // a module that cannot be changed has none
  EXPECT_FALSE(is_reloaded(reader(), shop_, kToken | 4));
  built_.reload(shop_, {0x1234'5678, kToken | 4});  // something else than such a table
  EXPECT_FALSE(is_reloaded(reader(), shop_, kToken | 4));
}

TEST_F(RuntimeNamesTest, ArgumentsOfTypesAndMethods) {
  const std::uint64_t orders = built_.type(shop_, kOrders, {cart_});
  EXPECT_EQ(name(built_.method(orders, 1)), "Shop.Orders<Shop.ICart>..ctor()");
  EXPECT_EQ(name(built_.method(orders, 2, {native_})),
            "Shop.Orders<Shop.ICart>.Add<Shop.Native>(System.Int32, System.String)");
  const std::uint64_t line = built_.type(shop_, kLine, {native_});
  EXPECT_EQ(name(built_.method(line, 3)), "Shop.Orders<Shop.Native>+Line.Send(Shop.Native)");
}

TEST_F(RuntimeNamesTest, TheOwnDictionaryIsTheLastOne) {
  EXPECT_EQ(type_name(built_.type(shop_, kOrders, {cart_}, 3)), "Shop.Orders<Shop.ICart>");
}

TEST_F(RuntimeNamesTest, TypesOfTypes) {
  const std::uint64_t orders = built_.type(shop_, kOrders, {cart_});
  EXPECT_EQ(type_name(built_.array(orders)), "Shop.Orders<Shop.ICart>[]");
  EXPECT_EQ(type_name(built_.array(built_.array(native_), 3)), "Shop.Native[][,,]");
  EXPECT_EQ(type_name(built_.derived(0x0F, built_.derived(0x0F, native_))), "Shop.Native**");
  EXPECT_EQ(type_name(built_.derived(0x10, native_)), "Shop.Native&");
  EXPECT_EQ(type_name(built_.derived(0x1B, 0)), "(fnptr)");
  EXPECT_EQ(type_name(built_.type(shop_, kOrders, {built_.parameter(shop_, 0x2A000001)})), "Shop.Orders<T>");
}

TEST_F(RuntimeNamesTest, DynamicMethodsHaveNamesOfTheirOwn) {
  const std::uint64_t global = built_.type(shop_, kModuleType);
  EXPECT_EQ(names().method(built_.dynamic_method(global, "Compiled")), (ClrMethod{.name = "Compiled"}));
  EXPECT_EQ(names().method(built_.dynamic_method(global, "IL_STUB_PInvoke")),
            (ClrMethod{.name = "IL_STUB_PInvoke", .stub = true}));
}

TEST_F(RuntimeNamesTest, TextThatIsNoUtf8IsReplaced) {
  const std::uint64_t global = built_.type(shop_, kModuleType);
  EXPECT_EQ(name(built_.dynamic_method(global, "a\xFFz")), "a\xEF\xBF\xBDz");
}

TEST_F(RuntimeNamesTest, WithoutMetadataThereIsNoNameAndTheFileIsNamed) {
  const std::uint64_t lost = built_.module({}, "C:\\Shop\\Lost.dll");
  EXPECT_EQ(name(built_.method(built_.type(lost, 2), 1)), "");
  EXPECT_EQ(type_name(built_.type(lost, 2)), "");
  EXPECT_EQ(type_name(built_.type(shop_, kOrders, {built_.type(lost, 2)})), "Shop.Orders<?>");
  EXPECT_EQ(modules().assembly_of(lost), nullptr);
  EXPECT_EQ(modules().without_metadata(), std::vector<std::string>{"Lost.dll"});
}

// An assembly for any processor has 32-bit headers, so its file is not read in place of the dump's memory.
TEST_F(RuntimeNamesTest, TheFileOfAnImageThatIsNotInMemory) {
  class OneImage final : public Target {
   public:
    OneImage() { modules_.push_back({.base = 0x1234'0000, .path = "C:\\app\\app.dll"}); }
    const Process& process() const noexcept override { return process_; }
    std::uint64_t unix_time_ms() const noexcept override { return 0; }
    std::span<const Module> modules() const noexcept override { return modules_; }
    std::span<const TargetThread> threads() const noexcept override { return {}; }
    const MemoryReader& memory() const noexcept override { return memory_; }
    OutsideMemory& outside() noexcept override { std::abort(); }
    void capture(const TargetThread&, RawSample&) override {}
    std::optional<std::vector<std::byte>> file_of(const Module&) const override { return test::assembly_file({}); }

   private:
    Process process_;
    std::vector<Module> modules_;
    test::PagedMemory memory_;
  };
  const OneImage target;
  const std::uint64_t module = built_.module({}, "C:\\app\\app.dll"), other = built_.module({}, "C:\\app\\b.dll");
  built_.put64(module + 8, 0x1234'0000);
  built_.put64(other + 8, 0x5678'0000);
  RuntimeModules modules(reader(), &target);
  ASSERT_NE(modules.assembly_of(module), nullptr);
  EXPECT_EQ(modules.assembly_of(module)->mvid[0], std::byte{9});
  EXPECT_TRUE(modules.assembly_of(module)->pdb);
  EXPECT_EQ(modules.assembly_of(other), nullptr);
  EXPECT_EQ(modules.without_metadata(), std::vector<std::string>{"b.dll"});
}

TEST_F(RuntimeNamesTest, AssembliesOfModules) {
  const Assembly* const shop = modules().assembly_of(shop_);
  ASSERT_NE(shop, nullptr);
  EXPECT_EQ(shop->path, "C:\\Shop\\Shop.dll");
  EXPECT_EQ(shop->mvid[0], std::byte{9});
  EXPECT_TRUE(shop->optimised);
  EXPECT_TRUE(modules().without_metadata().empty());
}

// Such as one that a program has loaded from bytes: it has no path, and lies in memory as its file does. An assembly
// whose file is missing on this machine has its PDB in a folder of PDBs, or on a symbol server.
TEST_F(RuntimeNamesTest, ThePdbOfAnAssemblyIsNamedByItsImageInMemory) {
  const std::uint64_t module = built_.module({}, ""), base = 0x1234'0000;
  built_.put64(module + 8, base);
  const auto file = test::assembly_file({.pdb_checksum = {'S', 'H', 'A', '2', '5', '6', 0, 1}});
  for (std::size_t i = 0; i < file.size(); ++i) built_.memory.put(base + i, file[i]);
  const Assembly* const assembly = modules().assembly_of(module);
  ASSERT_NE(assembly, nullptr);
  EXPECT_EQ(assembly->path, "");
  ASSERT_TRUE(assembly->pdb);
  EXPECT_EQ(checksums_text(assembly->pdb_checksums), "SHA256:01");
  EXPECT_EQ(assembly->pdb->path, "app.pdb");
  EXPECT_TRUE(assembly->pdb->portable);
  EXPECT_FALSE(modules().assembly_of(shop_)->pdb);
}

TEST_F(RuntimeNamesTest, ThePdbOfAnAssemblyThatTheSystemHasLoaded) {
  const std::uint64_t module = built_.module({}, "C:\\app\\app.dll"), base = 0x1234'0000;
  built_.put64(module + 8, base);
  const auto file = test::assembly_file({});
  for (std::size_t i = 0; i < 0x400; ++i) built_.memory.put(base + i, file[i]);
  for (const std::uint32_t section : {test::ImageBuilder::kCode, test::ImageBuilder::kDebug}) {
    const std::size_t from = test::ImageBuilder::offset_of(file, section);
    for (std::size_t i = 0; i < 0x200; ++i) built_.memory.put(base + section + i, file.at(from + i));
  }
  ASSERT_NE(modules().assembly_of(module), nullptr);
  ASSERT_TRUE(modules().assembly_of(module)->pdb);
  EXPECT_EQ(modules().assembly_of(module)->pdb->path, "app.pdb");
}

TEST_F(RuntimeNamesTest, FieldsByTheirNames) {
  const std::uint64_t orders = built_.type(shop_, kOrders, {cart_});
  built_.fields(native_, {});
  const RuntimeBuilder::Field fields[] = {{1, 8}, {2, RuntimeBuilder::kStatic}, {2, 16}};
  built_.fields(orders, fields, native_);
  const auto found = fields_of_type(reader(), modules(), orders);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "_items");
  EXPECT_EQ(found[0].offset, 16u);
  EXPECT_EQ(found[1].name, "_count");
  EXPECT_EQ(found[1].offset, 24u);
}

TEST_F(RuntimeNamesTest, MethodsOfATypeByTheirNames) {
  const MetadataNames* const metadata = modules().metadata_of(shop_);
  ASSERT_NE(metadata, nullptr);
  EXPECT_EQ(metadata->method_named(0x02000000 | kOrders, "Add"), 0x06000002u);
  EXPECT_EQ(metadata->method_named(0x02000000 | kCart, "Open"), 0x06000005u);
  EXPECT_EQ(metadata->method_named(0x02000000 | kOrders, "Wait"), 0u);
  EXPECT_EQ(metadata->method_named(0x02000063, "Wait"), 0u);
  EXPECT_EQ(metadata->method_named(0x06000002, "Add"), 0u);
}

TEST_F(RuntimeNamesTest, FieldsOfBaseTypesComeFirst) {
  const RuntimeBuilder::Field first[] = {{1, 8}}, second[] = {{2, 16}};
  built_.fields(native_, first);
  built_.fields(cart_, second, native_, 1);
  const auto found = fields_of_type(reader(), modules(), cart_);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0], (ClrField{"_items", 16, 8, 0}));
  EXPECT_EQ(found[1], (ClrField{"_count", 24, 8, 0}));
  built_.put64(native_ + 32, cart_);  // two types that are each other's base
  EXPECT_TRUE(fields_of_type(reader(), modules(), cart_).empty());
}

// The types of values, as signatures name them: a TypeDef, a TypeRef with a modifier before it, a generic type, a type
// parameter.
TEST_F(RuntimeNamesTest, TypesOfValues) {
  test::MetadataBuilder metadata = test::sample_metadata();
  const auto field = [&](std::initializer_list<int> signature) {
    const std::uint32_t blob = metadata.blob(test::ByteWriter().append(signature).bytes());
    return metadata.row(4, test::ByteWriter().u16(1).u16(metadata.text("_value")).u16(blob));
  };
  constexpr int kRange = 2 << 2 | 1;  // TypeRef 2
  const RuntimeBuilder::Field fields[] = {{field({6, 0x11, kLine << 2}), 0, 0x11},
                                          {field({6, 0x1F, kRange, 0x11, kRange}), 8, 0x11},
                                          {field({6, 0x15, 0x11, kRange, 1, 8}), 16, 0x11},
                                          {field({6, 0x13, 0}), 24, 0x11},
                                          {field({6, 0x13, 1}), 32, 0x11},
                                          {field({6, 0x11}), 40, 0x11}};
  const std::uint64_t module = built_.module(metadata.build(), "b.dll");
  const std::uint64_t orders = built_.type(module, kOrders, {cart_});
  built_.put32(orders + 8, 0x0004'0010);  // a generic value type
  built_.fields(orders, fields);
  built_.map_type(module, true, kLine, native_);
  built_.map_type(module, false, 2, 0x4450);
  std::vector<std::uint64_t> types, offsets;
  for (const ClrField& found : fields_of_type(reader(), modules(), orders)) {
    types.push_back(found.type);
    offsets.push_back(found.offset);
  }
  EXPECT_EQ(types, (std::vector<std::uint64_t>{native_, 0x4450, 0x4450, cart_, 0, 0}));
  EXPECT_EQ(offsets, (std::vector<std::uint64_t>{0, 8, 16, 24, 32, 40}));
}

TEST_F(RuntimeNamesTest, FieldsOfAnotherTypeAreRefused) {
  const RuntimeBuilder::Field fields[] = {{1, 8}};
  built_.fields(native_, fields);
  const std::uint64_t type_class = *built_.memory.read_value<std::uint64_t>(native_ + 16);
  const std::uint64_t first = *built_.memory.read_value<std::uint64_t>(type_class + 16);
  built_.put64(first + 8, cart_);
  EXPECT_TRUE(fields_of_type(reader(), modules(), native_).empty());
}

TEST_F(RuntimeNamesTest, ForgedMemoryEnds) {
  EXPECT_EQ(name(0), "");
  EXPECT_EQ(name(RuntimeBuilder::kBegin), "");
  EXPECT_EQ(name(~0ull), "");
  EXPECT_EQ(type_name(0), "");
  EXPECT_EQ(type_name(2), "");
  // A type whose own argument it is, twice: the number of types would double with each level.
  const std::uint64_t orders = built_.type(shop_, kOrders, {cart_, cart_});
  const std::uint64_t dictionaries = *built_.memory.read_value<std::uint64_t>(orders + 40);
  const std::uint64_t own = *built_.memory.read_value<std::uint64_t>(dictionaries);
  built_.put64(own, orders);
  built_.put64(own + 8, orders);
  EXPECT_LT(type_name(orders).size(), 100'000u);
}

// Each of 1,000 types in a name can have a name of 1,000 characters, and each frame of a stack has its own copy.
TEST_F(RuntimeNamesTest, ANameIsCutAtTheLengthOfTheLibrarysNames) {
  test::MetadataBuilder metadata = test::sample_metadata();
  const std::uint32_t text = metadata.text(std::string(1000, 'a') + "`40"), space = metadata.text("");
  const std::uint32_t row = metadata.row(2, test::ByteWriter().u32(0).u16(text).u16(space).u16(0).u16(3).u16(6));
  const std::uint64_t module = built_.module(metadata.build(), "b.dll");
  const std::uint64_t inner = built_.type(module, row), of_it = built_.type(module, row, std::vector(40, inner));
  const std::string name = type_name(built_.type(module, row, std::vector(40, of_it)));
  EXPECT_EQ(name.size(), kMaxNameBytes);
  EXPECT_EQ(name.substr(0, 2003), std::string(1000, 'a') + '<' + std::string(1000, 'a') + "<a");
  const std::string method = names().method(built_.method(of_it, 5)).name;
  EXPECT_EQ(method.size(), kMaxNameBytes);
}

// A profiler or a setting forbids code that was compiled ahead of time.
TEST_F(RuntimeNamesTest, ARuntimeThatCompilesAllMethodsItselfIsCheckedByAName) {
  constexpr std::uint32_t kReadyToRunInfo = 0;  // RuntimeBuilder uses no field there
  test::MetadataBuilder metadata = test::sample_metadata();
  const std::uint32_t name = metadata.text("String"), space = metadata.text("System");
  const std::uint32_t row =
      metadata.row(2, test::ByteWriter().u32(0).u16(name).u16(space).u16(0).u16(3).u16(6));
  const std::uint64_t library = built_.module(metadata.build(), "C:\\CoreLib.dll"), variable = built_.room(8);
  const auto check = [&](std::uint64_t type, bool small_dump = false) {
    ContractDescriptor descriptor = ContractDescriptor::parse(built_.descriptor(), {}).value();
    descriptor.add_global("StringMethodTable", variable);
    descriptor.add_offset("Module", "ReadyToRunInfo", kReadyToRunInfo);
    built_.put64(variable, type);
    const RuntimeReader reader(built_.memory, std::move(descriptor));
    RuntimeModules modules(reader);
    RuntimeNames names(reader, modules);
    return check_runtime(reader, names, small_dump);
  };
  EXPECT_EQ(check(built_.type(library, row)), "");
  EXPECT_EQ(check(cart_), "the runtime's data does not lead to the name of System.String");
  EXPECT_EQ(check(cart_, true), "the runtime's data does not lead to the name of System.String");
  const std::uint64_t unknown = built_.type(built_.module({}, "C:\\Lost.dll"), 2);
  EXPECT_EQ(check(unknown), "the runtime's data does not lead to the name of System.String");
  EXPECT_EQ(check(unknown, true), "");
  built_.put64(library + kReadyToRunInfo, 0x1000);
  EXPECT_EQ(check(built_.type(library, row)), "the runtime's map of code does not lead to System.Private.CoreLib");
}

}  // namespace
}  // namespace mixwalk
