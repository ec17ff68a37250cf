#pragma xmp nodes p(4)
#pragma xmp template t(10)
#pragma xmp distribute t(block) onto p
int a[10];
#pragma xmp align a[i] with t(i)
int f(int c) {
  if (c)
#pragma xmp barrier
    c = 1;
#pragma xmp loop on t(i)
  for (int i = 0; i != 10; i *= 2) { if (a[i]) break; i = 3; }
#pragma xmp task on t(1)
  goto out;
out:
  return i[a] + missing;
}
