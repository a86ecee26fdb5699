/* The last stage of a Fourier transform of 2N points: sums and differences with twiddle factors, in place. */
#define N 32

void butterfly(float re[2 * N], float im[2 * N], const float wr[N], const float wi[N])
{
    for (int i = 0; i < N; i++) {
        float tr = wr[i] * re[i + N] - wi[i] * im[i + N];
        float ti = wr[i] * im[i + N] + wi[i] * re[i + N];
        float ar = re[i];
        float ai = im[i];
        re[i] = ar + tr;
        im[i] = ai + ti;
        re[i + N] = ar - tr;
        im[i + N] = ai - ti;
    }
}
