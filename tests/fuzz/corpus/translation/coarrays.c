#define N 10
typedef struct xmp_lock_t { char is_of_the_library; } xmp_lock_t;
struct pair { int a; double b[3]; };
void xmp_sync_all(int* status);
void xmp_atomic_define(int atom, int value);
void xmp_atomic_ref(int* value, int atom);
#pragma xmp nodes p[*]
int x[N]:[*], scalar:[*];
static double y[4][N]:[2][*];
struct pair z:[*];
xmp_lock_t locks[2]:[*];
int older[N];
#pragma xmp coarray older : [*]
float part[N]:[*];
#pragma xmp coarray on p :: part
static double take(double c[4][N], int k) {
  return c[0][1] + k;
}
int main(void) {
  int i = 1, k = 0, got, status, copy[N];
  x[i]:[k] = x[i + 1] + x[i]:[1];
  x[0:5:2]:[k] = copy[1:5];
  copy[:] = older[0:N]:[k + 1];
  scalar:[1] += 3;
  ++scalar:[k];
  z:[k].b[1] = z.a:[1];
  y[1][:]:[0][1] = 2.5;
  part[0:3]:[k] = part[3:3];
  xmp_sync_all(0);
  xmp_atomic_define(x[2]:[k], i);
  xmp_atomic_ref(&got, scalar:[1]);
#pragma xmp image(p)
  xmp_sync_all(&status);
#pragma xmp lock(locks[1]:[k]) acquired_lock(got) stat(status)
#pragma xmp unlock(locks[1]:[k])
#pragma xmp post(p[k], 3)
#pragma xmp wait(p[k], 3)
#pragma xmp wait
  return (int)take(y, x[x[i]:[0]]:[k]);
}
