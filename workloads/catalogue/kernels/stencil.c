/* Smoothing in place (Gauss-Seidel): what one iteration writes, the next one reads. */
#define N 64

void stencil(float u[N + 2])
{
    for (int i = 1; i <= N; i++) {
        u[i] = 0.25f * u[i - 1] + 0.5f * u[i] + 0.25f * u[i + 1];
    }
}
