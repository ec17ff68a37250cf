#define N 100
#pragma xmp nodes p[*]
#pragma xmp nodes q[2][2] = p[0:4]
#pragma xmp template t[N]
#pragma xmp template s(1:N, 0:9)
#pragma xmp template f[:]
#pragma xmp distribute t[block] onto p
#pragma xmp distribute s(block, block(8)) onto q
#pragma xmp distribute f[block] onto p
static double u[N][10], w[N], plain;
struct pair { int a, b; } z[10][N];
#pragma xmp align u[i][*] with t[i]
#pragma xmp align w[i] with t[i + 1]
#pragma xmp shadow u[1:2][0]
#pragma xmp align z[i][j] with s(j, i)
double take(double a[N][10], int n) {
#pragma xmp align a[i][*] with t[i]
#pragma xmp shadow a[1:2][0]
  return a[n][0];
}
int main(void) {
  int i, j, k, n = 8;
  double local[n][3], sum = 0, best = 0;
#pragma xmp template l[n]
#pragma xmp distribute l[block] onto p
#pragma xmp align local[i][*] with l[i]
#pragma xmp loop (i) on t[i] reduction(+:sum) reduction(firstmax: best/k/)
#pragma omp parallel for
  for (i = 1; i <= N - 2; i += 1)
    for (j = 0; j < 10; ++j) { u[i][j] = w[(int)u[i - 1][j]] + sizeof(u); sum += u[i][j]; }
#pragma xmp loop on s(j, i)
  for (i = 9; i >= 0; i--)
    for (j = 1; j < N; j++) z[i][j].a = &u != 0;
#pragma xmp reflect (u) width(1:1, 0) orthogonal async(3)
#pragma xmp wait_async (3)
#pragma xmp tasks
  {
#pragma xmp task on q[0][0]
    { plain = take(u, 3); }
#pragma xmp task on t[5:5] nocomm
    plain = local[0][0];
  }
#pragma xmp template_fix f[n]
#pragma xmp bcast (plain, sum) from p[0] on p
#pragma xmp reduction (max: sum) on q
label:
#pragma xmp barrier
  return xmp_desc_of(u) == xmp_desc_of(q);
}
