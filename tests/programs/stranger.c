/* SPDX-License-Identifier: BSD-3-Clause */
/* stranger.c ADDRESS PORT SECONDS - a program that is no part of a job, and reaches the delegatee
 * of one: over the same provider of libfabric it sends messages that claim to be batches, some of
 * them sound but for their proof, as every node and as nobody, and cut ones. Over bare TCP it sends
 * half of a frame and closes the connection. Says how many messages it has sent. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define EXPECT(condition)                                                              \
  do {                                                                                 \
    if (!(condition)) fprintf(stderr, "line %d: %s\n", __LINE__, #condition), exit(1); \
  } while (0)

enum { PROLOGUE = 32, HEADER = 32, NODES = 4, KINDS = 14, REGIONS = 3 };

struct endpoint {
  struct fi_info* info;
  struct fid_fabric* fabric;
  struct fid_domain* domain;
  struct fid_av* addresses;
  struct fid_cq* completions;
  struct fid_ep* endpoint;
};

/* Opens the endpoint that a delegatee opens by default (src/fabric/provider.cc). With any other
 * provider the delegatee would receive frames of that provider, which are no batches. */
static void open_endpoint(struct endpoint* own) {
  setenv("FI_PROVIDER", FI_VERSION_LT(fi_version(), FI_VERSION(1, 18)) ? "net" : "tcp", 0);
  struct fi_info* hints = fi_allocinfo();
  hints->caps = FI_MSG | FI_RMA;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode =
      FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  EXPECT(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &own->info) == 0);
  EXPECT(fi_fabric(own->info->fabric_attr, &own->fabric, NULL) == 0);
  EXPECT(fi_domain(own->fabric, own->info, &own->domain, NULL) == 0);
  struct fi_av_attr table = {.type = FI_AV_TABLE};
  EXPECT(fi_av_open(own->domain, &table, &own->addresses, NULL) == 0);
  struct fi_cq_attr queue = {.size = 1024, .format = FI_CQ_FORMAT_MSG};
  EXPECT(fi_cq_open(own->domain, &queue, &own->completions, NULL) == 0);
  EXPECT(fi_endpoint(own->domain, own->info, &own->endpoint, NULL) == 0);
  EXPECT(fi_ep_bind(own->endpoint, &own->addresses->fid, 0) == 0);
  EXPECT(fi_ep_bind(own->endpoint, &own->completions->fid, FI_TRANSMIT | FI_RECV) == 0);
  EXPECT(fi_enable(own->endpoint) == 0);
}

/* Until the provider is done with it, well or badly. */
static int await_one(struct endpoint* own, time_t end) {
  struct fi_cq_msg_entry done;
  while (time(NULL) < end) {
    const ssize_t count = fi_cq_read(own->completions, &done, 1);
    if (count == 1) return 0;
    if (count == -FI_EAVAIL) {
      struct fi_cq_err_entry failed = {0};
      fi_cq_readerr(own->completions, &failed, 0);
      return -1;
    }
  }
  return -1;
}

static int send_one(struct endpoint* own, fi_addr_t to, const void* data, size_t bytes,
                    time_t end) {
  static struct fi_context2 context;
  ssize_t result;
  do {
    result = fi_send(own->endpoint, data, bytes, NULL, to, &context);
    if (result == -FI_EAGAIN) fi_cq_read(own->completions, NULL, 0);
  } while (result == -FI_EAGAIN && time(NULL) < end);
  return result == 0 ? await_one(own, end) : -1;
}

/* A batch of one record (src/delegatee/batch.h) that would write to a task's memory. */
static size_t make_batch(unsigned char* out, unsigned n) {
  const uint32_t magic = 0x4e474241, payload = 8, from = n % NODES,
                 region = 1 + n / KINDS % REGIONS;
  const uint16_t version = 2, records = 1;
  const uint32_t bytes = PROLOGUE + HEADER + payload, task = n % 3;
  /* Used before, or to come: without a proof that would be a gap, and end the link. */
  const uint64_t number = n / NODES % 2 == 0 ? n % 7 : (uint64_t)rand();
  const uint64_t proof = (uint64_t)rand() << 32 | (unsigned)rand();
  memset(out, 0, bytes);
  memcpy(out, &magic, 4);
  memcpy(out + 4, &version, 2);
  memcpy(out + 6, &records, 2);
  memcpy(out + 8, &bytes, 4);
  memcpy(out + 12, &from, 4);
  memcpy(out + 16, &number, 8);
  memcpy(out + 24, &proof, 8);
  out[PROLOGUE] = (unsigned char)(n % KINDS);
  memcpy(out + PROLOGUE + 8, &payload, 4);
  memcpy(out + PROLOGUE + 16, &task, 4);
  const uint32_t id = region << 16 | 1;
  memcpy(out + PROLOGUE + 20, n % 2 == 0 ? &region : &id, 4);
  memset(out + PROLOGUE + HEADER, 0x53, payload);
  return n % 5 == 4 ? (size_t)rand() % bytes : bytes; /* some are cut */
}

static void half_a_frame(const struct sockaddr_in* there) {
  const int connection = socket(AF_INET, SOCK_STREAM, 0);
  EXPECT(connection >= 0);
  if (connect(connection, (const struct sockaddr*)there, sizeof *there) == 0)
    (void)!write(connection, "\0\1\2\3half of a frame", 20);
  close(connection);
}

/* By keys that are easily guessed. None may be one. */
static void read_memory(struct endpoint* own, fi_addr_t there, time_t end) {
  static unsigned char loot[4096];
  static struct fi_context2 context;
  for (uint64_t key = 0; key < 8; ++key) {
    ssize_t result;
    do {
      result = fi_read(own->endpoint, loot, sizeof loot, NULL, there, 0, key, &context);
      if (result == -FI_EAGAIN) fi_cq_read(own->completions, NULL, 0);
    } while (result == -FI_EAGAIN && time(NULL) < end);
    if (result == 0 && await_one(own, end) == 0) printf("read by key %d\n", (int)key);
  }
}

int main(int argc, char** argv) {
  EXPECT(argc == 4);
  struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[2]))};
  EXPECT(inet_pton(AF_INET, argv[1], &there.sin_addr) == 1);
  const time_t end = time(NULL) + atoi(argv[3]);
  struct endpoint own;
  fi_addr_t address;
  open_endpoint(&own);
  EXPECT(fi_av_insert(own.addresses, &there, 1, &address, 0, NULL) == 1);
  unsigned sent = 0;
  for (unsigned n = 0; time(NULL) < end && sent < 20000; ++n) {
    unsigned char batch[PROLOGUE + HEADER + 8];
    const size_t bytes = make_batch(batch, n);
    if (send_one(&own, address, batch, bytes, end) == 0) ++sent;
    if (n % 1000 == 0) half_a_frame(&there);
  }
  /* Last: a wrong key ends the connection. */
  open_endpoint(&own);
  EXPECT(fi_av_insert(own.addresses, &there, 1, &address, 0, NULL) == 1);
  read_memory(&own, address, end + 5);
  printf("sent %u\n", sent);
  return 0;
}
