/* C = A * B. The kernel is the innermost loop, for the first i and j; the partial sums pass through c. */
#define M 16
#define N 16
#define K 16

void gemm(const float a[M * K], const float b[K * N], float c[M * N])
{
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < N; j++) {
            float sum = 0.0f;
            for (int k = 0; k < K; k++) {
                sum += a[i * K + k] * b[k * N + j];
                c[i * N + j] = sum;
            }
        }
    }
}
