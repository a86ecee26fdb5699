/* The integer square root of one number, bit by bit; root[k] is the result after k + 1 bits. */
#define BITS 16
#define NUMBER 1234567890u

void isqrt(unsigned root[BITS])
{
    unsigned rest = NUMBER;
    unsigned result = 0;
    unsigned bit = 1u << 30;
    for (int k = 0; k < BITS; k++) {
        unsigned trial = result + bit;
        result = result >> 1;
        if (rest >= trial) {
            rest = rest - trial;
            result = result + bit;
        }
        bit = bit >> 2;
        root[k] = result;
    }
}
