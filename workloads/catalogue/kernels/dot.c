/* The running scalar product of two vectors. */
#define N 64

void dot(const float a[N], const float b[N], float product[1])
{
    float sum = 0.0f;
    for (int i = 0; i < N; i++) {
        sum += a[i] * b[i];
        product[0] = sum;
    }
}
