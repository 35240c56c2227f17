#include "walker/session/program_file.h"

#include <gtest/gtest.h>

#include "tests/builders/image_builder.h"

namespace mixwalk {
namespace {

using test::ImageBuilder;
using File = std::vector<std::byte>;

// The builder makes libraries.
File program(const ImageBuilder& image) {
  File file = image.build();
  ImageBuilder::put16(file, ImageBuilder::kPeAt + 22, 0x22);
  return file;
}

File text_file(std::string_view text) {
  File file;
  for (const char c : text) file.push_back(std::byte(c));
  return file;
}

// An x64 program that is changed into one for another machine.
File for_machine(std::uint16_t machine) {
  File file = program(ImageBuilder());
  ImageBuilder::put16(file, ImageBuilder::kMachineAt, machine);
  return file;
}

// A 32-bit image, with a CLI header whose flags are these. (The tables of PE32 lie 16 bytes lower than those of PE32+.)
File managed32(std::uint32_t flags) {
  File file = program(ImageBuilder().clr(false));
  const std::size_t header = ImageBuilder::offset_of(file, ImageBuilder::kClr);
  ImageBuilder::put16(file, ImageBuilder::kMachineAt, 0x14C);
  ImageBuilder::put16(file, ImageBuilder::kMagicAt, 0x10B);
  ImageBuilder::put32(file, ImageBuilder::kDirectoriesAt - 16 + 14 * 8, ImageBuilder::kClr);
  ImageBuilder::put32(file, header + 16, flags);
  return file;
}

std::string refusal(const File& file, ExitCode code, const std::string& path = "C:\\apps\\a.exe") {
  const auto failure = program_refusal(path, file);
  if (!failure) return {};
  EXPECT_EQ(failure->code, code) << failure->message;
  return failure->message;
}

void expect_none(const File& file, const std::string& path = "C:\\apps\\a.exe") {
  const auto failure = program_refusal(path, file);
  EXPECT_FALSE(failure) << failure->message;
}

TEST(ProgramRefusal, NoneOfAProgramForX64) {
  expect_none(program(ImageBuilder().export_name("DotNetRuntimeInfo", ImageBuilder::kData)));
  expect_none(program(ImageBuilder().clr(false)));
}

TEST(ProgramRefusal, OfAnotherProcessor) {
  EXPECT_EQ(refusal(for_machine(0x14C), ExitCode::wrong_bitness),
            "\"a.exe\" is a 32-bit program; mixwalk walks x64 only (if it starts the .NET program, give that program's "
            "id with -p)");
  EXPECT_NE(refusal(for_machine(0x1C4), ExitCode::wrong_bitness).find("is a 32-bit program"), std::string::npos);
  EXPECT_EQ(refusal(for_machine(0xAA64), ExitCode::wrong_bitness),
            "\"a.exe\" is a program for ARM64; mixwalk walks x64 only");
}

// A program of .NET Framework for "any processor" is a PE32 file, and runs as x64.
TEST(ProgramRefusal, OfDotNetFrameworkOnlyIfItNeeds32Bits) {
  expect_none(managed32(1));
  EXPECT_NE(refusal(managed32(1 | 2), ExitCode::wrong_bitness), "");
  EXPECT_NE(refusal(managed32(1 | 2 | 0x20000), ExitCode::wrong_bitness), "") << "32 bits preferred";
}

TEST(ProgramRefusal, OfALibrary) {
  EXPECT_EQ(refusal(ImageBuilder().clr(false).build(), ExitCode::not_launched, "D:\\orders.dll"),
            "\"orders.dll\" is a .NET library, not a program: start it with -- dotnet orders.dll");
}

// The compiler of .NET does not mark the .dll of a program as a library.
TEST(ProgramRefusal, OfTheDllOfAProgram) {
  EXPECT_EQ(refusal(program(ImageBuilder().clr(false)), ExitCode::not_launched, "D:\\orders.DLL"),
            "\"orders.DLL\" is a .NET library, not a program: start it with -- dotnet orders.DLL");
}

TEST(ProgramRefusal, OfATextFile) {
  EXPECT_EQ(refusal(text_file("# Exports"), ExitCode::not_launched, "C:\\a.md"),
            "\"a.md\" is a text file, not a program: name an .exe");
}

TEST(ProgramRefusal, OfNativeAot) {
  const File file = program(ImageBuilder().export_name("DotNetRuntimeDebugHeader", ImageBuilder::kData));
  EXPECT_NE(refusal(file, ExitCode::refused).find("is a NativeAOT program"), std::string::npos);
}

TEST(ProgramRefusal, OfAScript) {
  EXPECT_EQ(refusal(text_file("@echo off"), ExitCode::not_launched, "C:\\run.CMD"),
            "\"run.CMD\" is a script: name the program that it starts, or if it starts the .NET program, give that "
            "program's id with -p");
  EXPECT_NE(refusal(text_file("#!/bin/sh"), ExitCode::not_launched, "C:\\run"), "");
  EXPECT_NE(refusal(text_file("Start-Sleep 1"), ExitCode::not_launched, "run.ps1"), "");
}

// What Windows itself refuses is left to it.
TEST(ProgramRefusal, NoneOfWhatIsNoImage) {
  for (const std::string_view text : {"", "M", "MZ", "\x01\x02"}) expect_none(text_file(text));
}

TEST(ProgramRefusal, ReadsNothingBehindTheEnd) {
  for (const File& whole : {managed32(2), program(ImageBuilder().export_name("DotNetRuntimeDebugHeader", 0x3000))}) {
    for (std::size_t size = 0; size < whole.size(); size += 7) {
      program_refusal("a.exe", File(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    }
  }
}

}  // namespace
}  // namespace mixwalk
