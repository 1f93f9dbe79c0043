// The two functions that google-crc32c calls. The library in its wheel needs libstdc++, which minimal systems do not have;
// without it the package warns at each start, and is a hundred times slower.
#include <cpuid.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

__attribute__((target("sse4.2,crc32"))) static uint32_t by_instruction(uint32_t crc, const uint8_t *data, size_t count) {
  uint64_t state = crc;
  for (; count >= 8; data += 8, count -= 8) {
    uint64_t word;
    memcpy(&word, data, 8);
    state = __builtin_ia32_crc32di(state, word);
  }
  for (; count; data++, count--) state = __builtin_ia32_crc32qi((uint32_t)state, *data);
  return (uint32_t)state;
}

static uint32_t by_bits(uint32_t crc, const uint8_t *data, size_t count) { // before 2008 there was no instruction
  for (; count; data++, count--) {
    crc ^= *data;
    for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (0x82f63b78 & -(crc & 1));
  }
  return crc;
}

static uint32_t (*function)(uint32_t crc, const uint8_t *data, size_t count) = by_bits;

__attribute__((constructor)) static void choose(void) { // __builtin_cpu_supports says no in a library that zig links
  unsigned eax, ebx, ecx, edx;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) && ecx & bit_SSE4_2) function = by_instruction;
}

uint32_t crc32c_extend(uint32_t crc, const uint8_t *data, size_t count) { return ~function(~crc, data, count); }

uint32_t crc32c_value(const uint8_t *data, size_t count) { return crc32c_extend(0, data, count); }
