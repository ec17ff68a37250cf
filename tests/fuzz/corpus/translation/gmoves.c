#define N 24
#define M 10
#pragma xmp nodes p[*]
#pragma xmp nodes q[2] = p[0:2]
#pragma xmp template t[N]
#pragma xmp template s[M]
#pragma xmp distribute t[cyclic(2)] onto p
#pragma xmp distribute s[block] onto q
static double rows[N][M], columns[N][M], line[N];
#pragma xmp align rows[i][*] with t[i]
#pragma xmp align columns[*][j] with s[j]
#pragma xmp align line[i] with t[i]
void take(double a[N], int n) {
#pragma xmp align a[i] with t[i]
#pragma xmp gmove out
  a[n:3] = line[0:3];
}
int main(void) {
  double one, all[2][4], some[3];
  int k = 2, n = 5;
#pragma xmp gmove
  columns[:][:] = rows[:][:];
#pragma xmp gmove
  all[1][:] = rows[k:4:n][M - 1];
#pragma xmp gmove async(k)
  line[N - 1 : 4 : -2] = all[1][0:4];
#pragma xmp gmove
  one = rows[N - 1][k];
#pragma xmp gmove in
  some[0:2] = rows[3][4];
#pragma xmp gmove
  line[2:N / 2] = one + 1;
#pragma xmp wait_async(k)
#pragma xmp array on t[:]
  line[:] = rows[:][0] * 2 + line[:];
#pragma xmp array on t[k:4]
  rows[k:4][:] = one;
  take(line, n);
  return 0;
}
