/* A 3x3 convolution with constant weights (a sharpening filter). The kernel is the loop along the first row. */
#define ROWS 8
#define COLUMNS 32

void conv3x3(int image[ROWS + 2][COLUMNS + 2], int out[ROWS][COLUMNS])
{
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++) {
            int near = image[i][j + 1] + image[i + 1][j] + image[i + 1][j + 2] + image[i + 2][j + 1];
            int far = image[i][j] + image[i][j + 2] + image[i + 2][j] + image[i + 2][j + 2];
            out[i][j] = (16 * image[i + 1][j + 1] - 2 * near - far) >> 2;
        }
    }
}
