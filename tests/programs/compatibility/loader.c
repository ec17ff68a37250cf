// SPDX-License-Identifier: BSD-3-Clause
// Acts of programs that load libraries while they run. The libraries are beside the program.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include "acts.h"

static void* open_beside(const char* name, int flags) {
  void* library = dlopen(name, flags);
  if (library == NULL) printf("%s\n", dlerror());
  EXPECT(library != NULL);
  return library;
}

static int call(void* library, const char* name) {
  int (*function)(void);
  *(void**)&function = dlsym(library, name);
  EXPECT(function != NULL);
  return function();
}

// A second libc and a second copy of the library, in a namespace of their own.
static void namespaces(void) {
  void* first = open_beside("libcounter.so", RTLD_NOW | RTLD_LOCAL);
  void* second = dlmopen(LM_ID_NEWLM, "libcounter.so", RTLD_NOW | RTLD_LOCAL);
  EXPECT(second != NULL);
  for (int n = 0; n < 3; ++n) call(first, "counter_next");
  printf("first %d, second %d\n", call(first, "counter_next"), call(second, "counter_next"));
  printf("allocated %d %d\n", call(first, "counter_allocates"), call(second, "counter_allocates"));
  EXPECT(dlclose(second) == 0);
}

static void* next_in_thread(void* library) {
  return (void*)(long)(call(library, "counter_next") * 1000 + call(library, "counter_of_thread"));
}

// The library's thread-local data in threads that were there before it and that came after.
static void thread_local_data(void) {
  for (int round = 0; round < 3; ++round) {
    void* library = open_beside("libcounter.so", RTLD_NOW | RTLD_LOCAL);
    pthread_t thread;
    void* result;
    call(library, "counter_of_thread");
    EXPECT(pthread_create(&thread, NULL, next_in_thread, library) == 0);
    EXPECT(pthread_join(thread, &result) == 0);
    printf("thread %ld, main %d\n", (long)result, call(library, "counter_of_thread"));
    EXPECT(dlclose(library) == 0);
  }
}

// Linked into the static block that exists already: there is a surplus for such libraries.
static void initial_exec(void) {
  void* library = open_beside("libinitial.so", RTLD_NOW | RTLD_LOCAL);
  printf("own %d\n", call(library, "counter_of_thread"));
  printf("own %d\n", call(library, "counter_of_thread"));
}

static void exceptions(void) {
  void* library = open_beside("libcatches.so", RTLD_NOW | RTLD_LOCAL);
  printf("caught %d\n", call(library, "catches"));
}

// Since glibc 2.41 refused everywhere.
static void executable_stack(void) {
  void* library = dlopen("libexecstack.so", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL)
    printf("%s\n", dlerror());
  else
    printf("next %d\n", call(library, "counter_next"));
}

static void many_times(void) {
  int sum = 0;
  for (int n = 0; n < 200; ++n) {
    void* library = open_beside(n % 2 ? "libcounter.so" : "libinitial.so", RTLD_LAZY | RTLD_LOCAL);
    sum += call(library, "counter_next");
    EXPECT(dlclose(library) == 0);
  }
  printf("sum %d\n", sum);
}

int main(int argc, char** argv) {
  static const Act acts[] = {{"dlmopen", namespaces},
                             {"tls", thread_local_data},
                             {"initial_exec", initial_exec},
                             {"exceptions", exceptions},
                             {"execstack", executable_stack},
                             {"many_times", many_times},
                             {NULL, NULL}};
  return perform_chosen(acts, argc, argv);
}
