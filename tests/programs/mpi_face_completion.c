/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_face_completion.c - waits and tests of requests, by two ranks: arrays of requests on a
 * communicator that the face serves, on an intercommunicator and of a file, which it does not;
 * errors and statuses as the standard has them. Knows nothing of Nagaya. */
#include <mpi.h>
#include <stdlib.h>

#include "expect.h"

enum { kTag = 5, kLate = 6, kUntouched = 4711, kLarge = 1 << 20 };

static int rank, peer;
static MPI_Comm ours, theirs; /* served by the face, by the MPI beneath */

static void meet(void) {
  MPI_Sendrecv(NULL, 0, MPI_INT, peer, kLate, NULL, 0, MPI_INT, peer, kLate, ours,
               MPI_STATUS_IGNORE);
}

/* ---- arrays of both kinds ------------------------------------------------------------------ */

enum { kOurs, kTheirs, kNull, kInactive, kFile, kRequests };

typedef struct array {
  MPI_Request requests[kRequests];
  MPI_Status statuses[kRequests];
  int got_ours, got_theirs, got_file;
  MPI_File file;
} array;

static void fill_file(const char* name) {
  const int content = 99;
  MPI_File file;
  MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_write_at(file, 0, &content, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
}

static void start(array* all, const char* name) {
  memset(all, 0, sizeof *all);
  for (int n = 0; n < kRequests; ++n) all->statuses[n].MPI_ERROR = kUntouched;
  MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &all->file);
  MPI_Irecv(&all->got_ours, 1, MPI_INT, MPI_ANY_SOURCE, kTag, ours, &all->requests[kOurs]);
  MPI_Irecv(&all->got_theirs, 1, MPI_INT, 0, kTag, theirs, &all->requests[kTheirs]);
  all->requests[kNull] = MPI_REQUEST_NULL;
  MPI_Recv_init(NULL, 0, MPI_INT, peer, kTag, ours, &all->requests[kInactive]);
  MPI_File_iread_at(all->file, 0, &all->got_file, 1, MPI_INT, &all->requests[kFile]);
}

static void send_both(void) {
  MPI_Send(&rank, 1, MPI_INT, peer, kTag, ours);
  MPI_Send(&rank, 1, MPI_INT, 0, kTag, theirs);
}

static void end(array* all) {
  EXPECT_EQUAL(all->got_ours, peer);
  EXPECT_EQUAL(all->got_theirs, peer);
  EXPECT_EQUAL(all->got_file, 99);
  for (int n = 0; n < kRequests; ++n)
    EXPECT_EQUAL(all->requests[n] == MPI_REQUEST_NULL, n != kInactive);
  MPI_Request_free(&all->requests[kInactive]);
  EXPECT(all->requests[kInactive] == MPI_REQUEST_NULL);
  MPI_File_close(&all->file);
}

static void check_status(const MPI_Status* status, int which) {
  int count, is_cancelled;
  MPI_Get_count(status, MPI_INT, &count);
  MPI_Test_cancelled(status, &is_cancelled);
  EXPECT_EQUAL(is_cancelled, 0);
  EXPECT_EQUAL(count, which != kNull && which != kInactive);
  if (which == kOurs || which == kTheirs) {
    EXPECT_EQUAL(status->MPI_SOURCE, which == kOurs ? peer : 0);
    EXPECT_EQUAL(status->MPI_TAG, kTag);
    if (which == kOurs) EXPECT_EQUAL(status->MPI_ERROR, kUntouched); /* MPICH changes its own */
  } else if (which != kFile) {
    EXPECT_EQUAL(status->MPI_SOURCE, MPI_ANY_SOURCE);
    EXPECT_EQUAL(status->MPI_ERROR, MPI_SUCCESS);
  }
}

static void all_by_waitall(array* all) {
  send_both();
  EXPECT_EQUAL(MPI_Waitall(kRequests, all->requests, all->statuses), MPI_SUCCESS);
  for (int n = 0; n < kRequests; ++n) check_status(&all->statuses[n], n);
}

/* As long as one is missing, MPI_Testall changes nothing. (MPICH 4.0 itself ends a request of a
 * file twice if it is complete before others: that one is waited for.) */
static void all_by_testall(array* all) {
  MPI_Request before[kRequests];
  int flag = 0;
  MPI_Wait(&all->requests[kFile], MPI_STATUS_IGNORE);
  memcpy(before, all->requests, sizeof before);
  MPI_Send(&rank, 1, MPI_INT, 0, kTag, theirs);
  for (int n = 0; n < 300; ++n) {
    MPI_Testall(kRequests, all->requests, &flag, all->statuses);
    EXPECT_EQUAL(flag, 0);
    EXPECT_EQUAL(memcmp(before, all->requests, sizeof before), 0);
    EXPECT_EQUAL(all->statuses[kTheirs].MPI_ERROR, kUntouched);
  }
  meet();
  MPI_Send(&rank, 1, MPI_INT, peer, kTag, ours);
  while (!flag) MPI_Testall(kRequests, all->requests, &flag, all->statuses);
  for (int n = 0; n < kFile; ++n) check_status(&all->statuses[n], n);
}

static void all_by_any(array* all, int waits) {
  int seen[kRequests] = {0}, which = 0, flag = 0;
  send_both();
  for (int n = 0; n < 3; ++n) {
    if (waits)
      MPI_Waitany(kRequests, all->requests, &which, &all->statuses[0]);
    else
      for (flag = 0; !flag;)
        MPI_Testany(kRequests, all->requests, &which, &flag, &all->statuses[0]);
    EXPECT(which == kOurs || which == kTheirs || which == kFile);
    EXPECT_EQUAL(seen[which]++, 0);
    check_status(&all->statuses[0], which);
  }
  MPI_Waitany(kRequests, all->requests, &which, &all->statuses[1]);
  EXPECT_EQUAL(which, MPI_UNDEFINED);
  check_status(&all->statuses[1], kNull);
  MPI_Testany(kRequests, all->requests, &which, &flag, &all->statuses[1]);
  EXPECT(flag && which == MPI_UNDEFINED);
}
static void all_by_waitany(array* all) {
  all_by_any(all, 1);
}
static void all_by_testany(array* all) {
  all_by_any(all, 0);
}

static void all_by_some(array* all, int (*some)(int, MPI_Request*, int*, int*, MPI_Status*)) {
  int seen[kRequests] = {0}, indices[kRequests], done = 0;
  send_both();
  for (int left = 3; left != 0; left -= done) {
    some(kRequests, all->requests, &done, indices, all->statuses);
    EXPECT(done >= 0 && done <= left);
    for (int n = 0; n < done; ++n) {
      EXPECT_EQUAL(seen[indices[n]]++, 0);
      check_status(&all->statuses[n], indices[n]);
      all->statuses[n].MPI_ERROR = kUntouched;
    }
  }
  some(kRequests, all->requests, &done, indices, all->statuses);
  EXPECT_EQUAL(done, MPI_UNDEFINED);
}
static void all_by_waitsome(array* all) {
  all_by_some(all, MPI_Waitsome);
}
static void all_by_testsome(array* all) {
  all_by_some(all, MPI_Testsome);
}

/* ---- requests of a kind that is always complete do not keep others from their turn ---------- */

static void neither_kind_waits_for_ever(void) {
  MPI_Request requests[2];
  int got[2] = {0}, seen[2] = {0}, which, rounds = 0;
  MPI_Irecv(&got[0], 1, MPI_INT, MPI_PROC_NULL, kTag, ours, &requests[0]);
  MPI_Irecv(&got[1], 1, MPI_INT, 0, kTag, theirs, &requests[1]);
  MPI_Send(&rank, 1, MPI_INT, 0, kTag, theirs);
  meet();
  while (!seen[1]) {
    EXPECT(++rounds < 100000);
    MPI_Waitany(2, requests, &which, MPI_STATUS_IGNORE);
    ++seen[which];
    if (which == 0) MPI_Irecv(&got[0], 1, MPI_INT, MPI_PROC_NULL, kTag, ours, &requests[0]);
  }
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

/* Starts of both kinds at once. */
static void persistent_requests_of_both(void) {
  MPI_Request requests[4];
  int got[2], sent = 0;
  MPI_Recv_init(&got[0], 1, MPI_INT, peer, kTag, ours, &requests[0]);
  MPI_Recv_init(&got[1], 1, MPI_INT, 0, kTag, theirs, &requests[1]);
  MPI_Ssend_init(&sent, 1, MPI_INT, peer, kTag, ours, &requests[2]);
  MPI_Send_init(&sent, 1, MPI_INT, 0, kTag, theirs, &requests[3]);
  for (sent = 1; sent < 50; ++sent) {
    MPI_Startall(4, requests);
    EXPECT_EQUAL(MPI_Start(&requests[0]), MPI_ERR_REQUEST);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    EXPECT(got[0] == sent && got[1] == sent);
  }
  for (int n = 0; n < 4; ++n) MPI_Request_free(&requests[n]);
}

/* ---- errors -------------------------------------------------------------------------------- */

static int class_of(int code) {
  int error_class;
  MPI_Error_class(code, &error_class);
  return error_class;
}

/* The second of two messages is too long: its beginning is there, and the statuses tell. */
static void too_long_messages(void) {
  int in[2][2] = {{0}}, out[3] = {1, 2, 3}, indices[2], done = 0, count;
  MPI_Status statuses[2];
  MPI_Request requests[2];
  for (int way = 0; way < 3; ++way) {
    memset(in, 0, sizeof in);
    MPI_Irecv(in[0], 2, MPI_INT, peer, kTag, ours, &requests[0]);
    MPI_Irecv(in[1], 2, MPI_INT, peer, kLate, ours, &requests[1]);
    MPI_Send(out, 2, MPI_INT, peer, kTag, ours);
    MPI_Send(out, 3, MPI_INT, peer, kLate, ours);
    meet();
    for (int n = 0; n < 2; ++n) statuses[n].MPI_ERROR = kUntouched;
    if (way == 0) EXPECT_EQUAL(MPI_Waitall(2, requests, statuses), MPI_ERR_IN_STATUS);
    if (way == 1) EXPECT_EQUAL(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE), MPI_ERR_IN_STATUS);
    if (way == 2) {
      int code = MPI_SUCCESS;
      while (done < 2) code = MPI_Testsome(2, requests, &done, indices, statuses);
      EXPECT_EQUAL(code, MPI_ERR_IN_STATUS);
    }
    if (way != 1) {
      EXPECT_EQUAL(statuses[0].MPI_ERROR, MPI_SUCCESS);
      EXPECT_EQUAL(class_of(statuses[1].MPI_ERROR), MPI_ERR_TRUNCATE);
      MPI_Get_count(&statuses[1], MPI_INT, &count);
      EXPECT_EQUAL(count, 2);
    }
    for (int n = 0; n < 2; ++n) {
      EXPECT(requests[n] == MPI_REQUEST_NULL);
      EXPECT(in[n][0] == 1 && in[n][1] == 2);
    }
  }
}

static void too_long_messages_of_single_calls(void) {
  int in = 0, out[2] = {7, 8};
  MPI_Status status;
  MPI_Request request;
  MPI_Message message;
  status.MPI_ERROR = kUntouched;
  EXPECT_EQUAL(class_of(MPI_Sendrecv(out, 2, MPI_INT, peer, kTag, &in, 1, MPI_INT, peer, kTag, ours,
                                     &status)),
               MPI_ERR_TRUNCATE);
  MPI_Isendrecv(out, 2, MPI_INT, peer, kTag, &in, 1, MPI_INT, peer, kTag, ours, &request);
  EXPECT_EQUAL(class_of(MPI_Wait(&request, &status)), MPI_ERR_TRUNCATE);
  EXPECT(request == MPI_REQUEST_NULL);
  MPI_Isend(out, 2, MPI_INT, peer, kTag, ours, &request);
  MPI_Mprobe(peer, kTag, ours, &message, &status);
  EXPECT_EQUAL(class_of(MPI_Mrecv(&in, 1, MPI_INT, &message, &status)), MPI_ERR_TRUNCATE);
  EXPECT(message == MPI_MESSAGE_NULL);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQUAL(in, 7);
  EXPECT_EQUAL(status.MPI_ERROR, kUntouched);
}

/* MPICH tells of a message that ends within an element of a derived type. */
static void a_message_of_three_bytes_for_an_int(void) {
  int in[4] = {0};
  const char out[4] = {1, 2, 3, 4};
  MPI_Datatype type;
  MPI_Request requests[3];
  MPI_Type_vector(2, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  for (int bytes = 3; bytes <= 4; ++bytes) {
    const int wanted = bytes == 3 ? MPI_ERR_TYPE : MPI_SUCCESS;
    for (int n = 0; n < 2; ++n) MPI_Isend(out, bytes, MPI_CHAR, peer, kTag, ours, &requests[n]);
    EXPECT_EQUAL(class_of(MPI_Recv(in, 1, type, peer, kTag, ours, MPI_STATUS_IGNORE)), wanted);
    MPI_Irecv(in, 1, type, peer, kTag, ours, &requests[2]);
    EXPECT_EQUAL(class_of(MPI_Wait(&requests[2], MPI_STATUS_IGNORE)), wanted);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Type_free(&type);
}

static void wrong_arguments(void) {
  int value = 0, flag;
  MPI_Request request;
  EXPECT_EQUAL(class_of(MPI_Send(&value, 1, MPI_INT, 2, kTag, ours)), MPI_ERR_RANK);
  EXPECT_EQUAL(class_of(MPI_Send(&value, 1, MPI_INT, MPI_ANY_SOURCE, kTag, ours)), MPI_ERR_RANK);
  EXPECT_EQUAL(class_of(MPI_Isend(&value, 1, MPI_INT, peer, MPI_ANY_TAG, ours, &request)),
               MPI_ERR_TAG);
  EXPECT_EQUAL(class_of(MPI_Ssend(&value, -1, MPI_INT, peer, kTag, ours)), MPI_ERR_COUNT);
  EXPECT_EQUAL(class_of(MPI_Irecv(&value, 1, MPI_INT, peer, -7, ours, &request)), MPI_ERR_TAG);
  EXPECT_EQUAL(class_of(MPI_Recv(&value, 1, MPI_INT, 9, kTag, ours, MPI_STATUS_IGNORE)),
               MPI_ERR_RANK);
  EXPECT_EQUAL(
      class_of(MPI_Recv(&value, 1, MPI_DATATYPE_NULL, peer, kTag, ours, MPI_STATUS_IGNORE)),
      MPI_ERR_TYPE);
  EXPECT_EQUAL(class_of(MPI_Send_init(&value, 1, MPI_INT, -9, kTag, ours, &request)), MPI_ERR_RANK);
  EXPECT_EQUAL(class_of(MPI_Iprobe(7, kTag, ours, &flag, MPI_STATUS_IGNORE)), MPI_ERR_RANK);
  EXPECT_EQUAL(class_of(MPI_Sendrecv_replace(&value, 1, MPI_INT, peer, kTag, 9, kTag, ours,
                                             MPI_STATUS_IGNORE)),
               MPI_ERR_RANK);
}

/* ---- nobody, cancelled, freed --------------------------------------------------------------- */

static void check_nobody(const MPI_Status* status) {
  int count;
  MPI_Get_count(status, MPI_INT, &count);
  EXPECT(status->MPI_SOURCE == MPI_PROC_NULL && status->MPI_TAG == MPI_ANY_TAG && count == 0);
}

static void nobody(void) {
  int value = 3, flag = 0;
  MPI_Status status;
  MPI_Message message;
  MPI_Request request;
  MPI_Ssend(&value, 1, MPI_INT, MPI_PROC_NULL, kTag, ours);
  MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, kTag, ours, &status);
  check_nobody(&status);
  MPI_Probe(MPI_PROC_NULL, kTag, ours, &status);
  check_nobody(&status);
  MPI_Improbe(MPI_PROC_NULL, kTag, ours, &flag, &message, &status);
  EXPECT(flag && message == MPI_MESSAGE_NO_PROC);
  MPI_Imrecv(&value, 1, MPI_INT, &message, &request);
  MPI_Wait(&request, &status);
  check_nobody(&status);
  MPI_Sendrecv_replace(&value, 1, MPI_INT, MPI_PROC_NULL, kTag, MPI_PROC_NULL, kTag, ours, &status);
  check_nobody(&status);
  MPI_Isendrecv_replace(&value, 1, MPI_INT, MPI_PROC_NULL, kTag, MPI_PROC_NULL, kTag, ours,
                        &request);
  MPI_Wait(&request, &status);
  check_nobody(&status);
  MPI_Recv_init(&value, 1, MPI_INT, MPI_PROC_NULL, kTag, ours, &request);
  MPI_Start(&request);
  MPI_Wait(&request, &status);
  check_nobody(&status);
  MPI_Request_free(&request);
  EXPECT_EQUAL(MPI_Irecv(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, kTag, ours, &request),
               MPI_SUCCESS);
  MPI_Wait(&request, &status);
  check_nobody(&status);
  EXPECT_EQUAL(MPI_Isend(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, kTag, ours, &request),
               MPI_SUCCESS);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQUAL(value, 3);
}

static void cancelled_receives_start_again(void) {
  int value = 0, is_cancelled, flag, count;
  MPI_Status status;
  MPI_Request request;
  MPI_Recv_init(&value, 1, MPI_INT, peer, kTag, ours, &request);
  for (int n = 0; n < 3; ++n) {
    MPI_Start(&request);
    MPI_Cancel(&request);
    MPI_Request_get_status(request, &flag, &status);
    EXPECT(flag);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &is_cancelled);
    MPI_Get_count(&status, MPI_INT, &count);
    EXPECT(is_cancelled && count == 0);
    meet();
    MPI_Start(&request);
    MPI_Send(&n, 1, MPI_INT, peer, kTag, ours);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &is_cancelled);
    EXPECT(!is_cancelled && value == n);
  }
  MPI_Request_free(&request);
}

/* A request that is freed before its end does its work, and a status that is asked for ends
 * nothing. */
static void freed_requests(void) {
  char* const large = malloc(kLarge);
  char* const in = calloc(1, kLarge);
  MPI_Request request, receive;
  int flag = 0;
  MPI_Status status;
  memset(large, rank + 1, kLarge);
  MPI_Irecv(in, kLarge, MPI_CHAR, peer, kTag, ours, &receive);
  MPI_Isend(large, kLarge, MPI_CHAR, peer, kTag, ours, &request);
  MPI_Request_free(&request);
  EXPECT(request == MPI_REQUEST_NULL);
  while (!flag) MPI_Request_get_status(receive, &flag, &status);
  EXPECT(receive != MPI_REQUEST_NULL);
  MPI_Wait(&receive, &status);
  EXPECT(in[0] == peer + 1 && in[kLarge - 1] == peer + 1);
  in[0] = 0;
  MPI_Irecv(in, 1, MPI_CHAR, peer, kTag, ours, &receive);
  MPI_Request_free(&receive);
  MPI_Send(large, 1, MPI_CHAR, peer, kTag, ours);
  meet();
  EXPECT_EQUAL(in[0], peer + 1); /* messages of one sender arrive in order */
  free(in);
  free(large);
}

int main(int argc, char** argv) {
  void (*const ways[])(array*) = {all_by_waitall, all_by_testall,  all_by_waitany,
                                  all_by_testany, all_by_waitsome, all_by_testsome};
  array all;
  char name[64];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  peer = 1 - rank;
  MPI_Comm_dup(MPI_COMM_WORLD, &ours);
  MPI_Comm_set_errhandler(ours, MPI_ERRORS_RETURN);
  MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, peer, kTag, &theirs);
  snprintf(name, sizeof name, "content.%d", rank);
  fill_file(name);
  for (unsigned n = 0; n < sizeof ways / sizeof *ways; ++n) {
    start(&all, name);
    ways[n](&all);
    end(&all);
  }
  neither_kind_waits_for_ever();
  persistent_requests_of_both();
  too_long_messages();
  too_long_messages_of_single_calls();
  a_message_of_three_bytes_for_an_int();
  wrong_arguments();
  nobody();
  cancelled_receives_start_again();
  freed_requests();
  MPI_Comm_free(&theirs);
  MPI_Comm_free(&ours);
  MPI_Finalize();
  if (rank == 0) puts("every request ended");
}
