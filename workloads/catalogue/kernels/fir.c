/* A finite impulse response of four taps that are constants. */
#define N 64

void fir(const float x[N + 3], float y[N])
{
    for (int i = 0; i < N; i++) {
        y[i] = 0.125f * x[i] + 0.375f * x[i + 1] + 0.375f * x[i + 2] + 0.125f * x[i + 3];
    }
}
