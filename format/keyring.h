/*
 * keyring.h - what a keyring holds (private to format/).
 */
#ifndef DRAY_KEYRING_H
#define DRAY_KEYRING_H

#include "dray/trust.h"

#include "pubkey.h"

struct keyring_key {
	struct dray_pub pub;
	char name[65];
	bool revoked;
	char why[161];			/* of the revocation, quoted for printing */
	bool bound;			/* products is not empty: counts for these only */
	size_t n_products;
	char (*products)[65];		/* owned */
};

struct dray_keyring {
	unsigned threshold;
	bool document;			/* from a JSON document; else bare keys */
	size_t n;
	struct keyring_key keys[DRAY_KEYRING_MAX_KEYS];
};

#endif
