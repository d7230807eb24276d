//===- Workers.cpp - Runs steps in processes of their own, several at a time ------------------------===//

#include "test/conformance/Workers.h"
#include "llvm/ADT/StringRef.h"
#include <chrono>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace weft::conformance {

namespace {

/// Separates what a child's libraries print from the text that the step returns.
constexpr char kMark = '\1';

struct Child {
  size_t step;
  pid_t process;
  int channel;
  std::string received;
  std::chrono::steady_clock::time_point started;
};

void writeAll(int channel, llvm::StringRef text) {
  while (!text.empty()) {
    ssize_t count = write(channel, text.data(), text.size());
    if (count <= 0)
      return;
    text = text.drop_front(static_cast<size_t>(count));
  }
}

/// Starts a child; its standard output and error go to the channel too.
bool start(size_t step, const WorkerOptions &options, llvm::function_ref<std::string(size_t)> body, Child &child) {
  int channel[2];
  if (pipe(channel) != 0)
    return false;
  pid_t process = fork();
  if (process == 0) {
    close(channel[0]);
    dup2(channel[1], STDOUT_FILENO);
    dup2(channel[1], STDERR_FILENO);
    alarm(options.secondsPerStep);
    writeAll(channel[1], kMark + body(step) + kMark);
    _exit(0);
  }
  close(channel[1]);
  if (process < 0) {
    close(channel[0]);
    return false;
  }
  child = {step, process, channel[0], "", std::chrono::steady_clock::now()};
  return true;
}

StepEnd endOf(const Child &child, const WorkerOptions &options) {
  int status = 0;
  waitpid(child.process, &status, 0);
  StepEnd end;
  end.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - child.started).count();
  llvm::StringRef received = child.received;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && received.ends_with(llvm::StringRef(&kMark, 1))) {
    end.returned = true;
    end.text = received.drop_back().rsplit(kMark).second.str();
    return end;
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    end.text = "HANGS: still running after " + std::to_string(options.secondsPerStep) + " s";
  else if (WIFSIGNALED(status))
    end.text = std::string("CRASHES: ") + strsignal(WTERMSIG(status));
  else
    end.text = "CRASHES: the process ended with status " + std::to_string(WEXITSTATUS(status));
  // What a library said before it gave up.
  for (llvm::StringRef rest = received; !rest.empty();) {
    auto [line, after] = rest.split('\n');
    if (!line.trim().empty()) {
      end.text += ": " + line.trim().substr(0, 300).str();
      break;
    }
    rest = after;
  }
  return end;
}

} // namespace

void runSteps(size_t count, const WorkerOptions &options, llvm::function_ref<std::string(size_t)> step,
              llvm::function_ref<void(size_t, const StepEnd &)> done) {
  std::vector<Child> children;
  size_t next = 0;
  while (next < count || !children.empty()) {
    while (next < count && children.size() < options.processes) {
      Child child;
      if (start(next, options, step, child)) {
        children.push_back(std::move(child));
      } else if (children.empty()) {
        done(next, {false, "no process or pipe can be made", 0});
      } else {
        break; // Again when a child has ended.
      }
      ++next;
    }
    std::vector<pollfd> channels;
    for (const Child &child : children)
      channels.push_back({child.channel, POLLIN, 0});
    if (poll(channels.data(), channels.size(), -1) < 0)
      continue;
    for (size_t i = children.size(); i-- > 0;) {
      if (!channels[i].revents)
        continue;
      char chunk[4096];
      ssize_t received = read(children[i].channel, chunk, sizeof chunk);
      if (received > 0) {
        children[i].received.append(chunk, static_cast<size_t>(received));
        continue;
      }
      close(children[i].channel);
      done(children[i].step, endOf(children[i], options));
      children.erase(children.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

} // namespace weft::conformance
