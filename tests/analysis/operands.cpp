// Print instructions and the registers that LLVM's operand tables give for them; made operands.tsv.gz.
//
//   g++ -std=c++17 -fno-rtti -I/usr/include/llvm-22 -I/usr/include/llvm-c-22 operands.cpp -lLLVM-22 -o operands
//   ./operands gfx1201 +real-true16 SEED TRIES     text, written, read and LLVM's name of each form, by tabs
//   ./operands gfx1201 +real-true16 < CODE         their sizes and the same of functions: their lengths, 4 bytes, and bytes
//
// Random words may stop the printer of LLVM: run several seeds.
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrAnalysis.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include <cstdio>
#include <cstring>
#include <iostream>
#include <iterator>
#include <map>
#include <random>
#include <regex>
#include <set>
#include <string>
#include <vector>
using namespace llvm;
using Names = std::set<std::string>;
extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTarget();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUDisassembler();
}

const uint32_t ENCODINGS[] = {0xd4000000, 0xd0000000, 0xcc000000, 0xd8000000, 0xdc000000, 0xe0000000, 0xbe800000,
                              0xb0000000, 0x7e000000, 0x7c000000, 0xbf000000, 0xc8000000, 0xec000000, 0xc0000000,
                              0xee000000, 0xd3000000, 0xf4000000, 0x80000000, 0xcf000000};

int main(int count, char **words) {
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTarget();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUDisassembler();
  Triple triple("amdgcn-amd-amdhsa");
  std::string error;
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  MCTargetOptions options;
  std::unique_ptr<MCRegisterInfo> registers(target->createMCRegInfo(triple));
  std::unique_ptr<MCAsmInfo> assembly(target->createMCAsmInfo(*registers, triple, options));
  std::unique_ptr<MCInstrInfo> table(target->createMCInstrInfo());
  std::unique_ptr<MCSubtargetInfo> gpu(target->createMCSubtargetInfo(triple, words[1], words[2]));
  MCContext context(triple, assembly.get(), registers.get(), gpu.get());
  std::unique_ptr<MCDisassembler> decoder(target->createMCDisassembler(*gpu, context));
  std::unique_ptr<MCInstPrinter> printer(target->createMCInstPrinter(triple, 0, *assembly, *table, *registers));
  const std::regex single("^([VSA])GPR(\\d+)(_LO16|_HI16)?$"), special("^(VCC|EXEC|SCC|M0)(_.*)?$");
  auto add = [&](MCRegister wanted, Names &to) {
    if (!wanted) return;
    for (MCPhysReg part : registers->subregs_inclusive(wanted)) {
      std::string name = registers->getName(part);
      std::smatch found;
      if (std::regex_match(name, found, single)) to.insert(char(tolower(name[0])) + found[2].str());
      else if (std::regex_match(name, found, special)) {
        std::string lower;
        for (char one : found[1].str()) lower += char(tolower(one));
        to.insert(lower);
      }
    }
  };
  auto text_of = [&](const MCInst &one) {
    std::string text;
    raw_string_ostream stream(text);
    printer->printInst(&one, 0, "", *gpu, stream);
    for (auto &letter : text) if (letter == '\t') letter = ' ';
    return text;
  };
  auto print = [&](const MCInst &one, const std::string &text) {
    const MCInstrDesc &form = table->get(one.getOpcode());
    Names written, read;
    auto register_of = [&](unsigned at) { return at < one.size() && one.getOperand(at).isReg() ? one.getOperand(at).getReg() : MCRegister(); };
    for (unsigned at = 0; at < one.size(); at++) add(register_of(at), at < form.getNumDefs() ? written : read);
    for (unsigned at = 0; at < form.getNumOperands(); at++) {
      int same = form.getOperandConstraint(at, MCOI::TIED_TO);
      if (same >= 0) add(register_of(same), read);
    }
    for (auto reg : form.implicit_defs()) add(reg, written);
    for (auto reg : form.implicit_uses()) add(reg, read);
    printf("%s\t", text.c_str());
    for (auto *names : {&written, &read}) {
      for (auto &reg : *names) printf("%s ", reg.c_str());
      printf("\t");
    }
    printf("%s\n", table->getName(one.getOpcode()).str().c_str());
  };
  if (count == 3) { // tests/support/register_errors.py asks so
    std::unique_ptr<MCInstrAnalysis> state(target->createMCInstrAnalysis(table.get()));
    printer->setMCInstrAnalysis(state.get());
    uint32_t length;
    while (std::cin.read((char *)&length, sizeof length)) {
      std::vector<uint8_t> code(length);
      std::cin.read((char *)code.data(), length);
      state->resetState();
      for (uint64_t at = 0, size = 0; at < length; at += size) {
        MCInst one;
        bool is_known = decoder->getInstruction(one, size, ArrayRef(code).slice(at), at, nulls()) != MCDisassembler::Fail;
        if (!is_known) size = 4;
        printf("%d\t", int(size));
        if (is_known) print(one, text_of(one)), state->updateState(one, at);
        else printf("\n");
      }
      printf("\n");
    }
    return 0;
  }
  std::mt19937_64 random(atoi(words[3]));
  std::map<std::string, int> seen;
  for (long i = 0; i < atol(words[4]); i++) {
    uint32_t code[5];
    for (auto &word : code) word = random();
    if (i % 2) code[0] &= ~0x8000u, code[1] &= 0x07ffffff;  // few modifiers
    if (i % 4 < 3) {
      uint32_t encoding = ENCODINGS[random() % std::size(ENCODINGS)];
      bool is_long = encoding == 0xbe800000 || encoding == 0xbf000000;
      code[0] = encoding | (code[0] & ~(is_long ? 0xff800000 : 0xfc000000));
    }
    uint8_t bytes[20];
    memcpy(bytes, code, sizeof bytes);
    MCInst one;
    uint64_t size;
    if (decoder->getInstruction(one, size, bytes, 0, nulls()) != MCDisassembler::Success) continue;
    auto name = table->getName(one.getOpcode());
    if (name.starts_with("IMAGE") || seen[name.str()]++ >= 2) continue;
    std::string text = text_of(one);
    if (text.find("Invalid") != std::string::npos) continue;
    print(one, text);
    fflush(stdout);
  }
}
