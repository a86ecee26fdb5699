/* A hash of a stream of words: exclusive or, product with the FNV prime, rotation; each state is kept. */
#define N 64

void hashround(const unsigned x[N], unsigned state[N])
{
    unsigned h = 2166136261u;
    for (int i = 0; i < N; i++) {
        h = (h ^ x[i]) * 16777619u;
        h = (h << 13) | (h >> 19);
        state[i] = h;
    }
}
