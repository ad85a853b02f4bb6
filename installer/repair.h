/*
 * repair.h - which differences a repair takes on.
 * Source: spec/apply.md, "Repair".
 */
#ifndef INST_REPAIR_H
#define INST_REPAIR_H

#include "installer/check.h"
#include "installer/policy.h"

/**
 * inst_repair_choose - per entry row INST_REPAIR_*: all damage, or with @named (a byte per row, NULL: nothing was named)
 * whatever differs there, by decision or not
 * @n: how many rows; @unread: rows that may have to be repaired but could not be looked at
 * Return: malloc'ed; NULL when memory is out.
 */
uint8_t *inst_repair_choose(const struct inst_check *c, const uint8_t *named, size_t *n, size_t *unread);

/** inst_repair_bits - what of a row's differences a choice takes on */
uint16_t inst_repair_bits(const struct inst_check *c, const uint8_t *chosen, uint32_t row);

#endif
