/*
 * json_place.h - where in a text a JSON value stands, so that a person finds the line.
 */
#ifndef BUILD_JSON_PLACE_H
#define BUILD_JSON_PLACE_H

#include <stdbool.h>
#include <stddef.h>

struct build_step {		/* from a value to one of its own */
	const char *key;	/* NULL: of an array */
	size_t index;
};

/**
 * build_json_place - line and column, counted from 1 in bytes, of what @n steps from the root lead to; of its key
 * where it has one
 * @text: JSON that has been parsed
 * Return: false if a step leads nowhere; then the place of the last value that was there.
 */
bool build_json_place(const char *text, size_t len, const struct build_step *steps, size_t n, size_t *line,
    size_t *column);

#endif
