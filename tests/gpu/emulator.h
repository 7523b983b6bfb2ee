// Runs CUDA C on the CPU, for tests: each thread of a block is a fibre that hands over at barriers
// and at warp operations.
//
// Blocks, warps and threads run in the order that Config::order says, so that code which relies on
// an order gives other results. A barrier that some threads never reach, a warp operation whose
// lanes are elsewhere, and arguments of other sizes are errors. Shared memory is filled with NaN
// before each block. Under -fsanitize=thread fibres are threads to the sanitizer, and only
// barriers, warp operations and atomics order them: it finds races in a block and between blocks.
// Under -fsanitize=address it finds what lies out of bounds. With COUNT_TRAFFIC the compiler's calls
// for the thread sanitizer count the bytes that are loaded and stored, for each array. Not emulated:
// time, weak memory order, alignment of wide loads, limits.
#pragma once
#define CUDA_EMULATOR 1
#include <cmath>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tuple>
#include <type_traits>
#include <ucontext.h>
#include <utility>

#if defined(COUNT_TRAFFIC)
#undef __SANITIZE_THREAD__
#define INTERNAL __attribute__((no_sanitize_thread, noinline)) static
#define UNDER_TSAN(...)
#elif defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
extern "C" {
void __tsan_java_init(unsigned long, unsigned long);
void __tsan_java_alloc(unsigned long, unsigned long);
void __tsan_java_free(unsigned long, unsigned long);
}  // for memory that is new without malloc
#define UNDER_TSAN(...) __VA_ARGS__
#define INTERNAL __attribute__((no_sanitize_thread, noinline)) static
#else
#define UNDER_TSAN(...)
#define INTERNAL __attribute__((noinline)) static
#endif

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __noinline__
#define __restrict__ __restrict
#define __launch_bounds__(...)
#define __shared__ static __attribute__((section("cuda_shared"), used))

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
template <class T, int n>
struct alignas(sizeof(T) * n) emulated_vector;
template <class T>
struct alignas(2 * sizeof(T)) emulated_vector<T, 2> {
  T x, y;
};
template <class T>
struct alignas(4 * sizeof(T) > 16 ? 16 : 4 * sizeof(T)) emulated_vector<T, 4> {
  T x, y, z, w;
};
typedef emulated_vector<float, 2> float2;
typedef emulated_vector<float, 4> float4;
typedef emulated_vector<double, 2> double2;
typedef emulated_vector<int, 2> int2;
typedef emulated_vector<int, 4> int4;
typedef emulated_vector<long long, 2> longlong2;
typedef emulated_vector<unsigned, 2> uint2;
typedef emulated_vector<unsigned, 4> uint4;
typedef emulated_vector<short, 4> short4;

extern "C" char __start_cuda_shared[], __stop_cuda_shared[];

#if defined(COUNT_TRAFFIC)
namespace emulator {
struct Counted {  // an allocation, and the bytes of it that were loaded and stored
  uintptr_t begin, end;
  long long loaded, stored;
};
struct Access {  // of a thread by an instruction
  uintptr_t offset, instruction;
  unsigned allocation, warp, thread, block, bytes, is_store;
};
}  // namespace emulator
extern "C" {
emulator::Counted* traffic = 0;
int traffic_count = 0;
emulator::Access* accesses = 0;  // in order, if there is room for them
long long access_count = 0, access_room = 0;
}
namespace emulator {
INTERNAL unsigned block_number();
INTERNAL unsigned thread_number();
INTERNAL unsigned warp_number();
INTERNAL void count_access(const void* p, size_t n, bool is_store, void* instruction) {
  for (int k = 0; k < traffic_count; k++)
    if ((uintptr_t)p >= traffic[k].begin && (uintptr_t)p < traffic[k].end) {
      (is_store ? traffic[k].stored : traffic[k].loaded) += n;
      if (access_count < access_room)
        accesses[access_count] = {(uintptr_t)p - traffic[k].begin, (uintptr_t)instruction,
                                  (unsigned)k, warp_number(), thread_number(), block_number(),
                                  (unsigned)n, is_store};
      access_count++;
    }
}
}  // namespace emulator
#define HERE __builtin_return_address(0)
#define COUNTED(name, n)                                                                   \
  INTERNAL_CALL void __tsan_read##name(void* p) { emulator::count_access(p, n, false, HERE); }     \
  INTERNAL_CALL void __tsan_write##name(void* p) { emulator::count_access(p, n, true, HERE); }     \
  INTERNAL_CALL void __tsan_unaligned_read##name(void* p) { emulator::count_access(p, n, false, HERE); } \
  INTERNAL_CALL void __tsan_unaligned_write##name(void* p) { emulator::count_access(p, n, true, HERE); }
#define INTERNAL_CALL extern "C" __attribute__((no_sanitize_thread, used))
COUNTED(1, 1)
COUNTED(2, 2)
COUNTED(4, 4)
COUNTED(8, 8)
COUNTED(16, 16)
INTERNAL_CALL void __tsan_read_range(void* p, unsigned long n) { emulator::count_access(p, n, false, HERE); }
INTERNAL_CALL void __tsan_write_range(void* p, unsigned long n) { emulator::count_access(p, n, true, HERE); }
INTERNAL_CALL void __tsan_func_entry(void*) {}
INTERNAL_CALL void __tsan_func_exit() {}
INTERNAL_CALL void __tsan_init() {}
INTERNAL_CALL void __tsan_vptr_update(void**, void*) {}
#define COUNT_ATOMIC(p) \
  (emulator::count_access(p, sizeof *p, false, HERE), emulator::count_access(p, sizeof *p, true, HERE))
#else
#define COUNT_ATOMIC(p)
#endif

namespace emulator {
static __attribute__((section("cuda_shared"), used, aligned(16))) char some_shared[16];
enum State { READY, AT_BLOCK, AT_WARP, AT_GRID, DONE };
struct Thread {
  ucontext_t context;
  char* stack;
  dim3 id, block;
  State state;
  unsigned mask, warp;
  int linear;
  uint64_t slot[2];
  int flag;
#if defined(__SANITIZE_THREAD__)
  void* fibre;
#endif
};
struct Config {
  unsigned grid[3], block[3];
  size_t shared;
  int order;
  unsigned seed;
  int cooperative;
};

static Config config;
static Thread *threads, *now;  // those of all blocks that are alive, and the one that runs
static int count, per_block;
static ucontext_t home;
static char *dynamic_shared, *stacks,
    *kept;  // `kept`: shared memory of blocks that wait for the grid
static char message[512];
static char at_block, at_warp[64], at_start, at_end,
    at_grid;  // addresses that stand for orders in time
static uint64_t random_state;
UNDER_TSAN(static void* main_fibre;)
static const size_t STACK = 1 << 16;

#if defined(COUNT_TRAFFIC)
INTERNAL unsigned block_number() {
  return now->block.x + config.grid[0] * (now->block.y + config.grid[1] * now->block.z);
}
INTERNAL unsigned thread_number() { return block_number() * per_block + now->linear; }
INTERNAL unsigned warp_number() { return block_number() * ((per_block + 31) / 32) + now->warp; }
#endif
INTERNAL unsigned random_below(unsigned n) {
  random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)((random_state >> 33) % n);
}
INTERNAL void arrange(int* order, int n) {  // 0 forward, 1 backward, 2 shuffled
  for (int i = 0; i < n; i++) order[i] = config.order == 1 ? n - 1 - i : i;
  if (config.order == 2)
    for (int i = n - 1; i > 0; i--) {
      int j = random_below(i + 1), t = order[i];
      order[i] = order[j];
      order[j] = t;
    }
}
INTERNAL void fill(char* p, size_t n) {
  for (size_t i = 0; i < n; i++) p[i] = (char)0xff;
}
INTERNAL void copy(void* to, const void* from, size_t n) {
  for (size_t i = 0; i < n; i++) ((char*)to)[i] = ((const char*)from)[i];
}
INTERNAL size_t shared_size() { return __stop_cuda_shared - __start_cuda_shared; }

INTERNAL void hand_over(State state, unsigned mask, char* point) {
  (void)point;
  UNDER_TSAN(__tsan_release(point);)
  now->state = state;
  now->mask = mask;
  Thread* me = now;
  UNDER_TSAN(__tsan_switch_to_fiber(main_fibre, 1);)
  swapcontext(&me->context, &home);
  UNDER_TSAN(__tsan_acquire(point);)
}
INTERNAL dim3 thread_id() { return now->id; }
INTERNAL dim3 block_id() { return now->block; }
INTERNAL dim3 block_dim() { return dim3(config.block[0], config.block[1], config.block[2]); }
INTERNAL dim3 grid_dim() { return dim3(config.grid[0], config.grid[1], config.grid[2]); }
INTERNAL int lane() { return now->linear % 32; }
INTERNAL unsigned full() {
  int left = per_block - now->linear / 32 * 32;
  return left >= 32 ? ~0u : (1u << left) - 1;
}
INTERNAL void sync_block() { hand_over(AT_BLOCK, 0, &at_block); }
INTERNAL void sync_warp(unsigned mask) {
  hand_over(AT_WARP, mask & full(), &at_warp[now->warp % 64]);
}
INTERNAL void sync_grid() { hand_over(AT_GRID, 0, &at_grid); }
INTERNAL void put(const void* v, size_t n) { copy(now->slot, v, n); }
INTERNAL void get(int source, void* v, size_t n) {  // of a lane of this warp; NaN if it is gone
  Thread* t = now - lane() + source;
  if (source < 0 || source > 31 || now->linear / 32 * 32 + source >= per_block || t->state == DONE)
    fill((char*)v, n);
  else
    copy(v, t->slot, n);
}
template <class T>
T exchange(T v, unsigned mask, int source) {
  static_assert(sizeof(T) <= 16, "a number");
  put(&v, sizeof v);
  sync_warp(mask);
  T r;
  get(source, &r, sizeof r);
  sync_warp(mask);
  return r;
}
INTERNAL unsigned votes(int p, unsigned mask) {
  now->flag = p != 0;
  sync_warp(mask);
  unsigned r = 0;
  Thread* first = now - lane();
  for (int i = 0; i < 32 && now->linear / 32 * 32 + i < per_block; i++)
    if (mask >> i & 1 && first[i].state != DONE) r |= (unsigned)first[i].flag << i;
  sync_warp(mask);
  return r;
}
INTERNAL int votes_of_block(int p) {
  now->flag = p != 0;
  sync_block();
  int r = 0;
  Thread* first = now - now->linear;
  for (int i = 0; i < per_block; i++) r += first[i].state != DONE && first[i].flag;
  sync_block();
  return r;
}

typedef void (*Body)(void*);
static Body body;
static void* argument;
static void run_body() {
  UNDER_TSAN(__tsan_acquire(&at_start);) body(argument);
  UNDER_TSAN(__tsan_release(&at_end);)
}
INTERNAL void entry() {
  run_body();
  now->state = DONE;
  UNDER_TSAN(__tsan_switch_to_fiber(main_fibre, 1);)
  swapcontext(&now->context, &home);
}
INTERNAL void begin(Thread* t, int k, dim3 block) {
  unsigned x = config.block[0], y = config.block[1];
  t->linear = k;
  t->warp = k / 32;
  t->state = READY;
  t->block = block;
  t->stack = stacks + (size_t)(t - threads) * STACK;
  t->id = dim3(k % x, k / x % y, k / (x * y));
  UNDER_TSAN(t->fibre = __tsan_create_fiber(0);)
  getcontext(&t->context);
  t->context.uc_stack.ss_sp = t->stack;
  t->context.uc_stack.ss_size = STACK;
  t->context.uc_link = &home;
  makecontext(&t->context, (void (*)())entry, 0);
}
INTERNAL int release_warps(Thread* first) {
  int released = 0;
  for (int k = 0; k < per_block; k++) {
    if (first[k].state != AT_WARP) continue;
    int all = 1;
    for (int i = 0; i < 32 && k / 32 * 32 + i < per_block; i++) {
      Thread* t = first + k / 32 * 32 + i;
      if (first[k].mask >> i & 1 && t->state != DONE &&
          !(t->state == AT_WARP && t->mask == first[k].mask))
        all = 0;
    }
    if (!all) continue;
    for (int i = 0; i < 32 && k / 32 * 32 + i < per_block; i++) {
      Thread* t = first + k / 32 * 32 + i;
      if (first[k].mask >> i & 1 && t != first + k && t->state == AT_WARP) {
        t->state = READY;
        released++;
      }
    }
    first[k].state = READY;
    released++;
  }
  return released;
}
INTERNAL int run_block(Thread* first,
                       int* order) {  // until all its threads are done, or wait for the grid
  for (;;) {
    arrange(order, per_block);
    int number[5] = {0, 0, 0, 0, 0};
    for (int i = 0; i < per_block; i++) {
      Thread* t = first + order[i];
      if (t->state != READY) continue;
      now = t;
      UNDER_TSAN(__tsan_switch_to_fiber(t->fibre, 1);)
      swapcontext(&home, &t->context);
    }
    for (int i = 0; i < per_block; i++) number[first[i].state]++;
    if (number[DONE] == per_block) return 1;
    if (number[READY] || release_warps(first)) continue;
    if (number[AT_BLOCK] == per_block) {
      for (int i = 0; i < per_block; i++)
        if (first[i].state == AT_BLOCK) first[i].state = READY;
      continue;
    }
    if (number[AT_GRID] && number[AT_GRID] + number[DONE] == per_block) return 0;
    dim3 b = first->block;
    snprintf(message, sizeof message,
             "block (%u, %u, %u): %d threads wait at __syncthreads, %d in a warp operation, %d for "
             "the grid, %d are done",
             b.x, b.y, b.z, number[AT_BLOCK], number[AT_WARP], number[AT_GRID], number[DONE]);
    return -1;
  }
}
INTERNAL void prepare_shared(int b) {
  UNDER_TSAN(  // shared memory and stacks of other blocks are none of this one
      static int known = 0;
      unsigned long at = (unsigned long)__start_cuda_shared, size = shared_size() / 8 * 8;
      if (known) __tsan_java_free(at, size); else __tsan_java_init(at, size); known = 1;
      __tsan_java_alloc(at, size); dynamic_shared = (char*)malloc(config.shared + 1);
      stacks = (char*)malloc((size_t)per_block * STACK); __tsan_release(&at_start);)
  fill(__start_cuda_shared, shared_size());
  fill(dynamic_shared, config.shared);
  if (kept) {
    copy(kept + b * (shared_size() + config.shared), __start_cuda_shared, shared_size());
    copy(kept + b * (shared_size() + config.shared) + shared_size(), dynamic_shared, config.shared);
  }
}
INTERNAL void swap_shared(int b, int in) {  // of a block among those that are alive
  if (!kept) return;
  char* mine = kept + b * (shared_size() + config.shared);
  if (in) {
    copy(__start_cuda_shared, mine, shared_size());
    copy(dynamic_shared, mine + shared_size(), config.shared);
  } else {
    copy(mine, __start_cuda_shared, shared_size());
    copy(mine + shared_size(), dynamic_shared, config.shared);
  }
}
INTERNAL int run_blocks(int blocks, const int* which, int* order) {
  for (int b = 0; b < blocks; b++) {
    int k = which[b];
    dim3 id(k % config.grid[0], k / config.grid[0] % config.grid[1],
            k / (config.grid[0] * config.grid[1]));
    prepare_shared(b);
    for (int i = 0; i < per_block; i++) begin(threads + b * per_block + i, i, id);
  }
  for (int waiting = 1; waiting;) {
    waiting = 0;
    for (int b = 0; b < blocks; b++) {
      if (threads[b * per_block].state == DONE && blocks > 1) {
        int left = 0;
        for (int i = 0; i < per_block; i++) left |= threads[b * per_block + i].state != DONE;
        if (!left) continue;
      }
      swap_shared(b, 1);
      int done = run_block(threads + b * per_block, order);
      swap_shared(b, 0);
      if (done < 0) return 0;
      waiting |= !done;
    }
    if (waiting)
      for (int i = 0; i < blocks * per_block; i++)
        if (threads[i].state == AT_GRID) threads[i].state = READY;
  }
  return 1;
}
INTERNAL const char* launch(const Config* c, Body f, void* with) {
  config = *c;
  body = f;
  argument = with;
  message[0] = 0;
  random_state = c->seed * 2654435769u + 1;
  per_block = config.block[0] * config.block[1] * config.block[2];
  int total = config.grid[0] * config.grid[1] * config.grid[2],
      alive = config.cooperative ? total : 1;
  if (per_block < 1 || per_block > 1024) return "a block has 1 to 1024 threads";
  UNDER_TSAN(if (config.cooperative) return "blocks that meet are not for the thread sanitizer";
             if (total * per_block >
                 7000) return "the thread sanitizer knows 7000 threads: launch fewer blocks";)
  threads = (Thread*)calloc((size_t)alive * per_block, sizeof(Thread));
  stacks = (char*)malloc((size_t)alive * per_block * STACK);
  dynamic_shared = (char*)aligned_alloc(256, (config.shared + 511) / 256 * 256);
  kept =
      config.cooperative ? (char*)malloc((size_t)alive * (shared_size() + config.shared) + 1) : 0;
  int *order = (int*)malloc(sizeof(int) * per_block), *which = (int*)malloc(sizeof(int) * total);
  UNDER_TSAN(main_fibre = __tsan_get_current_fiber(); __tsan_release(&at_start);)
  arrange(which, total);
  for (int b = 0; b < total; b += alive)
    if (!run_blocks(alive, which + b, order)) break;
  UNDER_TSAN(__tsan_acquire(&at_end);)
  free(threads);
  free(stacks);
  free(dynamic_shared);
  free(kept);
  free(order);
  free(which);
  return message;
}
// -- a kernel and the addresses of its arguments, as cuLaunchKernel takes them
template <class... A>
struct Call {
  void (*kernel)(A...);
  void** args;
  template <size_t... k>
  void with(std::index_sequence<k...>) {
    kernel(*(std::remove_cv_t<A>*)args[k]...);
  }
  static void run(void* self) { ((Call*)self)->with(std::index_sequence_for<A...>()); }
};
template <class... A>
const char* start(void (*kernel)(A...), const Config* c, void** args, const int* sizes, int n) {
  const int wanted[] = {(int)sizeof(A)..., 0};
  if (n != (int)sizeof...(A)) {
    snprintf(message, sizeof message, "%d arguments, not %d", n, (int)sizeof...(A));
    return message;
  }
  for (int i = 0; i < n; i++)
    if (wanted[i] != sizes[i]) {
      snprintf(message, sizeof message, "argument %d has %d bytes, not %d", i, sizes[i], wanted[i]);
      return message;
    }
  Call<A...> call = {kernel, args};
  return launch(c, Call<A...>::run, &call);
}
}  // namespace emulator

// `name`: of the function that a launch calls; `kernel`: with its namespace
#define EXPORT_KERNEL(name, kernel)                                                              \
  extern "C" const char* name(const emulator::Config* c, void** args, const int* sizes, int n) { \
    return emulator::start(kernel, c, args, sizes, n);                                           \
  }
#define threadIdx (emulator::thread_id())
#define blockIdx (emulator::block_id())
#define blockDim (emulator::block_dim())
#define gridDim (emulator::grid_dim())
#define warpSize 32
#define DYNAMIC_SHARED(T, name) T* name = (T*)emulator::dynamic_shared

static inline void __syncthreads() { emulator::sync_block(); }
static inline int __syncthreads_or(int p) { return emulator::votes_of_block(p) != 0; }
static inline int __syncthreads_and(int p) { return !emulator::votes_of_block(!p); }
static inline int __syncthreads_count(int p) { return emulator::votes_of_block(p); }
static inline void __syncwarp(unsigned mask = ~0u) { emulator::sync_warp(mask); }
static inline void grid_sync() { emulator::sync_grid(); }
static inline unsigned __ballot_sync(unsigned m, int p) { return emulator::votes(p, m); }
static inline int __any_sync(unsigned m, int p) { return emulator::votes(p, m) != 0; }
static inline int __all_sync(unsigned m, int p) { return emulator::votes(!p, m) == 0; }
// width is a power of two: lanes that would be read from another part keep their own value
template <class T>
T __shfl_sync(unsigned m, T v, int from, int w = 32) {
  return emulator::exchange(v, m, emulator::lane() / w * w + from % w);
}
template <class T>
T __shfl_down_sync(unsigned m, T v, unsigned d, int w = 32) {
  int l = emulator::lane(), s = l % w + (int)d < w ? l + (int)d : l;
  return emulator::exchange(v, m, s);
}
template <class T>
T __shfl_up_sync(unsigned m, T v, unsigned d, int w = 32) {
  int l = emulator::lane(), s = l % w >= (int)d ? l - (int)d : l;
  return emulator::exchange(v, m, s);
}
template <class T>
T __shfl_xor_sync(unsigned m, T v, int d, int w = 32) {
  int l = emulator::lane(), s = (l ^ d) / w == l / w ? l ^ d : l;
  return emulator::exchange(v, m, s);
}

template <class T>
using atomic_word = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>;
template <class T, class F>
#if defined(COUNT_TRAFFIC)
__attribute__((no_sanitize_thread, noinline))
#endif
T atomic_update(T* p, F f) {
  COUNT_ATOMIC(p);
  atomic_word<T>*b = (atomic_word<T>*)p, old = __atomic_load_n(b, __ATOMIC_ACQUIRE), next;
  T v, r;
  do {
    memcpy(&v, &old, sizeof v);
    r = f(v);
    memcpy(&next, &r, sizeof r);
  } while (!__atomic_compare_exchange_n(b, &old, next, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
  return v;
}
template <class T, class U>
T atomicAdd(T* p, U v) {
  return atomic_update(p, [=](T x) { return (T)(x + (T)v); });
}
template <class T, class U>
T atomicMax(T* p, U v) {
  return atomic_update(p, [=](T x) { return x > (T)v ? x : (T)v; });
}
template <class T, class U>
T atomicMin(T* p, U v) {
  return atomic_update(p, [=](T x) { return x < (T)v ? x : (T)v; });
}
template <class T, class U>
T atomicExch(T* p, U v) {
  return atomic_update(p, [=](T) { return (T)v; });
}
template <class T, class U>
T atomicOr(T* p, U v) {
  return atomic_update(p, [=](T x) { return (T)(x | (T)v); });
}
template <class T, class U>
T atomicAnd(T* p, U v) {
  return atomic_update(p, [=](T x) { return (T)(x & (T)v); });
}
template <class T, class U, class V>
T atomicCAS(T* p, U c, V v) {
  return atomic_update(p, [=](T x) { return x == (T)c ? (T)v : x; });
}
static inline void __threadfence() {}  // atomics are ordered here, and nothing else is
static inline void __threadfence_block() { __threadfence(); }
static inline void __threadfence_system() { __threadfence(); }
template <class T>
T __ldg(const T* p) {
  return *p;
}
template <class T>
T __ldcs(const T* p) {
  return *p;
}
template <class T>
void __stcs(T* p, T v) {
  *p = v;
}
static inline double rsqrt(double x) { return 1 / sqrt(x); }
static inline float rsqrtf(float x) { return 1 / sqrtf(x); }
static inline float __int_as_float(int x) {
  float r;
  memcpy(&r, &x, 4);
  return r;
}
static inline int __float_as_int(float x) {
  int r;
  memcpy(&r, &x, 4);
  return r;
}
static inline double __longlong_as_double(long long x) {
  double r;
  memcpy(&r, &x, 8);
  return r;
}
static inline long long __double_as_longlong(double x) {
  long long r;
  memcpy(&r, &x, 8);
  return r;
}

static inline float __uint_as_float(unsigned x) {
  float r;
  memcpy(&r, &x, 4);
  return r;
}
static inline unsigned __float_as_uint(float x) {
  unsigned r;
  memcpy(&r, &x, 4);
  return r;
}
template <class T>
T __ldcg(const T* p) {
  return *p;
}
template <class T>
T __ldca(const T* p) {
  return *p;
}
template <class T>
void __stcg(T* p, T v) {
  *p = v;
}
static inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
static inline float2 make_float2(float x, float y) { return {x, y}; }
static inline double2 make_double2(double x, double y) { return {x, y}; }
static inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline unsigned __umulhi(unsigned x, unsigned y) { return (unsigned long long)x * y >> 32; }
static inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return (unsigned __int128)x * y >> 64;
}
template <class T>
T max(T a, T b) {
  return a > b ? a : b;
}
template <class T>
T min(T a, T b) {
  return a < b ? a : b;
}
using std::isfinite;
using std::isinf;
using std::isnan;
using std::signbit;
