/* Sixteen sums of a matrix product in registers: four rows of a times four columns of b, and each sum stored as it grows. */
#define K 16
#define N 16

void product(const float a[4 * K], const float b[K * N], float c[16])
{
    float s00 = 0.0f, s01 = 0.0f, s02 = 0.0f, s03 = 0.0f;
    float s10 = 0.0f, s11 = 0.0f, s12 = 0.0f, s13 = 0.0f;
    float s20 = 0.0f, s21 = 0.0f, s22 = 0.0f, s23 = 0.0f;
    float s30 = 0.0f, s31 = 0.0f, s32 = 0.0f, s33 = 0.0f;
    for (int k = 0; k < K; k++) {
        float a0 = a[0 * K + k], a1 = a[1 * K + k], a2 = a[2 * K + k], a3 = a[3 * K + k];
        float b0 = b[k * N + 0], b1 = b[k * N + 1], b2 = b[k * N + 2], b3 = b[k * N + 3];
        s00 += a0 * b0;
        s01 += a0 * b1;
        s02 += a0 * b2;
        s03 += a0 * b3;
        s10 += a1 * b0;
        s11 += a1 * b1;
        s12 += a1 * b2;
        s13 += a1 * b3;
        s20 += a2 * b0;
        s21 += a2 * b1;
        s22 += a2 * b2;
        s23 += a2 * b3;
        s30 += a3 * b0;
        s31 += a3 * b1;
        s32 += a3 * b2;
        s33 += a3 * b3;
    }
    c[0] = s00;
    c[1] = s01;
    c[2] = s02;
    c[3] = s03;
    c[4] = s10;
    c[5] = s11;
    c[6] = s12;
    c[7] = s13;
    c[8] = s20;
    c[9] = s21;
    c[10] = s22;
    c[11] = s23;
    c[12] = s30;
    c[13] = s31;
    c[14] = s32;
    c[15] = s33;
}
