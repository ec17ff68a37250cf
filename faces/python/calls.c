/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c - the module nagaya._calls: short calls of the package, which take 2 to 3 us by ctypes
 * and a tenth of that here.
 *
 * It is a fast way beside the package's own: each function returns None if an argument is not of
 * the common kind (a contiguous numpy array of numbers), and has done nothing then. Its caller in
 * the package goes on by ctypes, and raises what there is to raise.
 *
 * Written for the stable ABI of Python 3.9: one file for all later Pythons. It calls the libnagaya
 * that _library.py has loaded before. Threads: the functions hold the GIL, but not while a
 * collective starts and is waited for. Death of a task: that of the functions of libnagaya. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "nagaya/coll.h"
#include "nagaya/llcl.h"
#include "nagaya/task.h"

/* ---- arrays ------------------------------------------------------------------------------------
 */

/* The buffer protocol is in the stable ABI since Python 3.11; the earlier releases have the same
 * structure, functions and numbers. */
typedef struct bytes_of_array {
  void* buf;
  PyObject* obj;
  Py_ssize_t len, itemsize;
  int readonly, ndim;
  char* format;
  Py_ssize_t *shape, *strides, *suboffsets;
  void* internal;
} bytes_of_array;
extern int PyObject_GetBuffer(PyObject* object, bytes_of_array* view, int flags);
extern void PyBuffer_Release(bytes_of_array* view);
enum { kWritable = 0x1, kFormat = 0x4, kStrides = 0x18, kContiguous = 0x20 | kStrides };

typedef struct module_state {
  PyTypeObject* ndarray;
} module_state;

/* Opens an array of numbers. Returns 0 if it is of another kind. */
static int open_array(PyObject* module, PyObject* array, int flags, bytes_of_array* view) {
  const module_state* const state = PyModule_GetState(module);
  if (Py_TYPE(array) != state->ndarray) return 0;
  if (PyObject_GetBuffer(array, view, kFormat | flags) != 0) return PyErr_Clear(), 0;
  const int has_numbers = strlen(view->format) <= 2 && strchr(view->format, 'O') == NULL;
  if (has_numbers && view->len != 0) return 1;
  PyBuffer_Release(view);
  return 0;
}

/* Reads an int. Returns 0 if the object is none, or does not fit. */
static int read_int(PyObject* object, int64_t* value) {
  if (!PyLong_Check(object)) return 0;
  *value = PyLong_AsLongLong(object);
  if (*value != -1 || PyErr_Occurred() == NULL) return 1;
  return PyErr_Clear(), 0;
}

/* ---- collectives -------------------------------------------------------------------------------
 */

/* _Call of _collectives.py. */
typedef struct call {
  nagaya_team* team;
  uint32_t rank, size;
  nagaya_collective collective;
} call;

/* Starts a collective and waits for it for up to `wait_ms`. Returns an int: 0, a negative errno, or
 * -ETIMEDOUT, if the wait is not over. */
static PyObject* run(call* one, int64_t wait_ms) {
  nagaya_collective* const what = &one->collective;
  int result;
  Py_BEGIN_ALLOW_THREADS result = nagaya_coll_start(one->team, what);
  if (result == 0) result = nagaya_llcl_wait_flag(&what->is_complete, (int)wait_ms);
  Py_END_ALLOW_THREADS return PyLong_FromLong(result != 0 ? result : what->error);
}

static void set(call* one, nagaya_collective_kind kind, uint32_t root, const bytes_of_array* send,
                const bytes_of_array* receive, size_t block_bytes) {
  nagaya_collective* const what = &one->collective;
  what->kind = kind;
  what->root = root;
  what->send.base = send == NULL ? NULL : send->buf;
  what->send.bytes = send == NULL ? 0 : block_bytes;
  what->send.stride = (ptrdiff_t)what->send.bytes;
  what->receive.base = receive == NULL ? NULL : receive->buf;
  what->receive.bytes = receive == NULL ? 0 : block_bytes;
  what->receive.stride = (ptrdiff_t)what->receive.bytes;
}

/* barrier(call, wait_ms) */
static PyObject* barrier(PyObject* module, PyObject* arguments) {
  (void)module;
  PyObject *address, *wait;
  int64_t wait_ms;
  if (!PyArg_UnpackTuple(arguments, "barrier", 2, 2, &address, &wait)) return NULL;
  call* const one = PyLong_AsVoidPtr(address);
  if (one == NULL) return NULL;
  if (!read_int(wait, &wait_ms)) Py_RETURN_NONE;
  set(one, NAGAYA_BARRIER, 0, NULL, NULL, 0);
  return run(one, wait_ms);
}

static int are_blocks(const bytes_of_array* all, const bytes_of_array* one, uint32_t count) {
  return all->itemsize == one->itemsize && strcmp(all->format, one->format) == 0 &&
         all->len == one->len * (Py_ssize_t)count;
}

/* Carries out SCATTER or GATHER. `block` is every rank's array, `blocks` that of the root. */
static PyObject* move(PyObject* module, call* one, nagaya_collective_kind kind, int64_t root,
                      PyObject* block, PyObject* blocks, int64_t wait_ms) {
  const int scatters = kind == NAGAYA_SCATTER, is_root = root == (int64_t)one->rank;
  bytes_of_array own, all;
  PyObject* result = NULL;
  if (root < 0 || root >= (int64_t)one->size ||
      !open_array(module, block, kContiguous | (scatters ? kWritable : 0), &own))
    Py_RETURN_NONE;
  if (!is_root || open_array(module, blocks, kContiguous | (scatters ? 0 : kWritable), &all)) {
    if (!is_root || are_blocks(&all, &own, one->size)) {
      const bytes_of_array* const of_root = is_root ? &all : NULL;
      set(one, kind, (uint32_t)root, scatters ? of_root : &own, scatters ? &own : of_root,
          (size_t)own.len);
      result = run(one, wait_ms);
    }
    if (is_root) PyBuffer_Release(&all);
  }
  PyBuffer_Release(&own);
  if (result != NULL || PyErr_Occurred() != NULL) return result;
  Py_RETURN_NONE;
}

/* scatter(call, block, blocks, root, wait_ms), gather(...) */
static PyObject* parse_and_move(PyObject* module, PyObject* arguments,
                                nagaya_collective_kind kind) {
  PyObject *address, *block, *blocks, *root, *wait;
  int64_t root_rank, wait_ms;
  if (!PyArg_UnpackTuple(arguments, "scatter or gather", 5, 5, &address, &block, &blocks, &root,
                         &wait))
    return NULL;
  call* const one = PyLong_AsVoidPtr(address);
  if (one == NULL) return NULL;
  if (!read_int(root, &root_rank) || !read_int(wait, &wait_ms)) Py_RETURN_NONE;
  return move(module, one, kind, root_rank, block, blocks, wait_ms);
}
static PyObject* scatter(PyObject* module, PyObject* arguments) {
  return parse_and_move(module, arguments, NAGAYA_SCATTER);
}
static PyObject* gather(PyObject* module, PyObject* arguments) {
  return parse_and_move(module, arguments, NAGAYA_GATHER);
}

/* ---- numbers -----------------------------------------------------------------------------------
 */

static int is_int64(const bytes_of_array* view) {
  return view->ndim == 1 && view->itemsize == (Py_ssize_t)sizeof(int64_t) &&
         strchr("lq", view->format[0]) != NULL;
}

/* fetch_add(array, index, change): returns the element's value from before. */
static PyObject* fetch_add(PyObject* module, PyObject* arguments) {
  PyObject *array, *index, *change;
  bytes_of_array view;
  int64_t n, summand, before = 0;
  if (!PyArg_UnpackTuple(arguments, "fetch_add", 3, 3, &array, &index, &change)) return NULL;
  if (!read_int(index, &n) || !read_int(change, &summand) ||
      !open_array(module, array, kStrides | kWritable, &view))
    Py_RETURN_NONE;
  int is_done = is_int64(&view) && n >= 0 && n < view.shape[0];
  if (is_done) {
    const nagaya_llcl_accumulation sum = {.type = NAGAYA_ELEMENT_INT64,
                                          .operation = NAGAYA_REDUCE_SUM,
                                          .count = 1,
                                          .target = (char*)view.buf + n * view.strides[0],
                                          .origin = &summand,
                                          .result = &before};
    is_done = nagaya_llcl_accumulate(&sum) == 0;
  }
  PyBuffer_Release(&view);
  if (is_done) return PyLong_FromLongLong(before);
  Py_RETURN_NONE;
}

static int store_all(PyObject* values, Py_ssize_t count, double* to) {
  for (Py_ssize_t n = 0; n < count; ++n) {
    PyObject* const value = PyList_GetItem(values, n);
    if (!PyFloat_CheckExact(value)) return 0;
    to[n] = PyFloat_AsDouble(value);
  }
  return 1;
}

/* store(values, array, begin): stores a list of floats into an array of float64, from an index on.
 * Returns True; or None: then any part of them is stored. */
static PyObject* store(PyObject* module, PyObject* arguments) {
  PyObject *values, *array, *index;
  bytes_of_array view;
  int64_t begin;
  if (!PyArg_UnpackTuple(arguments, "store", 3, 3, &values, &array, &index)) return NULL;
  if (!PyList_Check(values) || !read_int(index, &begin) ||
      !open_array(module, array, kContiguous | kWritable, &view))
    Py_RETURN_NONE;
  const Py_ssize_t count = PyList_Size(values);
  const int is_stored = view.ndim == 1 && strcmp(view.format, "d") == 0 && begin >= 0 &&
                        begin <= view.shape[0] - count &&
                        store_all(values, count, (double*)view.buf + begin);
  PyBuffer_Release(&view);
  if (is_stored) Py_RETURN_TRUE;
  Py_RETURN_NONE;
}

/* ---- names -------------------------------------------------------------------------------------
 */

typedef struct lookup {
  int task, looks, result;
  const char* name;
  void* address;
} lookup;

/* The first looks return at once. Each later one sleeps until the task publishes something, so that
 * a long wait takes no processor time; between them, 20 times a second, this task's pending work
 * for others advances. */
static int is_published(void* context) {
  enum { kLooksAwake = 16, kLookMs = 50 };
  lookup* const one = context;
  const int wait_ms = one->looks < kLooksAwake ? 0 : kLookMs;
  ++one->looks;
  one->result = nagaya_task_lookup(one->task, one->name, wait_ms, &one->address);
  return one->result != -ENOENT && one->result != -ETIMEDOUT;
}

/* look_up(task, name, wait_ms): waits until a task has published a name, which is bytes. Returns
 * the address; or a negative errno: -ETIMEDOUT, if the wait is not over. */
static PyObject* look_up(PyObject* module, PyObject* arguments) {
  (void)module;
  lookup one = {0, 0, 0, NULL, NULL};
  int wait_ms, result;
  if (!PyArg_ParseTuple(arguments, "iyi", &one.task, &one.name, &wait_ms)) return NULL;
  Py_BEGIN_ALLOW_THREADS result = nagaya_llcl_wait(is_published, &one, wait_ms);
  Py_END_ALLOW_THREADS if (result == 0) result = one.result;
  return result != 0 ? PyLong_FromLong(result) : PyLong_FromVoidPtr(one.address);
}

/* ---- the module --------------------------------------------------------------------------------
 */

static int fill(PyObject* module) {
  module_state* const state = PyModule_GetState(module);
  PyObject* const numpy = PyImport_ImportModule("numpy");
  if (numpy == NULL) return -1;
  state->ndarray = (PyTypeObject*)PyObject_GetAttrString(numpy, "ndarray"); /* kept for ever */
  Py_DECREF(numpy);
  return state->ndarray == NULL ? -1 : 0;
}

PyMODINIT_FUNC PyInit__calls(void) {
  static PyMethodDef functions[] = {{"barrier", barrier, METH_VARARGS, NULL},
                                    {"scatter", scatter, METH_VARARGS, NULL},
                                    {"gather", gather, METH_VARARGS, NULL},
                                    {"fetch_add", fetch_add, METH_VARARGS, NULL},
                                    {"store", store, METH_VARARGS, NULL},
                                    {"look_up", look_up, METH_VARARGS, NULL},
                                    {NULL, NULL, 0, NULL}};
  static PyModuleDef_Slot slots[] = {{Py_mod_exec, fill}, {0, NULL}};
  static PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                   .m_name = "nagaya._calls",
                                   .m_size = sizeof(module_state),
                                   .m_methods = functions,
                                   .m_slots = slots};
  return PyModuleDef_Init(&definition);
}
