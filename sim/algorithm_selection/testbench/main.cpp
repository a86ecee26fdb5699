// Drives the clock of the test bench until it is done: 2 cycles of reset, then up to +cycles=N.
#include <cstdlib>
#include <cstring>

#include "Vtestbench.h"
#include "verilated.h"

int main(int count, char** words) {
    VerilatedContext context;
    context.commandArgs(count, words);
    const char* given = context.commandArgsPlusMatch("cycles=");
    const long long limit = std::strlen(given) > 8 ? std::atoll(given + 8) : 1000000;
    Vtestbench top{&context};
    for (long long half = 0; !context.gotFinish() && half < 2 * limit; ++half) {
        top.reset = half < 4;
        top.clk = half & 1;
        top.eval();
    }
    const bool finished = context.gotFinish();
    top.final();
    return finished ? 0 : 3;
}
