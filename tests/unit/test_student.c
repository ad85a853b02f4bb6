/* test_student.c - the figures of benchmarks: medians and deviations, and Student's t-test against values from elsewhere */
#include "test.h"

#include "../bench/student.h"

static int
near(double got, double wanted, double within)
{
	int good = got > wanted - within && got < wanted + within;

	if (!good)
		printf("# %.6f, wanted %.6f\n", got, wanted);
	return good;
}

static void
root_is_the_square_root(void)
{
	CHECK(near(root(2), 1.4142135623730951, 1e-12));
	CHECK(near(root(1e-6), 1e-3, 1e-15));
	CHECK(near(root(1e12), 1e6, 1e-6));
	CHECK(near(root(1), 1, 1e-15));
	CHECK(root(0) <= 0 && root(-1) <= 0);
}

static void
sample_tells_what_it_holds(void)
{
	double many[] = { 9, 2, 5, 4, 12, 7, 8, 11, 9, 3, 7, 4, 12, 5, 4, 10, 9, 6, 9, 4 }, one[] = { 3 }, two[] = { 4, 1 };
	struct sample s = sample_of(many, sizeof(many) / sizeof(many[0]));

	CHECK_EQ(s.n, 20);
	CHECK(near(s.min, 2, 1e-12) && near(s.max, 12, 1e-12));
	CHECK(near(s.median, 7, 1e-12));
	CHECK(near(s.mean, 7, 1e-12));
	CHECK(near(s.sd, 3.0607876, 1e-6));	/* root(178 / 19) */
	s = sample_of(one, 1);
	CHECK(near(s.median, 3, 1e-12) && near(s.mean, 3, 1e-12) && s.sd <= 0);
	s = sample_of(two, 2);
	CHECK(near(s.median, 2.5, 1e-12) && near(s.sd, 2.1213203, 1e-6));
}

/* tables of the t-distribution, two sides, 95 % */
static void
t_is_that_of_the_tables(void)
{
	CHECK(near(student_t(1), 12.7062, 1e-4));
	CHECK(near(student_t(4), 2.7764, 1e-4));
	CHECK(near(student_t(18), 2.1009, 1e-4));
	CHECK(near(student_t(20), 2.0860, 1e-4));
	CHECK(near(student_t(21), 2.0796, 1e-4));
	CHECK(near(student_t(30), 2.0423, 1e-4));
	CHECK(near(student_t(40), 2.0211, 1e-4));
	CHECK(near(student_t(60), 2.0003, 1e-4));
	CHECK(near(student_t(120), 1.9799, 1e-4));
	CHECK(near(student_t(100000), 1.9600, 1e-4));
}

/* Student's own data: additional hours of sleep by two drugs, ten people each; -0.2039 to 3.3639 by the test with a
 * pooled deviation, as every textbook has it */
static void
margin_is_that_of_students_own_data(void)
{
	double a[] = { 0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0 };
	double b[] = { 1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4 };
	struct sample x = sample_of(a, 10), y = sample_of(b, 10);
	double margin = student_margin(&x, &y);

	CHECK(near(x.mean, 0.75, 1e-9) && near(y.mean, 2.33, 1e-9));
	CHECK(near(x.sd, 1.789010, 1e-6) && near(y.sd, 2.002249, 1e-6));
	CHECK(near(y.mean - x.mean - margin, -0.203874, 1e-4));
	CHECK(near(y.mean - x.mean + margin, 3.363874, 1e-4));
}

static void
margin_needs_three_values(void)
{
	double a[] = { 1 }, b[] = { 2 }, c[] = { 2, 3 };
	struct sample x = sample_of(a, 1), y = sample_of(b, 1), z = sample_of(c, 2);

	CHECK(student_margin(&x, &y) < 0);
	/* one degree of freedom: 12.7062 * root(0.5 * 1.5) */
	CHECK(near(student_margin(&x, &z), 11.003892, 1e-3));
}

int
main(void)
{
	RUN(root_is_the_square_root);
	RUN(sample_tells_what_it_holds);
	RUN(t_is_that_of_the_tables);
	RUN(margin_is_that_of_students_own_data);
	RUN(margin_needs_three_values);
	return test_done();
}
