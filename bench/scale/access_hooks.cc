// SPDX-License-Identifier: BSD-3-Clause
// access_hooks.cc - the functions that code compiled with -fsanitize=thread calls before each
// access to memory, and for each atomic operation; and memcpy, memmove, memset of that code
// (--wrap). Here they tell the simulation, and do what ThreadSanitizer's own would do. This file is
// compiled without the option.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "scale/simulation.h"

using nagaya::bench::scale::Simulation;

namespace {

// Simulated accesses of code that runs in a member; else nothing.
void load(const volatile void* address, size_t bytes) {
  if (auto* const simulation = Simulation::current())
    simulation->load(const_cast<const void*>(address), bytes);
}
void store(volatile void* address, size_t bytes) {
  if (auto* const simulation = Simulation::current())
    simulation->store(const_cast<void*>(address), bytes);
}
void update(volatile void* address) {
  if (auto* const simulation = Simulation::current())
    simulation->update(const_cast<void*>(address));
}

}  // namespace

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void** address, void*) {
  store(address, sizeof(void*));
}
void __tsan_vptr_read(void** address) {
  load(address, sizeof(void*));
}
void __tsan_read_range(void* address, size_t bytes) {
  load(address, bytes);
}
void __tsan_write_range(void* address, size_t bytes) {
  store(address, bytes);
}

#define NAGAYA_PLAIN(bytes)                           \
  void __tsan_read##bytes(void* address) {            \
    load(address, bytes);                             \
  }                                                   \
  void __tsan_write##bytes(void* address) {           \
    store(address, bytes);                            \
  }                                                   \
  void __tsan_unaligned_read##bytes(void* address) {  \
    load(address, bytes);                             \
  }                                                   \
  void __tsan_unaligned_write##bytes(void* address) { \
    store(address, bytes);                            \
  }                                                   \
  void __tsan_volatile_read##bytes(void* address) {   \
    load(address, bytes);                             \
  }                                                   \
  void __tsan_volatile_write##bytes(void* address) {  \
    store(address, bytes);                            \
  }
NAGAYA_PLAIN(1)
NAGAYA_PLAIN(2)
NAGAYA_PLAIN(4)
NAGAYA_PLAIN(8)
NAGAYA_PLAIN(16)
#undef NAGAYA_PLAIN

#define NAGAYA_CHANGE(bits, type, name, builtin)                               \
  type __tsan_atomic##bits##_##name(volatile type* address, type value, int) { \
    update(address);                                                           \
    return builtin(address, value, __ATOMIC_SEQ_CST);                          \
  }
#define NAGAYA_ATOMIC(bits, type)                                                           \
  type __tsan_atomic##bits##_load(const volatile type* address, int) {                      \
    load(address, sizeof(type));                                                            \
    return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                      \
  }                                                                                         \
  void __tsan_atomic##bits##_store(volatile type* address, type value, int order) {         \
    order == __ATOMIC_SEQ_CST ? update(address) : store(address, sizeof(type));             \
    __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                     \
  }                                                                                         \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile type* address, type* expected, \
                                                    type value, int, int) {                 \
    update(address);                                                                        \
    return __atomic_compare_exchange_n(address, expected, value, false, __ATOMIC_SEQ_CST,   \
                                       __ATOMIC_SEQ_CST);                                   \
  }                                                                                         \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile type* address, type* expected,   \
                                                  type value, int, int) {                   \
    return __tsan_atomic##bits##_compare_exchange_strong(address, expected, value, 0, 0);   \
  }                                                                                         \
  type __tsan_atomic##bits##_compare_exchange_val(volatile type* address, type expected,    \
                                                  type value, int, int) {                   \
    __tsan_atomic##bits##_compare_exchange_strong(address, &expected, value, 0, 0);         \
    return expected;                                                                        \
  }                                                                                         \
  NAGAYA_CHANGE(bits, type, exchange, __atomic_exchange_n)                                  \
  NAGAYA_CHANGE(bits, type, fetch_add, __atomic_fetch_add)                                  \
  NAGAYA_CHANGE(bits, type, fetch_sub, __atomic_fetch_sub)                                  \
  NAGAYA_CHANGE(bits, type, fetch_and, __atomic_fetch_and)                                  \
  NAGAYA_CHANGE(bits, type, fetch_or, __atomic_fetch_or)                                    \
  NAGAYA_CHANGE(bits, type, fetch_xor, __atomic_fetch_xor)
NAGAYA_ATOMIC(8, uint8_t)
NAGAYA_ATOMIC(16, uint16_t)
NAGAYA_ATOMIC(32, uint32_t)
NAGAYA_ATOMIC(64, uint64_t)
#undef NAGAYA_ATOMIC
#undef NAGAYA_CHANGE

void __tsan_atomic_thread_fence(int) {
  if (auto* const simulation = Simulation::current()) simulation->fence();
}
void __tsan_atomic_signal_fence(int) {}

void* __real_memcpy(void* to, const void* from, size_t bytes);
void* __real_memmove(void* to, const void* from, size_t bytes);
void* __real_memset(void* to, int byte, size_t bytes);

void* __wrap_memmove(void* to, const void* from, size_t bytes) {
  if (auto* const simulation = Simulation::current()) simulation->copy(to, from, bytes);
  return __real_memmove(to, from, bytes);
}
void* __wrap_memcpy(void* to, const void* from, size_t bytes) {
  return __wrap_memmove(to, from, bytes);
}
void* __wrap_memset(void* to, int byte, size_t bytes) {
  store(to, bytes);
  return __real_memset(to, byte, bytes);
}

}  // extern "C"

// Each member has a heap of its own, as a task has: a block that one member has freed goes to the
// same member again. Blocks have lines of their own.
namespace {

constexpr size_t kHeaderBytes = 256;  // in front of a block; the longest line of a machine
constexpr uint32_t kHost = nagaya::bench::scale::kCoresMax, kClasses = 48;

struct Header {
  Header* next;
  uint32_t owner, size_class;
};
Header* free_blocks[kHost + 1][kClasses];

}  // namespace

void* operator new(size_t bytes) {
  auto* const simulation = Simulation::current();
  const uint32_t owner = simulation != nullptr ? simulation->member() % kHost : kHost;
  const auto size_class = static_cast<uint32_t>(std::bit_width(bytes / kHeaderBytes));
  Header*& first = free_blocks[owner][size_class];
  Header* block = first;
  if (block != nullptr)
    first = block->next;
  else
    block = static_cast<Header*>(
        std::aligned_alloc(kHeaderBytes, kHeaderBytes + (kHeaderBytes << size_class)));
  if (block == nullptr) throw std::bad_alloc();
  block->owner = owner;
  block->size_class = size_class;
  return reinterpret_cast<std::byte*>(block) + kHeaderBytes;
}
void operator delete(void* memory) noexcept {
  if (memory == nullptr) return;
  auto* const block = reinterpret_cast<Header*>(static_cast<std::byte*>(memory) - kHeaderBytes);
  block->next = free_blocks[block->owner][block->size_class];
  free_blocks[block->owner][block->size_class] = block;
}
void operator delete(void* memory, size_t) noexcept {
  ::operator delete(memory);
}
