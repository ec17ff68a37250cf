// SPDX-License-Identifier: BSD-3-Clause
// Signals of a program that joins a space, while it waits for others to do so.
#include "task/host/socket_folder.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <optional>
#include <thread>

namespace nagaya::task {
namespace {

std::atomic<int> signals_handled{0};

class Interrupted : public testing::Test {
 protected:
  Interrupted() {
    folder_ = ::mkdtemp(path_);
    struct sigaction action {};
    action.sa_handler = [](int) { ++signals_handled; };  // without SA_RESTART
    ::sigaction(SIGUSR1, &action, &before_);
  }
  ~Interrupted() override {
    ::sigaction(SIGUSR1, &before_, nullptr);
    ::unlink((folder_ + "/a.sock").c_str());
    ::rmdir(folder_.c_str());
  }
  // Interrupts `wait` some times, then calls `end_wait`. Returns what `wait` has thrown, "":
  // nothing.
  template <class Wait, class End>
  std::string interrupt(Wait wait, End end_wait) {
    constexpr int kTimes = 20;
    std::string error;
    signals_handled = 0;
    std::atomic<bool> is_over{false};
    std::thread waiting([&] {
      try {
        wait();
      } catch (const base::Error& thrown) {
        error = thrown.what();
      }
      is_over = true;
    });
    for (int n = 1; n <= kTimes && !is_over; ++n) {
      ::pthread_kill(waiting.native_handle(), SIGUSR1);
      while (signals_handled < n && !is_over) std::this_thread::yield();
      ::usleep(1000);  // so that some of them meet the wait itself
    }
    end_wait();
    waiting.join();
    return error;
  }

  char path_[64] = "/tmp/nagaya-unit-XXXXXX";
  std::string folder_;
  struct sigaction before_ {};
};

TEST_F(Interrupted, AProcessThatWaitsForTheFolderGetsIt) {
  const base::Fd holder = open_private_folder(folder_), waiter = open_private_folder(folder_);
  std::optional<FolderLock> held(holder);
  EXPECT_EQ(interrupt([&] { const FolderLock lock(waiter); }, [&] { held.reset(); }), "");
}

TEST_F(Interrupted, AProcessThatWaitsForAPlaceInTheListenersQueueGetsIt) {
  const SocketPlace place = place_in(open_private_folder(folder_), folder_, "a.sock");
  const base::Fd listener = new_socket();
  const auto* const address = reinterpret_cast<const sockaddr*>(&place.address);
  ASSERT_EQ(::bind(listener.get(), address, sizeof place.address), 0);
  ASSERT_EQ(::listen(listener.get(), 0), 0);  // room for one
  const base::Fd first = connect_to_host(place);
  std::vector<base::Fd> accepted;
  const auto accept = [&] { accepted.emplace_back(::accept(listener.get(), nullptr, nullptr)); };
  EXPECT_EQ(interrupt([&] { EXPECT_TRUE(connect_to_host(place)); }, accept), "");
}

}  // namespace
}  // namespace nagaya::task
