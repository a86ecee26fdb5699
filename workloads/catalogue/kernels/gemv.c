/* y = A * x + y. The kernel is the innermost loop, for the first row. */
#define ROWS 16
#define COLUMNS 32

void gemv(int a[ROWS][COLUMNS], const int x[COLUMNS], int y[ROWS])
{
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++) {
            y[i] += a[i][j] * x[j];
        }
    }
}
