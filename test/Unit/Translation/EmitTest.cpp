//===- EmitTest.cpp - What is said where code or metadata cannot be had ---===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "shardc/Translation/Artifact.h"
#include "shardc/Translation/DeviceImage.h"
#include "shardc/Translation/ObjectFile.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <cstring>

using namespace mlir;
using namespace shardc;

namespace {
class Emit : public testing::Test {
protected:
  Emit() {
    DialectRegistry registry;
    registerObjectFileDialects(registry);
    registry.insert<func::FuncDialect, gpu::GPUDialect, arith::ArithDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  OwningOpRef<ModuleOp> parse(StringRef text) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    return module;
  }

  /// An object of a module of the LLVM dialect for `arch`; what is said in
  /// `message` where there is none.
  std::string emit(StringRef text, StringRef arch = "native") {
    ScopedDiagnosticHandler keeper(&context, [&](Diagnostic &diagnostic) {
      message += diagnostic.str() + "\n";
      return success();
    });
    OwningOpRef<ModuleOp> module = parse(text);
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream out(bytes);
    if (failed(emitObjectFile(*module, arch, out)))
      return "";
    return {bytes.begin(), bytes.end()};
  }

  MLIRContext context;
  std::string message;
};

/// What every artifact exports, with metadata that no NUL ends.
constexpr StringRef exports = R"mlir(
  llvm.mlir.global external constant @shardc_metadata("{}") {section = "alone"}
  llvm.mlir.global external constant @shardc_sites(0 : i64) : i64
  llvm.mlir.global external constant @shardc_sites_length(0 : i64) : i64
  llvm.mlir.global external constant @shardc_strings(0 : i64) : i64
  llvm.mlir.global external constant @shardc_strings_length(0 : i64) : i64
  llvm.func @shardc_main() {
    llvm.return
  }
)mlir";

/// Lets `change` change the symbol of the metadata in an ELF file of 64 bits.
template <typename Change>
std::string withSymbol(std::string object, Change change) {
  using namespace llvm::ELF;
  Elf64_Ehdr header;
  std::memcpy(&header, object.data(), sizeof(header));
  auto section = [&](size_t number) {
    Elf64_Shdr found;
    std::memcpy(&found,
                object.data() + header.e_shoff + number * header.e_shentsize,
                sizeof(found));
    return found;
  };
  for (size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr table = section(i);
    if (table.sh_type != SHT_SYMTAB)
      continue;
    Elf64_Shdr names = section(table.sh_link);
    for (size_t at = 0; at < table.sh_size; at += sizeof(Elf64_Sym)) {
      char *place = object.data() + table.sh_offset + at;
      Elf64_Sym symbol;
      std::memcpy(&symbol, place, sizeof(symbol));
      if (StringRef(object.data() + names.sh_offset + symbol.st_name) !=
          "shardc_metadata")
        continue;
      change(symbol);
      std::memcpy(place, &symbol, sizeof(symbol));
      return object;
    }
  }
  ADD_FAILURE() << "no such symbol";
  return object;
}

std::string whyOf(StringRef code) {
  llvm::Expected<ProgramMetadata> metadata = readArtifactMetadata(code);
  return metadata ? "" : llvm::toString(metadata.takeError());
}
} // namespace

TEST_F(Emit, MetadataThatIsNowhere) {
  std::string object = emit(exports);
  ASSERT_NE(object, "") << message;
  EXPECT_EQ(whyOf(object), "metadata does not end");
  EXPECT_EQ(whyOf(withSymbol(object,
                             [](llvm::ELF::Elf64_Sym &symbol) {
                               symbol.st_value = 1 << 20;
                             })),
            "metadata is outside its section");
  EXPECT_EQ(whyOf(withSymbol(object,
                             [](llvm::ELF::Elf64_Sym &symbol) {
                               symbol.st_shndx = llvm::ELF::SHN_ABS;
                             })),
            "metadata is in no section");
}

TEST_F(Emit, CpusThatAreNone) {
  EXPECT_EQ(emit(exports, "abacus"), "");
  EXPECT_EQ(message, "unknown CPU 'abacus'; expected 'native', a level such as "
                     "'x86-64-v3', or a CPU's name as LLVM spells it\n");
}

TEST_F(Emit, OtherDialects) {
  EXPECT_EQ(emit("func.func @f() { return }"), "");
  EXPECT_NE(message.find("cannot translate to LLVM IR; expected the LLVM "
                         "dialect alone\n"),
            std::string::npos)
      << message;
}

TEST_F(Emit, KernelsThatAreNone) {
  ScopedDiagnosticHandler keeper(&context, [&](Diagnostic &diagnostic) {
    message += diagnostic.str() + "\n";
    return success();
  });
  OwningOpRef<ModuleOp> none = parse("module {}");
  EXPECT_TRUE(failed(emitDeviceImage(*none, "", DeviceImageKind::Ptx)));
  EXPECT_EQ(message, "has no kernels: no gpu.module @shardc_kernels\n");
  message.clear();
  OwningOpRef<ModuleOp> other =
      parse("module { gpu.module @shardc_kernels { func.func @f(%x: i32) -> "
            "i32 { %0 = arith.addi %x, %x : i32 return %0 : i32 } } }");
  EXPECT_TRUE(failed(emitDeviceImage(*other, "", DeviceImageKind::Ptx)));
  EXPECT_NE(message.find("cannot translate kernels to LLVM IR; expected the "
                         "NVVM and LLVM dialects alone\n"),
            std::string::npos)
      << message;
}

TEST_F(Emit, WhatIsLinkedCutShort) {
  setLinker([](StringRef) -> llvm::Expected<std::string> {
    return std::string("\x7f"
                       "ELF");
  });
  llvm::Expected<std::string> linked = linkSharedObject("");
  setLinker({});
  ASSERT_FALSE(bool(linked));
  EXPECT_EQ(llvm::toString(linked.takeError()),
            "linking failed: what was linked is cut short");
}

/// Assembly of a sum of `count` numbers, one after the other.
static std::string sumOf(MLIRContext &context, int64_t count) {
  std::string text = R"mlir(
    llvm.func @sum(%x: !llvm.ptr) -> f32 {
      %zero = llvm.mlir.constant(0.0 : f32) : f32
      %first = llvm.mlir.constant(0 : i64) : i64
      %one = llvm.mlir.constant(1 : i64) : i64
      %count = llvm.mlir.constant(COUNT : i64) : i64
      llvm.br ^loop(%first, %zero : i64, f32)
    ^loop(%i: i64, %before: f32):
      %at = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %element = llvm.load %at : !llvm.ptr -> f32
      %after = llvm.fadd %before, %element : f32
      %next = llvm.add %i, %one : i64
      %more = llvm.icmp "slt" %next, %count : i64
      llvm.cond_br %more, ^loop(%next, %after : i64, f32), ^end
    ^end:
      llvm.return %after : f32
    })mlir";
  text.replace(text.find("COUNT"), 5, std::to_string(count));
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  EXPECT_TRUE(module && succeeded(emitAssembly(*module, "native", out)));
  return {bytes.begin(), bytes.end()};
}

// To find registers for what runs for less than a call takes would take longer
// than thousands of runs of it.
TEST_F(Emit, WhatIsOverAtOnceMayLieInMemory) {
  auto isInMemory = [](const std::string &assembly) {
    return assembly.find("(%rsp)") != std::string::npos;
  };
  EXPECT_TRUE(isInMemory(sumOf(context, 4)));
  EXPECT_FALSE(isInMemory(sumOf(context, 4096)));
}
