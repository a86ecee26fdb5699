/* How often each class of value occurs. Which counter an iteration touches is known only when it runs. */
#define N 64

void histogram(const int x[N], int count[16])
{
    for (int i = 0; i < N; i++) {
        count[(x[i] >> 4) & 15] += 1;
    }
}
