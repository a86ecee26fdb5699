/* The number of bits set in each word: pairs, then nibbles, then bytes, added by one product. */
#define N 32

void bitcount(const unsigned x[N], unsigned bits[N])
{
    for (int i = 0; i < N; i++) {
        unsigned v = x[i];
        v = v - ((v >> 1) & 0x55555555u);
        v = (v & 0x33333333u) + ((v >> 2) & 0x33333333u);
        v = (v + (v >> 4)) & 0x0f0f0f0fu;
        bits[i] = (v * 0x01010101u) >> 24;
    }
}
