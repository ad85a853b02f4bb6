/*
 * student.c - mean, median, deviation, and Student's t-test for the difference of two means ("Student", "The probable error of
 * a mean", 1908) at 95 %.
 */
#include <stdlib.h>

#include "student.h"

static int
ascending(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Newton's way, so that nothing of libm is needed: from above, each step halves the error at least */
double
root(double v)
{
	double r = v > 1 ? v : 1, next;

	if (!(v > 0))
		return 0;
	while ((next = (r + v / r) / 2) < r)
		r = next;
	return r;
}

struct sample
sample_of(double *v, size_t n)
{
	struct sample s = { .n = n };
	double sum = 0, squares = 0;

	qsort(v, n, sizeof(*v), ascending);
	s.min = v[0];
	s.max = v[n - 1];
	s.median = n % 2 == 1 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
	for (size_t i = 0; i < n; i++)
		sum += v[i];
	s.mean = sum / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (v[i] - s.mean) * (v[i] - s.mean);
	s.sd = n > 1 ? root(squares / (double)(n - 1)) : 0;
	return s;
}

double
student_t(size_t df)
{
	static const double few[] = { 12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
		2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860 };
	double z = 1.959964, z2 = z * z, n = (double)df;

	if (df >= 1 && df <= sizeof(few) / sizeof(few[0]))
		return few[df - 1];
	/* the expansion of Fisher and Cornish, to four digits from here on (Abramowitz and Stegun, 26.7.5) */
	return z + z * (z2 + 1) / (4 * n) + z * (5 * z2 * z2 + 16 * z2 + 3) / (96 * n * n) +
	    z * (3 * z2 * z2 * z2 + 19 * z2 * z2 + 17 * z2 - 15) / (384 * n * n * n);
}

double
student_margin(const struct sample *a, const struct sample *b)
{
	double na = (double)a->n, nb = (double)b->n, pooled;

	if (a->n + b->n < 3)
		return -1;
	pooled = ((na - 1) * a->sd * a->sd + (nb - 1) * b->sd * b->sd) / (na + nb - 2);
	return student_t(a->n + b->n - 2) * root(pooled * (1 / na + 1 / nb));
}
