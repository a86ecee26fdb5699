/* Requantisation: scale, round, shift, and clip to unsigned 8 bits. */
#define N 64

void saturate(const int x[N], int y[N])
{
    for (int i = 0; i < N; i++) {
        int v = ((x[i] * 77 + 128) >> 8) + 3;
        if (v > 255)
            v = 255;
        if (v < 0)
            v = 0;
        y[i] = v;
    }
}
