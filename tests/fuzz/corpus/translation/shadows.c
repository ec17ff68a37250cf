#define N 100
#pragma xmp nodes p[*][2]
#pragma xmp template t[N][N]
#pragma xmp distribute t[block][block] onto p
double u[N][N], v[N][N];
float table[N];
#pragma xmp align u[i][j] with t[i][j]
#pragma xmp align v[i][j] with t[i][j]
#pragma xmp align table[i] with t[i][*]
#pragma xmp shadow u[1][2:1]
#pragma xmp shadow table[*]
int main(void) {
  int i, j;
#pragma xmp reflect(u) width(1, 2:1) async(7)
#pragma xmp loop (i, j) on t[i][j] peel_and_wait(7, -1, -1)
  for (i = 1; i < N - 1; i++)
    for (j = 2; j < N - 1; j++) v[i][j] = u[i - 1][j] + u[i][j - 2];
#pragma xmp loop (i, j) on t[i][j] expand(1, 0)
  for (i = 0; i < N; i++)
    for (j = 0; j < N; j++) u[i][j] += 1;
#pragma xmp loop (i, j) on t[i][j] margin(/unbound/1:0, 0)
  for (i = 0; i < N; i++)
    for (j = 0; j < N; j++) u[i][j] = 0;
#pragma xmp reduce_shadow(u) width(1, /periodic/1) orthogonal
#pragma xmp loop (i) on t[i][*]
  for (i = 0; i < N; i++) {
    table[i] = 0;
#pragma xmp loop on t[*][j]
    for (j = 0; j < N; j++) table[i] += u[i][j];
  }
#pragma xmp reflect(table)
#pragma xmp bcast(table) from p[0][0] on p[0][:]
  return table[7] > 0;
}
