/*
 * student.h - what some measured values say: their spread, and whether two sets of them differ.
 */
#ifndef STUDENT_H
#define STUDENT_H

#include <stddef.h>

struct sample { size_t n; double min, max, median, mean, sd; };	/* sd: of the population, by n - 1; 0 for one value */

/** sample_of - @v: n values, n >= 1; put into order */
struct sample sample_of(double *v, size_t n);

/** student_t - the t that 95 % of a t-distribution with @df degrees of freedom lie within, both sides; df >= 1 */
double student_t(size_t df);

/**
 * student_margin - half of the 95 % interval around b's mean minus a's, by Student's t with the pooled deviation
 * If the difference is smaller, none is shown. Return: -1 if the two have fewer than three values together.
 */
double student_margin(const struct sample *a, const struct sample *b);

/** root - square root; 0 for what is not positive */
double root(double v);

#endif
