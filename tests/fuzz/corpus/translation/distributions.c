#define N 40
typedef void* xmp_desc_t;
void* nagaya_xmp_malloc(xmp_desc_t d, unsigned long count, const long size[]);
int m[4] = {10, 5, 15, 10};
#pragma xmp nodes p(2, *)
#pragma xmp nodes g[*]
#pragma xmp template t(0:N-1, 1:N)
#pragma xmp template f[:]
#pragma xmp template v[N]
#pragma xmp template c[N]
#pragma xmp distribute t(cyclic, cyclic(3)) onto p
#pragma xmp distribute f[gblock(*)] onto g
#pragma xmp distribute v[gblock(m)] onto g
#pragma xmp distribute c[cyclic] onto g
static int a[N][N], b[3][N];
long (*later)[2];
double w[N];
#pragma xmp align a[i][j] with t(j, i + 1)
#pragma xmp align b[*][j] with c[j]
#pragma xmp align later[i][*] with f[i]
#pragma xmp align w[i] with v[i]
#pragma xmp shadow w[2]
int main(void) {
  int n = 30, sum = 0, sizes[4] = {n, 0, 0, 0};
#pragma xmp template_fix [gblock(sizes)] f[n]
  later = (long (*)[2])nagaya_xmp_malloc(xmp_desc_of(later), 2, (long[]){n, 2});
#pragma xmp loop (j, i) on t(j, i + 1) reduction(+: sum)
  for (int i = 0; i < N - 1; i += 2)
    for (int j = N - 1; j >= 0; j--) sum += a[i][j] = b[0][(i * j) % N];
#pragma xmp loop on f[i]
  for (int i = 0; i < n; i++) later[i][1] = i;
#pragma xmp reflect(w) width(/periodic/1:2)
#pragma xmp loop on v[i]
  for (int i = 1; i < N - 1; i++) w[i] = w[i - 1] + w[i + 1];
  return a[0] == a[1];
}
