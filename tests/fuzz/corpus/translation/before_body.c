#pragma xmp nodes p[*]
#pragma xmp template t[8]
#pragma xmp distribute t[block] onto p
double *whole;
#pragma xmp align whole[i] with t[i]
void f(double a[8])
#pragma xmp align a[i] with t[i]
#pragma xmp shadow a[1]
{
#pragma xmp array on t[1:]
  a[1:] = whole[:7];
#pragma xmp array on t[:]
  whole[:] = 1;
}
